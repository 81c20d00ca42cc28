//! What the owner of an integration does with it, each within a transaction that notes it.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use contract::push::FieldSemantic;
use model::id::{IntegrationId, TeamId};
use model::limits::INTEGRATIONS_PER_TEAM;

use crate::error::{Result, StoreError};
use crate::integration::IntegrationAvailability;
use crate::pool::{Store, Transaction};

/// What the owner says about one field: the contact column that it fills, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldMapping {
    /// The declared field.
    pub key: String,
    /// The contact column.
    pub semantic: Option<FieldSemantic>,
}

const MAPPED: &str =
    "SELECT key FROM integration_fields WHERE integration_id = $1 AND is_mapped_by_owner";

impl Store {
    /// As [`Transaction::list_owner_mapped_keys`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_owner_mapped_keys(
        &self,
        integration_id: IntegrationId,
    ) -> Result<HashSet<String>> {
        Ok(self
            .query_rows(MAPPED, &[&integration_id.0])
            .await?
            .iter()
            .map(|row| row.get(0))
            .collect())
    }
}

impl Transaction<'_> {
    /// Makes an integration.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the team has one of that name, or as many as it may hold.
    pub async fn insert_integration(
        &self,
        team_id: TeamId,
        name: &str,
        now: DateTime<Utc>,
    ) -> Result<IntegrationId> {
        // The team's row is locked so that two creations cannot both count one below the limit.
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR UPDATE",
            &[&team_id.0],
        )
        .await?;
        let sql = "SELECT count(*), coalesce(bool_or(name = $2), false) FROM integrations
             WHERE team_id = $1 AND removed_at IS NULL";
        let row = self.query_row(sql, &[&team_id.0, &name]).await?;
        let (held, is_taken) = row.map_or((0, false), |row| (row.get::<_, i64>(0), row.get(1)));
        if is_taken {
            return Err(StoreError::Limit(format!(
                "your team has an integration named {name:?} already"
            )));
        }
        if held >= INTEGRATIONS_PER_TEAM {
            return Err(StoreError::Limit(format!(
                "your team holds {INTEGRATIONS_PER_TEAM} integrations, which is the most"
            )));
        }
        self.save_integration(team_id, name, IntegrationAvailability::Active, None, now)
            .await
    }

    /// Pauses, disconnects or resumes a team's integration; from the next request on it holds.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with this id.
    pub async fn set_integration_availability(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
        availability: IntegrationAvailability,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE integrations SET availability = $3
                 WHERE team_id = $1 AND integration_id = $2 AND removed_at IS NULL",
                &[&team_id.0, &integration_id.0, &availability.as_str()],
            )
            .await?;
        require_found(changed, integration_id)
    }

    /// The removal guard of an integration, in percent; nobody sets it before the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with this id.
    pub async fn lock_integration_guard(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
    ) -> Result<Option<i16>> {
        let sql = "SELECT removal_guard_percent FROM integrations
             WHERE team_id = $1 AND integration_id = $2 AND removed_at IS NULL FOR NO KEY UPDATE";
        let row = self
            .query_row(sql, &[&team_id.0, &integration_id.0])
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the integration {integration_id}")))
    }

    /// Sets the share of contacts, in percent, that a full sync removes without asking, however few they are; `None` never
    /// asks.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with this id; [`StoreError::Refused`] unless it is 0 to 100.
    pub async fn set_integration_guard(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
        percent: Option<i16>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE integrations SET removal_guard_percent = $3, removal_guard_minimum = 0
                 WHERE team_id = $1 AND integration_id = $2 AND removed_at IS NULL",
                &[&team_id.0, &integration_id.0, &percent],
            )
            .await?;
        require_found(changed, integration_id)
    }

    /// Keys of the fields that the owner has mapped: declarations leave their columns alone.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_owner_mapped_keys(
        &self,
        integration_id: IntegrationId,
    ) -> Result<HashSet<String>> {
        Ok(self
            .query_rows(MAPPED, &[&integration_id.0])
            .await?
            .iter()
            .map(|row| row.get(0))
            .collect())
    }

    /// Maps declared fields as the owner says; others stay as they are. The integration is locked against declarations.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when two fields would then fill one column.
    pub async fn map_fields(
        &self,
        integration_id: IntegrationId,
        mappings: &[FieldMapping],
    ) -> Result<()> {
        let keys: Vec<&str> = mappings
            .iter()
            .map(|mapping| mapping.key.as_str())
            .collect();
        let semantics: Vec<Option<&str>> = mappings
            .iter()
            .map(|mapping| mapping.semantic.map(FieldSemantic::as_str))
            .collect();
        // A column can move from one field to another: the index is checked row by row, so all go first.
        self.execute(
            "UPDATE integration_fields SET semantic = NULL WHERE integration_id = $1 AND key = ANY ($2)",
            &[&integration_id.0, &keys],
        )
        .await?;
        self.execute(
            "UPDATE integration_fields SET semantic = mapped.semantic, is_mapped_by_owner = true
             FROM unnest($2::text[], $3::text[]) AS mapped (key, semantic)
             WHERE integration_id = $1 AND integration_fields.key = mapped.key",
            &[&integration_id.0, &keys, &semantics],
        )
        .await?;
        Ok(())
    }

    /// Leaves the mapping to declarations again: the next one sets it. Until then it stays.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn release_field_mapping(&self, integration_id: IntegrationId) -> Result<u64> {
        self.execute(
            "UPDATE integration_fields SET is_mapped_by_owner = false
             WHERE integration_id = $1 AND is_mapped_by_owner",
            &[&integration_id.0],
        )
        .await
    }
}

fn require_found(changed: u64, integration_id: IntegrationId) -> Result<()> {
    match changed {
        0 => Err(StoreError::NotFound(format!(
            "the integration {integration_id}"
        ))),
        _ => Ok(()),
    }
}
