//! What the tools answer.

use std::collections::BTreeMap;

use audience::ColumnType;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::mcp::FormulaProblem;
use model::id::CampaignId;

/// Who fills a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKindName {
    /// Every address book has it.
    BuiltIn,
    /// Senders, imports and integrations.
    Custom,
    /// A formula.
    Formula,
    /// A language model.
    Ai,
}

/// A column that formulas may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// As it was first written.
    pub name: String,
    /// How its values are read.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Who fills it.
    pub kind: ColumnKindName,
    /// The source of a formula column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// What a language model is asked for an AI column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Why a formula column is blank everywhere, when its formula no longer fits the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Answer of `list_columns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnsAnswer {
    /// Built-in ones first, then by name.
    pub columns: Vec<ColumnView>,
    /// The `after` of the next page; null on the last one.
    pub next_after: Option<String>,
}

/// Answer of `list_functions`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionsAnswer {
    /// What people read about each, in alphabetical order.
    pub functions: Vec<Value>,
}

/// Answer of `check_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckAnswer {
    /// Whether it can be saved.
    pub valid: bool,
    /// The type of its results, if it is valid.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ColumnType>,
    /// The columns that it uses, if it is valid.
    pub columns: Vec<String>,
    /// What is wrong, in the order of the places.
    pub problems: Vec<FormulaProblem>,
    /// Where a valid formula is likely to give something else than is meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FormulaProblem>,
}

/// Where a preview's rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewSource {
    /// The call.
    Rows,
    /// The team's address book.
    AddressBook,
}

/// One row of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewRow {
    /// Values of the columns that the formula uses, by name; null for blank.
    pub values: BTreeMap<String, Option<String>>,
    /// The result as text; null for blank.
    pub result: Option<String>,
    /// Why it is blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why a column that it uses and a language model fills is blank for this person, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, String>,
}

/// Answer of `preview_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewAnswer {
    /// The source.
    pub formula: String,
    /// The type of its results.
    #[serde(rename = "type")]
    pub result_type: ColumnType,
    /// Where the rows come from.
    pub source: PreviewSource,
    /// Whether people of the address book show by the first letters, first digits and years of their values only.
    #[serde(skip_serializing_if = "is_false")]
    pub masked: bool,
    /// Names in the rows that are no columns: their values are not looked at.
    #[serde(rename = "unknownColumns", skip_serializing_if = "Vec::is_empty")]
    pub unknown_columns: Vec<String>,
    /// In the order given, or in that of the address book.
    pub rows: Vec<PreviewRow>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// What a save did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    /// The column is new.
    Created,
    /// It has another formula now.
    Changed,
    /// It had this formula already.
    Unchanged,
}

/// Answer of `save_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveAnswer {
    /// The column's name as it stands.
    pub name: String,
    /// What was done.
    pub outcome: SaveOutcome,
    /// The source.
    pub formula: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub result_type: ColumnType,
    /// The source before a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_formula: Option<String>,
}

/// A campaign whose conditions use a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CampaignUse {
    /// Its public id.
    pub id: CampaignId,
    /// Its name.
    pub name: String,
}

/// A design that uses a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DesignUse {
    /// Its name.
    pub name: String,
    /// For what: `text`, `link`, `image`, `return_address`, each once.
    #[serde(rename = "as")]
    pub uses: Vec<&'static str>,
}

/// What uses a column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormulaUses {
    /// Formula columns that are computed from it, by name.
    pub formulas: Vec<String>,
    /// Campaigns that filter on it.
    pub campaigns: Vec<CampaignUse>,
    /// Designs.
    pub designs: Vec<DesignUse>,
    /// False when there is more than was looked at.
    pub is_complete: bool,
}

/// A change of a formula column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormulaChangeView {
    /// When.
    #[serde(with = "crate::push::timestamp")]
    pub changed_at: DateTime<Utc>,
    /// The name of the key that was used.
    pub by_key: String,
    /// The source since then.
    pub formula: String,
    /// The source before; null when the column was new.
    pub previous_formula: Option<String>,
}

/// Answer of `explain_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainAnswer {
    /// The column's name.
    pub name: String,
    /// The source.
    pub formula: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub result_type: ColumnType,
    /// The columns that it is computed from.
    pub columns: Vec<String>,
    /// Why it is blank everywhere, when its formula no longer fits the columns.
    pub problems: Vec<FormulaProblem>,
    /// What uses it.
    pub used_by: FormulaUses,
    /// Its latest changes, the newest first.
    pub changes: Vec<FormulaChangeView>,
}
