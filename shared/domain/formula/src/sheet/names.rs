//! The names of columns: which a formula uses, and which a computed column may have.

use audience::fold_name;

use super::FormulaColumn;
use crate::limits::{MAX_NAME_CHARS, MAX_PROBLEMS};
use crate::problem::SourceSpan;
use crate::scan::{TokenKind, scan_tokens};
use crate::value::ValueType;
use crate::{FormulaDiagnostic, InputColumn, shape};

/// Signs that designs, prompts and formulas give a meaning beside names.
const SIGNS: [char; 3] = ['{', '}', '|'];

/// What a request to send calls a recipient by: never a column.
const REFERENCE: &str = "reference";

/// Why a formula column or one that a language model fills may not have this name: a sentence that begins behind the
/// name. `None` when it may.
pub fn name_problem(name: &str) -> Option<String> {
    let length = name.trim().chars().count();
    if length == 0 || length > MAX_NAME_CHARS {
        return Some(format!("must have 1 to {MAX_NAME_CHARS} characters"));
    }
    if name.contains(|character: char| character.is_control() || SIGNS.contains(&character)) {
        return Some("must not have braces, bars or control characters in it".to_owned());
    }
    (fold_name(name) == REFERENCE)
        .then(|| format!("must not be {REFERENCE:?}, which a request calls its recipients by"))
}

/// The folded names of columns that a formula may use, each with its place. A source that cannot be cut into tokens names none:
/// it is refused.
pub(super) fn find_column_names(source: &str) -> Vec<(String, SourceSpan)> {
    let tokens = scan_tokens(source).unwrap_or_default();
    let column = |(at, token): (usize, &crate::scan::FormulaToken)| {
        let name = match &token.kind {
            TokenKind::Braced(name) => name,
            TokenKind::Word if !shape::is_called(&tokens, at) => &token.source,
            _ => return None,
        };
        Some((fold_name(name), token.span))
    };
    tokens.iter().enumerate().filter_map(column).collect()
}

/// A problem for each column that has had another type since the formula was saved.
pub(super) fn changed_types<'a>(
    definition: &FormulaColumn,
    column: impl Fn(&str) -> Option<&'a InputColumn>,
) -> Vec<FormulaDiagnostic> {
    let Some(uses) = &definition.uses else {
        return Vec::new();
    };
    let is_changed = |(key, saved): &(&String, &audience::ColumnType)| {
        column(key).is_some_and(|column| column.column_type != **saved)
    };
    let changed: Vec<_> = uses.iter().filter(is_changed).take(MAX_PROBLEMS).collect();
    if changed.is_empty() {
        return Vec::new();
    }
    let places = find_column_names(&definition.source);
    let problem = |(key, saved): (&String, &audience::ColumnType)| {
        let column = column(key)?;
        let place = places
            .iter()
            .find(|(name, _)| name == key)
            .map_or(SourceSpan::empty_at(0), |(_, span)| *span);
        let (was, is) = (
            ValueType::from(*saved).describe(),
            ValueType::from(column.column_type).describe(),
        );
        let name = column.name.trim();
        Some(place.to_problem(format!(
            "The column {name} was {was} when the formula was saved and is {is} now; check the formula and save it again."
        )))
    };
    changed.into_iter().filter_map(problem).collect()
}
