//! A team's columns: which formulas fit them, what a formula gives for people of the address book, and what a change of
//! one means to all that uses it. The Formula MCP server and the console are two ways to the same functions.
//!
//! In reading order: [`RecipientProfile`] (what cards and conditions see), [`ColumnCatalog`] (the team's columns as formulas see
//! them), [`preview_formula`], what else is asked of formulas ([`list_columns`], [`check_formula`], [`explain_formula`]), the changes
//! ([`create_column`], [`set_column_lock`], [`save_formula_within`], and [`declare_column_within`] for files), each with its entry in the team's activity log,
//! and what [uses](find_filtering_campaigns) a column.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod book;
mod create;
mod inspect;
mod mask;
mod preview;
mod profile;
mod save;
mod standardised;
mod uses;

pub use book::{ColumnCatalog, FittedFormula, NamedColumn, formula_source};
pub use create::{create_column, declare_column_within, set_column_lock};
pub use inspect::{check_formula, explain_formula, list_columns, list_functions};
pub use mask::PeopleMasking;
pub use preview::preview_formula;
pub use profile::{
    ComputedRecipient, FormulaColumns, RecipientProfile, list_formula_columns, list_input_columns,
    parse_prompts, team_today,
};
pub use save::{FormulaToSave, SaveColumnError, check_name, save_formula_within};
pub use standardised::{StandardisedRecipient, standardize_address};
pub use uses::{TypeUses, find_design_uses, find_filtering_campaigns};

use std::error::Error;

use chrono::{DateTime, NaiveDate, Utc};
use contract::mcp::FormulaError;
use model::id::TeamId;
use store::{Store, StoreError};

/// Whose columns are asked about, and when.
#[derive(Clone, Copy)]
pub struct ColumnsContext<'a> {
    /// The database.
    pub store: &'a Store,
    /// The team.
    pub team_id: TeamId,
    /// Now.
    pub now: DateTime<Utc>,
}

impl ColumnsContext<'_> {
    /// The day in the team's time zone.
    ///
    /// # Errors
    /// `internal_error`.
    pub async fn load_today(self) -> Result<NaiveDate, FormulaError> {
        let team = self
            .store
            .find_team(self.team_id)
            .await
            .map_err(to_formula_error)?;
        Ok(self.now.with_timezone(&team.time_zone).date_naive())
    }
}

/// What a failure of the database is to who asked: nothing was changed.
pub fn to_formula_error(error: StoreError) -> FormulaError {
    tracing::error!(error = &error as &dyn Error, "the database failed");
    FormulaError::InternalError
}
