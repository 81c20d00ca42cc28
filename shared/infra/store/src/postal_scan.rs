//! What the post's scans, and reports of the handover, tell of mailpieces.
//!
//! A fact is recorded once, and a mailpiece is as far as the furthest of its facts: in whichever order they come, and however
//! often, it comes to the same row.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use model::mailpiece_state::MailpieceState;
use postal::{MailedRun, RunPlace};
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// A mailpiece of a print run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailedPiece {
    /// Its owner.
    pub team_id: Uuid,
    /// The mailpiece.
    pub mailpiece_id: Uuid,
    /// Its campaign.
    pub campaign_id: String,
    /// Where it went.
    pub address_id: Uuid,
    /// The service type that its barcode was printed with.
    pub service_type: Option<String>,
}

/// A scan of a mailpiece by the post.
#[derive(Debug, Clone)]
pub struct NewPostalScan<'a> {
    /// Whose.
    pub piece: &'a MailedPiece,
    /// The same for the same scan.
    pub event_id: Uuid,
    /// What the mailpiece was by it.
    pub state: MailpieceState,
    /// When.
    pub scanned_at: DateTime<Utc>,
    /// The operation and the place.
    pub detail: String,
}

/// A print run that is handed over, and how far that is noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOverRun {
    /// Its places, those of mailpieces that were set aside among them.
    pub mailpieces: i32,
    /// When it was handed over.
    pub handed_over_at: DateTime<Utc>,
}

/// Where a walk through moving mailpieces is: the last one looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovingCursor {
    /// When it was seen.
    pub seen_at: DateTime<Utc>,
    /// Its owner.
    pub team_id: Uuid,
    /// The mailpiece.
    pub mailpiece_id: Uuid,
}

/// Moving mailpieces that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StalledPortion {
    /// The last of them.
    pub last: MovingCursor,
    /// How many they were.
    pub looked_at: i64,
    /// How many of them have stalled.
    pub stalled: i64,
}

// From new facts, a row for each with its mailpiece's campaign, to how far their mailpieces are.
const PROGRESS: &str = "
    furthest AS (
        SELECT DISTINCT ON (team_id, mailpiece_id) team_id, mailpiece_id, campaign_id, state, basis, occurred_at AS reached_at,
            max(occurred_at) OVER (PARTITION BY team_id, mailpiece_id) AS seen_at
        FROM fact ORDER BY team_id, mailpiece_id, postal_rank(state) DESC, occurred_at
    ), progress AS (
        INSERT INTO mailpiece_progress AS stored (team_id, mailpiece_id, campaign_id, state, basis, reached_at, seen_at)
        SELECT team_id, mailpiece_id, campaign_id, state, basis, reached_at, seen_at FROM furthest
        ON CONFLICT (team_id, mailpiece_id) DO UPDATE SET
            state = CASE WHEN postal_rank(excluded.state) > postal_rank(stored.state) THEN excluded.state ELSE stored.state END,
            basis = CASE WHEN postal_rank(excluded.state) > postal_rank(stored.state) THEN excluded.basis
                WHEN excluded.state = stored.state AND excluded.basis = 'scanned' THEN 'scanned' ELSE stored.basis END,
            reached_at = CASE WHEN postal_rank(excluded.state) > postal_rank(stored.state) THEN excluded.reached_at
                WHEN excluded.state = stored.state THEN least(excluded.reached_at, stored.reached_at)
                ELSE stored.reached_at END,
            seen_at = greatest(excluded.seen_at, stored.seen_at),
            stalled_at = CASE WHEN excluded.seen_at > stored.seen_at THEN NULL ELSE stored.stalled_at END
    ), noted AS (
        INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
        SELECT team_id, 'mailpieces', $2, array_agg(DISTINCT mailpiece_id), 'mailpiece' FROM fact GROUP BY team_id
    )";

const SCANS: &str = "
    WITH new AS MATERIALIZED (
        SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::timestamptz[], $8::text[], $9::text[], $10::uuid[])
            AS new (team_id, mailpiece_id, event_id, state, occurred_at, detail, campaign_id, address_id)
    ), recorded AS (
        INSERT INTO mailpiece_events (team_id, mailpiece_id, event_id, state, basis, source, occurred_at, recorded_at, detail)
        SELECT team_id, mailpiece_id, event_id, state, 'scanned', 'usps', occurred_at, $1, detail FROM new
        ORDER BY team_id, mailpiece_id, event_id
        ON CONFLICT DO NOTHING RETURNING team_id, mailpiece_id, event_id, basis
    ), fact AS MATERIALIZED (
        SELECT new.*, recorded.basis FROM recorded JOIN new USING (team_id, mailpiece_id, event_id)
    )";

const RETURNS: &str = "
    returned AS (
        INSERT INTO returned_addresses AS stored (team_id, address_id, mailpiece_id, returned_at, recorded_at)
        SELECT DISTINCT ON (team_id, address_id) team_id, address_id, mailpiece_id, occurred_at, $1
        FROM fact WHERE state = 'returned' ORDER BY team_id, address_id, occurred_at DESC
        ON CONFLICT (team_id, address_id) DO UPDATE
        SET mailpiece_id = excluded.mailpiece_id, returned_at = excluded.returned_at, recorded_at = excluded.recorded_at
        WHERE excluded.returned_at > stored.returned_at
    )";

// The id is of the run and the mailpiece: told again, it is the same fact.
const HANDOVER: &str = "
    WITH recorded AS (
        INSERT INTO mailpiece_events (team_id, mailpiece_id, event_id, state, basis, source, occurred_at, recorded_at, detail)
        SELECT team_id, mailpiece_id, md5('handed over ' || $3::uuid || mailpiece_id)::uuid, 'entered', 'reported', 'operator',
            $4, $1, 'handed over with its print run'
        FROM mailpieces WHERE print_run_id = $3 AND print_position > $5 AND print_position <= $6
        ORDER BY team_id, mailpiece_id
        ON CONFLICT DO NOTHING RETURNING team_id, mailpiece_id, state, basis, occurred_at
    ), fact AS MATERIALIZED (
        SELECT recorded.*, mailpiece.campaign_id FROM recorded JOIN mailpieces mailpiece USING (team_id, mailpiece_id)
    )";

// A mailpiece that is scanned meanwhile has another moment, and is not marked. Its silence makes the fact's id.
const MARK_STALLED: &str = "
    WITH candidate AS MATERIALIZED (
        SELECT team_id, mailpiece_id, campaign_id, seen_at FROM mailpiece_progress
        WHERE stalled_at IS NULL AND state IN ('entered', 'in_transit', 'forwarded', 'out_for_delivery')
            AND seen_at < $1::timestamptz - interval '1 hour' AND (seen_at, team_id, mailpiece_id) > ($3, $4, $5)
        ORDER BY seen_at, team_id, mailpiece_id LIMIT $6
    ), due AS (
        SELECT candidate.* FROM candidate CROSS JOIN LATERAL (
            SELECT stalled_hours FROM campaigns WHERE campaigns.campaign_id = candidate.campaign_id OFFSET 0) campaign
        WHERE seen_at < $1::timestamptz - make_interval(hours => coalesce(campaign.stalled_hours, $7))
    ), marked AS (
        UPDATE mailpiece_progress progress SET stalled_at = $1 FROM due
        WHERE progress.team_id = due.team_id AND progress.mailpiece_id = due.mailpiece_id
            AND progress.seen_at = due.seen_at AND progress.stalled_at IS NULL
        RETURNING progress.team_id, progress.mailpiece_id, progress.seen_at
    ), recorded AS (
        INSERT INTO mailpiece_events (team_id, mailpiece_id, event_id, state, basis, source, occurred_at, recorded_at, detail)
        SELECT team_id, mailpiece_id, md5('stalled ' || mailpiece_id || extract(epoch FROM seen_at))::uuid, 'stalled',
            'reported', 'system', $1, $1, 'not seen by the post since'
        FROM marked ON CONFLICT DO NOTHING
    ), noted AS (
        INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
        SELECT team_id, 'mailpieces', $2, array_agg(mailpiece_id), 'mailpiece' FROM marked GROUP BY team_id
    )
    SELECT seen_at, team_id, mailpiece_id, (SELECT count(*) FROM candidate), (SELECT count(*) FROM marked)
    FROM candidate ORDER BY seen_at DESC, team_id DESC, mailpiece_id DESC LIMIT 1";

impl Store {
    /// Mailers whose serial numbers print runs have.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_print_mailers(&self) -> Result<Vec<String>> {
        let sql = "SELECT mailer_id FROM print_serials";
        let rows = self.query_rows(sql, &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Printed runs of these mailers whose serial numbers do not come again before a day.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_mailed_runs(
        &self,
        mailer_ids: &[&str],
        free_from: NaiveDate,
    ) -> Result<Vec<MailedRun>> {
        let rows = self
            .query_rows(
                "SELECT run_id, mailer_id, first_serial, mailpieces, printed_at, serials_free_on FROM print_runs
                 WHERE mailer_id = ANY ($1) AND serials_free_on >= $2 AND printed_at IS NOT NULL",
                &[&mailer_ids, &free_from],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| MailedRun {
                run_id: row.get(0),
                mailer_id: row.get(1),
                first_serial: row.get::<_, i64>(2).unsigned_abs(),
                mailpieces: u64::from(row.get::<_, i32>(3).unsigned_abs()),
                printed_at: row.get(4),
                serials_free_on: row.get(5),
            })
            .collect())
    }

    /// Looks at moving mailpieces behind `after` that have not been seen for an hour at the least, and marks those that have not
    /// been for as long as their campaign says, or for `default_hours`. `None` when there are no more.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn mark_stalled_mailpieces(
        &self,
        after: Option<MovingCursor>,
        default_hours: i32,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<Option<StalledPortion>> {
        let after = after.unwrap_or(MovingCursor {
            seen_at: DateTime::UNIX_EPOCH,
            team_id: Uuid::nil(),
            mailpiece_id: Uuid::nil(),
        });
        let row = self
            .query_row(
                MARK_STALLED,
                &[
                    &now,
                    &Uuid::now_v7(),
                    &after.seen_at,
                    &after.team_id,
                    &after.mailpiece_id,
                    &limit,
                    &default_hours,
                ],
            )
            .await?;
        Ok(row.map(|row| StalledPortion {
            last: MovingCursor {
                seen_at: row.get(0),
                team_id: row.get(1),
                mailpiece_id: row.get(2),
            },
            looked_at: row.get(3),
            stalled: row.get(4),
        }))
    }

    /// Says when a printed run was handed to the post, unless that is known. Its mailpieces are noted by
    /// [`Store::note_handed_over_mailpieces`].
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a run that is not there or not printed.
    pub async fn hand_over_print_run(
        &self,
        run_id: Uuid,
        at: DateTime<Utc>,
    ) -> Result<HandedOverRun> {
        let row = self
            .query_row(
                "UPDATE print_runs SET handed_over_at = coalesce(handed_over_at, $2)
                 WHERE run_id = $1 AND state = 'printed' RETURNING mailpieces, handed_over_at",
                &[&run_id, &at],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::NotFound(format!("a printed run {run_id}")))?;
        Ok(HandedOverRun {
            mailpieces: row.get(0),
            handed_over_at: row.get(1),
        })
    }

    /// Notes the handover for mailpieces of a run at places past `after` up to `until`. Returns for how many it was new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn note_handed_over_mailpieces(
        &self,
        run_id: Uuid,
        handed_over_at: DateTime<Utc>,
        (after, until): (i32, i32),
        now: DateTime<Utc>,
    ) -> Result<i64> {
        let sql = format!("{HANDOVER}, {PROGRESS} SELECT count(*) FROM recorded");
        let row = self
            .query_row(
                &sql,
                &[
                    &now,
                    &Uuid::now_v7(),
                    &run_id,
                    &handed_over_at,
                    &after,
                    &until,
                ],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }
}

impl Transaction<'_> {
    /// The mailpieces at these places. A place whose mailpiece was set aside is not among them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_mailed_pieces(
        &self,
        places: &[RunPlace],
    ) -> Result<HashMap<RunPlace, MailedPiece>> {
        let runs: Vec<Uuid> = places.iter().map(|place| place.run_id).collect();
        let positions: Vec<i32> = places.iter().map(|place| place.position).collect();
        let rows = self
            .query_rows(
                "SELECT place.run_id, place.position, mailpiece.team_id, mailpiece.mailpiece_id, mailpiece.campaign_id,
                     mailpiece.address_id, run.settings -> mailpiece.postage ->> 'service_type'
                 FROM unnest($1::uuid[], $2::int4[]) AS place (run_id, position)
                 CROSS JOIN LATERAL (SELECT * FROM mailpieces
                     WHERE print_run_id = place.run_id AND print_position = place.position LIMIT 1) mailpiece
                 JOIN print_runs run ON run.run_id = place.run_id",
                &[&runs, &positions],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| {
                let place = RunPlace {
                    run_id: row.get(0),
                    position: row.get(1),
                };
                let piece = MailedPiece {
                    team_id: row.get(2),
                    mailpiece_id: row.get(3),
                    campaign_id: row.get(4),
                    address_id: row.get(5),
                    service_type: row.get(6),
                };
                (place, piece)
            })
            .collect())
    }

    /// Records scans, each once however often it is told; their mailpieces are as far as the furthest fact says. The addresses
    /// of those that came back are kept. Returns how many scans are new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn record_postal_scans(
        &self,
        scans: &[NewPostalScan<'_>],
        now: DateTime<Utc>,
    ) -> Result<i64> {
        if scans.is_empty() {
            return Ok(0);
        }
        macro_rules! column {
            ($scan:ident => $value:expr) => {
                scans.iter().map(|$scan| $value).collect::<Vec<_>>()
            };
        }
        let sql = format!("{SCANS}, {PROGRESS}, {RETURNS} SELECT count(*) FROM recorded");
        let row = self
            .query_row(
                &sql,
                &[
                    &now,
                    &Uuid::now_v7(),
                    &column!(scan => scan.piece.team_id),
                    &column!(scan => scan.piece.mailpiece_id),
                    &column!(scan => scan.event_id),
                    &column!(scan => scan.state.as_str()),
                    &column!(scan => scan.scanned_at),
                    &column!(scan => scan.detail.as_str()),
                    &column!(scan => scan.piece.campaign_id.as_str()),
                    &column!(scan => scan.piece.address_id),
                ],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }
}
