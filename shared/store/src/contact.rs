//! The contacts of integrations.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::id::{IntegrationId, SyncId};
use contract::push::AcceptedUpsert;
use tokio_postgres::Row;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// What a batch does to contacts. No external id stands in it twice.
#[derive(Debug, Clone, Copy)]
pub struct ContactBatch<'a> {
    /// Contacts to make or to change.
    pub upserts: &'a [AcceptedUpsert<'a>],
    /// External ids of contacts to remove.
    pub deletes: &'a [std::borrow::Cow<'a, str>],
    /// External ids of contacts that only count as received.
    pub seen: &'a [std::borrow::Cow<'a, str>],
}

/// A contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// The caller's id.
    pub external_id: String,
    /// Names it in its integration, in the order of arrival.
    pub contact_number: i64,
    /// Values by field key.
    pub fields: BTreeMap<String, String>,
    /// Whether it is removed.
    pub is_removed: bool,
    /// The sync that last wrote it.
    pub changed_in: SyncId,
    /// When it was first received.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub changed_at: DateTime<Utc>,
}

const COLUMNS: &str = "external_id, contact_number, fields, removed_at, changed_in, created_at, changed_at";

fn contact(row: &Row) -> Result<Contact> {
    Ok(Contact {
        external_id: row.get("external_id"),
        contact_number: row.get("contact_number"),
        fields: serde_json::from_value(row.get("fields"))?,
        is_removed: row.get::<_, Option<DateTime<Utc>>>("removed_at").is_some(),
        changed_in: SyncId(row.get("changed_in")),
        created_at: row.get("created_at"),
        changed_at: row.get("changed_at"),
    })
}

/// Finds each contact by its index, then writes those that are new or change, and only those. They are written in the
/// order of their ids, deletes among the upserts: two batches that meet wait for each other and never in a ring.
/// A contact that is to be deleted and was never there is nothing to write; one that a full sync missed is written,
/// so that no undo brings it back. The subquery's LIMIT makes Postgres
/// look contacts up one by one whatever it believes of the table's size.
const APPLY: &str = "
    WITH sent AS (
        SELECT external_id, operation, fields::jsonb AS fields
        FROM unnest($2::text[], $3::text[], $4::text[]) AS sent (external_id, operation, fields)
    ), found AS MATERIALIZED (
        SELECT sent.*, stored.contact_number, stored.removed_at IS NOT NULL AS is_removed,
            stored.removed_in IS NOT NULL AS is_missed, stored.fields @> sent.fields AS is_same
        FROM sent LEFT JOIN LATERAL (
            SELECT contact_number, removed_at, removed_in, fields FROM contacts
            WHERE integration_id = $1 AND external_id = sent.external_id LIMIT 1) AS stored ON true
    ), written AS (
        INSERT INTO contacts AS existing
            (integration_id, external_id, fields, removed_at, changed_in, created_at, changed_at)
        SELECT $1, external_id, fields, CASE operation WHEN 'delete' THEN $6::timestamptz END, $5, $6, $6
        FROM found
        WHERE operation = 'upsert' AND (contact_number IS NULL OR is_removed OR NOT is_same)
            OR operation = 'delete' AND contact_number IS NOT NULL AND (NOT is_removed OR is_missed)
        ORDER BY external_id COLLATE \"C\"
        ON CONFLICT (integration_id, external_id) DO UPDATE SET fields = existing.fields || excluded.fields,
            removed_at = excluded.removed_at, removed_in = NULL, changed_in = excluded.changed_in,
            changed_at = excluded.changed_at
        RETURNING contact_number
    )
    SELECT ARRAY(SELECT contact_number FROM found WHERE contact_number IS NOT NULL
                 UNION SELECT contact_number FROM written)";

impl Transaction<'_> {
    /// Applies a batch: makes, changes, restores and removes contacts. Returns the numbers of all that stand in it and
    /// exist.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn contact_apply(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        batch: ContactBatch<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<i64>> {
        let size = batch.upserts.len() + batch.deletes.len() + batch.seen.len();
        let mut external_ids: Vec<&str> = Vec::with_capacity(size);
        let mut operations: Vec<&str> = Vec::with_capacity(size);
        let mut fields: Vec<String> = Vec::with_capacity(size);
        for upsert in batch.upserts {
            external_ids.push(&upsert.external_id);
            operations.push("upsert");
            fields.push(serde_json::to_string(&upsert.fields)?);
        }
        for (external_id, operation) in
            batch.deletes.iter().map(|id| (id, "delete")).chain(batch.seen.iter().map(|id| (id, "see")))
        {
            external_ids.push(external_id);
            operations.push(operation);
            fields.push("{}".to_owned());
        }
        let row = self
            .row(APPLY, &[&integration_id.0, &external_ids, &operations, &fields, &sync_id.0, &now])
            .await?;
        Ok(row.map(|row| row.get(0)).unwrap_or_default())
    }
}

impl Store {
    /// A contact by the caller's id, removed ones too.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn contact_get(
        &self,
        integration_id: IntegrationId,
        external_id: &str,
    ) -> Result<Option<Contact>> {
        let sql = format!("SELECT {COLUMNS} FROM contacts WHERE integration_id = $1 AND external_id = $2");
        self.row(&sql, &[&integration_id.0, &external_id]).await?.as_ref().map(contact).transpose()
    }

    /// Contacts that stand, in the order of arrival, after the number `after`; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn contact_list(
        &self,
        integration_id: IntegrationId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Contact>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM contacts
             WHERE integration_id = $1 AND removed_at IS NULL AND contact_number > $2
             ORDER BY contact_number LIMIT $3"
        );
        self.rows(&sql, &[&integration_id.0, &after, &limit]).await?.iter().map(contact).collect()
    }
}
