//! API keys.

use chrono::{DateTime, Utc};
use model::id::{ApiKeyId, IntegrationId, TeamId};
use model::key::{KeyKind, PresentedKey};
use model::limits::{ACTIVE_INTEGRATION_KEYS, ACTIVE_TEAM_KEYS};
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// A key to be stored.
#[derive(Debug)]
pub struct NewApiKey<'a> {
    /// Its owner.
    pub team_id: TeamId,
    /// What it opens.
    pub kind: KeyKind,
    /// The integration of an integration key; else `None`.
    pub integration_id: Option<IntegrationId>,
    /// What people call it.
    pub name: &'a str,
    /// The key itself; only its hash and ends are stored.
    pub key: &'a PresentedKey,
    /// The id that it gets; `None` for a new one. One that there is makes no second key.
    pub key_id: Option<ApiKeyId>,
}

/// What became of a key that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedApiKey {
    /// Its row.
    pub key_id: ApiKeyId,
    /// False when the same key stood there already.
    pub is_new: bool,
}

/// What became of a key that was to be revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedApiKey {
    /// What people call it.
    pub name: String,
    /// The name of the integration of an integration key; else `None`.
    pub integration: Option<String>,
    /// False when it had been revoked before.
    pub is_changed: bool,
}

/// A key, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiKeySummary {
    /// Its row.
    pub key_id: ApiKeyId,
    /// `full_access`, `integration` or `formulas`.
    pub kind: String,
    /// The integration of an integration key; else `None`.
    pub integration_id: Option<IntegrationId>,
    /// What people call it.
    pub name: String,
    /// Its first and last four characters.
    pub display: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// Keys that are listed: all active ones, which are bounded, and the newest of those that were revoked.
const LISTED: i64 = 200;

const LIST: &str =
    "SELECT key_id, kind, integration_id, name, display, created_at, revoked_at FROM api_keys";
const LIST_ORDER: &str = "ORDER BY revoked_at IS NOT NULL, created_at DESC, key_id DESC";

fn key_summary_from_row(row: &Row) -> ApiKeySummary {
    ApiKeySummary {
        key_id: ApiKeyId(row.get(0)),
        kind: row.get(1),
        integration_id: row.get::<_, Option<Uuid>>(2).map(IntegrationId),
        name: row.get(3),
        display: row.get(4),
        created_at: row.get(5),
        revoked_at: row.get(6),
    }
}

impl Transaction<'_> {
    /// Stores a key. The same key again, for the same team and not revoked, changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Limit`] past the keys that a team or an integration may hold, when the key stands elsewhere or was revoked, or when
    /// there is a key with the chosen id;
    /// [`StoreError::NotFound`] when the integration was removed.
    pub async fn insert_api_key(
        &self,
        new: &NewApiKey<'_>,
        now: DateTime<Utc>,
    ) -> Result<CreatedApiKey> {
        if let Some(integration_id) = new.integration_id {
            self.refuse_removed_integration(integration_id).await?;
        }
        // The team's row is locked so that two creations cannot both count one below the limit.
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR UPDATE",
            &[&new.team_id.0],
        )
        .await?;
        let hash = new.key.hash();
        let existing = self
            .query_row(
                "SELECT key_id, team_id = $2 AND kind = $3 AND integration_id IS NOT DISTINCT FROM $4
                     AND revoked_at IS NULL
                 FROM api_keys WHERE hash = $1",
                &[&&hash.0[..], &new.team_id.0, &new.kind.as_str(), &new.integration_id.map(|id| id.0)],
            )
            .await?;
        if let Some(row) = existing {
            return if row.get(1) {
                Ok(CreatedApiKey {
                    key_id: ApiKeyId(row.get(0)),
                    is_new: false,
                })
            } else {
                Err(StoreError::Limit(format!(
                    "the key {} was revoked, or stands elsewhere; choose another one",
                    new.key.abbreviate()
                )))
            };
        }
        match new.integration_id {
            Some(integration_id) => self.refuse_past_integration_limit(integration_id).await?,
            None => self.refuse_past_limit(new.team_id).await?,
        }
        let key_id = new.key_id.unwrap_or_default();
        let made = self.execute(
            "INSERT INTO api_keys (key_id, team_id, kind, integration_id, name, hash, display, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (key_id) DO NOTHING",
            &[
                &key_id.0,
                &new.team_id.0,
                &new.kind.as_str(),
                &new.integration_id.map(|id| id.0),
                &new.name,
                &&hash.0[..],
                &new.key.abbreviate(),
                &now,
            ],
        )
        .await?;
        if made == 0 {
            return Err(StoreError::Limit(
                "it was made when this was sent before, and shown then; if you did not see it, revoke it and make another".to_owned(),
            ));
        }
        Ok(CreatedApiKey {
            key_id,
            is_new: true,
        })
    }

    /// The newest key of this kind and name of the team, or of its integration, that was not revoked; `None` when
    /// there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_active_api_key(
        &self,
        team_id: TeamId,
        integration_id: Option<IntegrationId>,
        kind: KeyKind,
        name: &str,
    ) -> Result<Option<ApiKeyId>> {
        let row = self
            .query_row(
                "SELECT key_id FROM api_keys
                 WHERE team_id = $1 AND integration_id IS NOT DISTINCT FROM $2 AND kind = $3 AND name = $4
                     AND revoked_at IS NULL
                 ORDER BY created_at DESC, key_id DESC LIMIT 1",
                &[&team_id.0, &integration_id.map(|id| id.0), &kind.as_str(), &name],
            )
            .await?;
        Ok(row.map(|row| ApiKeyId(row.get(0))))
    }

    /// The name of a key.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such key.
    pub async fn find_api_key_name(&self, key_id: ApiKeyId) -> Result<String> {
        let sql = "SELECT name FROM api_keys WHERE key_id = $1";
        let row = self.query_row(sql, &[&key_id.0]).await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the key {key_id}")))
    }

    /// Revokes a team's key; from the next request on it opens nothing. A revoked one stays as it is.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such key.
    pub async fn revoke_api_key(
        &self,
        team_id: TeamId,
        key_id: ApiKeyId,
        now: DateTime<Utc>,
    ) -> Result<RevokedApiKey> {
        // Whoever revokes at the same time is waited for, and has revoked it: the row as it is then decides.
        let revoked = self
            .execute(
                "UPDATE api_keys SET revoked_at = $3 WHERE team_id = $1 AND key_id = $2 AND revoked_at IS NULL",
                &[&team_id.0, &key_id.0, &now],
            )
            .await?;
        let row = self
            .query_row(
                "SELECT api_keys.name, integrations.name FROM api_keys LEFT JOIN integrations USING (integration_id)
                 WHERE api_keys.team_id = $1 AND key_id = $2",
                &[&team_id.0, &key_id.0],
            )
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("the key {key_id}")))?;
        Ok(RevokedApiKey {
            name: row.get(0),
            integration: row.get(1),
            is_changed: revoked == 1,
        })
    }

    async fn refuse_past_limit(&self, team_id: TeamId) -> Result<()> {
        let row = self
            .query_row(
                "SELECT count(*) FROM api_keys WHERE team_id = $1 AND kind <> 'integration' AND revoked_at IS NULL",
                &[&team_id.0],
            )
            .await?;
        if row.is_some_and(|row| row.get::<_, i64>(0) >= ACTIVE_TEAM_KEYS) {
            return Err(StoreError::Limit(format!(
                "the team holds {ACTIVE_TEAM_KEYS} active Full access and Formulas only keys, which is the most; revoke one first"
            )));
        }
        Ok(())
    }

    /// An integration that is removed meanwhile gets no key. Its row is locked before the team's, as declarations lock them.
    async fn refuse_removed_integration(&self, integration_id: IntegrationId) -> Result<()> {
        let sql =
            "SELECT 1 FROM integrations WHERE integration_id = $1 AND removed_at IS NULL FOR SHARE";
        let row = self.query_row(sql, &[&integration_id.0]).await?;
        row.map(drop)
            .ok_or_else(|| StoreError::NotFound(format!("the integration {integration_id}")))
    }

    async fn refuse_past_integration_limit(&self, integration_id: IntegrationId) -> Result<()> {
        let row = self
            .query_row(
                "SELECT count(*) FROM api_keys WHERE integration_id = $1 AND revoked_at IS NULL",
                &[&integration_id.0],
            )
            .await?;
        if row.is_some_and(|row| row.get::<_, i64>(0) >= ACTIVE_INTEGRATION_KEYS) {
            return Err(StoreError::Limit(format!(
                "the integration holds {ACTIVE_INTEGRATION_KEYS} active keys, which is the most; revoke one first"
            )));
        }
        Ok(())
    }
}

impl Store {
    /// A team's keys, active ones first and of each the newest first; of the revoked ones only the newest.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_api_keys(&self, team_id: TeamId) -> Result<Vec<ApiKeySummary>> {
        let sql = format!("{LIST} WHERE team_id = $1 {LIST_ORDER} LIMIT $2");
        Ok(self
            .query_rows(&sql, &[&team_id.0, &LISTED])
            .await?
            .iter()
            .map(key_summary_from_row)
            .collect())
    }

    /// The keys of a team's integration, in the same order.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_integration_api_keys(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
    ) -> Result<Vec<ApiKeySummary>> {
        let sql =
            format!("{LIST} WHERE team_id = $1 AND integration_id = $2 {LIST_ORDER} LIMIT $3");
        let rows = self
            .query_rows(&sql, &[&team_id.0, &integration_id.0, &LISTED])
            .await?;
        Ok(rows.iter().map(key_summary_from_row).collect())
    }
}
