//! Events of mailpieces: how far they were made of a team's feed, and their deliveries.
//!
//! What happened to a mailpiece is told by following the feed (`mailpiece_change.rs`), so that who prints twenty thousand does not
//! write as many events in a transaction. The events of a portion and the place behind it are one transaction, and an event's id is
//! made of its fact: none is lost, and none comes twice.

use chrono::{DateTime, Utc};
use model::id::{EndpointId, TeamId};
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};
use crate::scan::{CARD, ScannedMailpiece, scanned_mailpiece_from_row};

/// How far events are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowerPlace {
    /// The last item of the feed that is done.
    pub position: i64,
    /// The last place that is done of the print run that the next item is.
    pub run_position: i32,
}

/// What an item of the feed of mailpieces is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedItem {
    /// A mailpiece.
    Mailpiece(Uuid),
    /// A charge: its mailpieces were made.
    Charge(Uuid),
    /// A print run, with how many places it has.
    PrintRun(Uuid, i32),
}

/// A fact that an endpoint is told of.
#[derive(Debug, Clone)]
pub struct ToldFact {
    /// The mailpiece and its recipient.
    pub mailpiece: ScannedMailpiece,
    /// The state that it came to.
    pub state: String,
    /// How that is known.
    pub basis: String,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// When we heard of it.
    pub recorded_at: DateTime<Utc>,
    /// The operation and place of the post, or why; may be empty.
    pub detail: String,
    /// Tells facts of one state apart that are told each; nil where a state is told once.
    pub fact_id: Uuid,
}

/// An event of a mailpiece.
#[derive(Debug, Clone)]
pub struct NewMailpieceNews {
    /// Its id, the same for the same fact.
    pub event_id: Uuid,
    /// The mailpiece's campaign.
    pub campaign_id: String,
    /// The state that is told of.
    pub state: String,
    /// The event's body.
    pub body: String,
    /// When we heard of it.
    pub recorded_at: DateTime<Utc>,
}

// Teams with news: what is placed behind where they are, or waits for its place.
const NEWS: &str = "
    SELECT follower.team_id FROM mailpiece_followers follower
    WHERE follower.team_id > $1 AND (
        EXISTS (SELECT FROM feeds WHERE feeds.team_id = follower.team_id AND feeds.feed = 'mailpieces'
            AND feeds.position > follower.position)
        OR EXISTS (SELECT FROM feed_batches batch WHERE batch.team_id = follower.team_id AND batch.feed = 'mailpieces'
            AND batch.position IS NULL))
    ORDER BY follower.team_id LIMIT $2";

const ITEMS: &str = "
    SELECT batch.position - cardinality(batch.item_ids) + item.number AS position, item.item_id, batch.item_kind, run.mailpieces
    FROM (
        SELECT position, item_ids, item_kind FROM feed_batches
        WHERE team_id = $1 AND feed = 'mailpieces' AND position > $2 ORDER BY position LIMIT $3) batch
    CROSS JOIN LATERAL unnest(batch.item_ids) WITH ORDINALITY AS item (item_id, number)
    LEFT JOIN print_runs run ON batch.item_kind = 'print_run' AND run.run_id = item.item_id
    WHERE batch.position - cardinality(batch.item_ids) + item.number > $2
    ORDER BY 1 LIMIT $3";

// A state that comes again is told once, by the fact that we heard of first; each silence is told by itself.
const FACTS: &str = "
    CROSS JOIN LATERAL (
        (SELECT DISTINCT ON (event.state) event.state, event.basis, event.occurred_at, event.recorded_at, event.detail,
             '00000000-0000-0000-0000-000000000000'::uuid AS fact_id
         FROM mailpiece_events event
         WHERE event.team_id = mailpiece.team_id AND event.mailpiece_id = mailpiece.mailpiece_id
             AND event.state IN ('entered', 'in_transit', 'delivered', 'returned', 'cancelled')
         ORDER BY event.state, event.recorded_at, event.event_id)
        UNION ALL
        SELECT event.state, event.basis, event.occurred_at, event.recorded_at, event.detail, event.event_id
        FROM mailpiece_events event
        WHERE event.team_id = mailpiece.team_id AND event.mailpiece_id = mailpiece.mailpiece_id AND event.state = 'stalled'
        UNION ALL
        SELECT 'printed', 'reported', run.printed_at, run.printed_at, '', '00000000-0000-0000-0000-000000000000'
        FROM print_runs run WHERE run.run_id = mailpiece.print_run_id AND run.printed_at IS NOT NULL) fact
    JOIN campaigns campaign USING (campaign_id)
    JOIN teams team ON team.team_id = mailpiece.team_id
    LEFT JOIN address_entries entry ON entry.team_id = mailpiece.team_id AND entry.entry_id = mailpiece.entry_id
    WHERE fact.recorded_at >= $3 AND fact.state = ANY ($4)";

const TELL: &str = "
    WITH new AS MATERIALIZED (
        SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
            AS new (event_id, campaign_id, state, body, recorded_at)
    ), target AS MATERIALIZED (
        SELECT new.event_id, endpoint.endpoint_id
        FROM new CROSS JOIN LATERAL (
            SELECT endpoint.endpoint_id FROM endpoints endpoint
            JOIN endpoint_event_types wanted USING (team_id, endpoint_id)
            WHERE endpoint.team_id = $1 AND endpoint.state = 'active' AND wanted.event_type = new.state
                AND wanted.added_at <= new.recorded_at AND (endpoint.all_campaigns OR EXISTS (
                SELECT FROM endpoint_campaigns scope
                WHERE scope.team_id = $1 AND scope.endpoint_id = endpoint.endpoint_id AND scope.campaign_id = new.campaign_id))
            OFFSET 0) endpoint
    ), event AS (
        INSERT INTO events (team_id, event_id, is_test, body, created_at)
        SELECT $1, event_id, false, body, $7 FROM new WHERE event_id IN (SELECT event_id FROM target)
        ON CONFLICT DO NOTHING RETURNING event_id
    ), delivery AS (
        INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT $1, endpoint_id, event_id, event_id, 'event', 'waiting', false, $7, $7 FROM target JOIN event USING (event_id)
    )
    SELECT count(*) FROM event";

impl Store {
    /// Teams behind `after`, nil for the first, whose feed of mailpieces has news for their endpoints; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_followers_with_news(&self, after: Uuid, limit: i64) -> Result<Vec<TeamId>> {
        let rows = self.query_rows(NEWS, &[&after, &limit]).await?;
        Ok(rows.iter().map(|row| TeamId(row.get(0))).collect())
    }

    /// How far a team's events are made, and which states endpoints of it that are active want. `None` for a team of which none
    /// ever wanted any.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_follower(
        &self,
        team_id: TeamId,
    ) -> Result<Option<(FollowerPlace, Vec<String>)>> {
        let row = self
            .query_row(
                "SELECT position, run_position, ARRAY(
                     SELECT DISTINCT event_type FROM endpoint_event_types JOIN endpoints USING (team_id, endpoint_id)
                     WHERE team_id = $1 AND state = 'active')
                 FROM mailpiece_followers WHERE team_id = $1",
                &[&team_id.0],
            )
            .await?;
        Ok(row.map(|row| {
            let place = FollowerPlace {
                position: row.get(0),
                run_position: row.get(1),
            };
            (place, row.get(2))
        }))
    }

    /// The items of a team's feed of mailpieces behind a position, with their positions; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_changed_items(
        &self,
        team_id: TeamId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, ChangedItem)>> {
        let rows = self
            .query_rows(ITEMS, &[&team_id.0, &after, &limit])
            .await?;
        rows.iter()
            .map(|row| {
                let item_id = row.get("item_id");
                let item = match row.get("item_kind") {
                    Some("mailpiece") => ChangedItem::Mailpiece(item_id),
                    Some("charge") => ChangedItem::Charge(item_id),
                    Some("print_run") => {
                        let places: Option<i32> = row.get("mailpieces");
                        ChangedItem::PrintRun(item_id, places.unwrap_or_default())
                    }
                    _ => return Err(StoreError::Corrupt("an item of a feed".to_owned())),
                };
                Ok((row.get("position"), item))
            })
            .collect()
    }

    /// What is known of mailpieces of a team: facts of these states that we heard of since a moment.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_told_facts(
        &self,
        team_id: TeamId,
        mailpiece_ids: &[Uuid],
        since: DateTime<Utc>,
        states: &[String],
    ) -> Result<Vec<ToldFact>> {
        let sql = format!(
            "SELECT {CARD}, fact.state AS fact_state, fact.basis, fact.occurred_at, fact.recorded_at, fact.detail, fact.fact_id
             FROM unnest($2::uuid[]) AS changed (mailpiece_id)
             JOIN mailpieces mailpiece ON mailpiece.team_id = $1 AND mailpiece.mailpiece_id = changed.mailpiece_id {FACTS}"
        );
        let rows = self
            .query_rows(&sql, &[&team_id.0, &mailpiece_ids, &since, &states])
            .await?;
        rows.iter().map(told_fact_from_row).collect()
    }

    /// The same for the mailpieces of a team that a print run has at places past `after` up to `until`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_told_facts_of_run(
        &self,
        team_id: TeamId,
        (run_id, after, until): (Uuid, i32, i32),
        since: DateTime<Utc>,
        states: &[String],
    ) -> Result<Vec<ToldFact>> {
        let sql = format!(
            "SELECT {CARD}, fact.state AS fact_state, fact.basis, fact.occurred_at, fact.recorded_at, fact.detail, fact.fact_id
             FROM mailpieces mailpiece {FACTS} AND mailpiece.team_id = $1 AND mailpiece.print_run_id = $2
                 AND mailpiece.print_position > $5 AND mailpiece.print_position <= $6"
        );
        let rows = self
            .query_rows(
                &sql,
                &[&team_id.0, &run_id, &since, &states, &after, &until],
            )
            .await?;
        rows.iter().map(told_fact_from_row).collect()
    }
}

fn told_fact_from_row(row: &tokio_postgres::Row) -> Result<ToldFact> {
    Ok(ToldFact {
        mailpiece: scanned_mailpiece_from_row(row)?,
        state: row.get("fact_state"),
        basis: row.get("basis"),
        occurred_at: row.get("occurred_at"),
        recorded_at: row.get("recorded_at"),
        detail: row.get("detail"),
        fact_id: row.get("fact_id"),
    })
}

impl Transaction<'_> {
    /// Makes events, each with a delivery to every active endpoint that wants it; those that are there already are left as they
    /// are.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn record_mailpiece_news(
        &self,
        team_id: TeamId,
        news: &[NewMailpieceNews],
        now: DateTime<Utc>,
    ) -> Result<()> {
        macro_rules! column {
            ($one:ident => $value:expr) => {
                news.iter().map(|$one| $value).collect::<Vec<_>>()
            };
        }
        self.query_row(
            TELL,
            &[
                &team_id.0,
                &column!(one => one.event_id),
                &column!(one => one.campaign_id.as_str()),
                &column!(one => one.state.as_str()),
                &column!(one => one.body.as_str()),
                &column!(one => one.recorded_at),
                &now,
            ],
        )
        .await?;
        Ok(())
    }

    /// Notes how far a team's events are made.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when somebody else has made events meanwhile: then nothing may be kept.
    pub async fn advance_follower(
        &self,
        team_id: TeamId,
        from: FollowerPlace,
        to: FollowerPlace,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE mailpiece_followers SET position = $4, run_position = $5
                 WHERE team_id = $1 AND position = $2 AND run_position = $3",
                &[
                    &team_id.0,
                    &from.position,
                    &from.run_position,
                    &to.position,
                    &to.run_position,
                ],
            )
            .await?;
        if changed == 1 {
            Ok(())
        } else {
            Err(StoreError::LeaseLost)
        }
    }

    /// Has an endpoint hear of mailpieces that come to these states, from now on, and of no others. Returns whether that is
    /// new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn set_endpoint_event_types(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        states: &[&str],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let removed = self
            .execute(
                "DELETE FROM endpoint_event_types WHERE team_id = $1 AND endpoint_id = $2 AND event_type <> ALL ($3)",
                &[&team_id.0, &endpoint_id.0, &states],
            )
            .await?;
        let added = self
            .execute(
                "INSERT INTO endpoint_event_types (team_id, endpoint_id, event_type, added_at)
                 SELECT $1, $2, unnest($3::text[]), $4 ON CONFLICT DO NOTHING",
                &[&team_id.0, &endpoint_id.0, &states, &now],
            )
            .await?;
        if added > 0 {
            self.execute(
                "INSERT INTO mailpiece_followers (team_id, position)
                 SELECT $1, coalesce((SELECT position FROM feeds WHERE team_id = $1 AND feed = 'mailpieces'), 0)
                 ON CONFLICT DO NOTHING",
                &[&team_id.0],
            )
            .await?;
        }
        Ok(removed + added > 0)
    }
}
