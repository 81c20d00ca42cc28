//! The contacts of integrations.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::push::{AcceptedUpsert, ContactFingerprint};
use model::id::{IntegrationId, SyncId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// What a batch does to contacts. No external id stands in it twice.
#[derive(Debug, Clone, Copy)]
pub struct ContactBatch<'a> {
    /// Contacts to make or to change.
    pub upserts: &'a [AcceptedUpsert<'a>],
    /// External ids of contacts to remove.
    pub deletes: &'a [Cow<'a, str>],
    /// External ids of contacts that only count as received.
    pub seen: &'a [Cow<'a, str>],
    /// What [`Transaction::find_known_contacts`] found for each record.
    pub known: &'a [Option<KnownContact>],
}

/// What a batch has to know of a contact to tell whether a record changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownContact {
    /// Names it in its integration.
    pub contact_number: i64,
    /// That of its last upsert's values; `None` when they are not known or the contact is removed.
    pub fingerprint: Option<ContactFingerprint>,
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

const COLUMNS: &str =
    "external_id, contact_number, fields, removed_at, changed_in, created_at, changed_at";

fn contact_from_row(row: &Row) -> Result<Contact> {
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

/// When a contact is removed for good, as the index of those to be erased has it: at once when its client deleted it.
const REMOVED_FOR_GOOD: &str =
    "(CASE WHEN removed_in IS NULL THEN '-infinity'::timestamptz ELSE removed_at END)";

/// Finds contacts by their ids. The subquery's LIMIT makes Postgres look them up one by one whatever it believes of the
/// table's size.
const FIND: &str = "
    SELECT array_agg(position), array_agg(contact_number), array_agg(fingerprint)
    FROM unnest($2::text[]) WITH ORDINALITY AS sent (external_id, position)
    CROSS JOIN LATERAL (
        SELECT contact_number, CASE WHEN removed_at IS NULL THEN fingerprint END AS fingerprint
        FROM contacts WHERE integration_id = $1 AND external_id = sent.external_id LIMIT 1) AS stored";

/// Writes contacts that are new or change, and only those. They are written in the order of their ids, deletes among
/// the upserts: two batches that meet wait for each other and never in a ring. An 'insert' is an upsert of a contact
/// that was not there a moment ago, and is not looked up again. A contact that is to be deleted and was never there is
/// nothing to write; one that a full sync missed is written, so that no undo brings it back. A delete erases the values:
/// of a deleted contact only its key, its number and its times stay.
const APPLY: &str = "
    WITH sent AS (
        SELECT external_id, operation, fields::jsonb AS fields, fingerprint
        FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) AS sent (external_id, operation, fields, fingerprint)
    ), found AS MATERIALIZED (
        SELECT sent.*, stored.contact_number, stored.removed_at IS NOT NULL AS is_removed,
            stored.removed_in IS NOT NULL AS is_missed, stored.fields @> sent.fields AS is_same
        FROM sent LEFT JOIN LATERAL (
            SELECT contact_number, removed_at, removed_in, fields FROM contacts
            WHERE sent.operation <> 'insert' AND integration_id = $1 AND external_id = sent.external_id LIMIT 1
        ) AS stored ON true
    ), written AS (
        INSERT INTO contacts AS existing
            (integration_id, external_id, fields, fingerprint, removed_at, changed_in, created_at, changed_at)
        SELECT $1, external_id, fields, fingerprint, CASE operation WHEN 'delete' THEN $7::timestamptz END, $6, $7, $7
        FROM found
        WHERE operation = 'insert'
            OR operation = 'upsert' AND (contact_number IS NULL OR is_removed OR NOT is_same)
            OR operation = 'delete' AND contact_number IS NOT NULL AND (NOT is_removed OR is_missed)
        ORDER BY external_id COLLATE \"C\"
        ON CONFLICT (integration_id, external_id) DO UPDATE SET
            fields = CASE WHEN excluded.removed_at IS NULL THEN existing.fields || excluded.fields ELSE '{}' END,
            fingerprint = excluded.fingerprint, removed_at = excluded.removed_at, erased_at = excluded.removed_at, removed_in = NULL,
            changed_in = excluded.changed_in, changed_at = excluded.changed_at
        RETURNING contact_number
    )
    SELECT ARRAY(SELECT contact_number FROM found WHERE contact_number IS NOT NULL
                 UNION SELECT contact_number FROM written)";

/// What [`APPLY`] does with a batch of nothing but new contacts, such as all of a first sync: with nothing to look up,
/// in four fifths of the time. One that another batch makes meanwhile is changed, as there.
const INSERT: &str = "
    WITH written AS (
        INSERT INTO contacts AS existing
            (integration_id, external_id, fields, fingerprint, changed_in, created_at, changed_at)
        SELECT $1, external_id, fields::jsonb, fingerprint, $5, $6, $6
        FROM unnest($2::text[], $3::text[], $4::uuid[]) AS sent (external_id, fields, fingerprint)
        ORDER BY external_id COLLATE \"C\"
        ON CONFLICT (integration_id, external_id) DO UPDATE SET fields = existing.fields || excluded.fields,
            fingerprint = excluded.fingerprint, removed_at = NULL, removed_in = NULL,
            changed_in = excluded.changed_in, changed_at = excluded.changed_at
        RETURNING contact_number
    )
    SELECT ARRAY(SELECT contact_number FROM written)";

/// The columns of records to be written.
#[derive(Default)]
struct ContactRows<'a> {
    external_ids: Vec<&'a str>,
    operations: Vec<&'a str>,
    fields: Vec<String>,
    fingerprints: Vec<Option<Uuid>>,
}

impl<'a> ContactRows<'a> {
    fn push_upsert(&mut self, operation: &'a str, upsert: &'a AcceptedUpsert<'a>) -> Result<()> {
        self.external_ids.push(&upsert.external_id);
        self.operations.push(operation);
        self.fields.push(serde_json::to_string(&upsert.values)?);
        self.fingerprints
            .push(Some(Uuid::from_bytes(upsert.fingerprint.0)));
        Ok(())
    }

    fn push_external_ids(&mut self, operation: &'a str, external_ids: &'a [Cow<'a, str>]) {
        for external_id in external_ids {
            self.external_ids.push(external_id);
            self.operations.push(operation);
            self.fields.push("{}".to_owned());
            self.fingerprints.push(None);
        }
    }
}

impl Transaction<'_> {
    /// What is known of the contacts with these external ids, in the order given; `None` for one that was never there.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_known_contacts(
        &self,
        integration_id: IntegrationId,
        external_ids: &[Cow<'_, str>],
    ) -> Result<Vec<Option<KnownContact>>> {
        let mut known = vec![None; external_ids.len()];
        let row = self
            .query_row(FIND, &[&integration_id.0, &external_ids])
            .await?;
        let column = |index: usize| {
            row.as_ref()
                .and_then(|row| row.get::<_, Option<Vec<i64>>>(index))
        };
        let (positions, numbers) = (column(0).unwrap_or_default(), column(1).unwrap_or_default());
        let fingerprints = row
            .as_ref()
            .and_then(|row| row.get::<_, Option<Vec<Option<Uuid>>>>(2));
        for ((position, contact_number), fingerprint) in positions
            .into_iter()
            .zip(numbers)
            .zip(fingerprints.unwrap_or_default())
        {
            // Postgres counts from 1.
            let index = usize::try_from(position)
                .ok()
                .and_then(|position| position.checked_sub(1));
            if let Some(found) = index.and_then(|index| known.get_mut(index)) {
                let fingerprint =
                    fingerprint.map(|fingerprint| ContactFingerprint(fingerprint.into_bytes()));
                *found = Some(KnownContact {
                    contact_number,
                    fingerprint,
                });
            }
        }
        Ok(known)
    }

    /// Applies a batch: makes, changes, restores and removes contacts. Returns the numbers of all that stand in it and
    /// exist.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn apply_contact_batch(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        batch: ContactBatch<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<i64>> {
        let (mut rows, mut received) = (ContactRows::default(), Vec::new());
        for upsert in batch.upserts {
            match batch.known.get(upsert.index).copied().flatten() {
                None => rows.push_upsert("insert", upsert)?,
                Some(known) if known.fingerprint == Some(upsert.fingerprint) => {
                    received.push(known.contact_number);
                }
                Some(_) => rows.push_upsert("upsert", upsert)?,
            }
        }
        rows.push_external_ids("delete", batch.deletes);
        rows.push_external_ids("see", batch.seen);
        if rows.external_ids.is_empty() {
            return Ok(received);
        }
        received.extend(
            self.write_contacts(integration_id, sync_id, &rows, now)
                .await?,
        );
        Ok(received)
    }

    /// Writes rows and returns the numbers of their contacts.
    async fn write_contacts(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        rows: &ContactRows<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<i64>> {
        let ContactRows {
            external_ids,
            operations,
            fields,
            fingerprints,
        } = rows;
        let row = if operations.iter().all(|operation| *operation == "insert") {
            self.query_row(
                INSERT,
                &[
                    &integration_id.0,
                    external_ids,
                    fields,
                    fingerprints,
                    &sync_id.0,
                    &now,
                ],
            )
            .await?
        } else {
            self.query_row(
                APPLY,
                &[
                    &integration_id.0,
                    external_ids,
                    operations,
                    fields,
                    fingerprints,
                    &sync_id.0,
                    &now,
                ],
            )
            .await?
        };
        Ok(row.map(|row| row.get(0)).unwrap_or_default())
    }
}

impl Store {
    /// A contact by the caller's id, removed ones too.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_contact(
        &self,
        integration_id: IntegrationId,
        external_id: &str,
    ) -> Result<Option<Contact>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM contacts WHERE integration_id = $1 AND external_id = $2"
        );
        self.query_row(&sql, &[&integration_id.0, &external_id])
            .await?
            .as_ref()
            .map(contact_from_row)
            .transpose()
    }

    /// Contacts that stand, in the order of arrival, after the number `after`; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_contacts(
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
        self.query_rows(&sql, &[&integration_id.0, &after, &limit])
            .await?
            .iter()
            .map(contact_from_row)
            .collect()
    }

    /// Erases the values of removed contacts, at most `limit` of them: of those that a full sync missed before `missed_before`,
    /// which no undo restores from then on, and of those that a syncer of an earlier version deleted
    /// and left with their values. Contacts that a batch is writing are left for another time. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn erase_removed_contacts(
        &self,
        missed_before: DateTime<Utc>,
        limit: i64,
    ) -> Result<u64> {
        let sql = format!(
            "UPDATE contacts SET fields = '{{}}', fingerprint = NULL, removed_in = NULL, erased_at = removed_at
             WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM contacts
                 WHERE removed_at IS NOT NULL AND erased_at IS DISTINCT FROM removed_at AND {REMOVED_FOR_GOOD} < $1
                 ORDER BY {REMOVED_FOR_GOOD} LIMIT $2 FOR UPDATE SKIP LOCKED))"
        );
        self.execute(&sql, &[&missed_before, &limit]).await
    }
}
