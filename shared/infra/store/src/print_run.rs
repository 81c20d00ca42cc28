//! Runs of the printer: which cards each prints, and who works on it.
//!
//! A card is in one run at the most, from the statement that claims it on, so that two printers never print the same
//! one. What a run is made of does not change until it ends; a printer that dies leaves it to the next one.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use model::id::TeamId;
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::mailpiece_change::NewMailpieceEvent;
use crate::pool::{Store, Transaction};

/// What a new run takes.
#[derive(Debug, Clone)]
pub struct PrintRunRequest<'a> {
    /// Cards of this product.
    pub product: &'a str,
    /// As many as this at the most.
    pub limit: i64,
    /// That mail by this day; `None` for those whose time has come.
    pub mail_by: Option<NaiveDate>,
    /// How many days before its mail-by date the time of a card has come, by its team's calendar.
    pub lead_days: i32,
    /// What may show on paper besides the cards, one at least: the run gets the one whose mailer has most serial numbers left.
    pub papers: &'a [PrintPaper<'a>],
}

/// What shows on paper besides the cards.
#[derive(Debug, Clone, Copy)]
pub struct PrintPaper<'a> {
    /// As it is kept.
    pub settings: &'a Value,
    /// Whose serial numbers the barcodes carry; `None` for cards without barcodes.
    pub mailer_id: Option<&'a str>,
}

/// How many serial numbers of barcodes were used so lately that they must not come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SerialUsage {
    /// Of all mailers that printed lately.
    pub used: i64,
    /// How many these mailers have.
    pub serials: i64,
}

/// The paper of a new run, and how many cards it may have.
struct ChosenPaper<'a> {
    paper: PrintPaper<'a>,
    /// Serial numbers that are free; `None` without barcodes.
    room: Option<i64>,
    /// When there are more.
    free_on: Option<NaiveDate>,
}

/// The right to work on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintLease {
    /// The run.
    pub run_id: Uuid,
    /// Fences out whoever held it before.
    pub lease_id: Uuid,
}

/// A run that this printer holds.
#[derive(Debug, Clone)]
pub struct PrintRun {
    /// The right to work on it.
    pub lease: PrintLease,
    /// What its cards are.
    pub product: String,
    /// How many it took.
    pub mailpieces: i32,
    /// What shows on paper besides the cards, as of the claim.
    pub settings: Value,
    /// The barcode's serial number of the card at position 1.
    pub first_serial: i64,
    /// When it was claimed.
    pub created_at: DateTime<Utc>,
}

/// A card that could not print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideMailpiece {
    /// Its owner.
    pub team_id: TeamId,
    /// The card.
    pub mailpiece_id: Uuid,
    /// A sentence that says why.
    pub problem: String,
}

fn print_run_from_row(row: &Row, lease_id: Uuid) -> PrintRun {
    PrintRun {
        lease: PrintLease {
            run_id: row.get("run_id"),
            lease_id,
        },
        product: row.get("product"),
        mailpieces: row.get("mailpieces"),
        settings: row.get("settings"),
        first_serial: row.get("first_serial"),
        created_at: row.get("created_at"),
    }
}

/// The order of a run's cards is that in which the post office wants them: by class, then by ZIP.
const CLAIM: &str = "
    WITH due AS (
        SELECT mailpiece.team_id, mailpiece.mailpiece_id, mailpiece.postage, mailpiece.zip, mailpiece.plus4
        FROM mailpieces mailpiece JOIN charges charge USING (team_id, charge_id) JOIN teams team USING (team_id)
            JOIN campaigns campaign ON campaign.campaign_id = mailpiece.campaign_id
        WHERE mailpiece.product = $1 AND mailpiece.print_run_id IS NULL AND mailpiece.print_problem IS NULL
            AND mailpiece.withheld IS NULL AND (mailpiece.print_after IS NULL OR mailpiece.print_after <= $4)
            -- Until the mailpieces of a held campaign are out of the index (campaign_hold.rs).
            AND campaign.held_at IS NULL
            -- Past the first date on which it is that day nowhere yet: what the index can skip.
            AND mailpiece.mail_by_date <= coalesce($2, $4::timestamptz::date + $3::integer + 1)
            AND mailpiece.mail_by_date <= coalesce($2, ($4 AT TIME ZONE team.time_zone)::date + $3)
            AND charge.state = 'settled'
        ORDER BY mailpiece.mail_by_date LIMIT $5
        FOR UPDATE OF mailpiece SKIP LOCKED),
    placed AS (
        SELECT team_id, mailpiece_id, row_number() OVER (ORDER BY postage, zip, plus4, mailpiece_id) AS position FROM due),
    claimed AS (
        UPDATE mailpieces mailpiece SET print_run_id = $6, print_position = placed.position
        FROM placed WHERE mailpiece.team_id = placed.team_id AND mailpiece.mailpiece_id = placed.mailpiece_id
        RETURNING mailpiece.team_id, mailpiece.mail_by_date),
    noted AS (
        INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
        SELECT DISTINCT team_id, 'mailpieces', $6::uuid, ARRAY[$6::uuid], 'print_run' FROM claimed)
    SELECT count(*), max(mail_by_date) FROM claimed";

/// Whoever ends a run waits here for another printer at the most: the figure is nobody else's.
const COUNT_PRINTED: &str = "
    INSERT INTO campaign_days AS stored (team_id, day, campaign_id, figure, slot, amount)
    SELECT printed.team_id, ($2 AT TIME ZONE (SELECT time_zone FROM teams WHERE teams.team_id = printed.team_id))::date,
        printed.campaign_id, 'printed', 0, printed.amount
    FROM (
        SELECT team_id, campaign_id, count(*) AS amount FROM mailpieces WHERE print_run_id = $1
        GROUP BY team_id, campaign_id) printed
    ORDER BY printed.team_id, printed.campaign_id
    ON CONFLICT (team_id, day, campaign_id, figure, slot) DO UPDATE SET amount = stored.amount + excluded.amount";

/// Cards that one transaction puts into the queue again.
const REQUEUED_ROWS: i64 = 1_000;

impl Store {
    /// Claims cards for a new run. `None` when there are none that nobody else is claiming.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when there are cards and no serial number is free for them; else when the database cannot be asked.
    pub async fn claim_print_run(
        &self,
        claim: &PrintRunRequest<'_>,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
    ) -> Result<Option<PrintRun>> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let lease = PrintLease {
            run_id: Uuid::now_v7(),
            lease_id: Uuid::new_v4(),
        };
        // First, so that two printers do not count the same numbers as free.
        let chosen = transaction.choose_print_paper(claim.papers, now).await?;
        let room = chosen.room.unwrap_or(i64::MAX);
        let (mailpieces, last_mail_by_date) = transaction
            .claim_due_mailpieces(claim, room.clamp(1, claim.limit), lease.run_id, now)
            .await?;
        if mailpieces == 0 {
            return Ok(None);
        }
        if room == 0 {
            return Err(StoreError::Limit(describe_missing_serials(
                claim.papers,
                chosen.free_on,
            )));
        }
        let PrintPaper {
            settings,
            mailer_id,
        } = chosen.paper;
        let first_serial = transaction
            .reserve_print_serials(mailer_id, mailpieces)
            .await?;
        transaction
            .execute(
                "INSERT INTO print_runs (run_id, product, state, mailpieces, settings, mailer_id, first_serial,
                     last_mail_by_date, lease_id, leased_until, created_at)
                 VALUES ($1, $2, 'claimed', $3, $4, $5, $6, $7, $8, $9, $10)",
                &[
                    &lease.run_id,
                    &claim.product,
                    &mailpieces,
                    settings,
                    &mailer_id,
                    &first_serial,
                    &last_mail_by_date,
                    &lease.lease_id,
                    &leased_until,
                    &now,
                ],
            )
            .await?;
        transaction.commit().await?;
        let (product, settings) = (claim.product.to_owned(), settings.clone());
        Ok(Some(PrintRun {
            lease,
            product,
            mailpieces,
            settings,
            first_serial,
            created_at: now,
        }))
    }

    /// How many serial numbers of barcodes must not come again yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_used_serials(&self, now: DateTime<Utc>) -> Result<SerialUsage> {
        let sql = "SELECT coalesce(sum(used), 0)::bigint, coalesce(sum(serials), 0)::bigint
                   FROM print_serials_used($1) WHERE used > 0";
        let row = self.query_row(sql, &[&now.date_naive()]).await?;
        Ok(row.map_or(
            SerialUsage {
                used: 0,
                serials: 0,
            },
            |row| SerialUsage {
                used: row.get(0),
                serials: row.get(1),
            },
        ))
    }

    /// Takes over the oldest run whose printer has been silent past its lease. `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn take_over_print_run(
        &self,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
    ) -> Result<Option<PrintRun>> {
        let lease_id = Uuid::new_v4();
        let row = self
            .query_row(
                "UPDATE print_runs SET lease_id = $1, leased_until = $3
                 WHERE run_id = (
                     SELECT run_id FROM print_runs WHERE state = 'claimed' AND leased_until < $2
                     ORDER BY leased_until LIMIT 1 FOR UPDATE SKIP LOCKED)
                 RETURNING run_id, product, mailpieces, settings, first_serial, created_at",
                &[&lease_id, &now, &leased_until],
            )
            .await?;
        Ok(row.map(|row| print_run_from_row(&row, lease_id)))
    }

    /// How many runs other printers work on.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_active_print_runs(&self, now: DateTime<Utc>) -> Result<i64> {
        let sql = "SELECT count(*) FROM print_runs WHERE state = 'claimed' AND leased_until >= $1";
        Ok(self
            .query_row(sql, &[&now])
            .await?
            .map_or(0, |row| row.get(0)))
    }

    /// Keeps the right to work on a run.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another printer has taken it over.
    pub async fn renew_print_lease(
        &self,
        lease: PrintLease,
        leased_until: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE print_runs SET leased_until = $3 WHERE run_id = $1 AND lease_id = $2 AND state = 'claimed'",
                &[&lease.run_id, &lease.lease_id, &leased_until],
            )
            .await?;
        if changed == 1 {
            Ok(())
        } else {
            Err(StoreError::LeaseLost)
        }
    }

    /// Gives a run back, for the next printer to take over at once.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked; the run is free when the lease has run out.
    pub async fn release_print_run(&self, lease: PrintLease, now: DateTime<Utc>) -> Result<()> {
        let before = now - chrono::TimeDelta::seconds(1);
        self.execute(
            "UPDATE print_runs SET leased_until = $3 WHERE run_id = $1 AND lease_id = $2 AND state = 'claimed'",
            &[&lease.run_id, &lease.lease_id, &before],
        )
        .await?;
        Ok(())
    }

    /// Ends a run whose files are kept: its cards are printed, but for those set aside, which leave it.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another printer has taken it over: nothing changes then.
    pub async fn complete_print_run(
        &self,
        lease: PrintLease,
        set_aside: &[SetAsideMailpiece],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let count = i32::try_from(set_aside.len()).unwrap_or(i32::MAX);
        let changed = transaction
            .execute(
                "UPDATE print_runs SET state = 'printed', printed_at = $3, set_aside = $4
                 WHERE run_id = $1 AND lease_id = $2 AND state = 'claimed'",
                &[&lease.run_id, &lease.lease_id, &now, &count],
            )
            .await?;
        if changed != 1 {
            return Err(StoreError::LeaseLost);
        }
        transaction
            .set_aside_mailpieces(lease.run_id, set_aside)
            .await?;
        transaction
            .note_printed_run(lease.run_id, set_aside, now)
            .await?;
        transaction.commit().await
    }

    /// Puts cards that could not print into the queue again, in portions. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked; portions before stay.
    pub async fn requeue_set_aside_mailpieces(&self, now: DateTime<Utc>) -> Result<u64> {
        let mut requeued = 0;
        loop {
            let mut connection = self.connection().await?;
            let transaction = connection.begin_transaction().await?;
            let portion = transaction.requeue_portion(now).await?;
            transaction.commit().await?;
            requeued += portion as u64;
            if portion < REQUEUED_ROWS as usize {
                return Ok(requeued);
            }
        }
    }

    /// How many cards could not print and wait to be tried again.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_set_aside_mailpieces(&self) -> Result<i64> {
        let sql = "SELECT count(*) FROM mailpieces WHERE print_problem IS NOT NULL";
        let row = self.query_row(sql, &[]).await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::Corrupt("a count".to_owned()))
    }
}

fn describe_missing_serials(papers: &[PrintPaper<'_>], free_on: Option<NaiveDate>) -> String {
    let mailers: Vec<&str> = papers.iter().filter_map(|paper| paper.mailer_id).collect();
    let again = free_on
        .map(|date| format!(" until {date}"))
        .unwrap_or_default();
    format!(
        "no serial number is free for barcodes{again}: all of {} were used within 45 days. The cards wait; more mailer ids \
         (print.more_mailer_ids) print them now",
        mailers.join(", ")
    )
}

impl Transaction<'_> {
    /// The paper whose mailer has used the least part of its serial numbers. Nobody else chooses until the transaction ends.
    async fn choose_print_paper<'p>(
        &self,
        papers: &'p [PrintPaper<'p>],
        now: DateTime<Utc>,
    ) -> Result<ChosenPaper<'p>> {
        let first = papers
            .first()
            .ok_or_else(|| StoreError::NotFound("the paper".to_owned()))?;
        let mailers: Vec<&str> = papers.iter().filter_map(|paper| paper.mailer_id).collect();
        if mailers.is_empty() {
            return Ok(ChosenPaper {
                paper: *first,
                room: None,
                free_on: None,
            });
        }
        self.execute(
            "INSERT INTO print_serials AS stored (mailer_id, next_serial)
             SELECT mailer_id, 0 FROM unnest($1::text[]) AS new (mailer_id) ORDER BY mailer_id
             ON CONFLICT (mailer_id) DO UPDATE SET next_serial = stored.next_serial",
            &[&mailers],
        )
        .await?;
        let row = self
            .query_row(
                "SELECT mailer_id, greatest(serials - used, 0), (SELECT min(free_on) FROM print_serials_used($1)
                     WHERE mailer_id = ANY ($2))
                 FROM print_serials_used($1) WHERE mailer_id = ANY ($2)
                 ORDER BY used::float8 / serials, mailer_id LIMIT 1",
                &[&now.date_naive(), &mailers],
            )
            .await?
            .ok_or_else(|| StoreError::Corrupt("serial numbers".to_owned()))?;
        let chosen: &str = row.get(0);
        let paper = papers
            .iter()
            .find(|paper| paper.mailer_id == Some(chosen))
            .unwrap_or(first);
        Ok(ChosenPaper {
            paper: *paper,
            room: Some(row.get(1)),
            free_on: row.get(2),
        })
    }

    /// Notes for each team with cards in a run that they are printed, and counts them; and what was set aside.
    async fn note_printed_run(
        &self,
        run_id: Uuid,
        set_aside: &[SetAsideMailpiece],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
             SELECT DISTINCT team_id, 'mailpieces', $2::uuid, ARRAY[$1::uuid], 'print_run'
             FROM mailpieces WHERE print_run_id = $1",
            &[&run_id, &Uuid::now_v7()],
        )
        .await?;
        self.execute(COUNT_PRINTED, &[&run_id, &now]).await?;
        let aside = set_aside
            .iter()
            .map(|one| (one.team_id.0, one.mailpiece_id));
        self.note_queue_events(
            aside,
            MailpieceState::Held,
            (
                "system",
                "It could not be printed, and waits for the operator.",
            ),
            now,
        )
        .await
    }

    /// Records of mailpieces of all teams that they came into the queue or out of it.
    async fn note_queue_events(
        &self,
        mailpieces: impl Iterator<Item = (Uuid, Uuid)>,
        state: MailpieceState,
        (source, detail): (&str, &str),
        now: DateTime<Utc>,
    ) -> Result<()> {
        let mut by_team: BTreeMap<Uuid, Vec<NewMailpieceEvent<'_>>> = BTreeMap::new();
        for (team_id, mailpiece_id) in mailpieces {
            by_team.entry(team_id).or_default().push(NewMailpieceEvent {
                mailpiece_id,
                event_id: Uuid::now_v7(),
                state,
                basis: MailpieceBasis::Reported,
                source,
                occurred_at: now,
                detail,
            });
        }
        for (team_id, events) in by_team {
            self.record_mailpiece_events(TeamId(team_id), &events, now)
                .await?;
        }
        Ok(())
    }

    /// Puts a portion of the cards that could not print into the queue again. Returns how many.
    async fn requeue_portion(&self, now: DateTime<Utc>) -> Result<usize> {
        let rows = self
            .query_rows(
                "UPDATE mailpieces SET print_problem = NULL WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM mailpieces WHERE print_problem IS NOT NULL
                     ORDER BY team_id, mailpiece_id LIMIT $1 FOR UPDATE SKIP LOCKED))
                 RETURNING team_id, mailpiece_id",
                &[&REQUEUED_ROWS],
            )
            .await?;
        let requeued = rows.iter().map(|row| (row.get(0), row.get(1)));
        self.note_queue_events(requeued, MailpieceState::Queued, ("operator", ""), now)
            .await?;
        Ok(rows.len())
    }

    /// Puts due cards into a run. Returns how many, and the latest of their mail-by dates.
    async fn claim_due_mailpieces(
        &self,
        claim: &PrintRunRequest<'_>,
        limit: i64,
        run_id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<(i32, Option<NaiveDate>)> {
        let PrintRunRequest {
            product,
            mail_by,
            lead_days,
            ..
        } = claim;
        let row = self
            .query_row(CLAIM, &[product, mail_by, lead_days, &now, &limit, &run_id])
            .await?;
        let (claimed, last): (i64, Option<NaiveDate>) =
            row.map_or((0, None), |row| (row.get(0), row.get(1)));
        let mailpieces = i32::try_from(claimed)
            .map_err(|_| StoreError::Limit("a run is too large".to_owned()))?;
        Ok((mailpieces, last))
    }

    /// The first of `count` serial numbers of a mailer that nobody else gets; 0 without a mailer.
    async fn reserve_print_serials(&self, mailer_id: Option<&str>, count: i32) -> Result<i64> {
        let Some(mailer_id) = mailer_id else {
            return Ok(0);
        };
        let row = self
            .query_row(
                "INSERT INTO print_serials AS stored (mailer_id, next_serial) VALUES ($1, $2)
                 ON CONFLICT (mailer_id) DO UPDATE SET next_serial = stored.next_serial + $2
                 RETURNING next_serial - $2",
                &[&mailer_id, &i64::from(count)],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::Corrupt("serial numbers".to_owned()))
    }

    async fn set_aside_mailpieces(
        &self,
        run_id: Uuid,
        set_aside: &[SetAsideMailpiece],
    ) -> Result<u64> {
        if set_aside.is_empty() {
            return Ok(0);
        }
        let teams: Vec<Uuid> = set_aside
            .iter()
            .map(|mailpiece| mailpiece.team_id.0)
            .collect();
        let mailpieces: Vec<Uuid> = set_aside
            .iter()
            .map(|mailpiece| mailpiece.mailpiece_id)
            .collect();
        let problems: Vec<&str> = set_aside
            .iter()
            .map(|mailpiece| mailpiece.problem.as_str())
            .collect();
        self.execute(
            "UPDATE mailpieces mailpiece SET print_run_id = NULL, print_position = NULL, print_problem = aside.problem
             FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS aside (team_id, mailpiece_id, problem)
             WHERE mailpiece.team_id = aside.team_id AND mailpiece.mailpiece_id = aside.mailpiece_id AND mailpiece.print_run_id = $1",
            &[&run_id, &teams, &mailpieces, &problems],
        )
        .await
    }
}
