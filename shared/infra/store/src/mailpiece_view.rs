//! Mailpieces as their team reads them: what is printed, and all that its state follows from.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use model::id::{ChargeId, TeamId};
use model::mailpiece_state::{
    MailpieceBasis, MailpieceFacts, MailpiecePrinting, MailpieceState, WithheldMailpiece,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::charge::ChargeKind;
use crate::error::{Result, StoreError};
use crate::pool::Store;
use crate::team::time_zone_from_row;

/// A mailpiece with what its state follows from.
#[derive(Debug, Clone)]
pub struct FollowedMailpiece {
    /// Its id.
    pub mailpiece_id: Uuid,
    /// Its campaign.
    pub campaign_id: String,
    /// The campaign's step.
    pub step: i16,
    /// The charge that paid for it.
    pub charge_id: ChargeId,
    /// The sender's own id of its recipient, as it was sent last.
    pub reference: Option<String>,
    /// As sent.
    pub first_name: String,
    /// As sent.
    pub last_name: String,
    /// As printed.
    pub line_1: String,
    /// As printed.
    pub line_2: String,
    /// As printed.
    pub city: String,
    /// Two letters.
    pub region: String,
    /// Five digits.
    pub zip: String,
    /// Four digits, when known.
    pub plus4: Option<String>,
    /// What it prints with.
    pub design_id: Uuid,
    /// The design's version.
    pub design_version: i32,
    /// Format of the paper.
    pub product: String,
    /// `standard` or `first_class`.
    pub postage: String,
    /// In cents.
    pub price_cents: i64,
    /// The day on which it is to mail at the latest.
    pub mail_by_date: NaiveDate,
    /// It does not print before.
    pub print_after: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was paid.
    pub settled_at: Option<DateTime<Utc>>,
    /// Out of the queue.
    pub withheld: Option<WithheldMailpiece>,
    /// When its campaign was held, while it is.
    pub campaign_held_at: Option<DateTime<Utc>>,
    /// Whether it could not print.
    pub has_print_problem: bool,
    /// Its print run.
    pub run: Option<MailpieceRun>,
    /// How far it is in the mail.
    pub progress: Option<MailpieceProgress>,
    /// The newest fact that it came into the queue or out of it: what it became, when, and how that is known.
    pub queue_event: Option<(MailpieceState, DateTime<Utc>, MailpieceBasis)>,
}

/// The print run of a mailpiece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailpieceRun {
    /// How far it is.
    pub printing: MailpiecePrinting,
    /// When it was claimed.
    pub claimed_at: DateTime<Utc>,
    /// When its files were kept.
    pub printed_at: Option<DateTime<Utc>>,
}

/// How far a mailpiece is in the mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailpieceProgress {
    /// The furthest state.
    pub state: MailpieceState,
    /// How it is known.
    pub basis: MailpieceBasis,
    /// When it came to it.
    pub reached_at: DateTime<Utc>,
    /// When it was found to be stalled, while it is.
    pub stalled_at: Option<DateTime<Utc>>,
}

/// A fact of a mailpiece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailpieceEvent {
    /// What it became.
    pub state: MailpieceState,
    /// How it is known.
    pub basis: MailpieceBasis,
    /// Who did it or says so.
    pub source: String,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// In words; may be empty.
    pub detail: String,
}

/// What a mailpiece has cost and to whom.
#[derive(Debug, Clone)]
pub struct MailpieceAccount {
    /// What made it.
    pub charge_kind: ChargeKind,
    /// The team's zone.
    pub time_zone: Tz,
}

/// Money that is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailpieceRefund {
    /// When all that its charge gives back had been given back; `None` while some of it is owed.
    pub settled_at: Option<DateTime<Utc>>,
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(format!("{what} of a mailpiece"))
}

fn state_from_name(name: &str) -> Result<MailpieceState> {
    MailpieceState::from_name(name).ok_or_else(|| corrupt("the state"))
}

fn basis_from_name(name: &str) -> Result<MailpieceBasis> {
    MailpieceBasis::from_name(name).ok_or_else(|| corrupt("the basis"))
}

fn progress_from_row(row: &Row) -> Result<Option<MailpieceProgress>> {
    let Some(state) = row.get::<_, Option<&str>>("progress_state") else {
        return Ok(None);
    };
    Ok(Some(MailpieceProgress {
        state: state_from_name(state)?,
        basis: basis_from_name(row.get("progress_basis"))?,
        reached_at: row.get("reached_at"),
        stalled_at: row.get("stalled_at"),
    }))
}

fn run_from_row(row: &Row) -> Option<MailpieceRun> {
    let claimed_at = row.get::<_, Option<DateTime<Utc>>>("claimed_at")?;
    let printed_at: Option<DateTime<Utc>> = row.get("printed_at");
    Some(MailpieceRun {
        printing: match printed_at {
            Some(_) => MailpiecePrinting::Printed,
            None => MailpiecePrinting::Claimed,
        },
        claimed_at,
        printed_at,
    })
}

fn queue_event_from_row(
    row: &Row,
) -> Result<Option<(MailpieceState, DateTime<Utc>, MailpieceBasis)>> {
    let Some(state) = row.get::<_, Option<&str>>("queue_state") else {
        return Ok(None);
    };
    Ok(Some((
        state_from_name(state)?,
        row.get("queue_at"),
        basis_from_name(row.get("queue_basis"))?,
    )))
}

fn followed_mailpiece_from_row(row: &Row) -> Result<FollowedMailpiece> {
    let withheld = row
        .get::<_, Option<&str>>("withheld")
        .map(|name| WithheldMailpiece::from_name(name).ok_or_else(|| corrupt("what withholds it")))
        .transpose()?;
    Ok(FollowedMailpiece {
        mailpiece_id: row.get("mailpiece_id"),
        campaign_id: row.get("campaign_id"),
        step: row.get("step"),
        charge_id: ChargeId(row.get("charge_id")),
        reference: row.get("reference"),
        first_name: row.get("first_name"),
        last_name: row.get("last_name"),
        line_1: row.get("line_1"),
        line_2: row.get("line_2"),
        city: row.get("city"),
        region: row.get("region"),
        zip: row.get("zip"),
        plus4: row.get("plus4"),
        design_id: row.get("design_id"),
        design_version: row.get("design_version"),
        product: row.get("product"),
        postage: row.get("postage"),
        price_cents: row.get("price_cents"),
        mail_by_date: row.get("mail_by_date"),
        print_after: row.get("print_after"),
        created_at: row.get("created_at"),
        settled_at: row.get("settled_at"),
        withheld,
        campaign_held_at: row.get("held_at"),
        has_print_problem: row.get("has_print_problem"),
        run: run_from_row(row),
        progress: progress_from_row(row)?,
        queue_event: queue_event_from_row(row)?,
    })
}

impl FollowedMailpiece {
    /// What its state follows from.
    pub fn facts(&self) -> MailpieceFacts {
        MailpieceFacts {
            withheld: self.withheld,
            is_campaign_held: self.campaign_held_at.is_some(),
            has_print_problem: self.has_print_problem,
            printing: self.run.map(|run| run.printing),
            progress: self.progress.map(|progress| progress.state),
            is_stalled: self
                .progress
                .is_some_and(|progress| progress.stalled_at.is_some()),
        }
    }
}

const FIND: &str = "
    SELECT mailpiece.mailpiece_id, mailpiece.campaign_id, mailpiece.step, mailpiece.charge_id, recipient.reference,
        mailpiece.first_name, mailpiece.last_name, mailpiece.line_1, mailpiece.line_2, mailpiece.city,
        mailpiece.state AS region, mailpiece.zip, mailpiece.plus4, mailpiece.design_id, mailpiece.design_version,
        mailpiece.product, mailpiece.postage, mailpiece.price_cents, mailpiece.mail_by_date, mailpiece.print_after,
        mailpiece.created_at, charge.settled_at, mailpiece.withheld, campaign.held_at,
        mailpiece.print_problem IS NOT NULL AS has_print_problem, run.created_at AS claimed_at, run.printed_at,
        progress.state AS progress_state, progress.basis AS progress_basis, progress.reached_at, progress.stalled_at,
        queue.state AS queue_state, queue.occurred_at AS queue_at, queue.basis AS queue_basis
    FROM unnest($2::uuid[]) AS wanted (id)
    JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.mailpiece_id = wanted.id
    JOIN charges charge ON charge.team_id = $1 AND charge.charge_id = mailpiece.charge_id AND charge.state = 'settled'
    JOIN campaigns campaign ON campaign.campaign_id = mailpiece.campaign_id
    LEFT JOIN print_runs run ON run.run_id = mailpiece.print_run_id
    LEFT JOIN mailpiece_progress progress ON progress.team_id = $1 AND progress.mailpiece_id = mailpiece.mailpiece_id
    LEFT JOIN recipients recipient ON recipient.team_id = $1 AND recipient.campaign_id = mailpiece.campaign_id
        AND recipient.entry_id = mailpiece.entry_id
    LEFT JOIN LATERAL (
        SELECT state, occurred_at, basis FROM mailpiece_events
        WHERE team_id = $1 AND mailpiece_id = mailpiece.mailpiece_id AND state IN ('queued', 'held', 'cancelled')
        ORDER BY occurred_at DESC, event_id DESC LIMIT 1) queue ON true";

impl Store {
    /// These mailpieces of a team, in no order; those that are not paid are left out.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_followed_mailpieces(
        &self,
        team_id: TeamId,
        mailpiece_ids: &[Uuid],
    ) -> Result<Vec<FollowedMailpiece>> {
        if mailpiece_ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.query_rows(FIND, &[&team_id.0, &mailpiece_ids]).await?;
        rows.iter().map(followed_mailpiece_from_row).collect()
    }

    /// The facts of a mailpiece, the oldest first: of more than `limit` the newest.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_mailpiece_events(
        &self,
        team_id: TeamId,
        mailpiece_id: Uuid,
        limit: i64,
    ) -> Result<Vec<MailpieceEvent>> {
        let rows = self
            .query_rows(
                "SELECT state, basis, source, occurred_at, detail FROM (
                     SELECT state, basis, source, occurred_at, detail, event_id FROM mailpiece_events
                     WHERE team_id = $1 AND mailpiece_id = $2
                     ORDER BY occurred_at DESC, event_id DESC LIMIT $3) newest
                 ORDER BY occurred_at, event_id",
                &[&team_id.0, &mailpiece_id, &limit],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(MailpieceEvent {
                    state: state_from_name(row.get(0))?,
                    basis: basis_from_name(row.get(1))?,
                    source: row.get(2),
                    occurred_at: row.get(3),
                    detail: row.get(4),
                })
            })
            .collect()
    }

    /// What made a charge's mailpieces, and where its team is.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such charge.
    pub async fn find_mailpiece_account(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<MailpieceAccount> {
        let sql =
            "SELECT charge.kind, team.time_zone FROM charges charge JOIN teams team USING (team_id)
                   WHERE charge.team_id = $1 AND charge.charge_id = $2";
        let row = self.query_row(sql, &[&team_id.0, &charge_id.0]).await?;
        let row = row.ok_or_else(|| StoreError::NotFound(format!("the charge {charge_id}")))?;
        Ok(MailpieceAccount {
            charge_kind: ChargeKind::from_name(row.get("kind")).ok_or_else(|| corrupt("charge"))?,
            time_zone: time_zone_from_row(&row)?,
        })
    }

    /// What a charge gives back; `None` for nothing.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_charge_refund(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<Option<MailpieceRefund>> {
        let sql = "SELECT count(*), CASE WHEN bool_and(state = 'settled') THEN max(settled_at) END
                   FROM refunds WHERE team_id = $1 AND charge_id = $2";
        let row = self.query_row(sql, &[&team_id.0, &charge_id.0]).await?;
        Ok(row
            .filter(|row| row.get::<_, i64>(0) > 0)
            .map(|row| MailpieceRefund {
                settled_at: row.get(1),
            }))
    }
}
