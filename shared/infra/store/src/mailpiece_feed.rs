//! The feed of a team's mailpieces: which have changed, in groups (`mailpiece_change.rs`), and the mailpieces of these groups.
//!
//! A group is not what it was when it was noted: what could not print has left its print run. Whoever leaves is noted in the
//! transaction in which it leaves, so that a reader gets it at a later place.

use model::id::TeamId;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// What changed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedGroupKind {
    /// One mailpiece.
    Mailpiece,
    /// All of a charge.
    Charge,
    /// The team's in a print run.
    PrintRun,
}

/// Mailpieces that changed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedGroup {
    /// Its place in the feed.
    pub position: i64,
    /// What it was noted with: an id of version 7 of about the moment of the change.
    pub batch_id: Uuid,
    /// What it is.
    pub kind: ChangedGroupKind,
    /// The mailpiece, the charge or the print run.
    pub item_id: Uuid,
    /// Mailpieces that a charge has; of a print run those of all teams, as it was claimed. 0 when it is gone.
    pub mailpieces: i32,
    /// The charge's campaign.
    pub campaign_id: Option<String>,
}

/// Mailpieces of a charge behind one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeSpan {
    /// For the caller, to know it by.
    pub number: i32,
    /// The charge.
    pub charge_id: Uuid,
    /// Behind this mailpiece; nil for the first.
    pub after: Uuid,
    /// At most so many.
    pub rows: i64,
}

/// Places of a print run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintRunSpan {
    /// For the caller, to know it by.
    pub number: i32,
    /// The run.
    pub run_id: Uuid,
    /// Behind this place; 0 for the first.
    pub after: i32,
    /// Up to this place.
    pub until: i32,
}

/// A mailpiece of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMember {
    /// The number of its span.
    pub number: i32,
    /// The mailpiece.
    pub mailpiece_id: Uuid,
    /// Its place in the print run; 0 in a charge, which is in the order of the ids.
    pub print_position: i32,
}

fn changed_group_from_row(row: &Row) -> Result<ChangedGroup> {
    let kind = match row.get::<_, Option<&str>>("item_kind") {
        Some("mailpiece") => ChangedGroupKind::Mailpiece,
        Some("charge") => ChangedGroupKind::Charge,
        Some("print_run") => ChangedGroupKind::PrintRun,
        _ => return Err(StoreError::Corrupt("a kind of a feed's item".to_owned())),
    };
    Ok(ChangedGroup {
        position: row.get("position"),
        batch_id: row.get("batch_id"),
        kind,
        item_id: row.get("item_id"),
        mailpieces: row.get("mailpieces"),
        campaign_id: row.get("campaign_id"),
    })
}

/// Groups of the batches of `source`, named `batch`. Each has one item at least that is wanted, so that as many batches as groups
/// are enough.
fn changed_groups_sql(source: &str) -> String {
    format!(
        "SELECT found.position, found.batch_id, found.item_kind, found.item_id,
             coalesce(charge.mailpieces, run.mailpieces, 0) AS mailpieces, charge.campaign_id
         FROM (
             SELECT batch.position - cardinality(batch.item_ids) + item.number AS position, batch.batch_id,
                 batch.item_kind, item.item_id
             FROM (
                 SELECT position, batch_id, item_kind, item_ids FROM feed_batches
                 WHERE team_id = $1 AND feed = 'mailpieces' AND position >= $2 {source}
                 ORDER BY position LIMIT $3) batch
             CROSS JOIN LATERAL unnest(batch.item_ids) WITH ORDINALITY AS item (item_id, number)
             WHERE batch.position - cardinality(batch.item_ids) + item.number >= $2
             ORDER BY 1 LIMIT $3) found
         LEFT JOIN LATERAL (
             SELECT mailpieces, campaign_id FROM charges
             WHERE found.item_kind = 'charge' AND team_id = $1 AND charge_id = found.item_id LIMIT 1) charge ON true
         LEFT JOIN LATERAL (
             SELECT mailpieces FROM print_runs
             WHERE found.item_kind = 'print_run' AND run_id = found.item_id LIMIT 1) run ON true
         ORDER BY found.position"
    )
}

impl Store {
    /// What of a team's mailpieces has changed, from a position on, at most `limit` groups.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_changed_groups(
        &self,
        team_id: TeamId,
        from: i64,
        limit: i64,
    ) -> Result<Vec<ChangedGroup>> {
        let sql = changed_groups_sql("");
        let rows = self.query_rows(&sql, &[&team_id.0, &from, &limit]).await?;
        rows.iter().map(changed_group_from_row).collect()
    }

    /// A team's charges in the order in which they were settled, from a position on, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_charged_groups(
        &self,
        team_id: TeamId,
        from: i64,
        limit: i64,
    ) -> Result<Vec<ChangedGroup>> {
        let sql = changed_groups_sql("AND item_kind = 'charge'");
        let rows = self.query_rows(&sql, &[&team_id.0, &from, &limit]).await?;
        rows.iter().map(changed_group_from_row).collect()
    }

    /// The mailpieces of these parts of charges, in the order of their ids.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_charge_members(
        &self,
        team_id: TeamId,
        spans: &[ChargeSpan],
    ) -> Result<Vec<GroupMember>> {
        if spans.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i32> = spans.iter().map(|span| span.number).collect();
        let charges: Vec<Uuid> = spans.iter().map(|span| span.charge_id).collect();
        let after: Vec<Uuid> = spans.iter().map(|span| span.after).collect();
        let limits: Vec<i64> = spans.iter().map(|span| span.rows).collect();
        let rows = self
            .query_rows(
                "SELECT span.number, member.mailpiece_id, 0
                 FROM unnest($2::integer[], $3::uuid[], $4::uuid[], $5::bigint[]) AS span (number, charge_id, after, rows)
                 CROSS JOIN LATERAL (
                     SELECT mailpiece_id FROM mailpieces
                     WHERE team_id = $1 AND charge_id = span.charge_id AND mailpiece_id > span.after
                     ORDER BY mailpiece_id LIMIT span.rows) member
                 ORDER BY span.number, member.mailpiece_id",
                &[&team_id.0, &numbers, &charges, &after, &limits],
            )
            .await?;
        Ok(rows.iter().map(group_member_from_row).collect())
    }

    /// The team's mailpieces at these places of print runs, in the order of the places.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_print_run_members(
        &self,
        team_id: TeamId,
        spans: &[PrintRunSpan],
    ) -> Result<Vec<GroupMember>> {
        if spans.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i32> = spans.iter().map(|span| span.number).collect();
        let runs: Vec<Uuid> = spans.iter().map(|span| span.run_id).collect();
        let after: Vec<i32> = spans.iter().map(|span| span.after).collect();
        let until: Vec<i32> = spans.iter().map(|span| span.until).collect();
        let rows = self
            .query_rows(
                "SELECT span.number, member.mailpiece_id, member.print_position
                 FROM unnest($2::integer[], $3::uuid[], $4::integer[], $5::integer[]) AS span (number, run_id, after, until)
                 CROSS JOIN LATERAL (
                     SELECT team_id, mailpiece_id, print_position FROM mailpieces
                     WHERE print_run_id = span.run_id AND print_position > span.after AND print_position <= span.until
                     ORDER BY print_position LIMIT span.until - span.after) member
                 WHERE member.team_id = $1
                 ORDER BY span.number, member.print_position",
                &[&team_id.0, &numbers, &runs, &after, &until],
            )
            .await?;
        Ok(rows.iter().map(group_member_from_row).collect())
    }
}

fn group_member_from_row(row: &Row) -> GroupMember {
    GroupMember {
        number: row.get(0),
        mailpiece_id: row.get(1),
        print_position: row.get(2),
    }
}
