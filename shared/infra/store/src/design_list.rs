//! Designs and their versions, for people to look at.

use chrono::{DateTime, Utc};
use model::id::{DesignId, TeamId};
use serde_json::Value;
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// A design in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignSummary {
    /// Its id.
    pub design_id: DesignId,
    /// Its name, which is its team's alone.
    pub name: String,
    /// The current version.
    pub version: i32,
    /// Whether a language model made it and no person has saved it yet.
    pub is_ai_draft: bool,
    /// When the current version was saved.
    pub updated_at: DateTime<Utc>,
}

/// A design with what it prints.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDesign {
    /// What a list shows of it.
    pub summary: DesignSummary,
    /// The document of the current version.
    pub document: Value,
}

/// A version in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignVersionSummary {
    /// Its number, from 1.
    pub version: i32,
    /// When it was saved.
    pub saved_at: DateTime<Utc>,
    /// By whom; `None` for an operator's file.
    pub saved_by: Option<String>,
}

fn design_summary_from_row(row: &Row) -> DesignSummary {
    DesignSummary {
        design_id: DesignId(row.get("design_id")),
        name: row.get("name"),
        version: row.get("version"),
        is_ai_draft: row.get("ai_draft"),
        updated_at: row.get("updated_at"),
    }
}

fn stored_design_from_row(row: Option<Row>) -> Result<StoredDesign> {
    let row = row.ok_or_else(|| StoreError::NotFound("the design".to_owned()))?;
    Ok(StoredDesign {
        summary: design_summary_from_row(&row),
        document: row.get("document"),
    })
}

const GET: &str = "SELECT design_id, name, version, ai_draft, updated_at, document FROM designs
     WHERE team_id = $1 AND design_id = $2";

impl Store {
    /// A team's designs by name, after `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_designs(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<DesignSummary>> {
        let rows = self
            .query_rows(
                "SELECT design_id, name, version, ai_draft, updated_at FROM designs
                 WHERE team_id = $1 AND name > $2 ORDER BY name LIMIT $3",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        Ok(rows.iter().map(design_summary_from_row).collect())
    }

    /// A design.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none of this id.
    pub async fn find_design(&self, team_id: TeamId, design_id: DesignId) -> Result<StoredDesign> {
        stored_design_from_row(self.query_row(GET, &[&team_id.0, &design_id.0]).await?)
    }

    /// A design's versions, the newest first, before `before`; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_design_versions(
        &self,
        team_id: TeamId,
        design_id: DesignId,
        before: i32,
        limit: i64,
    ) -> Result<Vec<DesignVersionSummary>> {
        let rows = self
            .query_rows(
                "SELECT version, saved_at, saved_by FROM design_versions
                 WHERE team_id = $1 AND design_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4",
                &[&team_id.0, &design_id.0, &before, &limit],
            )
            .await?;
        let version = |row: &Row| DesignVersionSummary {
            version: row.get(0),
            saved_at: row.get(1),
            saved_by: row.get(2),
        };
        Ok(rows.iter().map(version).collect())
    }

    /// The document of a version.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none.
    pub async fn find_version_document(
        &self,
        team_id: TeamId,
        design_id: DesignId,
        version: i32,
    ) -> Result<Value> {
        let sql = "SELECT document FROM design_versions WHERE team_id = $1 AND design_id = $2 AND version = $3";
        let row = self
            .query_row(sql, &[&team_id.0, &design_id.0, &version])
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound("the version".to_owned()))
    }
}

impl Transaction<'_> {
    /// A design, locked against others who save it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none of this id.
    pub async fn lock_design(&self, team_id: TeamId, design_id: DesignId) -> Result<StoredDesign> {
        stored_design_from_row(
            self.query_row(
                &format!("{GET} FOR NO KEY UPDATE"),
                &[&team_id.0, &design_id.0],
            )
            .await?,
        )
    }
    /// A team's design of this name, locked against others who save it; `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn lock_design_by_name(
        &self,
        team_id: TeamId,
        name: &str,
    ) -> Result<Option<StoredDesign>> {
        let sql = "SELECT design_id, name, version, ai_draft, updated_at, document FROM designs
             WHERE team_id = $1 AND name = $2 FOR NO KEY UPDATE";
        match self.query_row(sql, &[&team_id.0, &name]).await? {
            Some(row) => stored_design_from_row(Some(row)).map(Some),
            None => Ok(None),
        }
    }
}
