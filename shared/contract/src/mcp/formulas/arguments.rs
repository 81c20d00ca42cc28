//! What the tools take. Absent and null are the same; unknown arguments are ignored.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::mcp::FormulaError;

/// Columns of a page of the list, at the most and when the call names no number.
pub const FORMULA_PAGE_COLUMNS: usize = 200;

/// Rows that a preview computes at the most.
pub const PREVIEW_ROWS: usize = 100;

/// People of the address book whom a preview shows when the call names no number.
pub const PREVIEW_ROWS_DEFAULT: usize = 10;

/// Arguments of `list_columns`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ListColumnsArguments {
    /// Only names that contain it, whatever their case.
    pub search: Option<String>,
    /// Names after this one.
    pub after: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Arguments of `list_functions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct FunctionsArguments {
    /// Only this category.
    pub category: Option<String>,
    /// Only functions whose name or description contains it, whatever its case.
    pub search: Option<String>,
}

/// Arguments of `check_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CheckArguments {
    /// The source.
    pub formula: String,
    /// The column that it is meant for.
    pub name: Option<String>,
}

/// Arguments of `preview_formula`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct PreviewArguments {
    /// The source; `None` for that of the column `name`.
    pub formula: Option<String>,
    /// The column that it is or is meant for.
    pub name: Option<String>,
    /// Values by column name; `None` for people of the address book.
    pub rows: Option<Vec<BTreeMap<String, Value>>>,
    /// People of the address book at the most.
    pub limit: Option<usize>,
}

/// Arguments of `save_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SaveArguments {
    /// The column's name.
    pub name: String,
    /// The source.
    pub formula: String,
}

/// Arguments of `explain_formula`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExplainArguments {
    /// The column's name.
    pub name: String,
}

/// Reads a call's arguments.
///
/// # Errors
/// [`FormulaError::InvalidRequest`].
pub fn read_arguments<T: DeserializeOwned>(arguments: &[u8]) -> Result<T, FormulaError> {
    serde_json::from_slice(arguments)
        .map_err(|error| FormulaError::InvalidRequest(format!("The arguments cannot be read: {error}.")))
}

/// A page's length.
///
/// # Errors
/// [`FormulaError::InvalidRequest`] when it is not 1 to `most`.
pub fn page_length(limit: Option<usize>, default: usize, most: usize) -> Result<usize, FormulaError> {
    let limit = limit.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(FormulaError::InvalidRequest(format!("limit must be a whole number from 1 to {most}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_another_shape_are_an_invalid_request_that_names_what_is_missing() {
        let refusal = |json: &str| match read_arguments::<SaveArguments>(json.as_bytes()) {
            Err(FormulaError::InvalidRequest(message)) => message,
            other => panic!("{json}: {other:?}"),
        };
        assert!(refusal("{}").contains("`name`"));
        assert!(refusal(r#"{"name":"a"}"#).contains("`formula`"));
        assert!(refusal(r#"{"name":7,"formula":"1"}"#).contains("integer `7`"));
        let lists: ListColumnsArguments = read_arguments(br#"{"search":null,"more":1}"#).unwrap();
        assert_eq!(lists, ListColumnsArguments::default());
        let nested = format!(r#"{{"rows":[{{"a":{}1{}}}]}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert!(read_arguments::<PreviewArguments>(nested.as_bytes()).is_err());
    }

    #[test]
    fn a_page_has_a_bound() {
        assert_eq!(page_length(None, 10, 100), Ok(10));
        assert_eq!(page_length(Some(100), 10, 100), Ok(100));
        assert!(page_length(Some(0), 10, 100).is_err());
        assert!(page_length(Some(101), 10, 100).is_err());
    }
}
