//! Why a formula tool could not do what it was asked.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A failed call: it changed nothing. Only [`FormulaError::DeadlinePassed`] leaves that open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", content = "content", rename_all = "snake_case")]
pub enum FormulaError {
    /// The arguments have another shape; the text says what is wanted.
    #[error("{0}")]
    InvalidRequest(String),
    /// The formula has mistakes.
    #[error("{}", first_problem(.0))]
    InvalidFormula(Vec<FormulaProblem>),
    /// There is no column of this name.
    #[error("There is no column {0:?}. Use list_columns to see the columns.")]
    ColumnNotFound(String),
    /// The column is not computed by a formula.
    #[error("{0:?} is a column, but not a formula column.")]
    NotAFormulaColumn(String),
    /// Campaigns filter on the column by its type.
    #[error(
        "Campaigns filter on the column {column:?} as {current}, and cannot when its values are {wanted}. Save the \
         formula under another name, or make {column:?} give {current}."
    )]
    TypeInUse {
        /// The column that campaigns filter on: the one to be saved, or one that builds on it.
        column: String,
        /// The type of the column's values now.
        current: String,
        /// That of the formula's results.
        wanted: String,
        /// Ids of campaigns.
        campaigns: Vec<String>,
    },
    /// More formula columns than a team may have.
    #[error("A team has at most {limit} formula columns.")]
    TooManyFormulas {
        /// The most.
        limit: usize,
    },
    /// Something on our side failed; nothing was changed.
    #[error("Something went wrong on our side. Nothing was changed; try again.")]
    InternalError,
    /// No answer within the deadline; a save may still be done.
    #[error(
        "The call was not finished in time. Call again, with fewer rows if it was a preview; saving the same formula twice changes nothing."
    )]
    DeadlinePassed,
}

/// A mistake in a formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormulaProblem {
    /// Where it begins, in characters from the start of the formula, from 0.
    pub offset: usize,
    /// How many characters it covers.
    pub length: usize,
    /// These characters.
    pub excerpt: String,
    /// What is wrong and what works, in a sentence.
    pub message: String,
    /// What to write in its place, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

fn first_problem(problems: &[FormulaProblem]) -> String {
    problems.first().map_or_else(
        || "The formula has mistakes.".to_owned(),
        |problem| format!("At character {}: {}", problem.offset + 1, problem.message),
    )
}

impl FormulaError {
    /// The code of a failure.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidFormula(_) => "invalid_formula",
            Self::ColumnNotFound(_) => "column_not_found",
            Self::NotAFormulaColumn(_) => "not_a_formula_column",
            Self::TypeInUse { .. } => "type_in_use",
            Self::TooManyFormulas { .. } => "too_many_formulas",
            Self::InternalError => "internal_error",
            Self::DeadlinePassed => "timeout",
        }
    }

    /// The `details` of the codes that have some.
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::InvalidFormula(problems) => Some(json!({"problems": problems})),
            Self::TypeInUse {
                column, campaigns, ..
            } => Some(json!({"column": column, "campaigns": campaigns})),
            Self::TooManyFormulas { limit } => Some(json!({"limit": limit})),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_travels_and_names_the_first_problem() {
        let problem = |offset, suggestion| FormulaProblem {
            offset,
            length: 1,
            excerpt: "=".to_owned(),
            message: "Write == to compare.".to_owned(),
            suggestion,
        };
        let error =
            FormulaError::InvalidFormula(vec![problem(3, Some("==".to_owned())), problem(9, None)]);
        let sent = serde_json::to_vec(&error).unwrap();
        assert_eq!(
            serde_json::from_slice::<FormulaError>(&sent).unwrap(),
            error
        );
        assert_eq!(error.to_string(), "At character 4: Write == to compare.");
        let plain = serde_json::to_vec(&FormulaError::DeadlinePassed).unwrap();
        assert_eq!(
            serde_json::from_slice::<FormulaError>(&plain).unwrap(),
            FormulaError::DeadlinePassed
        );
    }
}
