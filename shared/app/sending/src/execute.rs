//! A claimed request up to the point where it has taken effect: verify, judge, decide what cards print, reserve. A dry
//! run goes the same way up to its last step.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use address::AddressVerdict;
use chrono::{DateTime, NaiveDate, Utc};
use contract::send::{SendError, SendRequest};
use model::id::TeamId;
use pictures::PictureFetchError;
use store::{
    BookEntryValues, Campaign, RecipientListings, SendLease, StoreError, TeamColumn,
    retry_conflicts,
};
use uuid::Uuid;
use verification::VerificationError;

use crate::MailerState;
use crate::assess::{AssessedRecipient, AssessmentContext, assign_ids, entry_rows};
use crate::calendar::decision_times;
use crate::cards::{MailpieceContext, MailpieceDraft, MailpieceDraftError, draft_for_candidates};
use crate::decide::MailingCandidate;
use crate::fields::{ColumnLimits, RequestColumns};
use crate::neighborhood::{NeighborhoodCenter, NeighborhoodHomes};
use crate::prepare::{PreparedRequest, prepare_request};
use crate::reserve::{ReserveError, ReserveOutcome, SendPlan, reserve_send};
use crate::rules::{AudienceRules, StepRules};
use crate::validate::dry_run;

/// Of the time that a request has left, the part that its pictures may take.
const PICTURES_SHARE: u32 = 2;

/// What a request is to come to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SendMode {
    /// Cards and a charge, under this lease.
    Reserve(SendLease),
    /// An answer, and nothing else.
    DryRun,
}

/// A request on its way.
pub(crate) struct SendExecution<'a> {
    pub(crate) mode: SendMode,
    pub(crate) campaign: &'a Campaign,
    pub(crate) step: &'a StepRules<'a>,
    pub(crate) request: &'a SendRequest<'a>,
    /// The start of the day that its sender wants, when that is to come.
    pub(crate) scheduled_for: Option<DateTime<Utc>>,
    /// When nobody waits for it any more, in milliseconds since 1970.
    pub(crate) deadline_ms: i64,
}

impl SendExecution<'_> {
    /// What its cards are decided with.
    fn mailpiece_context(&self, mailer: &MailerState, today: NaiveDate) -> MailpieceContext<'_> {
        MailpieceContext {
            team_id: self.campaign.team_id,
            rules: &self.step.cards,
            today,
            requires_pictures: self.request.require_variable_images,
            time: self.picture_timeout(mailer),
        }
    }

    /// The time that there is for pictures, so that a slow host does not keep the request from its deadline.
    fn picture_timeout(&self, mailer: &MailerState) -> Duration {
        let left = self.deadline_ms - mailer.process.clock.now().timestamp_millis();
        Duration::from_millis(u64::try_from(left).unwrap_or(0)) / PICTURES_SHARE
    }
}

/// Verifies, judges and reserves.
pub(crate) async fn execute_send(
    mailer: &MailerState,
    execution: &SendExecution<'_>,
) -> Result<ReserveOutcome, ReserveError> {
    let SendExecution {
        campaign, request, ..
    } = *execution;
    let columns = mailer.process.store.list_columns(campaign.team_id).await?;
    let mut preparation = prepare_columns(mailer, request, columns);
    let inputs: Vec<_> = preparation
        .recipients
        .iter()
        .map(|recipient| recipient.address())
        .collect();
    let verdicts = mailer
        .verify_addresses(&inputs, campaign.strictness)
        .await
        .map_err(reserve_error_from_verify)?;
    if matches!(execution.mode, SendMode::Reserve(_))
        && !preparation.fields.new_columns().is_empty()
    {
        preparation = create_columns(mailer, campaign.team_id, request).await?;
    }
    assess_and_reserve(mailer, execution, &preparation, &verdicts).await
}

fn prepare_columns<'a>(
    mailer: &MailerState,
    request: &'a SendRequest<'_>,
    columns: Vec<TeamColumn>,
) -> PreparedRequest<'a> {
    let settings = &mailer.process.config.mailer;
    let limits = ColumnLimits {
        per_request: settings.new_columns_per_request,
        per_team: settings.api_columns_per_team,
    };
    let types = request
        .field_types
        .iter()
        .map(|(name, column_type)| (name.as_ref(), *column_type));
    let fields = RequestColumns::new(columns, types, limits);
    tokio::task::block_in_place(|| prepare_request(request, fields))
}

/// Makes the request's new columns, under the team's lock and in a transaction of its own, so that it is short however
/// many recipients the request has and whatever other requests make. Only a request that is about to take effect comes
/// here; should it fail after all, its columns stay, and a repeat finds them.
async fn create_columns<'a>(
    mailer: &MailerState,
    team_id: TeamId,
    request: &'a SendRequest<'_>,
) -> Result<PreparedRequest<'a>, StoreError> {
    retry_conflicts(|| async {
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let columns = transaction.lock_columns(team_id).await?;
        let preparation = prepare_columns(mailer, request, columns);
        let new = preparation.fields.new_columns();
        transaction
            .insert_columns(team_id, new, mailer.process.clock.now())
            .await?;
        transaction.commit().await?;
        Ok(preparation)
    })
    .await
}

async fn assess_and_reserve(
    mailer: &MailerState,
    execution: &SendExecution<'_>,
    preparation: &PreparedRequest<'_>,
    verdicts: &[AddressVerdict],
) -> Result<ReserveOutcome, ReserveError> {
    let SendExecution { campaign, step, .. } = *execution;
    let rules = AudienceRules::compile(campaign, preparation.fields.columns())
        .map_err(ReserveError::Refused)?;
    let assessed = tokio::task::block_in_place(|| assign_ids(&preparation.recipients, verdicts));
    let ((facts, stored), entries) = tokio::try_join!(
        biased;
        load_recipient_facts(mailer, campaign, (&rules, step), &assessed),
        // While the database looks.
        async { Ok(tokio::task::block_in_place(|| entry_rows(&assessed, preparation))) },
    )?;
    let judgement = AssessmentContext {
        rules: &rules,
        facts: &facts,
        stored: &stored,
        fields: &preparation.fields,
        today: mailer
            .process
            .clock
            .now()
            .with_timezone(&campaign.time_zone)
            .date_naive(),
        are_centers: campaign.neighborhood.is_some(),
    };
    let (mut candidates, destinations): (Vec<_>, Vec<_>) = tokio::task::block_in_place(|| {
        let judged = assessed.iter();
        judged
            .map(|one| {
                (
                    judgement.assess_candidate(one),
                    judgement.qr_destinations(one, &step.cards.design.links),
                )
            })
            .unzip()
    });
    let mut neighborhoods =
        find_neighborhoods(mailer, campaign, &rules, &assessed, &candidates).await?;
    let deciding = execution.mailpiece_context(mailer, judgement.today);
    let cards = match &mut neighborhoods {
        None => {
            let values = |at: usize| judgement.mailpiece_values(&assessed[at], &step.cards);
            draft_for_candidates(mailer, &deciding, &mut candidates, values)
                .await
                .map_err(reserve_error_from_mailpieces)?
        }
        Some(neighborhoods) => {
            neighborhoods
                .draft_mailpieces(mailer, &deciding, &rules)
                .await
                .map_err(reserve_error_from_mailpieces)?;
            vec![MailpieceDraft::default(); candidates.len()]
        }
    };
    let plan = SendPlan {
        campaign,
        step,
        preparation,
        assessed: &assessed,
        entries: &entries,
        candidates: &candidates,
        listings: &facts,
        destinations: &destinations,
        cards: &cards,
        neighborhoods: neighborhoods.as_ref(),
        rules: &rules,
        // Of now: pictures may have taken their time.
        times: decision_times(
            &mailer.process.config,
            campaign,
            step,
            execution.scheduled_for,
            mailer.process.clock.now(),
        ),
        expect_total: execution.request.expect_total,
    };
    match execution.mode {
        SendMode::Reserve(lease) => reserve_with_retry(mailer, lease, &plan).await,
        SendMode::DryRun => Ok(ReserveOutcome::Finished(dry_run(mailer, &plan).await?)),
    }
}

/// A request whose cards could not be decided is refused as a whole.
fn reserve_error_from_mailpieces(error: MailpieceDraftError) -> ReserveError {
    match error {
        MailpieceDraftError::Verify(error) => reserve_error_from_verify(error),
        MailpieceDraftError::Pictures(PictureFetchError::Store(error)) => {
            ReserveError::Store(error)
        }
        error => {
            tracing::error!(error = &error as &dyn Error, "cards cannot be decided");
            ReserveError::Refused(SendError::InternalError)
        }
    }
}

/// A request whose addresses could not be verified is refused as a whole.
fn reserve_error_from_verify(error: VerificationError) -> ReserveError {
    match error {
        VerificationError::Unavailable(_) => {
            tracing::warn!(error = &error as &dyn Error, "a request is refused");
            ReserveError::Refused(SendError::ValidationUnavailable)
        }
        VerificationError::Store(error) => ReserveError::Store(error),
    }
}

/// Reserving meets another transaction only when entries are shared with another campaign's request.
async fn reserve_with_retry(
    mailer: &MailerState,
    lease: SendLease,
    plan: &SendPlan<'_>,
) -> Result<ReserveOutcome, ReserveError> {
    retry_conflicts(|| async {
        match reserve_send(mailer, lease, plan).await {
            Err(ReserveError::Store(error)) => Err(error),
            other => Ok(other),
        }
    })
    .await?
}

/// What the database knows of the recipients: lists by address, and stored values where conditions or the card need them.
async fn load_recipient_facts(
    mailer: &MailerState,
    campaign: &Campaign,
    (rules, step): (&AudienceRules, &StepRules<'_>),
    assessed: &[AssessedRecipient<'_>],
) -> Result<(RecipientListings, HashMap<Uuid, BookEntryValues>), StoreError> {
    let store = &mailer.process.store;
    let corrected = assessed
        .iter()
        .filter(|one| one.written_id != one.address_id);
    let written_ids = corrected.map(|one| one.written_id);
    let address_ids: Vec<Uuid> = assessed
        .iter()
        .map(|one| one.address_id)
        .chain(written_ids)
        .collect();
    let facts = store
        .find_recipient_listings(campaign.team_id, &campaign.campaign_id, &address_ids)
        .await?;
    if !rules.has_conditions() && !step.cards.design.uses_stored_values() {
        return Ok((facts, HashMap::new()));
    }
    let entry_ids: Vec<Uuid> = assessed.iter().map(|one| one.entry_id).collect();
    Ok((
        facts,
        store
            .find_entry_values(campaign.team_id, &entry_ids)
            .await?,
    ))
}

/// Neighborhood Mail: the homes around the centers that are to be looked around, judged as far as that goes before the
/// campaign is locked. `None` for other campaigns.
async fn find_neighborhoods(
    mailer: &MailerState,
    campaign: &Campaign,
    rules: &AudienceRules,
    assessed: &[AssessedRecipient<'_>],
    candidates: &[MailingCandidate],
) -> Result<Option<NeighborhoodHomes>, StoreError> {
    let Some(settings) = campaign.neighborhood else {
        return Ok(None);
    };
    let store = &mailer.process.store;
    let centers: Vec<NeighborhoodCenter> = assessed
        .iter()
        .zip(candidates)
        .map(|(one, candidate)| NeighborhoodCenter {
            address_id: one.address_id,
            refusal: candidate.refusal(),
            place: one.coordinates(),
        })
        .collect();
    let mut neighborhoods = NeighborhoodHomes::find(store, settings, &centers).await?;
    let ids = neighborhoods.address_ids();
    let facts = store
        .find_recipient_listings(campaign.team_id, &campaign.campaign_id, &ids)
        .await?;
    neighborhoods.judge_homes(rules, &facts);
    Ok(Some(neighborhoods))
}
