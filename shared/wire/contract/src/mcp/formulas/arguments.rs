//! What the tools take. Absent and null are the same; unknown arguments are ignored.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::mcp::{FormulaError, FormulaTool};

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

/// Reads the arguments of a call of a tool.
///
/// # Errors
/// [`FormulaError::InvalidRequest`] with what is wanted, as the tool's schema has it.
pub fn read_arguments<T: DeserializeOwned>(
    tool: FormulaTool,
    arguments: &[u8],
) -> Result<T, FormulaError> {
    let read: Option<Value> = serde_json::from_slice(arguments).ok();
    let misfit = match &read {
        Some(arguments) => find_misfit(&super::schemas::input_schema(tool), arguments),
        None => Some(
            "The arguments must be JSON with at most 128 levels, and texts of whole characters."
                .to_owned(),
        ),
    };
    match (misfit, read) {
        (None, Some(arguments)) => {
            serde_json::from_value(normalize_limit(arguments)).map_err(|_| {
                FormulaError::InvalidRequest(
                    "The arguments are not those of the tool's inputSchema.".to_owned(),
                )
            })
        }
        (misfit, _) => Err(FormulaError::InvalidRequest(misfit.unwrap_or_default())),
    }
}

/// A number without a fraction is a whole one however it is written: JSON Schema takes 2.0 for an integer, and so do
/// clients.
fn parse_whole_number(value: &Value) -> Option<u64> {
    let fits = |number: &f64| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number);
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(fits).map(|number| number as u64))
}

fn normalize_limit(mut arguments: Value) -> Value {
    if let Some(limit) = arguments.get_mut("limit")
        && let Some(number) = parse_whole_number(limit)
    {
        *limit = number.into();
    }
    arguments
}

/// The first argument that is missing or of another type than the schema has. Null is absent.
fn find_misfit(schema: &Value, arguments: &Value) -> Option<String> {
    let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| given(name).is_none()) {
        return Some(format!("{missing} is missing."));
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .filter_map(|(name, property)| Some((name, property, given(name)?)))
        .find_map(|(name, property, value)| match property["type"].as_str() {
            Some("string") if !value.is_string() => Some(format!("{name} must be a text.")),
            Some("integer") if parse_whole_number(value).is_none() => {
                Some(format!("{name} must be a whole number."))
            }
            Some("array") => find_non_object(name, value),
            _ => None,
        })
}

fn find_non_object(name: &str, value: &Value) -> Option<String> {
    let Some(items) = value.as_array() else {
        return Some(format!("{name} must be a list."));
    };
    let wrong = items.iter().position(|item| !item.is_object())?;
    Some(format!(
        "{name}[{wrong}] must be an object with values by column name."
    ))
}

/// A page's length.
///
/// # Errors
/// [`FormulaError::InvalidRequest`] when it is not 1 to `most`.
pub fn page_length(
    limit: Option<usize>,
    default: usize,
    most: usize,
) -> Result<usize, FormulaError> {
    let limit = limit.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(FormulaError::InvalidRequest(format!(
        "limit must be a whole number from 1 to {most}."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_another_shape_are_an_invalid_request_that_names_what_is_missing() {
        let refusal = |json: &str| match read_arguments::<SaveArguments>(
            FormulaTool::SaveFormula,
            json.as_bytes(),
        ) {
            Err(FormulaError::InvalidRequest(message)) => message,
            other => panic!("{json}: {other:?}"),
        };
        assert_eq!(refusal("{}"), "name is missing.");
        assert_eq!(refusal(r#"{"name":"a"}"#), "formula is missing.");
        assert_eq!(
            refusal(r#"{"name":7,"formula":"1"}"#),
            "name must be a text."
        );
        assert!(refusal(r#"{"name":"\ud800","formula":"1"}"#).contains("whole characters"));
        let preview = |json: &str| {
            read_arguments::<PreviewArguments>(FormulaTool::PreviewFormula, json.as_bytes())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(preview(r#"{"limit":1.5}"#), "limit must be a whole number.");
        assert_eq!(preview(r#"{"limit":-1}"#), "limit must be a whole number.");
        assert_eq!(
            preview(r#"{"limit":1e300}"#),
            "limit must be a whole number."
        );
        let two: ListColumnsArguments =
            read_arguments(FormulaTool::ListColumns, br#"{"limit":2.0}"#).unwrap();
        assert_eq!(two.limit, Some(2));
        assert_eq!(preview(r#"{"rows":{}}"#), "rows must be a list.");
        assert_eq!(
            preview(r#"{"rows":[{},1]}"#),
            "rows[1] must be an object with values by column name."
        );
        let lists: ListColumnsArguments =
            read_arguments(FormulaTool::ListColumns, br#"{"search":null,"more":1}"#).unwrap();
        assert_eq!(lists, ListColumnsArguments::default());
        let nested = format!(
            r#"{{"rows":[{{"a":{}1{}}}]}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert!(
            read_arguments::<PreviewArguments>(FormulaTool::PreviewFormula, nested.as_bytes())
                .is_err()
        );
    }

    #[test]
    fn a_page_has_a_bound() {
        assert_eq!(page_length(None, 10, 100), Ok(10));
        assert_eq!(page_length(Some(100), 10, 100), Ok(100));
        assert!(page_length(Some(0), 10, 100).is_err());
        assert!(page_length(Some(101), 10, 100).is_err());
    }
}
