//! Design documents.

use chrono::{DateTime, Utc};
use model::id::{DesignId, TeamId};
use serde_json::Value;

use crate::error::{Result, StoreError};
use crate::pool::Transaction;

/// A design after it was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedDesign {
    /// Its id, the same in every version.
    pub design_id: DesignId,
    /// The version now current.
    pub version: i32,
}

/// A design to be saved.
#[derive(Debug, Clone, Copy)]
pub struct NewDesign<'a> {
    /// Its name, which is its team's alone.
    pub name: &'a str,
    /// What it prints.
    pub document: &'a Value,
    /// Whether a language model made it and no person has saved it yet.
    pub is_ai_draft: bool,
    /// The name of the person who saves it; `None` for an operator's file.
    pub saved_by: Option<&'a str>,
}

impl Transaction<'_> {
    /// Makes the design or gives the one of that name this document. A document that is no different makes no
    /// new version.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_design(
        &self,
        team_id: TeamId,
        new: &NewDesign<'_>,
        now: DateTime<Utc>,
    ) -> Result<SavedDesign> {
        let row = self
            .query_row(
                "WITH saved AS (
                     INSERT INTO designs AS stored (team_id, design_id, name, version, ai_draft, document, updated_at)
                     VALUES ($1, $2, $3, 1, $4, $5, $6)
                     ON CONFLICT (team_id, name) DO UPDATE SET
                         version = stored.version + (stored.document <> excluded.document)::int,
                         ai_draft = excluded.ai_draft, document = excluded.document, updated_at = excluded.updated_at
                     RETURNING team_id, design_id, version, document, updated_at),
                 kept AS (
                     INSERT INTO design_versions (team_id, design_id, version, document, saved_at, saved_by)
                     SELECT team_id, design_id, version, document, updated_at, $7 FROM saved
                     ON CONFLICT (team_id, design_id, version) DO NOTHING)
                 SELECT design_id, version FROM saved",
                &[
                    &team_id.0,
                    &DesignId::new().0,
                    &new.name,
                    &new.is_ai_draft,
                    new.document,
                    &now,
                    &new.saved_by,
                ],
            )
            .await?
            .ok_or_else(|| StoreError::Corrupt("a saved design gave no row".to_owned()))?;
        Ok(SavedDesign {
            design_id: DesignId(row.get(0)),
            version: row.get(1),
        })
    }

    /// The design of that name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none.
    pub async fn find_design_by_name(&self, team_id: TeamId, name: &str) -> Result<DesignId> {
        let row = self
            .query_row(
                "SELECT design_id FROM designs WHERE team_id = $1 AND name = $2",
                &[&team_id.0, &name],
            )
            .await?;
        row.map(|row| DesignId(row.get(0)))
            .ok_or_else(|| StoreError::NotFound(format!("the design {name:?}")))
    }
}
