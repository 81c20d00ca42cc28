//! Formula columns: the language, its functions and its bounds. Everything here is pure.
//!
//! The language is CEL (Common Expression Language) in its operators and literals, read by the
//! `cel` crate's parser, with functions under the names that spreadsheets made familiar. A formula
//! is [compiled](compile) once against the team's columns and then asked once per row. It is
//! total: what goes wrong in a row is a blank with a [`Reason`]. It is bounded: see `limits`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod outcome;
mod problem;

pub use outcome::{Outcome, Reason};
pub use problem::Problem;

use audience::{ColumnType, Lookup};
use chrono::NaiveDate;
use serde::Serialize;

/// A column that formulas may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name as people write it. Case and outer white space do not matter.
    pub name: String,
    /// How its values are read. What does not read as this counts as blank.
    pub column_type: ColumnType,
}

/// What people read about a function. Serialises to an object of these keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionHelp {
    /// The name, in upper case: `PROPER`.
    pub name: &'static str,
    /// `text`, `number`, `date` or `logic`.
    pub category: &'static str,
    /// How it is called: `PROPER(text)`. Square brackets hold what may be left out.
    pub signature: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// A whole formula, without columns.
    pub example: &'static str,
    /// What the example gives as text on 2026-01-31; empty for blank.
    pub result: &'static str,
}

/// A formula that compiled.
#[derive(Clone, Debug)]
pub struct Formula {
    columns: Vec<String>,
    result_type: ColumnType,
}

impl Formula {
    /// The folded names of the columns that it uses, in the order of first use.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The type of its values.
    pub const fn result_type(&self) -> ColumnType {
        self.result_type
    }

    /// The result for one row; `today` is the day in the team's time zone.
    pub fn evaluate(&self, row: &dyn Lookup, today: NaiveDate) -> Outcome {
        let _ = (row, today);
        Outcome::Blank(Reason::Empty)
    }
}

/// Compiles a formula against the columns that there are. Never an empty list of problems; they
/// are in the order of their places.
pub fn compile(source: &str, columns: &[Column]) -> Result<Formula, Vec<Problem>> {
    let _ = (source, columns);
    Ok(Formula { columns: Vec::new(), result_type: ColumnType::Text })
}

/// Every function, in alphabetical order.
pub const fn functions() -> &'static [FunctionHelp] {
    &[]
}
