//! Letting a request in: the key and both rate windows in one round trip.

use chrono::{DateTime, Utc};
use model::id::{ApiKeyId, IntegrationId, TeamId};
use model::key::{KeyHash, KeyKind};

use tokio_postgres::Row;

use crate::error::{Result, StoreError, retry_conflicts};
use crate::integration::IntegrationAvailability;
use crate::pool::Store;

/// Who asks, and in which window they are counted.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionRequest<'a> {
    /// What the source address is counted as.
    pub source: &'a [u8],
    /// The key that was presented; `None` when there was none.
    pub key: Option<KeyHash>,
    /// What the key is counted as, different from any source; `None` when keys are not counted.
    pub key_subject: Option<&'a [u8]>,
    /// The window's start.
    pub window_start: DateTime<Utc>,
}

/// What the database knows about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmissionResult {
    /// Requests of the source address in the window, this one included.
    pub source_requests: i32,
    /// The key's row, if the key exists and is not revoked.
    pub key: Option<AdmittedKey>,
}

/// A key that exists and is not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedKey {
    /// Its row.
    pub key_id: ApiKeyId,
    /// Its owner.
    pub team_id: TeamId,
    /// What it opens.
    pub kind: KeyKind,
    /// The integration of an integration key, and whether its owner lets it take requests.
    pub integration: Option<(IntegrationId, IntegrationAvailability)>,
    /// Its requests in the window, this one included; 0 when keys are not counted.
    pub requests: i32,
}

impl Store {
    /// Counts a request and looks its key up.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn admit_request(&self, admission: AdmissionRequest<'_>) -> Result<AdmissionResult> {
        retry_conflicts(|| self.admit_request_once(admission)).await
    }

    async fn admit_request_once(&self, admission: AdmissionRequest<'_>) -> Result<AdmissionResult> {
        let hash: &[u8] = admission.key.as_ref().map_or(&[], |hash| &hash.0);
        let row = self
            .query_row(
                "WITH source AS (
                     INSERT INTO rate_windows AS existing (subject, window_start, requests) VALUES ($1, $4, 1)
                     ON CONFLICT (subject, window_start) DO UPDATE SET requests = existing.requests + 1
                     RETURNING requests
                 ), key AS (
                     SELECT key_id, api_keys.team_id, kind, integration_id, availability
                     FROM api_keys LEFT JOIN integrations USING (integration_id)
                     WHERE hash = $2 AND revoked_at IS NULL
                 ), key_window AS (
                     INSERT INTO rate_windows AS existing (subject, window_start, requests)
                     SELECT $3::bytea, $4, 1 FROM key WHERE $3::bytea IS NOT NULL
                     ON CONFLICT (subject, window_start) DO UPDATE SET requests = existing.requests + 1
                     RETURNING requests
                 )
                 SELECT source.requests, key.key_id, key.team_id, key.kind, key.integration_id, key.availability,
                     key_window.requests
                 FROM source LEFT JOIN key ON true LEFT JOIN key_window ON true",
                &[&admission.source, &hash, &admission.key_subject, &admission.window_start],
            )
            .await?
            .ok_or_else(|| StoreError::Corrupt("admission gave no row".to_owned()))?;
        let key_id: Option<uuid::Uuid> = row.get(1);
        let key = match key_id {
            None => None,
            Some(key_id) => Some(AdmittedKey {
                key_id: ApiKeyId(key_id),
                team_id: TeamId(row.get(2)),
                kind: KeyKind::from_name(row.get(3))
                    .ok_or_else(|| StoreError::Corrupt("kind of a key".to_owned()))?,
                integration: integration_from_row(&row)?,
                requests: row.get::<_, Option<i32>>(6).unwrap_or(0),
            }),
        };
        Ok(AdmissionResult {
            source_requests: row.get(0),
            key,
        })
    }

    /// Forgets windows that began before `before`, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_rate_windows(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM rate_windows WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM rate_windows WHERE window_start < $1 ORDER BY window_start LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}

fn integration_from_row(row: &Row) -> Result<Option<(IntegrationId, IntegrationAvailability)>> {
    let integration_id: Option<uuid::Uuid> = row.get(4);
    let availability: Option<&str> = row.get(5);
    let (Some(integration_id), Some(availability)) = (integration_id, availability) else {
        return Ok(None);
    };
    Ok(Some((
        IntegrationId(integration_id),
        IntegrationAvailability::from_name(availability)?,
    )))
}
