//! What a formula gives.

use std::collections::BTreeMap;

use crate::standardised::{StandardisedRecipient, standardize_address};
use audience::{ValueLookup, fold_name};
use chrono::NaiveDate;
use contract::mcp::{
    FormulaError, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT, PreviewAnswer, PreviewArguments, PreviewRow,
    PreviewSource, page_length,
};
use formula::{ComputedRow, EvaluatedCell};
use serde_json::Value;
use store::BookCursor;
use uuid::Uuid;

use crate::book::{ColumnCatalog, FittedFormula, NamedColumn, formula_source};
use crate::mask::{PeopleMasking, mask_row};
use crate::{ColumnsContext, to_formula_error};

/// Pages of the address book that are read for one preview: an integration without contacts gives an empty one.
const PAGES: usize = 20;

/// Values by folded column name.
type PreviewValues = BTreeMap<String, String>;

/// A row that is shown, and why its values of AI columns are blank, by folded name.
#[derive(Default)]
struct PreviewInput {
    row: PreviewValues,
    reasons: BTreeMap<String, String>,
}

/// Computes a formula on given rows or on people of the address book, until it is too late. Rows that are given are the
/// caller's own.
///
/// # Errors
/// As those of the tool `preview_formula`.
pub async fn preview_formula(
    asker: ColumnsContext<'_>,
    arguments: PreviewArguments,
    people: PeopleMasking,
    is_too_late: &(dyn Fn() -> bool + Sync),
) -> Result<PreviewAnswer, FormulaError> {
    let limit = page_length(arguments.limit, PREVIEW_ROWS_DEFAULT, PREVIEW_ROWS)?;
    let book = ColumnCatalog::load(asker).await?;
    let formula = resolve_source(&book, &arguments)?;
    let fitting =
        tokio::task::block_in_place(|| book.fit_formula(&formula, arguments.name.as_deref()))
            .map_err(FormulaError::InvalidFormula)?;
    let (source, unknown_columns, rows) = match arguments.rows {
        Some(rows) => (
            PreviewSource::Rows,
            book.unknown_names(&rows),
            parse_given_rows(rows)?,
        ),
        None => {
            let mut rows = load_stored_rows(asker, &book, limit).await?;
            if people == PeopleMasking::Masked {
                rows.iter_mut()
                    .for_each(|shown| mask_row(&mut shown.row, |name| book.column_type(name)));
            }
            (PreviewSource::AddressBook, Vec::new(), rows)
        }
    };
    let today = asker.load_today().await?;
    let rows = tokio::task::block_in_place(|| {
        let shown = rows.iter().map(|shown| {
            // A row is bounded, but a hundred of a hostile formula take longer than anybody waits.
            if is_too_late() {
                Err(FormulaError::DeadlinePassed)
            } else {
                Ok(compute_row(&fitting, shown, today))
            }
        });
        shown.collect::<Result<_, _>>()
    })?;
    Ok(PreviewAnswer {
        formula,
        result_type: fitting.result_type,
        source,
        masked: source == PreviewSource::AddressBook && people == PeopleMasking::Masked,
        unknown_columns,
        rows,
    })
}

fn resolve_source(
    book: &ColumnCatalog,
    arguments: &PreviewArguments,
) -> Result<String, FormulaError> {
    match (&arguments.formula, &arguments.name) {
        (Some(_), Some(name)) if matches!(book.find(name), NamedColumn::Other) => {
            Err(FormulaError::NotAFormulaColumn(name.clone()))
        }
        (Some(formula), _) => Ok(formula.clone()),
        (None, Some(name)) => {
            let column = book.find_formula_column(name)?;
            let problems = tokio::task::block_in_place(|| book.check_saved_formula(column));
            if !problems.is_empty() {
                return Err(FormulaError::InvalidFormula(problems));
            }
            Ok(formula_source(column).unwrap_or_default().to_owned())
        }
        (None, None) => Err(FormulaError::InvalidRequest(
            "Give formula, or name for a column that exists.".to_owned(),
        )),
    }
}

/// The rows of the call, each value as the text that would be stored, and the address as a send would read it.
fn parse_given_rows(rows: Vec<BTreeMap<String, Value>>) -> Result<Vec<PreviewInput>, FormulaError> {
    if rows.len() > PREVIEW_ROWS {
        let message = format!(
            "A preview takes at most {PREVIEW_ROWS} rows; this one has {}.",
            rows.len()
        );
        return Err(FormulaError::InvalidRequest(message));
    }
    let read = |(index, row)| {
        Ok(PreviewInput {
            row: parse_row(index, row)?,
            ..PreviewInput::default()
        })
    };
    rows.into_iter().enumerate().map(read).collect()
}

fn parse_row(index: usize, row: BTreeMap<String, Value>) -> Result<PreviewValues, FormulaError> {
    let mut read = PreviewValues::new();
    for (name, value) in row {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                let message =
                    format!("rows[{index}].{name} must be a text, a number, a boolean or null.");
                return Err(FormulaError::InvalidRequest(message));
            }
        };
        read.insert(
            fold_name(&name),
            audience::column::cut_value(text.trim()).to_owned(),
        );
    }
    standardize_address(&mut read);
    Ok(read)
}

/// The first people of the address book.
async fn load_stored_rows(
    asker: ColumnsContext<'_>,
    book: &ColumnCatalog,
    limit: usize,
) -> Result<Vec<PreviewInput>, FormulaError> {
    let ai_columns = book.ai_columns();
    let (mut rows, mut cursor) = (Vec::new(), Some(BookCursor::START));
    for _ in 0..PAGES {
        let (Some(after), false) = (cursor, rows.len() >= limit) else {
            break;
        };
        // At most a hundred rows.
        let missing = i64::try_from(limit - rows.len()).unwrap_or(1);
        let page = asker
            .store
            .list_address_book_page(asker.team_id, after, missing)
            .await
            .map_err(to_formula_error)?;
        let entry_ids: Vec<Uuid> = page.lines.iter().filter_map(|line| line.entry_id).collect();
        let mut reasons = asker
            .store
            .list_ai_cell_reasons(asker.team_id, &ai_columns, &entry_ids)
            .await
            .map_err(to_formula_error)?;
        rows.extend(page.lines.into_iter().map(|mut line| {
            let reasons = line
                .entry_id
                .and_then(|entry_id| reasons.remove(&entry_id))
                .unwrap_or_default();
            line.built_in.append(&mut line.custom);
            // A contact has its address as the integration sent it.
            if line.entry_id.is_none() {
                standardize_address(&mut line.built_in);
            }
            PreviewInput {
                row: line.built_in,
                reasons,
            }
        }));
        cursor = page.next;
    }
    Ok(rows)
}

fn compute_row(fitting: &FittedFormula, shown: &PreviewInput, today: NaiveDate) -> PreviewRow {
    let computed = ComputedRow::new(
        &fitting.sheet,
        StandardisedRecipient::new(&shown.row),
        today,
    );
    let value = |name: &String| {
        (
            name.clone(),
            computed.value(&fold_name(name)).map(str::to_owned),
        )
    };
    let values: BTreeMap<_, _> = fitting.columns.iter().map(value).collect();
    let blank = values
        .iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| name);
    let reason = |name: &String| Some((name.clone(), shown.reasons.get(&fold_name(name))?.clone()));
    let reasons = blank.filter_map(reason).collect();
    let outcome = computed.evaluate(fitting.position);
    let reason = match &outcome {
        EvaluatedCell::Value(_) => None,
        EvaluatedCell::Blank(reason) => Some(reason.to_string()),
    };
    PreviewRow {
        values,
        result: outcome.text(),
        reason,
        reasons,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_rows(json: Value) -> Result<Vec<PreviewValues>, FormulaError> {
        let given = parse_given_rows(serde_json::from_value(json).unwrap())?;
        Ok(given.into_iter().map(|shown| shown.row).collect())
    }

    #[test]
    fn given_values_become_the_texts_that_would_be_stored() {
        let read =
            parse_rows(json!([{"First Name": " Ann ", "score": 1.50, "vip": true, "note": null}]))
                .unwrap();
        let wanted = [("first name", "Ann"), ("score", "1.5"), ("vip", "true")];
        assert_eq!(
            read,
            [wanted
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into()]
        );
        assert_eq!(
            parse_rows(json!([{"a": "x".repeat(700)}])).unwrap()[0]["a"].len(),
            600
        );
    }

    #[test]
    fn too_many_rows_and_nested_values_are_an_invalid_request() {
        let Err(FormulaError::InvalidRequest(message)) = parse_rows(json!([{}, {"a": []}])) else {
            panic!()
        };
        assert!(message.contains("rows[1].a"), "{message}");
        assert!(parse_rows(json!(vec![json!({}); PREVIEW_ROWS])).is_ok());
        assert!(parse_rows(json!(vec![json!({}); PREVIEW_ROWS + 1])).is_err());
    }
}
