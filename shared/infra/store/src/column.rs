//! The columns of a team's address book.

use std::collections::BTreeMap;
use std::str::FromStr;

use audience::{ColumnType, fold_name};
use chrono::{DateTime, Utc};
use model::id::TeamId;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// Columns that are read of a team at the most. A team has 50 made over the API, 1000 for each integration
/// and what its owner makes.
const COLUMNS_READ: i64 = 20_000;

/// Who fills a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Senders, imports and integrations.
    Custom,
    /// A formula; sent values are ignored.
    Formula,
    /// A language model; sent values are ignored.
    Ai,
}

/// Who made a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSource {
    /// A person, in the settings.
    Owner,
    /// A send request; these count against the team's limit.
    Api,
    /// An integration's declaration.
    Integration,
}

/// A column that is not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamColumn {
    /// As it was first written.
    pub name: String,
    /// Folded.
    pub name_key: String,
    /// Its type.
    pub column_type: ColumnType,
    /// Who fills it.
    pub kind: ColumnKind,
    /// Who made it.
    pub source: ColumnSource,
    /// Whether it keeps its type whatever an integration declares.
    pub is_locked: bool,
    /// What a formula column is computed by.
    pub formula: Option<String>,
    /// The types of the columns that a formula uses, by folded name, as they were when it was saved; `None` where that is
    /// not known.
    pub formula_uses: Option<BTreeMap<String, ColumnType>>,
    /// What an AI column asks the language model, with fields.
    pub prompt: Option<String>,
}

impl ColumnKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::Formula => "formula",
            Self::Ai => "ai",
        }
    }
}

impl ColumnSource {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Api => "api",
            Self::Integration => "integration",
        }
    }
}

impl TeamColumn {
    /// A column with this name; the owner's are locked.
    pub fn new(
        name: &str,
        column_type: ColumnType,
        kind: ColumnKind,
        source: ColumnSource,
    ) -> Self {
        let (name, name_key) = (name.trim().to_owned(), fold_name(name));
        let is_locked = source == ColumnSource::Owner;
        let (formula, formula_uses, prompt) = (None, None, None);
        Self {
            name,
            name_key,
            column_type,
            kind,
            source,
            is_locked,
            formula,
            formula_uses,
            prompt,
        }
    }

    /// A formula column of the owner's, with the type of its results. The types of what it uses are not set.
    pub fn new_formula(name: &str, column_type: ColumnType, formula: &str) -> Self {
        let column = Self::new(name, column_type, ColumnKind::Formula, ColumnSource::Owner);
        Self {
            formula: Some(formula.to_owned()),
            ..column
        }
    }

    /// An AI column of the owner's. Its values are text.
    pub fn new_ai(name: &str, prompt: &str) -> Self {
        let column = Self::new(name, ColumnType::Text, ColumnKind::Ai, ColumnSource::Owner);
        Self {
            prompt: Some(prompt.to_owned()),
            ..column
        }
    }

    fn from_row(row: &Row) -> Result<Self> {
        let corrupt = |what: &str| StoreError::Corrupt(format!("{what} of a column"));
        let kind = match row.get("kind") {
            "custom" => ColumnKind::Custom,
            "formula" => ColumnKind::Formula,
            "ai" => ColumnKind::Ai,
            _ => return Err(corrupt("kind")),
        };
        let source = match row.get("source") {
            "owner" => ColumnSource::Owner,
            "api" => ColumnSource::Api,
            "integration" => ColumnSource::Integration,
            _ => return Err(corrupt("source")),
        };
        let uses: Option<serde_json::Value> = row.get("formula_uses");
        Ok(Self {
            name: row.get("name"),
            name_key: row.get("name_key"),
            column_type: ColumnType::from_str(row.get("type")).map_err(|_| corrupt("type"))?,
            kind,
            source,
            is_locked: row.get("is_locked"),
            formula: row.get("formula"),
            formula_uses: uses.map(serde_json::from_value).transpose()?,
            prompt: row.get("prompt"),
        })
    }
}

const LIST: &str =
    "SELECT name, name_key, type, kind, source, is_locked, formula, formula_uses, prompt FROM address_columns
     WHERE team_id = $1 ORDER BY column_id LIMIT $2";

impl Store {
    /// A team's columns, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_columns(&self, team_id: TeamId) -> Result<Vec<TeamColumn>> {
        self.query_rows(LIST, &[&team_id.0, &COLUMNS_READ])
            .await?
            .iter()
            .map(TeamColumn::from_row)
            .collect()
    }

    /// A team's columns by folded name, after `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_column_page(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<TeamColumn>> {
        let rows = self
            .query_rows(
                "SELECT name, name_key, type, kind, source, is_locked, formula, formula_uses, prompt FROM address_columns
                 WHERE team_id = $1 AND name_key > $2 ORDER BY name_key LIMIT $3",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        rows.iter().map(TeamColumn::from_row).collect()
    }

    /// The column of this folded name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none.
    pub async fn find_column(&self, team_id: TeamId, name_key: &str) -> Result<TeamColumn> {
        let row = self
            .query_row(
                "SELECT name, name_key, type, kind, source, is_locked, formula, formula_uses, prompt FROM address_columns
                 WHERE team_id = $1 AND name_key = $2",
                &[&team_id.0, &name_key],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::NotFound(format!("the column {name_key:?}")))?;
        TeamColumn::from_row(&row)
    }
}

impl Transaction<'_> {
    /// A team's columns, with the team locked against another request that makes some.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn lock_columns(&self, team_id: TeamId) -> Result<Vec<TeamColumn>> {
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR NO KEY UPDATE",
            &[&team_id.0],
        )
        .await?;
        self.query_rows(LIST, &[&team_id.0, &COLUMNS_READ])
            .await?
            .iter()
            .map(TeamColumn::from_row)
            .collect()
    }

    /// Makes columns; those whose folded name stands already are left alone.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn insert_columns(
        &self,
        team_id: TeamId,
        columns: &[TeamColumn],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        let ids: Vec<Uuid> = columns.iter().map(|_| Uuid::now_v7()).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let keys: Vec<&str> = columns
            .iter()
            .map(|column| column.name_key.as_str())
            .collect();
        let types: Vec<&str> = columns
            .iter()
            .map(|column| column.column_type.as_str())
            .collect();
        let kinds: Vec<&str> = columns.iter().map(|column| column.kind.as_str()).collect();
        let sources: Vec<&str> = columns
            .iter()
            .map(|column| column.source.as_str())
            .collect();
        self.execute(
            "INSERT INTO address_columns (team_id, column_id, name, name_key, type, kind, source, is_locked, created_at)
             SELECT $1, column_id, name, name_key, type, kind, source, source = 'owner', $2
             FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                 AS new (column_id, name, name_key, type, kind, source)
             ON CONFLICT (team_id, name_key) DO NOTHING",
            &[&team_id.0, &now, &ids, &names, &keys, &types, &kinds, &sources],
        )
        .await
    }

    /// Makes columns; gives those that stand already these types, but for those that are locked.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn declare_columns(
        &self,
        team_id: TeamId,
        columns: &[TeamColumn],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.insert_columns(team_id, columns, now).await?;
        let keys: Vec<&str> = columns
            .iter()
            .map(|column| column.name_key.as_str())
            .collect();
        let types: Vec<&str> = columns
            .iter()
            .map(|column| column.column_type.as_str())
            .collect();
        self.execute(
            "UPDATE address_columns SET type = declared.type
             FROM unnest($2::text[], $3::text[]) AS declared (name_key, type)
             WHERE team_id = $1 AND address_columns.name_key = declared.name_key
                 AND address_columns.type <> declared.type AND NOT is_locked AND kind = 'custom'",
            &[&team_id.0, &keys, &types],
        )
        .await?;
        Ok(())
    }

    /// Makes the column or gives the one of that name this type and kind, owned by the owner and locked. A new prompt is
    /// asked for every entry of the team.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_column(
        &self,
        team_id: TeamId,
        column: &TeamColumn,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let uses = column
            .formula_uses
            .as_ref()
            .map(serde_json::to_value)
            .transpose()?;
        let queued_up_to = column.prompt.as_ref().map(|_| Uuid::nil());
        self.execute(
            "INSERT INTO address_columns AS stored
                 (team_id, column_id, name, name_key, type, kind, source, created_at, formula, prompt, queued_up_to,
                 prompted_at, is_locked, formula_uses)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $8, true, $12)
             ON CONFLICT (team_id, name_key) DO UPDATE SET name = excluded.name, type = excluded.type,
                 kind = excluded.kind, source = excluded.source, is_locked = true, formula = excluded.formula,
                 formula_uses = excluded.formula_uses, prompt = excluded.prompt,
                 queued_up_to = CASE WHEN stored.prompt = excluded.prompt THEN stored.queued_up_to
                     ELSE excluded.queued_up_to END,
                 prompted_at = CASE WHEN stored.prompt = excluded.prompt THEN stored.prompted_at
                     ELSE excluded.prompted_at END",
            &[
                &team_id.0,
                &Uuid::now_v7(),
                &column.name,
                &column.name_key,
                &column.column_type.as_str(),
                &column.kind.as_str(),
                &column.source.as_str(),
                &now,
                &column.formula,
                &column.prompt,
                &queued_up_to,
                &uses,
            ],
        )
        .await?;
        Ok(())
    }

    /// Gives a formula column the type that its results have since another column changed, and the types of what it uses.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn update_column_type(
        &self,
        team_id: TeamId,
        name_key: &str,
        column_type: ColumnType,
        uses: Option<&BTreeMap<String, ColumnType>>,
    ) -> Result<()> {
        let uses = uses.map(serde_json::to_value).transpose()?;
        self.execute(
            "UPDATE address_columns SET type = $3, formula_uses = $4 WHERE team_id = $1 AND name_key = $2 AND kind = 'formula'",
            &[&team_id.0, &name_key, &column_type.as_str(), &uses],
        )
        .await?;
        Ok(())
    }

    /// Locks the type of a column that senders fill, or unlocks it; its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such column.
    pub async fn set_column_lock(
        &self,
        team_id: TeamId,
        name_key: &str,
        is_locked: bool,
    ) -> Result<String> {
        let row = self
            .query_row(
                "UPDATE address_columns SET is_locked = $3
                 WHERE team_id = $1 AND name_key = $2 AND kind = 'custom' RETURNING name",
                &[&team_id.0, &name_key, &is_locked],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the column {name_key:?}")))
    }
}
