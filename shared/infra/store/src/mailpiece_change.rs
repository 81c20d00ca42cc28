//! What is noted of mailpieces that have changed, for those who follow a team's mailpieces (`feed.rs`).
//!
//! A note is written in the transaction of the change. What many mailpieces have in common, their charge or their print run, is one
//! note. It says that they changed, not how: whoever reads looks at them as they are then.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Transaction;

/// A fact of one mailpiece.
#[derive(Debug, Clone)]
pub struct NewMailpieceEvent<'a> {
    /// The mailpiece.
    pub mailpiece_id: Uuid,
    /// The same for the same fact, however often it is told.
    pub event_id: Uuid,
    /// What it became by it.
    pub state: MailpieceState,
    /// How it is known; never [`MailpieceBasis::Estimated`].
    pub basis: MailpieceBasis,
    /// Who did it or says so, as in the schema.
    pub source: &'a str,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// The post's code and place, or why, in words; may be empty.
    pub detail: &'a str,
}

const NOTE: &str = "
    INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
    SELECT $1, 'mailpieces', $2, $3, 'mailpiece' WHERE cardinality($3::uuid[]) > 0";

const RECORD: &str = "
    INSERT INTO mailpiece_events (team_id, mailpiece_id, event_id, state, basis, source, occurred_at, recorded_at, detail)
    SELECT $1, mailpiece_id, event_id, state, basis, source, occurred_at, $2, detail
    FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[])
        AS new (mailpiece_id, event_id, state, basis, source, occurred_at, detail)
    ON CONFLICT DO NOTHING RETURNING mailpiece_id, event_id";

impl Transaction<'_> {
    /// Notes that mailpieces of a team have changed.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn note_changed_mailpieces(
        &self,
        team_id: TeamId,
        mailpiece_ids: &[Uuid],
    ) -> Result<()> {
        self.execute(NOTE, &[&team_id.0, &Uuid::now_v7(), &mailpiece_ids])
            .await?;
        Ok(())
    }

    /// Records facts of a team's mailpieces, and notes those that are new. Returns the mailpieces and ids of new facts.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn record_mailpiece_events(
        &self,
        team_id: TeamId,
        events: &[NewMailpieceEvent<'_>],
        now: DateTime<Utc>,
    ) -> Result<Vec<(Uuid, Uuid)>> {
        let mailpiece_ids: Vec<Uuid> = events.iter().map(|event| event.mailpiece_id).collect();
        let event_ids: Vec<Uuid> = events.iter().map(|event| event.event_id).collect();
        let states: Vec<&str> = events.iter().map(|event| event.state.as_str()).collect();
        let bases: Vec<&str> = events.iter().map(|event| event.basis.as_str()).collect();
        let sources: Vec<&str> = events.iter().map(|event| event.source).collect();
        let times: Vec<DateTime<Utc>> = events.iter().map(|event| event.occurred_at).collect();
        let details: Vec<&str> = events.iter().map(|event| event.detail).collect();
        let rows = self
            .query_rows(
                RECORD,
                &[
                    &team_id.0,
                    &now,
                    &mailpiece_ids,
                    &event_ids,
                    &states,
                    &bases,
                    &sources,
                    &times,
                    &details,
                ],
            )
            .await?;
        let recorded: Vec<(Uuid, Uuid)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut changed: Vec<Uuid> = recorded
            .iter()
            .map(|(mailpiece_id, _)| *mailpiece_id)
            .collect();
        changed.sort_unstable();
        changed.dedup();
        self.note_changed_mailpieces(team_id, &changed).await?;
        Ok(recorded)
    }
}
