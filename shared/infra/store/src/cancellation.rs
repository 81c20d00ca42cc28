//! Mailpieces that are cancelled before they print, and the money for them.
//!
//! All of it is one transaction, under the campaign's lock: a mailpiece leaves the queue, its price leaves the campaign's budget, and
//! a refund stands for it. A prepaid balance has the money at once; what a card has paid is owed (`refund.rs`).

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use model::id::{CampaignId, ChargeId, TeamId};
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use uuid::Uuid;

use crate::campaign_day::CampaignFigure;
use crate::error::{Result, StoreError};
use crate::mailpiece_change::NewMailpieceEvent;
use crate::pool::{Store, Transaction};

/// Who takes mailpieces out of the queue for good, and where.
#[derive(Debug, Clone, Copy)]
pub struct MailpieceCancellation<'a> {
    /// Whose they are.
    pub team_id: TeamId,
    /// In which campaign.
    pub campaign_id: &'a CampaignId,
    /// Who does it, as in `mailpiece_events`.
    pub source: &'a str,
}

/// How mailpieces stand that somebody wanted cancelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CancellationCounts {
    /// Cancelled, now or before.
    pub cancelled: i64,
    /// In a print run.
    pub printed: i64,
    /// Of a charge that is still open: nothing can be given back yet.
    pub unpaid: i64,
    /// What was given back for those that are cancelled, in cents.
    pub refunded_cents: i64,
}

/// A mailpiece that was just cancelled.
struct CancelledRow {
    mailpiece_id: Uuid,
    charge_id: Uuid,
    price_cents: i64,
}

/// A printer that is claiming one of them is waited for, and keeps it.
const CANCEL: &str = "
    WITH wanted AS MATERIALIZED (
        SELECT mailpiece.mailpiece_id FROM unnest($3::uuid[]) AS named (mailpiece_id)
        JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.mailpiece_id = named.mailpiece_id
        JOIN charges charge ON charge.team_id = $1 AND charge.charge_id = mailpiece.charge_id
        -- Asked of each that is named, and nothing to look them up by: a campaign may have millions.
        WHERE (mailpiece.campaign_id = $2) IS TRUE AND mailpiece.print_run_id IS NULL
            AND mailpiece.withheld IS DISTINCT FROM 'cancelled' AND charge.state = 'settled'
        ORDER BY mailpiece.mailpiece_id FOR NO KEY UPDATE OF mailpiece)
    UPDATE mailpieces SET withheld = 'cancelled', print_problem = NULL
    FROM wanted WHERE mailpieces.team_id = $1 AND mailpieces.mailpiece_id = wanted.mailpiece_id
    RETURNING mailpieces.mailpiece_id, mailpieces.charge_id, mailpieces.price_cents";

/// A booking has the id of its refund. What costs nothing is booked without entries.
const REFUND: &str = "
    WITH refunded AS (
        INSERT INTO refunds (team_id, refund_id, charge_id, campaign_id, mailpieces, amount_cents, state, payment, source,
            created_at, settled_at, due_at)
        SELECT $1, new.refund_id, charge.charge_id, $2, new.mailpieces, new.amount_cents,
            CASE charge.payment WHEN 'balance' THEN 'settled' ELSE 'owed' END, charge.payment, $3, $4::timestamptz,
            CASE charge.payment WHEN 'balance' THEN $4::timestamptz END, $4
        FROM unnest($5::uuid[], $6::uuid[], $7::integer[], $8::bigint[])
            AS new (refund_id, charge_id, mailpieces, amount_cents)
        JOIN charges charge ON charge.team_id = $1 AND charge.charge_id = new.charge_id
        RETURNING refund_id, amount_cents, state),
    booked AS (
        INSERT INTO ledger_transactions (team_id, transaction_id, kind, refund_id, created_at)
        SELECT $1, refund_id, 'refund', refund_id, $4::timestamptz FROM refunded WHERE state = 'settled'),
    entered AS (
        INSERT INTO ledger_entries (team_id, transaction_id, account, amount_cents)
        SELECT $1, refund_id, account, CASE account WHEN 'prepaid' THEN amount_cents ELSE -amount_cents END
        FROM refunded CROSS JOIN (VALUES ('prepaid'), ('sales')) AS accounts (account)
        WHERE state = 'settled' AND amount_cents > 0)
    SELECT coalesce(sum(amount_cents) FILTER (WHERE state = 'settled'), 0)::bigint FROM refunded";

const COUNT: &str = "
    SELECT count(*) FILTER (WHERE mailpiece.withheld = 'cancelled'), count(*) FILTER (WHERE mailpiece.print_run_id IS NOT NULL),
        count(*) FILTER (WHERE charge.state = 'reserved'),
        coalesce(sum(mailpiece.price_cents) FILTER (WHERE mailpiece.withheld = 'cancelled'), 0)::bigint
    FROM unnest($2::uuid[]) AS named (mailpiece_id)
    JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.mailpiece_id = named.mailpiece_id
    JOIN charges charge ON charge.team_id = $1 AND charge.charge_id = mailpiece.charge_id";

/// Of Neighborhood Mail, those that the recipient's last request has mailed around it.
const BY_REFERENCE: &str = "
    SELECT mailpiece.mailpiece_id
    FROM recipients recipient JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.campaign_id = $2
        AND mailpiece.address_id = recipient.address_id AND mailpiece.entry_id = recipient.entry_id
    WHERE recipient.team_id = $1 AND recipient.campaign_id = $2 AND recipient.reference = $3
    UNION
    SELECT mailpiece.mailpiece_id
    FROM recipients recipient JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.charge_id = recipient.charge_id
        AND mailpiece.center_entry_id = recipient.entry_id
    WHERE recipient.team_id = $1 AND recipient.campaign_id = $2 AND recipient.reference = $3
    LIMIT $4";

/// One look into the index for each address.
const WITHHOLD_UNWANTED: &str = "
    WITH unwanted AS MATERIALIZED (
        SELECT queued.team_id, queued.mailpiece_id FROM campaigns campaign CROSS JOIN unnest($2::uuid[]) AS listed (address_id)
        CROSS JOIN LATERAL (
            SELECT mailpiece.team_id, mailpiece.mailpiece_id FROM mailpieces mailpiece
            WHERE mailpiece.team_id = campaign.team_id AND mailpiece.campaign_id = campaign.campaign_id
                AND mailpiece.address_id = listed.address_id AND mailpiece.print_run_id IS NULL
                AND (mailpiece.withheld IS NULL OR mailpiece.withheld = 'held') OFFSET 0) queued
        WHERE campaign.campaign_id = $1 AND campaign.cancels_unwanted)
    UPDATE mailpieces SET withheld = 'unwanted' FROM unwanted
    WHERE mailpieces.team_id = unwanted.team_id AND mailpieces.mailpiece_id = unwanted.mailpiece_id
        AND mailpieces.print_run_id IS NULL";

const UNWANTED: &str = "
    SELECT mailpiece.mailpiece_id FROM mailpieces mailpiece
    JOIN charges charge ON charge.team_id = mailpiece.team_id AND charge.charge_id = mailpiece.charge_id
    WHERE mailpiece.team_id = $1 AND mailpiece.campaign_id = $2 AND mailpiece.withheld = 'unwanted' AND charge.state = 'settled'
    ORDER BY mailpiece.mailpiece_id LIMIT $3";

impl Store {
    /// Campaigns with mailpieces that nobody wants any more; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_unwanted_campaigns(&self, limit: i64) -> Result<Vec<(TeamId, CampaignId)>> {
        let rows = self
            .query_rows(
                "SELECT team_id, campaign_id FROM mailpieces WHERE withheld = 'unwanted'
                 GROUP BY team_id, campaign_id ORDER BY team_id, campaign_id LIMIT $1",
                &[&limit],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let id = row.get::<_, &str>(1).parse();
                id.map(|id| (TeamId(row.get(0)), id))
                    .map_err(|_| StoreError::Corrupt("the id of a campaign".to_owned()))
            })
            .collect()
    }

    /// Cancels mailpieces of a campaign that nobody wants any more and that are paid for, and gives back what they cost; at most
    /// `limit`. Returns whether some are left.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn cancel_unwanted_portion(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        transaction.lock_campaign(team_id, campaign_id).await?;
        let rows = transaction
            .query_rows(UNWANTED, &[&team_id.0, &campaign_id.as_str(), &limit])
            .await?;
        let mailpiece_ids: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
        let cancellation = MailpieceCancellation {
            team_id,
            campaign_id,
            source: "unwanted",
        };
        transaction
            .cancel_mailpieces(cancellation, &mailpiece_ids, now)
            .await?;
        transaction.commit().await?;
        Ok(i64::try_from(rows.len()).is_ok_and(|found| found >= limit))
    }

    /// The campaign of a team's mailpiece; `None` when the team has no such mailpiece.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_mailpiece_campaign(
        &self,
        team_id: TeamId,
        mailpiece_id: Uuid,
    ) -> Result<Option<CampaignId>> {
        let sql = "SELECT campaign_id FROM mailpieces WHERE team_id = $1 AND mailpiece_id = $2";
        let row = self.query_row(sql, &[&team_id.0, &mailpiece_id]).await?;
        let id = row.map(|row| row.get::<_, &str>(0).parse());
        id.transpose()
            .map_err(|_| StoreError::Corrupt("the campaign of a mailpiece".to_owned()))
    }
}

impl Transaction<'_> {
    /// Takes the queued mailpieces of these addresses out of the queue, if their campaign cancels what nobody wants any more: a
    /// mailer does it behind. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub(crate) async fn withhold_unwanted_mailpieces(
        &self,
        campaign_id: &CampaignId,
        address_ids: &[Uuid],
    ) -> Result<u64> {
        self.execute(WITHHOLD_UNWANTED, &[&campaign_id.as_str(), &address_ids])
            .await
    }

    /// The mailpieces of a charge, in the order of their ids; a charge has as many as a request may mail.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_charge_mailpiece_ids(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<Vec<Uuid>> {
        let sql = "SELECT mailpiece_id FROM mailpieces WHERE team_id = $1 AND charge_id = $2 ORDER BY mailpiece_id";
        let rows = self.query_rows(sql, &[&team_id.0, &charge_id.0]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The mailpieces of a campaign that went to its recipients with this reference; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_reference_mailpiece_ids(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        reference: &str,
        limit: i64,
    ) -> Result<Vec<Uuid>> {
        let rows = self
            .query_rows(
                BY_REFERENCE,
                &[&team_id.0, &campaign_id.as_str(), &reference, &limit],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// How these mailpieces of a team stand.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_cancellations(
        &self,
        team_id: TeamId,
        mailpiece_ids: &[Uuid],
    ) -> Result<CancellationCounts> {
        let row = self.query_row(COUNT, &[&team_id.0, &mailpiece_ids]).await?;
        Ok(
            row.map_or_else(CancellationCounts::default, |row| CancellationCounts {
                cancelled: row.get(0),
                printed: row.get(1),
                unpaid: row.get(2),
                refunded_cents: row.get(3),
            }),
        )
    }

    /// Cancels those of these mailpieces that are paid for and in no print run, and gives back what they cost. The caller holds the
    /// campaign locked, as everybody does who makes or takes back mailpieces. Returns how many were not cancelled before.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn cancel_mailpieces(
        &self,
        cancellation: MailpieceCancellation<'_>,
        mailpiece_ids: &[Uuid],
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let MailpieceCancellation {
            team_id,
            campaign_id,
            source,
        } = cancellation;
        let rows = self
            .query_rows(CANCEL, &[&team_id.0, &campaign_id.as_str(), &mailpiece_ids])
            .await?;
        if rows.is_empty() {
            return Ok(0);
        }
        let cancelled: Vec<CancelledRow> = rows
            .iter()
            .map(|row| CancelledRow {
                mailpiece_id: row.get(0),
                charge_id: row.get(1),
                price_cents: row.get(2),
            })
            .collect();
        self.refund_cancelled(cancellation, &cancelled, now).await?;
        let today = self.find_team_day(team_id, now).await?;
        let figures = [(
            CampaignFigure::Reached(MailpieceState::Cancelled),
            cancelled.len() as i64,
        )];
        self.update_campaign_day(team_id, campaign_id, today, &figures)
            .await?;
        let events: Vec<NewMailpieceEvent<'_>> = cancelled
            .iter()
            .map(|row| NewMailpieceEvent {
                mailpiece_id: row.mailpiece_id,
                event_id: Uuid::now_v7(),
                state: MailpieceState::Cancelled,
                basis: MailpieceBasis::Reported,
                source,
                occurred_at: now,
                detail: "",
            })
            .collect();
        self.record_mailpiece_events(team_id, &events, now).await?;
        Ok(cancelled.len())
    }

    /// Gives back what these mailpieces cost: a refund for each charge.
    async fn refund_cancelled(
        &self,
        cancellation: MailpieceCancellation<'_>,
        cancelled: &[CancelledRow],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let MailpieceCancellation {
            team_id,
            campaign_id,
            source,
        } = cancellation;
        let mut by_charge: BTreeMap<Uuid, (i32, i64)> = BTreeMap::new();
        for row in cancelled {
            let (mailpieces, cents) = by_charge.entry(row.charge_id).or_default();
            *mailpieces += 1;
            *cents += row.price_cents;
        }
        let refund_ids: Vec<Uuid> = by_charge.keys().map(|_| Uuid::now_v7()).collect();
        let charge_ids: Vec<Uuid> = by_charge.keys().copied().collect();
        let mailpieces: Vec<i32> = by_charge.values().map(|(count, _)| *count).collect();
        let cents: Vec<i64> = by_charge.values().map(|(_, cents)| *cents).collect();
        let row = self
            .query_row(
                REFUND,
                &[
                    &team_id.0,
                    &campaign_id.as_str(),
                    &source,
                    &now,
                    &refund_ids,
                    &charge_ids,
                    &mailpieces,
                    &cents,
                ],
            )
            .await?;
        let to_balance: i64 = row.map_or(0, |row| row.get(0));
        self.execute(
            "UPDATE campaigns SET committed_cents = committed_cents - $2, refunded_cents = refunded_cents + $2
             WHERE campaign_id = $1",
            &[&campaign_id.as_str(), &cents.iter().sum::<i64>()],
        )
        .await?;
        // In the order of a charge, whose transaction may be under way.
        for (account, amount) in [("prepaid", to_balance), ("sales", -to_balance)] {
            if amount != 0 {
                self.add_to_account(team_id, account, amount).await?;
            }
        }
        Ok(())
    }

    /// The day by a team's calendar.
    async fn find_team_day(&self, team_id: TeamId, now: DateTime<Utc>) -> Result<NaiveDate> {
        let sql =
            "SELECT ($2::timestamptz AT TIME ZONE time_zone)::date FROM teams WHERE team_id = $1";
        let row = self.query_row(sql, &[&team_id.0, &now]).await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the team {team_id}")))
    }
}
