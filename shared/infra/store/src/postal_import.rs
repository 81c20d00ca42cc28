//! How far files of the post's scans are.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// A file of scans, as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct PostalImport {
    /// Rows that are in.
    pub rows_read: i64,
    /// What became of them.
    pub counts: Value,
    /// Whether the whole file is in.
    pub is_finished: bool,
}

/// A portion of a file.
#[derive(Debug, Clone, Copy)]
pub struct PostalImportStep<'a> {
    /// The file.
    pub content_hash: &'a [u8; 32],
    /// The rows that were in before it.
    pub from_rows: i64,
    /// Those that are in with it.
    pub to_rows: i64,
    /// What became of all of them.
    pub counts: &'a Value,
    /// Whether it is the last.
    pub is_last: bool,
}

impl Store {
    /// How far a file is. One that is new begins; it has the name that it came with last.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn begin_postal_import(
        &self,
        content_hash: &[u8; 32],
        name: &str,
        counts: &Value,
        now: DateTime<Utc>,
    ) -> Result<PostalImport> {
        let row = self
            .query_row(
                "INSERT INTO postal_imports (content_hash, name, rows_read, counts, started_at) VALUES ($1, $2, 0, $3, $4)
                 ON CONFLICT (content_hash) DO UPDATE SET name = excluded.name
                 RETURNING rows_read, counts, finished_at IS NOT NULL",
                &[&content_hash.as_slice(), &name, counts, &now],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("an import".to_owned()))?;
        Ok(PostalImport {
            rows_read: row.get(0),
            counts: row.get(1),
            is_finished: row.get(2),
        })
    }

    /// Forgets how far a file is, so that it is read from its beginning.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn delete_postal_import(&self, content_hash: &[u8; 32]) -> Result<()> {
        let sql = "DELETE FROM postal_imports WHERE content_hash = $1";
        self.execute(sql, &[&content_hash.as_slice()]).await?;
        Ok(())
    }

    /// Of files in the watched place, given with their versions: those that were not looked at yet as they are now.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_new_inbox_files(
        &self,
        names: &[&str],
        versions: &[&str],
    ) -> Result<Vec<String>> {
        let rows = self
            .query_rows(
                "SELECT found.name FROM unnest($1::text[], $2::text[]) AS found (name, version)
                 WHERE NOT EXISTS (SELECT FROM postal_inbox_files seen
                     WHERE seen.name = found.name AND seen.version = found.version)
                 ORDER BY found.name",
                &[&names, &versions],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Remembers a file of the watched place.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_inbox_file(
        &self,
        name: &str,
        version: &str,
        problem: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO postal_inbox_files (name, version, problem, seen_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (name) DO UPDATE SET version = excluded.version, problem = excluded.problem, seen_at = excluded.seen_at",
            &[&name, &version, &problem, &now],
        )
        .await?;
        Ok(())
    }
}

impl Transaction<'_> {
    /// Notes that a portion is in.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when somebody else has taken rows of the file in meanwhile: then nothing may be kept.
    pub async fn advance_postal_import(
        &self,
        step: PostalImportStep<'_>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let finished_at = step.is_last.then_some(now);
        let changed = self
            .execute(
                "UPDATE postal_imports SET rows_read = $3, counts = $4, finished_at = $5
                 WHERE content_hash = $1 AND rows_read = $2 AND finished_at IS NULL",
                &[
                    &step.content_hash.as_slice(),
                    &step.from_rows,
                    &step.to_rows,
                    step.counts,
                    &finished_at,
                ],
            )
            .await?;
        if changed == 1 {
            Ok(())
        } else {
            Err(StoreError::LeaseLost)
        }
    }
}
