//! Integrations and the fields that they declare.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use contract::push::{
    FieldSemantic, FieldType, IntegrationField, IntegrationReadiness, IntegrationStatus,
};
use model::id::{IntegrationId, RequestId, TeamId};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// The removal guard of a new integration: a full sync that would remove more than this share of the contacts, in percent...
const REMOVAL_GUARD_PERCENT: i16 = 20;

/// ...and at least so many, is held until it is confirmed.
const REMOVAL_GUARD_MINIMUM: i32 = 25;

/// What the owner set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationAvailability {
    /// It takes requests.
    Active,
    /// It refuses them until it is resumed.
    Paused,
    /// It refuses them; the owner is done with it, and can still resume it.
    Disconnected,
}

/// An integration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Integration {
    /// Its id; public.
    pub integration_id: IntegrationId,
    /// Its owner.
    pub team_id: TeamId,
    /// Its name, of which a team has one.
    pub name: String,
    /// What the owner set.
    pub availability: IntegrationAvailability,
    /// Percent of the contacts that a full sync removes without asking; `None` never asks.
    pub removal_guard_percent: Option<i16>,
    /// Contacts that a full sync removes without asking, whatever their share.
    pub removal_guard_minimum: i32,
    /// Whether a sync has completed.
    pub has_completed: bool,
}

impl IntegrationAvailability {
    /// The name in the database and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Disconnected => "disconnected",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Self> {
        [Self::Active, Self::Paused, Self::Disconnected]
            .into_iter()
            .find(|availability| availability.as_str() == name)
            .ok_or_else(|| StoreError::Corrupt("availability of an integration".to_owned()))
    }
}

impl Integration {
    /// What it can do now.
    pub fn status(&self, standing: &IntegrationReadiness<'_>) -> IntegrationStatus {
        match self.availability {
            IntegrationAvailability::Active => standing.status(),
            IntegrationAvailability::Paused => IntegrationStatus::Paused,
            IntegrationAvailability::Disconnected => IntegrationStatus::Disconnected,
        }
    }
}

const COLUMNS: &str = "integration_id, team_id, name, availability, removal_guard_percent, removal_guard_minimum, first_completed_at";

fn integration_from_row(row: &Row) -> Result<Integration> {
    Ok(Integration {
        integration_id: IntegrationId(row.get("integration_id")),
        team_id: TeamId(row.get("team_id")),
        name: row.get("name"),
        availability: IntegrationAvailability::from_name(row.get("availability"))?,
        removal_guard_percent: row.get("removal_guard_percent"),
        removal_guard_minimum: row.get("removal_guard_minimum"),
        has_completed: row
            .get::<_, Option<DateTime<Utc>>>("first_completed_at")
            .is_some(),
    })
}

fn not_found(integration_id: IntegrationId) -> StoreError {
    StoreError::NotFound(format!("the integration {integration_id}"))
}

fn field_from_row(row: &Row) -> Result<IntegrationField> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("{what} of a declared field"));
    let semantic: Option<&str> = row.get("semantic");
    Ok(IntegrationField {
        key: row.get("key"),
        label: row.get("label"),
        field_type: FieldType::from_str(row.get("type")).map_err(|()| corrupt("type"))?,
        options: row.get("options"),
        semantic: semantic
            .map(FieldSemantic::from_str)
            .transpose()
            .map_err(|()| corrupt("semantic"))?,
    })
}

/// A declaration is bounded by the contract, so this reads them all.
const FIELDS: &str = "SELECT key, label, type, options, semantic FROM integration_fields WHERE integration_id = $1 ORDER BY position";

fn integration_by_name_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM integrations WHERE team_id = $1 AND name = $2 AND removed_at IS NULL"
    )
}

fn named_integration_from_row(row: Option<Row>, name: &str) -> Result<Integration> {
    integration_from_row(
        &row.ok_or_else(|| StoreError::NotFound(format!("the integration {name:?}")))?,
    )
}

impl Store {
    /// An integration.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none with this id.
    pub async fn find_integration(&self, integration_id: IntegrationId) -> Result<Integration> {
        let sql = format!(
            "SELECT {COLUMNS} FROM integrations WHERE integration_id = $1 AND removed_at IS NULL"
        );
        let row = self.query_row(&sql, &[&integration_id.0]).await?;
        integration_from_row(&row.ok_or_else(|| not_found(integration_id))?)
    }

    /// A team's integrations, by name.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_integrations(&self, team_id: TeamId) -> Result<Vec<Integration>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM integrations WHERE team_id = $1 AND removed_at IS NULL ORDER BY name"
        );
        self.query_rows(&sql, &[&team_id.0])
            .await?
            .iter()
            .map(integration_from_row)
            .collect()
    }

    /// A team's integration of this name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_integration_by_name(
        &self,
        team_id: TeamId,
        name: &str,
    ) -> Result<Integration> {
        named_integration_from_row(
            self.query_row(&integration_by_name_sql(), &[&team_id.0, &name])
                .await?,
            name,
        )
    }

    /// A team's integration.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with this id.
    pub async fn find_team_integration(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
    ) -> Result<Integration> {
        let sql = format!(
            "SELECT {COLUMNS} FROM integrations WHERE team_id = $1 AND integration_id = $2 AND removed_at IS NULL"
        );
        let row = self
            .query_row(&sql, &[&team_id.0, &integration_id.0])
            .await?;
        integration_from_row(&row.ok_or_else(|| not_found(integration_id))?)
    }

    /// The declared fields, in the order of their first declaration.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_fields(
        &self,
        integration_id: IntegrationId,
    ) -> Result<Vec<IntegrationField>> {
        self.query_rows(FIELDS, &[&integration_id.0])
            .await?
            .iter()
            .map(field_from_row)
            .collect()
    }
}

impl Transaction<'_> {
    /// A team's integration of this name, as this transaction sees it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_integration_by_name(
        &self,
        team_id: TeamId,
        name: &str,
    ) -> Result<Integration> {
        named_integration_from_row(
            self.query_row(&integration_by_name_sql(), &[&team_id.0, &name])
                .await?,
            name,
        )
    }

    /// Makes the integration, or gives the team's one of that name these settings. Without a guard the one that stands keeps
    /// its own, and a new one gets the [default](REMOVAL_GUARD_PERCENT).
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_integration(
        &self,
        team_id: TeamId,
        name: &str,
        availability: IntegrationAvailability,
        removal_guard_percent: Option<i16>,
        now: DateTime<Utc>,
    ) -> Result<IntegrationId> {
        let row = self
            .query_row(
                "INSERT INTO integrations
                     (integration_id, team_id, name, availability, removal_guard_percent, removal_guard_minimum, created_at)
                 VALUES ($1, $2, $3, $4, coalesce($5::smallint, $7::smallint), CASE WHEN $5 IS NULL THEN $8::integer ELSE 0 END, $6)
                 ON CONFLICT (team_id, name) WHERE removed_at IS NULL DO UPDATE SET availability = excluded.availability,
                     removal_guard_percent = coalesce($5, integrations.removal_guard_percent),
                     removal_guard_minimum = CASE WHEN $5 IS NULL THEN integrations.removal_guard_minimum ELSE 0 END
                 RETURNING integration_id",
                &[
                    &IntegrationId::new().0,
                    &team_id.0,
                    &name,
                    &availability.as_str(),
                    &removal_guard_percent,
                    &now,
                    &REMOVAL_GUARD_PERCENT,
                    &REMOVAL_GUARD_MINIMUM,
                ],
            )
            .await?
            .ok_or_else(|| StoreError::Corrupt("saving an integration gave no row".to_owned()))?;
        Ok(IntegrationId(row.get(0)))
    }

    /// Holds an integration's syncs alone until the transaction ends; waits for all who share them, 20 seconds
    /// at the most.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when they take longer; [`StoreError`] when the database cannot be asked.
    pub async fn lock_integration_syncs(&self, integration_id: IntegrationId) -> Result<()> {
        let sql = lock_within_sql(HOLD_PATIENCE, "pg_advisory_xact_lock");
        self.query_row(&sql, &[&syncs_lock_name(integration_id)])
            .await?;
        Ok(())
    }

    /// Whether an integration stands: a request of its client may have been under way while its team removed it.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn integration_exists(&self, integration_id: IntegrationId) -> Result<bool> {
        let sql = "SELECT 1 FROM integrations WHERE integration_id = $1 AND removed_at IS NULL";
        Ok(self.query_row(sql, &[&integration_id.0]).await?.is_some())
    }

    /// The declared fields, with the integration locked against another declaration, and against its removal.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it was removed.
    pub async fn lock_fields(
        &self,
        integration_id: IntegrationId,
    ) -> Result<Vec<IntegrationField>> {
        let sql = "SELECT 1 FROM integrations WHERE integration_id = $1 AND removed_at IS NULL FOR NO KEY UPDATE";
        self.query_row(sql, &[&integration_id.0])
            .await?
            .ok_or_else(|| not_found(integration_id))?;
        self.query_rows(FIELDS, &[&integration_id.0])
            .await?
            .iter()
            .map(field_from_row)
            .collect()
    }

    /// How many of the declared fields this request has added: none, unless it was done before and comes again.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_fields_added_by(
        &self,
        integration_id: IntegrationId,
        request_id: RequestId,
    ) -> Result<i64> {
        let sql =
            "SELECT count(*) FROM integration_fields WHERE integration_id = $1 AND added_by = $2";
        let row = self
            .query_row(sql, &[&integration_id.0, &request_id.0])
            .await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }

    /// Writes an integration's declared fields, which must hold those declared before. New ones are added by this
    /// request.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when two fields claim one semantic.
    pub async fn save_fields(
        &self,
        integration_id: IntegrationId,
        fields: &[IntegrationField],
        request_id: RequestId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        // A semantic can move from one field to another: the index is checked row by row, so all go first.
        let sql = "UPDATE integration_fields SET semantic = NULL WHERE integration_id = $1 AND semantic IS NOT NULL";
        self.execute(sql, &[&integration_id.0]).await?;
        let json = serde_json::to_value(fields)?;
        self.execute(
            "INSERT INTO integration_fields AS existing
                 (integration_id, key, position, label, type, options, semantic, declared_at, added_by)
             SELECT $1, field->>'key', position::integer, field->>'label', field->>'type',
                 ARRAY(SELECT jsonb_array_elements_text(coalesce(field->'options', '[]'))), field->>'semantic', $3,
                 $4
             FROM jsonb_array_elements($2) WITH ORDINALITY AS sent (field, position)
             ON CONFLICT (integration_id, key) DO UPDATE SET label = excluded.label, type = excluded.type,
                 options = excluded.options, semantic = excluded.semantic",
            &[&integration_id.0, &json, &now, &request_id.0],
        )
        .await?;
        Ok(())
    }
}

/// How long a request waits to hold an integration's syncs alone: until pushes that were begun are through.
const HOLD_PATIENCE: &str = "20s";

/// How long one waits to share them: who waits keeps a worker from other integrations.
pub(crate) const SHARE_PATIENCE: &str = "3s";

/// A statement that takes the advisory lock of `$1` with this function, or gives up in time. Nothing else of the transaction
/// is bounded by it.
pub(crate) fn lock_within_sql(patience: &str, lock: &str) -> String {
    format!(
        "SELECT set_config('lock_timeout', '{patience}', true), {lock}(hashtextextended($1, 0)),
             set_config('lock_timeout', '0', true)"
    )
}

/// What an integration's syncs are locked by.
pub(crate) fn syncs_lock_name(integration_id: IntegrationId) -> String {
    format!("integration/{integration_id}")
}
