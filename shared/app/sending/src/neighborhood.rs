//! Neighborhood Mail: the homes around centers, and what becomes of each center. Looking homes up is the one thing
//! here that is not pure.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use columns::RecipientProfile;
use contract::send::NotMailedReason;
use model::limits::HOMES_PER_REQUEST;
use store::{
    BookEntryValues, MailpieceRow, NeighborhoodHome, NeighborhoodSettings, RecipientListings,
    Store, StoreError,
};
use uuid::Uuid;

use crate::MailerState;
use crate::cards::{
    DesignValues, MailpieceContext, MailpieceDraft, MailpieceDraftError, draft_for_candidates,
};
use crate::decide::{MailingCandidate, MailingDecision, decide_candidates};
use crate::links::QrLinks;
use crate::prepare::entry_id;
use crate::rules::AudienceRules;

/// What points confirm of a home: it is one.
const HOME_VERIFICATION: &str = "delivery_point";

/// A center on its way to its homes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeighborhoodCenter {
    pub(crate) address_id: Uuid,
    /// Why it is not looked around.
    pub(crate) refusal: Option<NotMailedReason>,
    /// Degrees north and east, when it has been located.
    pub(crate) place: Option<(f64, f64)>,
}

/// What the links of a home's card are made with.
#[derive(Clone, Copy)]
pub(crate) struct HomeLinkContext<'a> {
    pub(crate) links: &'a QrLinks,
    pub(crate) rules: &'a AudienceRules,
    /// The team's day.
    pub(crate) today: NaiveDate,
}

/// The homes around a center.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct CenterHomes {
    /// The center's own address.
    center: Uuid,
    refusal: Option<NotMailedReason>,
    found: usize,
    /// Positions in [`NeighborhoodHomes::homes`], nearest first.
    homes: Vec<usize>,
}

impl CenterHomes {
    /// What is left of it when these centers have been removed since.
    fn without_removed(&self, removed: &HashSet<Uuid>) -> Self {
        match self.refusal {
            None if removed.contains(&self.center) => Self {
                refusal: Some(NotMailedReason::RemovedBySender),
                homes: Vec::new(),
                ..*self
            },
            _ => self.clone(),
        }
    }
}

/// The homes around all centers of a request, each home once.
#[derive(Debug, Default)]
pub(crate) struct NeighborhoodHomes {
    homes: Vec<NeighborhoodHome>,
    /// For each home what is known before duplicates are looked for.
    candidates: Vec<MailingCandidate>,
    /// For each home what its card prints; empty until that is decided.
    cards: Vec<MailpieceDraft>,
    around: Vec<CenterHomes>,
}

/// What becomes of a center.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CenterMailing {
    pub(crate) decision: MailingDecision,
    /// Homes inside the radius.
    pub(crate) found: usize,
    /// Positions of the homes that are mailed.
    mailed: Vec<usize>,
}

impl CenterMailing {
    /// How many homes are mailed.
    pub(crate) fn mailed_count(&self) -> usize {
        self.mailed.len()
    }
}

impl NeighborhoodHomes {
    /// Finds the homes. In the order of the centers each takes its homes out of what a request may mail, until one
    /// would pass it; smaller ones behind it may still fit.
    pub(crate) async fn find(
        store: &Store,
        settings: NeighborhoodSettings,
        centers: &[NeighborhoodCenter],
    ) -> Result<Self, StoreError> {
        let limit = usize::try_from(settings.homes_per_center).unwrap_or(HOMES_PER_REQUEST);
        let mut found = Self::default();
        let mut known = HashMap::new();
        for part in centers.chunks(centers_at_a_time(settings)) {
            let places: Vec<(f64, f64)> = part.iter().filter_map(open_center_coordinates).collect();
            let around = store
                .list_homes_around(&places, settings.radius_metres.into(), limit)
                .await?;
            let mut around = around.into_iter();
            for center in part {
                let neighborhood = open_center_coordinates(center)
                    .and_then(|_| around.next())
                    .unwrap_or_default();
                found.add_center(center, neighborhood, &mut known);
            }
        }
        Ok(found)
    }

    /// Adds the homes of the next center. `known` has the positions of those that are there.
    fn add_center(
        &mut self,
        center: &NeighborhoodCenter,
        neighborhood: store::Neighborhood,
        known: &mut HashMap<Uuid, usize>,
    ) {
        let store::Neighborhood { found, homes } = neighborhood;
        let new = homes
            .iter()
            .filter(|home| !known.contains_key(&home.address_id))
            .count();
        let refusal = match center.refusal {
            Some(refusal) => Some(refusal),
            None if homes.is_empty() => Some(NotMailedReason::NoHomesFound),
            None if self.homes.len() + new > HOMES_PER_REQUEST => {
                Some(NotMailedReason::RequestCapacityReached)
            }
            None => None,
        };
        let mut around = CenterHomes {
            center: center.address_id,
            refusal,
            found,
            homes: Vec::new(),
        };
        if refusal.is_none() {
            for home in homes {
                let position = *known.entry(home.address_id).or_insert_with(|| {
                    self.homes.push(home);
                    self.cards.push(MailpieceDraft::default());
                    self.homes.len() - 1
                });
                around.homes.push(position);
            }
        }
        self.around.push(around);
    }

    /// The addresses of all homes.
    pub(crate) fn address_ids(&self) -> Vec<Uuid> {
        self.homes.iter().map(|home| home.address_id).collect()
    }

    /// The addresses of all homes and centers.
    pub(crate) fn listable_ids(&self) -> Vec<Uuid> {
        let centers = self.around.iter().map(|around| around.center);
        self.homes
            .iter()
            .map(|home| home.address_id)
            .chain(centers)
            .collect()
    }

    /// Judges the homes by the lists and the area.
    pub(crate) fn judge_homes(&mut self, rules: &AudienceRules, facts: &RecipientListings) {
        let candidate = |home: &NeighborhoodHome| {
            let address_id = home.address_id;
            let before_duplicates = facts.refusal(address_id);
            let is_inside = rules.is_in_area(Some(home.place), &home.zip);
            let after_duplicates = (!is_inside).then_some(NotMailedReason::FilteredLocation);
            MailingCandidate {
                address_id,
                written_id: address_id,
                before_duplicates,
                after_duplicates,
            }
        };
        self.candidates = self.homes.iter().map(candidate).collect();
    }

    /// Decides what the homes' cards print, and which of them cannot.
    ///
    /// # Errors
    /// [`MailpieceDraftError`].
    pub(crate) async fn draft_mailpieces(
        &mut self,
        mailer: &MailerState,
        deciding: &MailpieceContext<'_>,
        rules: &AudienceRules,
    ) -> Result<(), MailpieceDraftError> {
        let values = |at: usize| home_values(&self.homes[at], deciding, rules);
        self.cards = draft_for_candidates(mailer, deciding, &mut self.candidates, values).await?;
        Ok(())
    }

    /// Decides all centers under the campaign's lock: homes are mailed in the order of the centers, nearest first. `facts`
    /// tell who was removed or listed since the homes were judged.
    pub(crate) fn decide_centers(
        &self,
        facts: &RecipientListings,
        mailed: &HashSet<Uuid>,
        budget_left_cents: Option<i64>,
        price_cents: i64,
    ) -> Vec<CenterMailing> {
        let arounds: Vec<CenterHomes> = self
            .around
            .iter()
            .map(|around| around.without_removed(&facts.removed))
            .collect();
        let homes = arounds.iter().flat_map(|around| &around.homes);
        let candidates: Vec<MailingCandidate> = homes
            .map(|home| self.candidates[*home].with_list_refusal(facts))
            .collect();
        let decisions = decide_candidates(&candidates, mailed, budget_left_cents, price_cents);
        let mut rest = decisions.as_slice();
        let mut mailings = Vec::with_capacity(arounds.len());
        for around in &arounds {
            let (here, behind) = rest.split_at(around.homes.len());
            mailings.push(center_mailing(around, here));
            rest = behind;
        }
        mailings
    }

    /// The cards for the homes of these centers, whose entries are `entry_ids`.
    pub(crate) fn mailpiece_rows(
        &self,
        mailings: &[CenterMailing],
        entry_ids: impl Iterator<Item = Uuid>,
        print: HomeLinkContext<'_>,
    ) -> Vec<MailpieceRow<'_>> {
        let mut rows = Vec::new();
        for (mailing, center_entry_id) in mailings.iter().zip(entry_ids) {
            let homes = mailing
                .mailed
                .iter()
                .map(|home| (&self.homes[*home], &self.cards[*home]));
            rows.extend(homes.map(|home| mailpiece_row(home, center_entry_id, print)));
        }
        rows
    }
}

/// Centers looked around in one go, so that their homes are not many more than a request may mail.
pub(crate) fn centers_at_a_time(settings: NeighborhoodSettings) -> usize {
    let limit = usize::try_from(settings.homes_per_center)
        .unwrap_or(1)
        .max(1);
    (HOMES_PER_REQUEST / limit).max(1)
}

fn open_center_coordinates(center: &NeighborhoodCenter) -> Option<(f64, f64)> {
    if center.refusal.is_some() {
        None
    } else {
        center.place
    }
}

/// A center is mailed when a home is. Else it has the reason of the home that came furthest.
fn center_mailing(around: &CenterHomes, decisions: &[MailingDecision]) -> CenterMailing {
    let homes = around.homes.iter().zip(decisions);
    let mailed: Vec<usize> = homes
        .filter(|(_, decision)| **decision == MailingDecision::Mail)
        .map(|(home, _)| *home)
        .collect();
    let furthest = decisions
        .iter()
        .copied()
        .max_by_key(|decision| decision_rank(*decision));
    let decision = match around.refusal {
        Some(reason) => MailingDecision::Refuse(reason),
        None => furthest.unwrap_or(MailingDecision::Refuse(NotMailedReason::NoHomesFound)),
    };
    CenterMailing {
        decision,
        found: around.found,
        mailed,
    }
}

/// How far a home came on its way to a card.
fn decision_rank(decision: MailingDecision) -> u8 {
    match decision {
        MailingDecision::Refuse(NotMailedReason::RemovedBySender) => 0,
        MailingDecision::Refuse(NotMailedReason::DoNotMail) => 1,
        MailingDecision::Refuse(NotMailedReason::DuplicateRecent) => 2,
        MailingDecision::Copy => 3,
        MailingDecision::Refuse(NotMailedReason::FilteredLocation) => 4,
        MailingDecision::Refuse(_) => 5,
        MailingDecision::Mail => 6,
    }
}

/// Whoever lives in a home: nobody's name is known.
fn home_profile<'a>(
    home: &'a NeighborhoodHome,
    nothing_stored: &'a BookEntryValues,
) -> RecipientProfile<'a> {
    RecipientProfile {
        name: ("", ""),
        lines: (&home.line_1, ""),
        city: &home.city,
        state: &home.state,
        zip: &home.zip,
        place: None,
        values: nothing_stored,
    }
}

fn home_values(
    home: &NeighborhoodHome,
    deciding: &MailpieceContext<'_>,
    rules: &AudienceRules,
) -> DesignValues {
    let nothing_stored = BookEntryValues::default();
    deciding
        .rules
        .design_values(&rules.with_formulas(&home_profile(home, &nothing_stored), deciding.today))
}

fn mailpiece_row<'a>(
    (home, card): (&'a NeighborhoodHome, &MailpieceDraft),
    center_entry_id: Uuid,
    print: HomeLinkContext<'_>,
) -> MailpieceRow<'a> {
    let nothing_stored = BookEntryValues::default();
    MailpieceRow {
        entry_id: entry_id(home.address_id, "", ""),
        address_id: home.address_id,
        first_name: "",
        last_name: "",
        line_1: &home.line_1,
        line_2: "",
        unit_apart: "",
        city: &home.city,
        state: &home.state,
        zip: &home.zip,
        plus4: home.plus4.as_deref(),
        verification: HOME_VERIFICATION,
        corrections: String::new(),
        destinations: print.links.resolve_destinations(
            &print
                .rules
                .with_formulas(&home_profile(home, &nothing_stored), print.today),
        ),
        center_entry_id: Some(center_entry_id),
        content: card.content.clone(),
    }
}

#[cfg(test)]
mod tests;
