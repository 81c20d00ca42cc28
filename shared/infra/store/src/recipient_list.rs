//! The recipients that a campaign received, for people: listed, looked for, exported.

use chrono::{DateTime, Utc};
use contract::send::NotMailedReason;
use model::id::{CampaignId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};
use crate::recipient::{BookRecipient, book_recipient_from_row};

/// The outcome of who was mailed, beside the reasons of the others.
const MAILED: &str = "mailed";

/// Recipients of each outcome that are counted at the most.
const COUNTED: i64 = 1_000;

/// Batches of recipients that become findable in one statement, each of a request.
const BATCHES: i64 = 20;

/// A recipient as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientLine {
    /// Tells it from others of the campaign.
    pub entry_id: Uuid,
    /// As sent.
    pub first_name: String,
    /// As sent.
    pub last_name: String,
    /// One line.
    pub address: String,
    /// The sender's own id.
    pub reference: Option<String>,
    /// `mailed`, or the reason why not.
    pub outcome: String,
    /// When it was sent last.
    pub received_at: DateTime<Utc>,
    /// When the sender removed it.
    pub removed_at: Option<DateTime<Utc>>,
    /// When a mailpiece came back from its address, for one that is not mailed.
    pub returned_at: Option<DateTime<Utc>>,
}

/// The end of a page of recipients, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecipientCursor {
    /// When the page's last recipient was received.
    pub received_at: DateTime<Utc>,
    /// Its entry.
    pub entry_id: Uuid,
}

/// The end of a page of recipients that were looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipientSearchCursor {
    /// What the last one was found by; empty for the beginning.
    pub key: String,
    /// Its entry; nil for the beginning.
    pub entry_id: Uuid,
}

/// A recipient that was looked at in a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientSearchHit {
    /// Where a search that ends with it goes on.
    pub cursor: RecipientSearchCursor,
    /// The recipient.
    pub line: RecipientLine,
}

/// How many recipients there are, or that there are more than are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCount {
    /// `mailed`, or a reason.
    pub outcome: &'static str,
    /// Counted.
    pub recipients: i64,
    /// Whether there are more.
    pub is_more: bool,
}

const COLUMNS: &str = "recipient.entry_id, recipient.first_name, recipient.last_name, recipient.address,
    recipient.reference, coalesce(recipient.reason, recipient.status) AS outcome, recipient.received_at,
    recipient.removed_at, CASE WHEN recipient.reason = 'do_not_mail' THEN (SELECT returned_at FROM returned_addresses returned
        WHERE returned.team_id = recipient.team_id AND returned.address_id = recipient.address_id) END AS returned_at";

fn recipient_line_from_row(row: &Row) -> RecipientLine {
    RecipientLine {
        entry_id: row.get("entry_id"),
        first_name: row.get("first_name"),
        last_name: row.get("last_name"),
        address: row.get("address"),
        reference: row.get("reference"),
        outcome: row.get("outcome"),
        received_at: row.get("received_at"),
        removed_at: row.get("removed_at"),
        returned_at: row.get("returned_at"),
    }
}

/// Every outcome that a recipient can have.
pub fn all_outcomes() -> impl Iterator<Item = &'static str> {
    std::iter::once(MAILED).chain(NotMailedReason::ALL.iter().map(|reason| reason.as_str()))
}

impl Store {
    /// Recipients of the campaign, the newest first, before the one that `before` names; at most `limit`. With an outcome
    /// those that have it. Costs one look into an index for each outcome, and the lines.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_recipients(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        outcome: Option<&str>,
        before: Option<RecipientCursor>,
        limit: i64,
    ) -> Result<Vec<RecipientLine>> {
        let outcomes: Vec<&str> = match outcome {
            Some(outcome) => vec![outcome],
            None => all_outcomes().collect(),
        };
        let before = before.unwrap_or(RecipientCursor {
            received_at: DateTime::<Utc>::MAX_UTC,
            entry_id: Uuid::max(),
        });
        // The end of the calendar is past what the database can hold.
        let received_at = before.received_at.min(LATEST);
        let sql = format!(
            "SELECT recipient.* FROM unnest($3::text[]) AS asked (outcome)
             CROSS JOIN LATERAL (
                 SELECT {COLUMNS} FROM recipients recipient
                 WHERE team_id = $1 AND campaign_id = $2 AND coalesce(reason, status) = asked.outcome
                     AND (received_at, entry_id) < ($4, $5)
                 ORDER BY received_at DESC, entry_id DESC LIMIT $6) recipient
             ORDER BY recipient.received_at DESC, recipient.entry_id DESC LIMIT $6"
        );
        let campaign_id = campaign_id.as_str();
        let rows = self
            .query_rows(
                &sql,
                &[
                    &team_id.0,
                    &campaign_id,
                    &outcomes,
                    &received_at,
                    &before.entry_id,
                    &limit,
                ],
            )
            .await?;
        Ok(rows.iter().map(recipient_line_from_row).collect())
    }

    /// Recipients whose last name, name (last, then first) or address begins with this text, whatever its case, in the order
    /// of what they were found by, behind `after`; at most `limit`. Whoever is found by name and address is there once, by the
    /// first of the two. One that was received a moment ago may not be among them yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn search_recipients(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        text: &str,
        after: &RecipientSearchCursor,
        limit: i64,
    ) -> Result<Vec<RecipientSearchHit>> {
        // One lower bound: with two of them the index is entered at the one of the cursor, however far before the text. A
        // recipient's keys are made of it as FILL makes them: to ask the table for its others would take another index.
        let sql = format!(
            "SELECT found.key, {COLUMNS}
             FROM recipient_search found
             CROSS JOIN LATERAL (
                 SELECT * FROM recipients
                 WHERE team_id = $1 AND campaign_id = $2 AND entry_id = found.entry_id
                     AND found.key = (
                         SELECT min(key) FROM (VALUES
                             (lower(address) COLLATE \"C\"),
                             (lower(trim(last_name || ' ' || first_name)) COLLATE \"C\")) AS own (key)
                         WHERE key >= lower($3) AND key < lower($3) || chr(1114111))
                 LIMIT 1) recipient
             WHERE found.team_id = $1 AND found.campaign_id = $2 AND found.key < lower($3) || chr(1114111)
                 AND (found.key, found.entry_id) > (greatest($4, lower($3) COLLATE \"C\"), $5)
             ORDER BY found.key, found.entry_id LIMIT $6"
        );
        let rows = self
            .query_rows(
                &sql,
                &[
                    &team_id.0,
                    &campaign_id.as_str(),
                    &text,
                    &after.key,
                    &after.entry_id,
                    &limit,
                ],
            )
            .await?;
        let found = |row: &Row| {
            let line = recipient_line_from_row(row);
            let cursor = RecipientSearchCursor {
                key: row.get("key"),
                entry_id: line.entry_id,
            };
            RecipientSearchHit { cursor, line }
        };
        Ok(rows.iter().map(found).collect())
    }

    /// Recipients in the order of their entries, behind `after` (nil for the beginning); at most `limit`. The order stays
    /// as it is whatever is sent meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_recipient_portion(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        after: Uuid,
        limit: i64,
    ) -> Result<Vec<RecipientLine>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM recipients recipient
             WHERE team_id = $1 AND campaign_id = $2 AND entry_id > $3 ORDER BY entry_id LIMIT $4"
        );
        let rows = self
            .query_rows(&sql, &[&team_id.0, &campaign_id.as_str(), &after, &limit])
            .await?;
        Ok(rows.iter().map(recipient_line_from_row).collect())
    }

    /// Recipients with their stored values, at most `limit`: those that were received last.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_latest_recipients(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        limit: i64,
    ) -> Result<Vec<BookRecipient>> {
        let outcomes: Vec<&str> = all_outcomes().collect();
        let rows = self
            .query_rows(
                SAMPLE,
                &[&team_id.0, &campaign_id.as_str(), &outcomes, &limit],
            )
            .await?;
        Ok(rows.iter().map(book_recipient_from_row).collect())
    }

    /// How many recipients have each outcome, counted up to a bound; outcomes that nobody has are left out.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_recipients_bounded(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Vec<OutcomeCount>> {
        let all: Vec<&'static str> = all_outcomes().collect();
        let rows = self
            .query_rows(
                "SELECT (SELECT count(*) FROM (
                     SELECT FROM recipients
                     WHERE team_id = $1 AND campaign_id = $2 AND coalesce(reason, status) = asked.outcome
                     -- Nothing but the index has this order: how rare an outcome is, nobody can know beforehand.
                     ORDER BY received_at DESC, entry_id DESC LIMIT $4) AS counted)
                 FROM unnest($3::text[]) WITH ORDINALITY AS asked (outcome, position) ORDER BY position",
                &[&team_id.0, &campaign_id.as_str(), &all, &(COUNTED + 1)],
            )
            .await?;
        let count = |(outcome, row): (&'static str, &Row)| {
            let found: i64 = row.get(0);
            OutcomeCount {
                outcome,
                recipients: found.min(COUNTED),
                is_more: found > COUNTED,
            }
        };
        Ok(all
            .into_iter()
            .zip(&rows)
            .map(count)
            .filter(|count| count.recipients > 0)
            .collect())
    }

    /// Makes recipients findable that were received lately, a bounded number. Returns of how many requests.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn fill_recipient_search(&self) -> Result<i64> {
        let outcomes: Vec<&str> = all_outcomes().collect();
        let row = self.query_row(FILL, &[&outcomes, &BATCHES]).await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }
}

/// Past any moment at which something is received.
const LATEST: DateTime<Utc> = match DateTime::from_timestamp(253_402_300_799, 0) {
    Some(end_of_year_9999) => end_of_year_9999,
    None => DateTime::<Utc>::UNIX_EPOCH,
};

const SAMPLE: &str = "
    SELECT recipient.entry_id, recipient.address_id, entry.first_name, entry.last_name, entry.address_1,
        entry.address_2, entry.unit_apart, entry.city, entry.state, entry.zip, entry.plus4, entry.verification, entry.latitude,
        entry.longitude, entry.email, entry.phone, entry.organization, entry.birthday, entry.custom
    FROM (
        SELECT latest.* FROM unnest($3::text[]) AS asked (outcome)
        CROSS JOIN LATERAL (
            SELECT entry_id, address_id, received_at FROM recipients
            WHERE team_id = $1 AND campaign_id = $2 AND coalesce(reason, status) = asked.outcome
            ORDER BY received_at DESC, entry_id DESC LIMIT $4) latest
        ORDER BY latest.received_at DESC, latest.entry_id DESC LIMIT $4) recipient
    CROSS JOIN LATERAL (SELECT * FROM address_entries
        WHERE team_id = $1 AND entry_id = recipient.entry_id LIMIT 1) entry";

/// In the order of the keys, so that what lies together is written together.
const FILL: &str = "
    WITH taken AS (
        DELETE FROM recipients_unsearched WHERE batch = ANY (ARRAY(
            SELECT batch FROM recipients_unsearched ORDER BY batch LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING team_id, campaign_id, received_at
    ), received AS MATERIALIZED (
        SELECT received.team_id, received.campaign_id, received.entry_id, lower(received.address) AS address,
            lower(trim(received.last_name || ' ' || received.first_name)) AS name
        FROM (SELECT DISTINCT team_id, campaign_id, received_at FROM taken) batch
        CROSS JOIN unnest($1::text[]) AS asked (outcome)
        CROSS JOIN LATERAL (
            SELECT * FROM recipients recipient
            WHERE recipient.team_id = batch.team_id AND recipient.campaign_id = batch.campaign_id
                AND coalesce(recipient.reason, recipient.status) = asked.outcome
                AND recipient.received_at = batch.received_at
            OFFSET 0) received
    ), by_recipient AS (
        INSERT INTO recipient_search (team_id, campaign_id, key, entry_id)
        SELECT team_id, campaign_id, key, entry_id
        FROM received CROSS JOIN LATERAL (VALUES (name), (address)) AS named (key)
        WHERE key <> ''
        ORDER BY team_id, campaign_id, key COLLATE \"C\", entry_id
        ON CONFLICT DO NOTHING
    ), by_entry AS (
        INSERT INTO entry_search (team_id, key, entry_id)
        SELECT DISTINCT team_id, name COLLATE \"C\", entry_id FROM received
        -- A look-up for each: how few are new, the planner cannot know, and would read all entries of all teams.
        CROSS JOIN LATERAL (SELECT FROM address_entries entry
            WHERE entry.team_id = received.team_id AND entry.entry_id = received.entry_id LIMIT 1) stored
        ORDER BY team_id, name COLLATE \"C\", entry_id
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM taken";

impl Transaction<'_> {
    /// Removes a recipient, and everybody else at its address, from the campaign: none of them is mailed again, and no later
    /// step mails them. Cards queued already still go, unless the campaign cancels them. Returns its address, as people write it; `None` when it was removed
    /// before.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the campaign has not received it.
    pub async fn remove_recipient(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        entry_id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<Option<String>> {
        let sql = "SELECT address_id, address, removed_at IS NOT NULL FROM recipients
             WHERE team_id = $1 AND campaign_id = $2 AND entry_id = $3";
        let row = self
            .query_row(sql, &[&team_id.0, &campaign_id.as_str(), &entry_id])
            .await?;
        let row = row.ok_or_else(|| StoreError::NotFound("the recipient".to_owned()))?;
        self.remove_recipients_at(team_id, campaign_id, row.get(0), now)
            .await?;
        let was_removed: bool = row.get(2);
        Ok((!was_removed).then(|| row.get(1)))
    }
}
