//! The transaction in which a request takes effect: with the campaign locked it decides, makes the cards, and
//! stores the answer as if the charge succeeds. Until it commits nothing has happened; after it the request is
//! finished by whoever finds it.

use std::collections::{BTreeMap, HashSet};

use address::{AddressVerdict, one_line_as_sent};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::send::{NotMailedReason, RecipientOutcome, SendError, SendResponse, write_response};
use model::id::{CampaignId, ChargeId};
use store::{
    BookEntryRow, Campaign, CampaignFigure, ChargeKind, LockedCampaign, MailpieceBatch,
    MailpieceRow, NewCharge, RecipientListings, ReservedSend, SendLease, StoreError, Transaction,
};
use tracing::Span;
use uuid::Uuid;

use crate::MailerState;
use crate::ai;
use crate::assess::{AssessedRecipient, mailpiece_rows, recipient_rows};
use crate::calendar::DecisionTimes;
use crate::cards::MailpieceDraft;
use crate::decide::{MailingCandidate, MailingDecision, decide_candidates};
use crate::detail::{collect_warnings, describe_verification, explain_reason};
use crate::neighborhood::{CenterMailing, HomeLinkContext, NeighborhoodHomes};
use crate::prepare::PreparedRequest;
use crate::rules::{AudienceRules, StepRules};

/// The outcome that is no reason.
const MAILED: &str = "mailed";

/// All that is known of a request when it is to take effect.
pub(crate) struct SendPlan<'a> {
    pub(crate) campaign: &'a Campaign,
    pub(crate) step: &'a StepRules<'a>,
    pub(crate) preparation: &'a PreparedRequest<'a>,
    pub(crate) assessed: &'a [AssessedRecipient<'a>],
    /// What the request leaves in the address book.
    pub(crate) entries: &'a [BookEntryRow<'a>],
    pub(crate) candidates: &'a [MailingCandidate],
    /// What lists say of the recipients' addresses.
    pub(crate) listings: &'a RecipientListings,
    /// Neighborhood Mail: the homes around the recipients.
    pub(crate) neighborhoods: Option<&'a NeighborhoodHomes>,
    /// Where the QR codes of each recipient's card would lead.
    pub(crate) destinations: &'a [String],
    /// What each recipient's card would print.
    pub(crate) cards: &'a [MailpieceDraft],
    pub(crate) rules: &'a AudienceRules,
    pub(crate) times: DecisionTimes,
    /// What the cards must cost together for anything to take effect.
    pub(crate) expect_total: Option<i64>,
}

impl SendPlan<'_> {
    /// What the cards of the decisions cost together. Errors: `price_changed` when the sender expects another sum.
    pub(crate) fn price_cards(&self, decided: &DecidedRecipients) -> Result<i64, SendError> {
        // A request is bounded, and so is its number of cards.
        let total_cents = self.step.price_cents * decided.mailpiece_count() as i64;
        match self.expect_total {
            Some(expected_cents) if expected_cents != total_cents => Err(SendError::PriceChanged {
                expected_cents,
                total_cents,
            }),
            _ => Ok(total_cents),
        }
    }
}

/// What came of reserving.
pub(crate) enum ReserveOutcome {
    /// Cards wait for their charge.
    Open(ReservedSend),
    /// Nobody is mailed; this is the answer.
    Finished(Bytes),
}

/// Why a request could not be reserved. Nothing of it stays.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReserveError {
    /// The request fails as a whole.
    #[error(transparent)]
    Refused(SendError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reserves a request.
pub(crate) async fn reserve_send(
    mailer: &MailerState,
    lease: SendLease,
    plan: &SendPlan<'_>,
) -> Result<ReserveOutcome, ReserveError> {
    let campaign = plan.campaign;
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let locked = transaction
        .lock_campaign(campaign.team_id, &campaign.campaign_id)
        .await?;
    if !locked.is_active {
        let message = "The campaign is not active. Activate it to mail its recipients.";
        return Err(ReserveError::Refused(SendError::CampaignNotActive(
            message.to_owned(),
        )));
    }
    let ((reserved, decided), _) = tokio::try_join!(
        biased;
        decide_and_write(&transaction, lease, plan, locked),
        // These hang on no decision: the database writes them while it is drafted what came of the decisions.
        async { Ok(write_entries(&transaction, plan).await?) },
    )?;
    transaction.commit().await?;
    decided.count_outcomes();
    Ok(reserved)
}

/// Writes the address book, and then what a language model is to write of it: always in this order, as that model's own
/// transactions lock them.
async fn write_entries(
    transaction: &Transaction<'_>,
    plan: &SendPlan<'_>,
) -> Result<(), StoreError> {
    transaction
        .save_entries(plan.campaign.team_id, plan.entries, plan.times.now)
        .await?;
    queue_ai_columns(transaction, plan).await
}

async fn decide_and_write(
    transaction: &Transaction<'_>,
    lease: SendLease,
    plan: &SendPlan<'_>,
    locked: LockedCampaign,
) -> Result<(ReserveOutcome, DecidedRecipients), ReserveError> {
    let decided = decide_recipients(transaction, plan, locked).await?;
    // Nothing of this transaction stays, nor of the request: a repeat begins anew.
    plan.price_cards(&decided).map_err(ReserveError::Refused)?;
    let draft = tokio::task::block_in_place(|| ResponseDraft::new(plan, &decided))?;
    let reserved =
        write_reservation(transaction, lease, plan, (&decided, &draft), locked.is_held).await?;
    Ok((reserved, decided))
}

/// What becomes of each recipient.
pub(crate) struct DecidedRecipients {
    decisions: Vec<MailingDecision>,
    /// Neighborhood Mail: what becomes of the homes around each; else empty.
    mailings: Vec<CenterMailing>,
}

impl DecidedRecipients {
    /// The number of cards.
    pub(crate) fn mailpiece_count(&self) -> usize {
        if self.mailings.is_empty() {
            self.decisions
                .iter()
                .filter(|decision| **decision == MailingDecision::Mail)
                .count()
        } else {
            self.mailings.iter().map(CenterMailing::mailed_count).sum()
        }
    }

    /// Positions of recipients that are duplicates only of an earlier one.
    pub(crate) fn copy_positions(&self) -> Vec<usize> {
        self.decision_positions(MailingDecision::Copy).collect()
    }

    fn decision_positions(&self, wanted: MailingDecision) -> impl Iterator<Item = usize> {
        self.decisions
            .iter()
            .enumerate()
            .filter(move |(_, decision)| **decision == wanted)
            .map(|(at, _)| at)
    }

    /// Counts and notes the outcomes of a request that has taken effect.
    fn count_outcomes(&self) {
        let mut outcomes: BTreeMap<&'static str, u64> = BTreeMap::new();
        for decision in &self.decisions {
            let outcome = match decision {
                MailingDecision::Mail => MAILED,
                MailingDecision::Copy => NotMailedReason::DuplicateRecent.as_str(),
                MailingDecision::Refuse(reason) => reason.as_str(),
            };
            *outcomes.entry(outcome).or_default() += 1;
        }
        let not_mailed: Vec<String> = outcomes
            .iter()
            .filter(|(outcome, _)| **outcome != MAILED)
            .map(|(reason, recipients)| format!("{reason} {recipients}"))
            .collect();
        let span = Span::current();
        span.record("received", self.decisions.len());
        span.record("mailed", outcomes.get(MAILED).copied().unwrap_or_default());
        span.record("not_mailed", not_mailed.join(", "));
        span.record("cards", self.mailpiece_count());
        for (outcome, recipients) in outcomes {
            metrics::counter!("pillarbox_recipients_total", "outcome" => outcome)
                .increment(recipients);
        }
    }
}

/// Decides everybody with the campaign as it stands.
pub(crate) async fn decide_recipients(
    transaction: &Transaction<'_>,
    plan: &SendPlan<'_>,
    locked: LockedCampaign,
) -> Result<DecidedRecipients, StoreError> {
    let campaign = plan.campaign;
    let (open, listable) = match plan.neighborhoods {
        Some(neighborhoods) => (neighborhoods.address_ids(), neighborhoods.listable_ids()),
        None => undecided_address_ids(plan.candidates),
    };
    let facts = refresh_recipient_facts(transaction, campaign, locked, &listable).await?;
    let mailed = if open.is_empty() {
        HashSet::new()
    } else {
        let since = plan.times.mailed_since;
        transaction
            .find_mailed_addresses_since(campaign.team_id, &campaign.campaign_id, &open, since)
            .await?
    };
    let (budget, price) = (locked.budget_left_cents, plan.step.price_cents);
    Ok(match plan.neighborhoods {
        None => {
            let candidates: Vec<MailingCandidate> = plan
                .candidates
                .iter()
                .map(|candidate| candidate.with_list_refusal(&facts))
                .collect();
            let decisions = decide_candidates(&candidates, &mailed, budget, price);
            DecidedRecipients {
                decisions,
                mailings: Vec::new(),
            }
        }
        Some(neighborhoods) => {
            let mailings = neighborhoods.decide_centers(&facts, &mailed, budget, price);
            let decisions = mailings.iter().map(|mailing| mailing.decision).collect();
            DecidedRecipients {
                decisions,
                mailings,
            }
        }
    })
}

/// The addresses of candidates that are not refused yet, and those that lists may have them under.
fn undecided_address_ids(candidates: &[MailingCandidate]) -> (Vec<Uuid>, Vec<Uuid>) {
    let open = || {
        candidates
            .iter()
            .filter(|candidate| candidate.before_duplicates.is_none())
    };
    let corrected = open().filter(|candidate| candidate.written_id != candidate.address_id);
    let address_ids: Vec<Uuid> = open().map(|candidate| candidate.address_id).collect();
    let written_ids = corrected.map(|candidate| candidate.written_id);
    let listable = address_ids.iter().copied().chain(written_ids).collect();
    (address_ids, listable)
}

/// Who of these addresses was removed or listed, read again under the campaign's lock when anybody was since the campaign was
/// loaded: whoever was told that he is has no card made afterwards. Nothing else is read, and mostly nothing at all.
pub(crate) async fn refresh_recipient_facts(
    transaction: &Transaction<'_>,
    campaign: &Campaign,
    locked: LockedCampaign,
    address_ids: &[Uuid],
) -> Result<RecipientListings, StoreError> {
    if locked.list_changes == campaign.list_changes || address_ids.is_empty() {
        return Ok(RecipientListings::default());
    }
    transaction
        .find_recipient_listings(campaign.team_id, &campaign.campaign_id, address_ids)
        .await
}

/// The answer as if the charge succeeds.
struct ResponseDraft {
    /// One line for each recipient.
    addresses: Vec<String>,
    response: Bytes,
    /// Positions of recipients that are duplicates only of an earlier one.
    copies: Vec<usize>,
    mailed: usize,
    has_waiting: bool,
}

impl ResponseDraft {
    fn new(plan: &SendPlan<'_>, decided: &DecidedRecipients) -> Result<Self, StoreError> {
        let addresses: Vec<String> = plan.assessed.iter().map(address_line).collect();
        let response = build_response(plan, decided, &addresses);
        let mailed = response.summary.mailed;
        // Without a charge the answer is final; with one it is kept whole until the charge is closed.
        let body = if mailed == 0 {
            write_response(&response)?
        } else {
            serde_json::to_vec(&response)?
        };
        Ok(Self {
            addresses,
            response: Bytes::from(body),
            copies: decided.copy_positions(),
            mailed,
            has_waiting: decided
                .decision_positions(MailingDecision::Refuse(NotMailedReason::FilteredConditions))
                .next()
                .is_some(),
        })
    }
}

/// The answer as if the charge succeeds, with the line of each recipient's address.
pub(crate) fn build_response(
    plan: &SendPlan<'_>,
    decided: &DecidedRecipients,
    addresses: &[String],
) -> SendResponse {
    let DecidedRecipients {
        decisions,
        mailings,
    } = decided;
    let mut mailings = mailings.iter();
    let outcomes = plan
        .assessed
        .iter()
        .zip(decisions)
        .zip(addresses.iter().zip(plan.cards))
        .map(|((one, decision), (address, card))| {
            let outcome = recipient_outcome(plan, (one, card), *decision, address.clone());
            match mailings.next() {
                Some(mailing) => outcome.with_homes(mailing.found, mailing.mailed_count()),
                None => outcome,
            }
        })
        .collect();
    let preparation = plan.preparation;
    SendResponse::new(
        outcomes,
        preparation.unparseable_typed_values,
        preparation.computed_fields_ignored,
    )
    .with_ignored_counts(
        preparation.long_names_ignored,
        preparation.birthdays_not_read,
    )
}

/// A recipient's address on one line: verified when it is, else as it was sent.
pub(crate) fn address_line(assessed: &AssessedRecipient<'_>) -> String {
    match assessed.verdict {
        AddressVerdict::Deliverable(verified) => verified.one_line.clone(),
        AddressVerdict::Undeliverable(_) => one_line_as_sent(assessed.prepared.address()),
    }
}

fn recipient_outcome(
    plan: &SendPlan<'_>,
    (assessed, card): (&AssessedRecipient<'_>, &MailpieceDraft),
    decision: MailingDecision,
    address: String,
) -> RecipientOutcome {
    let reference = assessed.prepared.reference.map(str::to_owned);
    let outcome = match decision {
        MailingDecision::Mail => {
            let StepRules { product, step, .. } = plan.step;
            RecipientOutcome::mailed(
                reference,
                address,
                product,
                step.postage,
                plan.times.mail_by_date,
            )
            .with_fallbacks(collect_warnings(assessed, card), card.return_address_reason)
        }
        MailingDecision::Copy => {
            let detail = match plan.neighborhoods {
                Some(_) => {
                    "Every home was taken by an earlier address of this request, or was mailed lately."
                }
                None => "The address stands earlier in this request, and is mailed once.",
            };
            let detail = detail.to_owned();
            RecipientOutcome::not_mailed(
                reference,
                address,
                NotMailedReason::DuplicateRecent,
                detail,
            )
        }
        MailingDecision::Refuse(reason) => RecipientOutcome::not_mailed(
            reference,
            address,
            reason,
            explain_reason(plan, (assessed, card), reason),
        ),
    };
    outcome.with_verification(describe_verification(assessed.verdict))
}

/// Writes everything that the request leaves besides the entries. The statements do not need each other's results, so
/// they travel together.
async fn write_reservation(
    transaction: &Transaction<'_>,
    lease: SendLease,
    plan: &SendPlan<'_>,
    (decided, draft): (&DecidedRecipients, &ResponseDraft),
    is_held: bool,
) -> Result<ReserveOutcome, StoreError> {
    let SendPlan {
        campaign, times, ..
    } = plan;
    let (team_id, campaign_id, now) = (campaign.team_id, &campaign.campaign_id, times.now);
    let charge_id = ChargeId(lease.send_id.0);
    let recipients = recipient_rows(plan.assessed, &decided.decisions, &draft.addresses);
    let mailpieces = match plan.neighborhoods {
        Some(neighborhoods) => {
            let centers = plan.assessed.iter().map(|one| one.entry_id);
            let print = HomeLinkContext {
                links: &plan.step.cards.design.links,
                rules: plan.rules,
                today: plan.times.today,
            };
            neighborhoods.mailpiece_rows(&decided.mailings, centers, print)
        }
        None => mailpiece_rows(
            plan.assessed,
            &decided.decisions,
            plan.destinations,
            plan.cards,
        ),
    };
    let figures = daily_figures(&decided.decisions, mailpieces.len());
    let received = async {
        tokio::try_join!(
            transaction.save_recipients(team_id, campaign_id, charge_id, &recipients, now),
            plan_recheck(transaction, plan, draft.has_waiting),
            transaction.update_campaign_day(team_id, campaign_id, times.today, &figures),
        )
    };
    if mailpieces.is_empty() {
        tokio::try_join!(
            received,
            transaction.complete_empty_send(lease, &draft.response, now)
        )?;
        return Ok(ReserveOutcome::Finished(draft.response.clone()));
    }
    let batch = mailpiece_batch(plan.step, campaign, charge_id, (times, is_held));
    let charge = new_charge(&batch, &mailpieces, ChargeKind::Send, campaign, times);
    let copies: Vec<i32> = draft.copies.iter().map(|at| *at as i32).collect();
    tokio::try_join!(
        received,
        create_mailpieces(transaction, &charge, &batch, &mailpieces, now),
        transaction.reserve_send(
            lease,
            &draft.response,
            &copies,
            draft.mailed as i32,
            times.leased_until
        ),
    )?;
    Ok(ReserveOutcome::Open(ReservedSend {
        lease,
        campaign_id: campaign_id.clone(),
        response: draft.response.clone(),
        copies: draft.copies.clone(),
    }))
}

/// What the request adds to the figures of its day.
fn daily_figures(decisions: &[MailingDecision], cards: usize) -> Vec<(CampaignFigure, i64)> {
    let outcomes = decisions.iter().map(|decision| match decision {
        MailingDecision::Mail => (CampaignFigure::Mailed, 1),
        MailingDecision::Copy => (
            CampaignFigure::NotMailed(NotMailedReason::DuplicateRecent),
            1,
        ),
        MailingDecision::Refuse(reason) => (CampaignFigure::NotMailed(*reason), 1),
    });
    [
        (CampaignFigure::Sends, 1),
        (CampaignFigure::Cards, cards as i64),
    ]
    .into_iter()
    .chain(outcomes)
    .collect()
}

/// The values that a language model writes of what was sent wait for it from now on.
async fn queue_ai_columns(
    transaction: &Transaction<'_>,
    plan: &SendPlan<'_>,
) -> Result<(), StoreError> {
    let columns = plan.preparation.fields.columns().iter();
    let keys: Vec<&str> = columns
        .filter(|column| column.prompt.is_some())
        .map(|column| column.name_key.as_str())
        .collect();
    if keys.is_empty() || plan.entries.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = plan.entries.iter().map(|entry| entry.entry_id).collect();
    transaction
        .queue_ai_cells(
            plan.campaign.team_id,
            &keys,
            &ids,
            ai::WAITS,
            plan.times.now,
        )
        .await?;
    Ok(())
}

async fn plan_recheck(
    transaction: &Transaction<'_>,
    plan: &SendPlan<'_>,
    has_waiting: bool,
) -> Result<(), StoreError> {
    if !has_waiting {
        return Ok(());
    }
    let SendPlan {
        campaign, times, ..
    } = plan;
    transaction
        .plan_recheck_job(
            campaign.team_id,
            &campaign.campaign_id,
            times.recheck_at,
            times.now,
        )
        .await
}

/// What the cards of one charge share. Those of a held campaign are held from the beginning.
pub(crate) fn mailpiece_batch<'a>(
    rules: &'a StepRules<'a>,
    campaign: &'a Campaign,
    charge_id: ChargeId,
    (times, is_held): (&DecisionTimes, bool),
) -> MailpieceBatch<'a> {
    MailpieceBatch {
        team_id: campaign.team_id,
        campaign_id: &campaign.campaign_id,
        step: rules.step.step,
        charge_id,
        design_id: rules.design.design_id,
        design_version: rules.design.version,
        product: rules.product,
        postage: rules.step.postage.as_str(),
        price_cents: rules.price_cents,
        mail_by_date: times.mail_by_date,
        print_after: times.print_after,
        is_held,
    }
}

/// The charge for these cards.
pub(crate) fn new_charge<'a>(
    batch: &MailpieceBatch<'a>,
    mailpieces: &[MailpieceRow<'_>],
    kind: ChargeKind,
    campaign: &Campaign,
    times: &DecisionTimes,
) -> NewCharge<'a> {
    NewCharge {
        charge_id: batch.charge_id,
        team_id: batch.team_id,
        campaign_id: batch.campaign_id,
        step: batch.step,
        kind,
        amount_cents: batch.price_cents * mailpieces.len() as i64,
        // A batch is bounded by the recipients or homes of a request.
        mailpieces: mailpieces.len() as i32,
        payment: campaign.payment,
        scheduled_for: times.scheduled_for,
    }
}

/// Makes cards, with their charge, out of the campaign's budget. The campaign is locked.
pub(crate) async fn create_mailpieces(
    transaction: &Transaction<'_>,
    charge: &NewCharge<'_>,
    batch: &MailpieceBatch<'_>,
    mailpieces: &[MailpieceRow<'_>],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let campaign_id: &CampaignId = batch.campaign_id;
    tokio::try_join!(
        transaction.reserve_charge(charge, now),
        transaction.insert_mailpieces(batch, mailpieces, now),
        transaction.commit_campaign_budget(campaign_id, charge.amount_cents),
    )?;
    Ok(())
}
