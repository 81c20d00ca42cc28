//! The changes of formula columns.

use chrono::{DateTime, Utc};
use model::id::{ApiKeyId, RequestId, TeamId};

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// Changes of one column that are kept; the oldest go first.
const CHANGES_KEPT: i64 = 100;

/// A change to be written down.
#[derive(Debug, Clone, Copy)]
pub struct NewFormulaChange<'a> {
    /// The request that makes it.
    pub request_id: RequestId,
    /// The column's folded name.
    pub name_key: &'a str,
    /// Who makes it.
    pub by: FormulaChangeAuthor<'a>,
    /// The formula from now on.
    pub formula: &'a str,
    /// The formula until now; `None` of a new column.
    pub previous_formula: Option<&'a str>,
}

/// Who changes a formula.
#[derive(Debug, Clone, Copy)]
pub enum FormulaChangeAuthor<'a> {
    /// Who holds this key.
    Key(ApiKeyId),
    /// A person of this name.
    Person(&'a str),
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaChange {
    /// The request that made it.
    pub request_id: RequestId,
    /// When.
    pub changed_at: DateTime<Utc>,
    /// The name of the key that was used, or of the person.
    pub by: String,
    /// The formula since then.
    pub formula: String,
    /// The formula before; `None` of a new column.
    pub previous_formula: Option<String>,
}

const LIST: &str =
    "SELECT request_id, changed_at, coalesce(api_keys.name, member_name), formula, previous_formula
     FROM formula_changes LEFT JOIN api_keys USING (key_id)
     WHERE formula_changes.team_id = $1 AND name_key = $2
     ORDER BY changed_at DESC, request_id DESC LIMIT $3";

fn formula_change_from_row(row: &tokio_postgres::Row) -> FormulaChange {
    FormulaChange {
        request_id: RequestId(row.get(0)),
        changed_at: row.get(1),
        by: row.get(2),
        formula: row.get(3),
        previous_formula: row.get(4),
    }
}

impl Store {
    /// The newest changes of a column, the newest first, at most `limit` of them.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_formula_changes(
        &self,
        team_id: TeamId,
        name_key: &str,
        limit: i64,
    ) -> Result<Vec<FormulaChange>> {
        Ok(self
            .query_rows(LIST, &[&team_id.0, &name_key, &limit])
            .await?
            .iter()
            .map(formula_change_from_row)
            .collect())
    }
}

impl Transaction<'_> {
    /// The newest change of a column.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_latest_formula_change(
        &self,
        team_id: TeamId,
        name_key: &str,
    ) -> Result<Option<FormulaChange>> {
        Ok(self
            .query_row(LIST, &[&team_id.0, &name_key, &1_i64])
            .await?
            .as_ref()
            .map(formula_change_from_row))
    }

    /// Writes a change down and forgets the oldest ones of its column.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn insert_formula_change(
        &self,
        team_id: TeamId,
        new: NewFormulaChange<'_>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let (key_id, user_name) = match new.by {
            FormulaChangeAuthor::Key(key_id) => (Some(key_id.0), None),
            FormulaChangeAuthor::Person(name) => (None, Some(name)),
        };
        self.execute(
            "INSERT INTO formula_changes
                 (team_id, request_id, name_key, key_id, formula, previous_formula, changed_at, member_name)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            &[
                &team_id.0,
                &new.request_id.0,
                &new.name_key,
                &key_id,
                &new.formula,
                &new.previous_formula,
                &now,
                &user_name,
            ],
        )
        .await?;
        self.execute(
            "DELETE FROM formula_changes WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM formula_changes WHERE team_id = $1 AND name_key = $2
                 ORDER BY changed_at DESC, request_id DESC OFFSET $3))",
            &[&team_id.0, &new.name_key, &CHANGES_KEPT],
        )
        .await?;
        Ok(())
    }
}
