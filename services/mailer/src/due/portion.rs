//! A bounded part of a job: decided, and its cards made, in one transaction.

use std::collections::HashSet;

use chrono::NaiveDate;
use contract::id::ChargeId;
use contract::send::Reason;
use store::{
    Campaign, ChargeKind, Job, JobKind, LockedCampaign, PieceRow, RecipientFacts, StoreError, Transaction,
    retry,
};
use uuid::Uuid;

use super::people::Person;
use crate::Mailer;
use crate::decide::{Candidate, Decision, decide};
use crate::neighborhood::{Center, Neighborhoods, Print};
use crate::reserve::{Times, batch, charge, make_cards};
use crate::rules::{AudienceRules, Profile, StepRules};
use crate::send::{time_zone, times};

/// A bounded part of a job.
pub(super) struct Portion<'a> {
    pub(super) job: &'a Job,
    pub(super) campaign: &'a Campaign,
    pub(super) step: &'a StepRules<'a>,
    pub(super) rules: &'a AudienceRules,
    pub(super) people: &'a [Person],
}

/// What is known before the campaign is locked.
struct Judged {
    candidates: Vec<Candidate>,
    /// Centers that waited: the homes around them. A later step goes to the homes of step 1 instead.
    neighborhoods: Option<Neighborhoods>,
}

/// What is to be mailed.
struct Chosen<'a> {
    pieces: Vec<PieceRow<'a>>,
    /// Whose outcome becomes mailed.
    entry_ids: Vec<Uuid>,
}

impl Portion<'_> {
    pub(super) async fn reserve_again_on_conflict(
        &self,
        mailer: &Mailer,
    ) -> Result<Option<ChargeId>, StoreError> {
        let people = self.people.iter();
        let address_ids: Vec<Uuid> = people
            .flat_map(|person| [Some(person.address_id), person.center.as_ref().map(|one| one.address_id)])
            .flatten()
            .collect();
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let facts = mailer.process.store.recipient_facts(team_id, campaign_id, &address_ids).await?;
        let zone = time_zone(self.campaign);
        let times = times(&mailer.process.config, self.campaign, zone, self.step, mailer.process.clock.now());
        let candidates: Vec<_> =
            self.people.iter().map(|person| self.candidate(person, &facts, times.today)).collect();
        let neighborhoods = self.look_around(mailer, &candidates).await?;
        let judged = Judged { candidates, neighborhoods };
        retry(|| self.reserve(mailer, &judged, times)).await
    }

    fn are_centers(&self) -> bool {
        self.job.kind == JobKind::Recheck && self.campaign.neighborhood.is_some()
    }

    /// The same checks as for a send, but that nobody waits on conditions here: they are what is looked at.
    fn candidate(&self, person: &Person, facts: &RecipientFacts, today: NaiveDate) -> Candidate {
        let center = person.center.as_ref();
        let is_removed = facts.removed.contains(&person.address_id)
            || center.is_some_and(|center| facts.removed.contains(&center.address_id));
        let before_duplicates = if is_removed {
            Some(Reason::RemovedBySender)
        } else if !self.are_centers() && facts.do_not_mail.contains(&person.address_id) {
            Some(Reason::DoNotMail)
        } else {
            None
        };
        let is_outside = !self.are_centers() && !self.rules.is_inside(person.place(), &person.entry.zip);
        // Conditions are about the center, not about the homes around it.
        let profile = match center {
            Some(center) => Profile::stored(&center.entry, &center.values),
            None => Profile::stored(&person.entry, &person.values),
        };
        let after_duplicates = if is_outside {
            Some(Reason::FilteredLocation)
        } else {
            self.rules.waits(&profile, false, today)
        };
        Candidate { address_id: person.address_id, before_duplicates, after_duplicates }
    }

    async fn look_around(
        &self,
        mailer: &Mailer,
        candidates: &[Candidate],
    ) -> Result<Option<Neighborhoods>, StoreError> {
        let Some(settings) = self.campaign.neighborhood.filter(|_| self.are_centers()) else {
            return Ok(None);
        };
        let centers = self.people.iter().zip(candidates);
        let centers: Vec<Center> = centers
            .map(|(person, candidate)| Center { refusal: candidate.refusal(), place: person.place() })
            .collect();
        let store = &mailer.process.store;
        let mut neighborhoods = Neighborhoods::find(store, settings, &centers).await?;
        let ids = neighborhoods.address_ids();
        let facts = store.recipient_facts(self.campaign.team_id, &self.campaign.campaign_id, &ids).await?;
        neighborhoods.judge(self.rules, &facts);
        Ok(Some(neighborhoods))
    }

    /// One transaction: decide under the campaign's lock, make the cards, note the progress. Returns the charge
    /// when there is one.
    async fn reserve(
        &self,
        mailer: &Mailer,
        judged: &Judged,
        times: Times,
    ) -> Result<Option<ChargeId>, StoreError> {
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin().await?;
        let locked = transaction.campaign_lock(team_id, campaign_id).await?;
        let chosen = self.choose(&transaction, judged, locked, times).await?;
        let is_anybody = locked.is_active && !chosen.pieces.is_empty();
        let charge_id = is_anybody.then(ChargeId::new);
        if let Some(charge_id) = charge_id {
            self.make_cards(&transaction, charge_id, &chosen, times).await?;
        }
        let progress = self.people.last().map_or(self.job.progress, |person| person.position);
        transaction.job_advance(self.job.lease, progress, charge_id, times.leased_until).await?;
        transaction.commit().await?;
        Ok(charge_id)
    }

    async fn choose<'c>(
        &'c self,
        transaction: &Transaction<'_>,
        judged: &'c Judged,
        locked: LockedCampaign,
        times: Times,
    ) -> Result<Chosen<'c>, StoreError> {
        let ids: Vec<Uuid> = match &judged.neighborhoods {
            Some(neighborhoods) => neighborhoods.address_ids(),
            None => judged.candidates.iter().map(|candidate| candidate.address_id).collect(),
        };
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let mailed = match self.job.kind {
            JobKind::Recheck => {
                transaction.piece_mailed_since(team_id, campaign_id, &ids, times.mailed_since).await?
            }
            // A later step goes to those whom step 1 went to.
            JobKind::Step { .. } => HashSet::new(),
        };
        let (budget, price) = (locked.budget_left_cents, self.step.price_cents);
        let entry_ids = |decisions: &[Decision]| -> Vec<Uuid> {
            let people = self.people.iter().zip(decisions);
            people
                .filter(|(_, decision)| **decision == Decision::Mail)
                .map(|(person, _)| person.entry_id)
                .collect()
        };
        let Some(neighborhoods) = &judged.neighborhoods else {
            let decisions = decide(&judged.candidates, &mailed, budget, price);
            let people = self.people.iter().zip(&decisions);
            let pieces = people
                .filter(|(_, decision)| **decision == Decision::Mail)
                .map(|(person, _)| self.piece_row(person, times.today))
                .collect();
            return Ok(Chosen { pieces, entry_ids: entry_ids(&decisions) });
        };
        let mailings = neighborhoods.decide(&mailed, budget, price);
        let decisions: Vec<Decision> = mailings.iter().map(|mailing| mailing.decision).collect();
        let centers = self.people.iter().map(|person| person.entry_id);
        let print = Print { links: &self.step.links, rules: self.rules, today: times.today };
        let pieces = neighborhoods.piece_rows(&mailings, centers, print);
        Ok(Chosen { pieces, entry_ids: entry_ids(&decisions) })
    }

    fn piece_row<'a>(&self, person: &'a Person, today: NaiveDate) -> PieceRow<'a> {
        let entry = &person.entry;
        let profile = Profile::stored(entry, &person.values);
        PieceRow {
            entry_id: person.entry_id,
            address_id: person.address_id,
            first_name: &entry.first_name,
            last_name: &entry.last_name,
            line_1: &entry.address_1,
            line_2: &entry.address_2,
            city: &entry.city,
            state: &entry.state,
            zip: &entry.zip,
            plus4: entry.plus4.as_deref(),
            verification: &entry.verification,
            destinations: self.step.links.destinations(&self.rules.computed(&profile, today)),
            corrections: String::new(),
            center_entry_id: person.center.as_ref().map(|center| center.entry_id),
        }
    }

    async fn make_cards(
        &self,
        transaction: &Transaction<'_>,
        charge_id: ChargeId,
        chosen: &Chosen<'_>,
        times: Times,
    ) -> Result<(), StoreError> {
        let batch = batch(self.step, self.campaign, charge_id, times.mail_by_date);
        let kind = match self.job.kind {
            JobKind::Recheck => ChargeKind::Recheck,
            JobKind::Step { .. } => ChargeKind::Step,
        };
        let charge = charge(&batch, &chosen.pieces, kind, &self.campaign.payment);
        make_cards(transaction, &charge, &batch, &chosen.pieces, times.now).await?;
        if self.job.kind == JobKind::Recheck {
            let campaign_id = &self.campaign.campaign_id;
            transaction
                .recipient_mark_mailed(self.campaign.team_id, campaign_id, charge_id, &chosen.entry_ids)
                .await?;
        }
        Ok(())
    }
}
