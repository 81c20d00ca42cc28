//! Formula columns: the language, its functions and its bounds. Everything here is pure.
//!
//! The language is CEL (Common Expression Language) in its operators and literals, with functions
//! under the names that spreadsheets made familiar. A formula
//! is [compiled](compile_formula) once against the team's columns and then asked once per row. It is
//! total: what goes wrong in a row is a blank with a [`BlankReason`]. It is bounded: see [`limits`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod build;
mod function;
pub mod limits;
mod machine;
mod nearest;
mod node;
mod outcome;
mod parse;
mod problem;
mod row;
mod scan;
mod shape;
mod sheet;
mod syntax;
mod value;

pub use build::InputColumn;
pub use function::definition::FunctionHelp;
pub use outcome::{BlankReason, EvaluatedCell};
pub use problem::FormulaDiagnostic;
pub use sheet::{
    CheckedColumn, ColumnDiagnostic, ComputedRow, FormulaColumn, FormulaSheet, PromptColumn,
    UsedColumnTypes, check_columns, name_problem,
};

use std::sync::Arc;

use audience::column::cut_value;
use audience::{ColumnType, ColumnValue, ValueLookup, fold_name};
use chrono::NaiveDate;

use crate::machine::FormulaEvaluator;
use crate::node::ExpressionNode;
use crate::row::{FormulaRow, StoredRow};
use crate::value::CellValue;

/// A formula that compiled. A clone shares the tree.
#[derive(Clone, Debug)]
pub struct Formula {
    root: Arc<ExpressionNode>,
    columns: Vec<String>,
    result_type: ColumnType,
    warnings: Vec<FormulaDiagnostic>,
}

impl Formula {
    /// The folded names of the columns that it uses, in the order of first use.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where it is likely to give something else than its writer means, in the order of the places.
    pub fn warnings(&self) -> &[FormulaDiagnostic] {
        &self.warnings
    }

    /// The type of its values.
    pub const fn result_type(&self) -> ColumnType {
        self.result_type
    }

    /// The result for one row; `today` is the day in the team's time zone.
    pub fn evaluate(&self, row: &dyn ValueLookup, today: NaiveDate) -> EvaluatedCell {
        self.evaluate_on(&StoredRow(row), today)
    }

    fn evaluate_on(&self, row: &dyn FormulaRow, today: NaiveDate) -> EvaluatedCell {
        match FormulaEvaluator::new(row, today).evaluate(&self.root) {
            Ok(cell) => self.to_evaluated_cell(cell),
            Err(halt) => EvaluatedCell::Blank(halt.into_reason()),
        }
    }

    fn to_evaluated_cell(&self, cell: CellValue<'_>) -> EvaluatedCell {
        let value = match cell {
            CellValue::Text(text) => ColumnValue::Text(cut_value(&text).trim().to_owned()),
            // Branches of different types meet as text.
            other if self.result_type == ColumnType::Text => {
                ColumnValue::Text(other.into_text().into_owned())
            }
            other => other.into_value(),
        };
        match value {
            ColumnValue::Text(text) if text.is_empty() => EvaluatedCell::Blank(BlankReason::Empty),
            // The database keeps every other character, and what prints a value keeps it.
            ColumnValue::Text(text) if text.contains('\0') => EvaluatedCell::Blank(
                BlankReason::Error("the result holds the character U+0000".to_owned()),
            ),
            value => EvaluatedCell::Value(value),
        }
    }
}

/// Compiles a formula against the columns that there are. Never an empty list of problems; they
/// are in the order of their places.
pub fn compile_formula(
    source: &str,
    columns: &[InputColumn],
) -> Result<Formula, Vec<FormulaDiagnostic>> {
    let columns = columns
        .iter()
        .map(|column| (fold_name(&column.name), column))
        .collect();
    compile_with_columns(source, &columns).map_err(|mut problems| {
        problems.sort_by_key(|problem| problem.offset);
        problems.truncate(limits::MAX_PROBLEMS);
        problems
    })
}

fn compile_with_columns(
    source: &str,
    columns: &build::ColumnsByName<'_>,
) -> Result<Formula, Vec<FormulaDiagnostic>> {
    let tokens = scan::scan_tokens(source)?;
    shape::check_token_order(&tokens, &|name| columns.contains_key(&fold_name(name)))?;
    let syntax = parse::parse(&tokens).map_err(|problem| vec![problem])?;
    let tree = build::build(&syntax, source, columns)?;
    Ok(Formula {
        root: Arc::new(tree.root),
        columns: tree.columns,
        result_type: tree.of.column_type(),
        warnings: tree.warnings,
    })
}

/// Every function, in alphabetical order.
pub fn list_functions() -> &'static [FunctionHelp] {
    function::list_help()
}
