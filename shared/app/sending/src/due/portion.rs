//! A bounded part of a job: decided, and its cards made, in one transaction.

use std::collections::HashSet;

use chrono::NaiveDate;
use columns::RecipientProfile;
use contract::send::NotMailedReason;
use model::id::ChargeId;
use store::{
    Campaign, CampaignFigure, ChargeKind, Job, JobKind, LockedCampaign, MailpieceRow,
    RecipientListings, StoreError, Transaction, retry_conflicts,
};
use uuid::Uuid;

use super::JobError;
use super::people::JobRecipient;
use crate::MailerState;
use crate::calendar::{DecisionTimes, decision_times};
use crate::cards::{MailpieceContext, MailpieceDraft, MailpieceDraftError, draft_for_candidates};
use crate::decide::{MailingCandidate, MailingDecision, decide_candidates};
use crate::neighborhood::{HomeLinkContext, NeighborhoodCenter, NeighborhoodHomes};
use crate::reserve::{create_mailpieces, mailpiece_batch, new_charge, refresh_recipient_facts};
use crate::rules::{AudienceRules, StepRules};

/// A bounded part of a job.
pub(super) struct JobPortion<'a> {
    pub(super) job: &'a Job,
    pub(super) campaign: &'a Campaign,
    pub(super) step: &'a StepRules<'a>,
    pub(super) rules: &'a AudienceRules,
    pub(super) recipients: &'a [JobRecipient],
}

/// What is known before the campaign is locked.
struct AssessedPortion {
    candidates: Vec<MailingCandidate>,
    /// What the people's cards would print; empty ones for centers.
    cards: Vec<MailpieceDraft>,
    /// Centers that waited: the homes around them. A later step goes to the homes of step 1 instead.
    neighborhoods: Option<NeighborhoodHomes>,
}

/// What came of a portion.
pub(super) enum PortionOutcome {
    /// Cards wait for this charge.
    Open(ChargeId),
    /// None of its people is mailed.
    Nobody,
    /// The campaign is paused: the portion is still to be done.
    Paused,
}

/// What is to be mailed.
struct ChosenMailpieces<'a> {
    mailpieces: Vec<MailpieceRow<'a>>,
    /// Whose outcome becomes mailed.
    entry_ids: Vec<Uuid>,
}

impl JobPortion<'_> {
    pub(super) async fn reserve_with_retry(
        &self,
        mailer: &MailerState,
    ) -> Result<PortionOutcome, JobError> {
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let facts = mailer
            .process
            .store
            .find_recipient_listings(team_id, campaign_id, &self.address_ids())
            .await?;
        let today = mailer
            .process
            .clock
            .now()
            .with_timezone(&self.campaign.time_zone)
            .date_naive();
        let candidates: Vec<_> = self
            .recipients
            .iter()
            .map(|person| self.assess_candidate(person, &facts, today))
            .collect();
        let neighborhoods = self.find_neighborhoods(mailer, &candidates).await?;
        let judged = self
            .draft_mailpieces(mailer, candidates, neighborhoods, today)
            .await?;
        // Of now: pictures may have taken their time.
        let times = decision_times(
            &mailer.process.config,
            self.campaign,
            self.step,
            None,
            mailer.process.clock.now(),
        );
        Ok(retry_conflicts(|| self.reserve(mailer, &judged, times)).await?)
    }

    /// What the cards print. Whether a missing picture keeps a card from printing is a request's wish, and was its own.
    async fn draft_mailpieces(
        &self,
        mailer: &MailerState,
        mut candidates: Vec<MailingCandidate>,
        mut neighborhoods: Option<NeighborhoodHomes>,
        today: NaiveDate,
    ) -> Result<AssessedPortion, MailpieceDraftError> {
        let deciding = MailpieceContext {
            team_id: self.campaign.team_id,
            rules: &self.step.cards,
            today,
            requires_pictures: false,
            time: mailer.pictures.request_time(),
        };
        let cards = match &mut neighborhoods {
            None => {
                let values = |at: usize| {
                    let person: &JobRecipient = &self.recipients[at];
                    let profile = RecipientProfile::from_entry(&person.entry, &person.values);
                    self.step
                        .cards
                        .design_values(&self.rules.with_formulas(&profile, today))
                };
                draft_for_candidates(mailer, &deciding, &mut candidates, values).await?
            }
            Some(neighborhoods) => {
                neighborhoods
                    .draft_mailpieces(mailer, &deciding, self.rules)
                    .await?;
                Vec::new()
            }
        };
        Ok(AssessedPortion {
            candidates,
            cards,
            neighborhoods,
        })
    }

    /// The addresses of the people and of the centers that they live around.
    fn address_ids(&self) -> Vec<Uuid> {
        let centers = self
            .recipients
            .iter()
            .filter_map(|person| person.center.as_ref());
        let centers = centers.map(|center| center.address_id);
        self.recipients
            .iter()
            .map(|person| person.address_id)
            .chain(centers)
            .collect()
    }

    fn are_centers(&self) -> bool {
        self.job.kind == JobKind::Recheck && self.campaign.neighborhood.is_some()
    }

    /// The same checks as for a send, but that nobody waits on conditions here: they are what is looked at.
    fn assess_candidate(
        &self,
        person: &JobRecipient,
        facts: &RecipientListings,
        today: NaiveDate,
    ) -> MailingCandidate {
        let center = person.center.as_ref();
        let before_duplicates = self.list_refusal(person, facts);
        let is_outside = !self.are_centers()
            && !self
                .rules
                .is_in_area(person.coordinates(), &person.entry.zip);
        // Conditions are about the center, not about the homes around it.
        let profile = match center {
            Some(center) => RecipientProfile::from_entry(&center.entry, &center.values),
            None => RecipientProfile::from_entry(&person.entry, &person.values),
        };
        let after_duplicates = if is_outside {
            Some(NotMailedReason::FilteredLocation)
        } else {
            self.rules.find_waiting_reason(&profile, false, today)
        };
        let address_id = person.address_id;
        MailingCandidate {
            address_id,
            written_id: address_id,
            before_duplicates,
            after_duplicates,
        }
    }

    /// What the lists say of a person: a home is out when its center was removed, and a center may stand on the do-not-mail
    /// list.
    fn list_refusal(
        &self,
        person: &JobRecipient,
        facts: &RecipientListings,
    ) -> Option<NotMailedReason> {
        let is_removed = |address_id: Uuid| facts.removed.contains(&address_id);
        if person
            .center
            .as_ref()
            .is_some_and(|center| is_removed(center.address_id))
        {
            return Some(NotMailedReason::RemovedBySender);
        }
        let listed = facts.refusal(person.address_id);
        listed.filter(|reason| !self.are_centers() || *reason == NotMailedReason::RemovedBySender)
    }

    async fn find_neighborhoods(
        &self,
        mailer: &MailerState,
        candidates: &[MailingCandidate],
    ) -> Result<Option<NeighborhoodHomes>, StoreError> {
        let Some(settings) = self.campaign.neighborhood.filter(|_| self.are_centers()) else {
            return Ok(None);
        };
        let centers = self.recipients.iter().zip(candidates);
        let centers: Vec<NeighborhoodCenter> = centers
            .map(|(person, candidate)| NeighborhoodCenter {
                address_id: person.address_id,
                refusal: candidate.refusal(),
                place: person.coordinates(),
            })
            .collect();
        let store = &mailer.process.store;
        let mut neighborhoods = NeighborhoodHomes::find(store, settings, &centers).await?;
        let ids = neighborhoods.address_ids();
        let facts = store
            .find_recipient_listings(self.campaign.team_id, &self.campaign.campaign_id, &ids)
            .await?;
        neighborhoods.judge_homes(self.rules, &facts);
        Ok(Some(neighborhoods))
    }

    /// One transaction: decide under the campaign's lock, make the cards, note the progress.
    async fn reserve(
        &self,
        mailer: &MailerState,
        judged: &AssessedPortion,
        times: DecisionTimes,
    ) -> Result<PortionOutcome, StoreError> {
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let locked = transaction.lock_campaign(team_id, campaign_id).await?;
        if !locked.is_active {
            return Ok(PortionOutcome::Paused);
        }
        let chosen = self
            .choose_mailpieces(&transaction, judged, locked, times)
            .await?;
        let charge_id = (!chosen.mailpieces.is_empty()).then(ChargeId::new);
        if let Some(charge_id) = charge_id {
            let decided = (times, locked.is_held);
            self.create_mailpieces(&transaction, charge_id, &chosen, decided)
                .await?;
        }
        let progress = self
            .recipients
            .last()
            .map_or(self.job.progress, |person| person.position);
        transaction
            .advance_job(self.job.lease, progress, charge_id, times.leased_until)
            .await?;
        transaction.commit().await?;
        Ok(charge_id.map_or(PortionOutcome::Nobody, PortionOutcome::Open))
    }

    async fn choose_mailpieces<'c>(
        &'c self,
        transaction: &Transaction<'_>,
        judged: &'c AssessedPortion,
        locked: LockedCampaign,
        times: DecisionTimes,
    ) -> Result<ChosenMailpieces<'c>, StoreError> {
        let (ids, listable_ids) = match &judged.neighborhoods {
            Some(neighborhoods) => (neighborhoods.address_ids(), neighborhoods.listable_ids()),
            None => {
                let ids = judged
                    .candidates
                    .iter()
                    .map(|candidate| candidate.address_id)
                    .collect();
                (ids, self.address_ids())
            }
        };
        let facts =
            refresh_recipient_facts(transaction, self.campaign, locked, &listable_ids).await?;
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let mailed = match self.job.kind {
            JobKind::Recheck => {
                transaction
                    .find_mailed_addresses_since(team_id, campaign_id, &ids, times.mailed_since)
                    .await?
            }
            // A later step goes to those whom step 1 went to.
            JobKind::Step { .. } => HashSet::new(),
        };
        let (budget, price) = (locked.budget_left_cents, self.step.price_cents);
        let entry_ids = |decisions: &[MailingDecision]| -> Vec<Uuid> {
            let people = self.recipients.iter().zip(decisions);
            people
                .filter(|(_, decision)| **decision == MailingDecision::Mail)
                .map(|(person, _)| person.entry_id)
                .collect()
        };
        let Some(neighborhoods) = &judged.neighborhoods else {
            let candidates: Vec<MailingCandidate> = self
                .recipients
                .iter()
                .zip(&judged.candidates)
                .map(|(person, candidate)| MailingCandidate {
                    before_duplicates: candidate
                        .before_duplicates
                        .or_else(|| self.list_refusal(person, &facts)),
                    ..*candidate
                })
                .collect();
            let decisions = decide_candidates(&candidates, &mailed, budget, price);
            let people = self.recipients.iter().zip(&judged.cards).zip(&decisions);
            let mailpieces = people
                .filter(|(_, decision)| **decision == MailingDecision::Mail)
                .map(|((person, card), _)| self.mailpiece_row(person, card, times.today))
                .collect();
            return Ok(ChosenMailpieces {
                mailpieces,
                entry_ids: entry_ids(&decisions),
            });
        };
        let mailings = neighborhoods.decide_centers(&facts, &mailed, budget, price);
        let decisions: Vec<MailingDecision> =
            mailings.iter().map(|mailing| mailing.decision).collect();
        let centers = self.recipients.iter().map(|person| person.entry_id);
        let print = HomeLinkContext {
            links: &self.step.cards.design.links,
            rules: self.rules,
            today: times.today,
        };
        let mailpieces = neighborhoods.mailpiece_rows(&mailings, centers, print);
        Ok(ChosenMailpieces {
            mailpieces,
            entry_ids: entry_ids(&decisions),
        })
    }

    fn mailpiece_row<'a>(
        &self,
        person: &'a JobRecipient,
        card: &MailpieceDraft,
        today: NaiveDate,
    ) -> MailpieceRow<'a> {
        let entry = &person.entry;
        let profile = RecipientProfile::from_entry(entry, &person.values);
        MailpieceRow {
            entry_id: person.entry_id,
            address_id: person.address_id,
            first_name: &entry.first_name,
            last_name: &entry.last_name,
            line_1: &entry.address_1,
            line_2: &entry.address_2,
            unit_apart: &entry.unit_apart,
            city: &entry.city,
            state: &entry.state,
            zip: &entry.zip,
            plus4: entry.plus4.as_deref(),
            verification: &entry.verification,
            destinations: self
                .step
                .cards
                .design
                .links
                .resolve_destinations(&self.rules.with_formulas(&profile, today)),
            corrections: String::new(),
            center_entry_id: person.center.as_ref().map(|center| center.entry_id),
            content: card.content.clone(),
        }
    }

    async fn create_mailpieces(
        &self,
        transaction: &Transaction<'_>,
        charge_id: ChargeId,
        chosen: &ChosenMailpieces<'_>,
        (times, is_held): (DecisionTimes, bool),
    ) -> Result<(), StoreError> {
        let batch = mailpiece_batch(self.step, self.campaign, charge_id, (&times, is_held));
        let kind = match self.job.kind {
            JobKind::Recheck => ChargeKind::Recheck,
            JobKind::Step { .. } => ChargeKind::Step,
        };
        let charge = new_charge(&batch, &chosen.mailpieces, kind, self.campaign, &times);
        create_mailpieces(transaction, &charge, &batch, &chosen.mailpieces, times.now).await?;
        let mut figures = vec![(CampaignFigure::Cards, chosen.mailpieces.len() as i64)];
        if self.job.kind == JobKind::Recheck {
            figures.push((CampaignFigure::Mailed, chosen.entry_ids.len() as i64));
            let campaign_id = &self.campaign.campaign_id;
            transaction
                .mark_recipients_mailed(
                    self.campaign.team_id,
                    campaign_id,
                    charge_id,
                    &chosen.entry_ids,
                )
                .await?;
        }
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        transaction
            .update_campaign_day(team_id, campaign_id, times.today, &figures)
            .await
    }
}
