//! What a formula gives.

use std::collections::BTreeMap;

use audience::{Lookup, fold_name};
use chrono::NaiveDate;
use contract::mcp::{
    FormulaError, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT, PreviewAnswer, PreviewArguments, PreviewRow,
    PreviewSource, page_length,
};
use formula::{Computed, Outcome};
use serde_json::Value;
use store::BookCursor;

use crate::book::{Book, Fitting, Named, source};
use crate::{Asker, failed};

/// Pages of the address book that are read for one preview: an integration without contacts gives an empty one.
const PAGES: usize = 20;

/// Values by folded column name.
type Row = BTreeMap<String, String>;

/// Computes a formula on given rows or on people of the address book.
///
/// # Errors
/// As those of the tool `preview_formula`.
pub async fn preview(asker: Asker<'_>, arguments: PreviewArguments) -> Result<PreviewAnswer, FormulaError> {
    let limit = page_length(arguments.limit, PREVIEW_ROWS_DEFAULT, PREVIEW_ROWS)?;
    let book = Book::read(asker).await?;
    let formula = source_of(&book, &arguments)?;
    let fitting = tokio::task::block_in_place(|| book.fit(&formula, arguments.name.as_deref()))
        .map_err(FormulaError::InvalidFormula)?;
    let (source, rows) = match arguments.rows {
        Some(rows) => (PreviewSource::Rows, given(rows)?),
        None => (PreviewSource::AddressBook, stored(asker, limit).await?),
    };
    let today = asker.today().await?;
    let rows = tokio::task::block_in_place(|| rows.iter().map(|row| compute(&fitting, row, today)).collect());
    Ok(PreviewAnswer { formula, result_type: fitting.result_type, source, rows })
}

fn source_of(book: &Book, arguments: &PreviewArguments) -> Result<String, FormulaError> {
    match (&arguments.formula, &arguments.name) {
        (Some(_), Some(name)) if matches!(book.find(name), Named::Other) => {
            Err(FormulaError::NotAFormulaColumn(name.clone()))
        }
        (Some(formula), _) => Ok(formula.clone()),
        (None, Some(name)) => Ok(source(book.formula(name)?).unwrap_or_default().to_owned()),
        (None, None) => {
            Err(FormulaError::InvalidRequest("Give formula, or name for a column that exists.".to_owned()))
        }
    }
}

/// The rows of the call, each value as the text that would be stored.
fn given(rows: Vec<BTreeMap<String, Value>>) -> Result<Vec<Row>, FormulaError> {
    if rows.len() > PREVIEW_ROWS {
        let message = format!("A preview takes at most {PREVIEW_ROWS} rows; this one has {}.", rows.len());
        return Err(FormulaError::InvalidRequest(message));
    }
    rows.into_iter().enumerate().map(|(index, row)| read_row(index, row)).collect()
}

fn read_row(index: usize, row: BTreeMap<String, Value>) -> Result<Row, FormulaError> {
    let mut read = Row::new();
    for (name, value) in row {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                let message = format!("rows[{index}].{name} must be a text, a number, a boolean or null.");
                return Err(FormulaError::InvalidRequest(message));
            }
        };
        read.insert(fold_name(&name), audience::column::cut_value(text.trim()).to_owned());
    }
    Ok(read)
}

/// The first people of the address book.
async fn stored(asker: Asker<'_>, limit: usize) -> Result<Vec<Row>, FormulaError> {
    let (mut rows, mut cursor) = (Vec::new(), Some(BookCursor::START));
    for _ in 0..PAGES {
        let (Some(after), false) = (cursor, rows.len() >= limit) else { break };
        // At most a hundred rows.
        let missing = i64::try_from(limit - rows.len()).unwrap_or(1);
        let page = asker.store.address_book_page(asker.team_id, after, missing).await.map_err(failed)?;
        rows.extend(page.lines.into_iter().map(|mut line| {
            line.built_in.append(&mut line.custom);
            line.built_in
        }));
        cursor = page.next;
    }
    Ok(rows)
}

fn compute(fitting: &Fitting, row: &Row, today: NaiveDate) -> PreviewRow {
    let computed = Computed::new(&fitting.sheet, row, today);
    let value = |name: &String| (name.clone(), computed.value(&fold_name(name)).map(str::to_owned));
    let values = fitting.columns.iter().map(value).collect();
    let outcome = computed.outcome(fitting.position);
    let reason = match &outcome {
        Outcome::Value(_) => None,
        Outcome::Blank(reason) => Some(reason.to_string()),
    };
    PreviewRow { values, result: outcome.text(), reason }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(json: Value) -> Result<Vec<Row>, FormulaError> {
        given(serde_json::from_value(json).unwrap())
    }

    #[test]
    fn given_values_become_the_texts_that_would_be_stored() {
        let read = rows(json!([{"First Name": " Ann ", "score": 1.50, "vip": true, "note": null}])).unwrap();
        let wanted = [("first name", "Ann"), ("score", "1.5"), ("vip", "true")];
        assert_eq!(read, [wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).into()]);
        assert_eq!(rows(json!([{"a": "x".repeat(700)}])).unwrap()[0]["a"].len(), 600);
    }

    #[test]
    fn too_many_rows_and_nested_values_are_an_invalid_request() {
        let Err(FormulaError::InvalidRequest(message)) = rows(json!([{}, {"a": []}])) else { panic!() };
        assert!(message.contains("rows[1].a"), "{message}");
        assert!(rows(json!(vec![json!({}); PREVIEW_ROWS])).is_ok());
        assert!(rows(json!(vec![json!({}); PREVIEW_ROWS + 1])).is_err());
    }
}
