//! Pictures by link: what came of fetching them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use model::id::TeamId;

use crate::error::Result;
use crate::pool::Store;

/// The hash of a picture's link.
pub type PictureLinkHash = [u8; 32];

/// What a picture is kept for, which says for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureUse {
    /// A design has it: for good.
    Design,
    /// It was sent with a recipient: for a while.
    Recipient,
}

impl PictureUse {
    /// The name in the database and in names of files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Recipient => "recipient",
        }
    }
}

/// What came of fetching a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureOutcome {
    /// It is kept in the file of this name.
    Kept(String),
    /// It cannot be used; the end of a sentence says why.
    Unusable(String),
}

/// An outcome to be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRow {
    /// Of its link.
    pub link_hash: PictureLinkHash,
    /// What came of it.
    pub outcome: PictureOutcome,
    /// When it is forgotten; `None` is never.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Store {
    /// What is known of a team's pictures, by the hash of the link.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_pictures(
        &self,
        team_id: TeamId,
        kept_for: PictureUse,
        links: &[PictureLinkHash],
        now: DateTime<Utc>,
    ) -> Result<HashMap<PictureLinkHash, PictureOutcome>> {
        let links: Vec<&[u8]> = links.iter().map(<[u8; 32]>::as_slice).collect();
        let rows = self
            .query_rows(
                "SELECT link_hash, file, problem FROM pictures
                 WHERE team_id = $1 AND kept_for = $2 AND link_hash = ANY ($3)
                     AND (expires_at IS NULL OR expires_at > $4)",
                &[&team_id.0, &kept_for.as_str(), &links, &now],
            )
            .await?;
        let found = rows.iter().filter_map(|row| {
            let outcome = match row.get::<_, Option<String>>(1) {
                Some(file) => PictureOutcome::Kept(file),
                None => {
                    PictureOutcome::Unusable(row.get::<_, Option<String>>(2).unwrap_or_default())
                }
            };
            // The table's CHECK says that a hash has 32 bytes.
            Some((row.get::<_, &[u8]>(0).try_into().ok()?, outcome))
        });
        Ok(found.collect())
    }

    /// Remembers what came of fetching pictures, each link once. What is kept stays known when a later attempt
    /// failed and the earlier one has not expired.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn save_pictures(
        &self,
        team_id: TeamId,
        kept_for: PictureUse,
        rows: &[PictureRow],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let mut rows: Vec<&PictureRow> = rows.iter().collect();
        // In the order of the hashes, so that two requests with the same pictures cannot lock them crosswise.
        rows.sort_unstable_by_key(|row| row.link_hash);
        let links: Vec<&[u8]> = rows.iter().map(|row| row.link_hash.as_slice()).collect();
        let parts = rows.iter().map(|row| match &row.outcome {
            PictureOutcome::Kept(file) => (Some(file.as_str()), None),
            PictureOutcome::Unusable(problem) => (None, Some(problem.as_str())),
        });
        let (files, problems): (Vec<_>, Vec<_>) = parts.unzip();
        let expiries: Vec<Option<DateTime<Utc>>> = rows.iter().map(|row| row.expires_at).collect();
        self.execute(
            "INSERT INTO pictures AS stored (team_id, kept_for, link_hash, file, problem, expires_at)
             SELECT $1, $2, link_hash, file, problem, expires_at
             FROM unnest($3::bytea[], $4::text[], $5::text[], $6::timestamptz[])
                 AS new (link_hash, file, problem, expires_at)
             ON CONFLICT (team_id, kept_for, link_hash) DO UPDATE SET
                 file = excluded.file, problem = excluded.problem, expires_at = excluded.expires_at
             WHERE excluded.file IS NOT NULL OR stored.file IS NULL OR stored.expires_at <= $7",
            &[&team_id.0, &kept_for.as_str(), &links, &files, &problems, &expiries, &now],
        )
        .await
    }

    /// Forgets outcomes that have expired, at most `limit`. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_pictures(&self, now: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM pictures WHERE expires_at <= $1 AND ctid = ANY (ARRAY(
                 SELECT ctid FROM pictures WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))",
            &[&now, &limit],
        )
        .await
    }
}
