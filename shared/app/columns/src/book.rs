//! A team's columns, as formulas see them.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::{list_formula_columns, list_input_columns, parse_prompts};
use audience::{BuiltInColumn, ColumnType, fold_name};
use contract::mcp::{ColumnKindName, ColumnView, FormulaError, FormulaProblem};
use formula::limits::MAX_FORMULA_COLUMNS;
use formula::{
    CheckedColumn, ColumnDiagnostic, FormulaColumn, FormulaDiagnostic, FormulaSheet,
    UsedColumnTypes, name_problem,
};
use serde_json::Value;
use store::{ColumnKind, TeamColumn};

use crate::{ColumnsContext, to_formula_error};

/// The folded name of a formula that is meant for no column: no formula can name it.
const UNNAMED: &str = "\u{0}";

/// Unknown names of a preview's rows that are repeated.
const UNKNOWN_SHOWN: usize = 20;

/// The columns that are not built in, the oldest first.
pub struct ColumnCatalog {
    columns: Vec<TeamColumn>,
}

/// What a name stands for.
pub enum NamedColumn<'a> {
    /// Nothing yet.
    Nothing,
    /// A column that no formula fills.
    Other,
    /// A formula column.
    Formula(&'a TeamColumn),
}

/// A formula that fits the team's columns.
pub struct FittedFormula {
    /// The team's formula columns with it, ready to be computed.
    pub sheet: FormulaSheet,
    /// Its place among them.
    pub position: usize,
    /// The type of its results.
    pub result_type: ColumnType,
    /// The names of the columns that it uses, as they were first written.
    pub columns: Vec<String>,
    /// The types of these columns by folded name.
    pub uses: UsedColumnTypes,
    /// Where it is likely to give something else than its writer means.
    pub warnings: Vec<FormulaProblem>,
    /// Other formula columns whose type, or the types of what they use, change with it.
    pub retyped: Vec<FormulaColumn>,
}

impl ColumnCatalog {
    /// The book of these columns.
    pub fn new(columns: Vec<TeamColumn>) -> Self {
        Self { columns }
    }

    /// The book of who asks.
    ///
    /// # Errors
    /// `internal_error`.
    pub async fn load(asker: ColumnsContext<'_>) -> Result<Self, FormulaError> {
        asker
            .store
            .list_columns(asker.team_id)
            .await
            .map(Self::new)
            .map_err(to_formula_error)
    }

    /// What a name stands for, whatever its case.
    pub fn find(&self, name: &str) -> NamedColumn<'_> {
        if BuiltInColumn::from_name(name).is_some() {
            return NamedColumn::Other;
        }
        let folded = fold_name(name);
        match self.columns.iter().find(|column| column.name_key == folded) {
            Some(column) if column.kind == ColumnKind::Formula => NamedColumn::Formula(column),
            Some(_) => NamedColumn::Other,
            None => NamedColumn::Nothing,
        }
    }

    /// The formula column of this name.
    ///
    /// # Errors
    /// `column_not_found`, `not_a_formula_column`.
    pub fn find_formula_column(&self, name: &str) -> Result<&TeamColumn, FormulaError> {
        match self.find(name) {
            NamedColumn::Formula(column) => Ok(column),
            NamedColumn::Other => Err(FormulaError::NotAFormulaColumn(name.to_owned())),
            NamedColumn::Nothing => Err(FormulaError::ColumnNotFound(name.to_owned())),
        }
    }

    /// The formula column that a formula is meant for, `None` for a new one. Errors are those of a save:
    /// `invalid_request` for a name that designs and formulas could not write, `not_a_formula_column`,
    /// `too_many_formulas`.
    pub fn find_save_target(&self, name: &str) -> Result<Option<&TeamColumn>, FormulaError> {
        match self.find(name) {
            NamedColumn::Formula(column) => return Ok(Some(column)),
            NamedColumn::Other => return Err(FormulaError::NotAFormulaColumn(name.to_owned())),
            NamedColumn::Nothing => {}
        }
        if let Some(problem) = name_problem(name) {
            return Err(FormulaError::InvalidRequest(format!("name {problem}.")));
        }
        if self.formula_columns().len() >= MAX_FORMULA_COLUMNS {
            return Err(FormulaError::TooManyFormulas {
                limit: MAX_FORMULA_COLUMNS,
            });
        }
        Ok(None)
    }

    /// What is wrong with a saved formula: nothing, unless the columns have changed since.
    pub fn check_saved_formula(&self, column: &TeamColumn) -> Vec<FormulaProblem> {
        let sheet = self.formula_sheet();
        let formula = sheet
            .position(&column.name_key)
            .and_then(|position| sheet.formula(position));
        match formula {
            Some(Err(found)) => {
                problems_from_diagnostics(found, formula_source(column).unwrap_or_default())
            }
            _ => Vec::new(),
        }
    }

    /// Every column for people: the built-in ones, then the others by name.
    pub fn column_views(&self) -> Vec<ColumnView> {
        let built_in = BuiltInColumn::ALL.into_iter().map(|column| ColumnView {
            name: column.key().to_owned(),
            column_type: column.column_type(),
            kind: ColumnKindName::BuiltIn,
            formula: None,
            prompt: None,
            problem: None,
        });
        let sheet = self.formula_sheet();
        let problem =
            |column: &TeamColumn| match sheet.formula(sheet.position(&column.name_key)?)? {
                Err(problems) => problems.first().map(ToString::to_string),
                Ok(_) => None,
            };
        let mut others: Vec<&TeamColumn> = self.columns.iter().collect();
        others.sort_by(|one, other| one.name_key.cmp(&other.name_key));
        let others = others.into_iter().map(|column| ColumnView {
            name: column.name.clone(),
            column_type: column.column_type,
            kind: match column.kind {
                ColumnKind::Custom => ColumnKindName::Custom,
                ColumnKind::Formula => ColumnKindName::Formula,
                ColumnKind::Ai => ColumnKindName::Ai,
            },
            formula: formula_source(column).map(str::to_owned),
            prompt: column.prompt.clone(),
            problem: problem(column),
        });
        built_in.chain(others).collect()
    }

    /// The type of a column by its folded name.
    pub(crate) fn column_type(&self, folded: &str) -> Option<ColumnType> {
        let own = self.columns.iter().find(|column| column.name_key == folded);
        own.map(|column| column.column_type)
            .or_else(|| BuiltInColumn::from_key(folded).map(BuiltInColumn::column_type))
    }

    /// The folded names of the columns that a language model fills.
    pub fn ai_columns(&self) -> Vec<&str> {
        let ai = self
            .columns
            .iter()
            .filter(|column| column.kind == ColumnKind::Ai);
        ai.map(|column| column.name_key.as_str()).collect()
    }

    /// Names in rows that are no columns, each once.
    pub fn unknown_names(&self, rows: &[BTreeMap<String, Value>]) -> Vec<String> {
        let names: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
        let is_unknown = |name: &&&String| matches!(self.find(name), NamedColumn::Nothing);
        names
            .iter()
            .filter(is_unknown)
            .take(UNKNOWN_SHOWN)
            .map(|name| (*name).clone())
            .collect()
    }

    /// The team's formula columns.
    pub fn formula_columns(&self) -> Vec<FormulaColumn> {
        list_formula_columns(&self.columns)
    }

    /// The team's formula columns, ready to be computed.
    pub fn formula_sheet(&self) -> FormulaSheet {
        FormulaSheet::new(list_input_columns(&self.columns), self.formula_columns())
    }

    /// Fits a formula in, as that of the column `name` or of none. Takes milliseconds of a processor.
    ///
    /// # Errors
    /// Its problems, and those that it brings to the formulas that use the column.
    pub fn fit_formula(
        &self,
        source: &str,
        name: Option<&str>,
    ) -> Result<FittedFormula, Vec<FormulaProblem>> {
        let offered: Vec<_> = list_input_columns(&self.columns).collect();
        let before = self.formula_columns();
        let (definitions, position) = replace_definition(before.clone(), source, name);
        let prompts = parse_prompts(&self.columns);
        let checked =
            formula::check_columns(&offered, &definitions, &prompts).map_err(|problems| {
                // What is wrong elsewhere already is not this formula's fault.
                let known = formula::check_columns(&offered, &before, &prompts)
                    .err()
                    .unwrap_or_default();
                let new = problems
                    .into_iter()
                    .filter(|problem| !known.contains(problem));
                new.map(|problem| problem_from_column(problem, &definitions[position]))
                    .collect::<Vec<_>>()
            });
        let checked = match checked {
            Ok(checked) => checked,
            Err(problems) if !problems.is_empty() => return Err(problems),
            // Columns that were broken before stay as they are, and so does what builds on this one.
            Err(_) => Vec::new(),
        };
        if let (Some(before), Some(checked_own)) = (before.get(position), checked.get(position)) {
            let users =
                find_mistyped_dependents(&definitions, &checked, position, checked_own.column_type);
            if before.column_type != checked_own.column_type && !users.is_empty() {
                return Err(vec![type_change_problem(
                    &users,
                    before.column_type,
                    checked_own.column_type,
                )]);
            }
        }
        let found = definitions.iter().zip(&checked).enumerate();
        let retyped: Vec<FormulaColumn> = found
            .filter(|(at, (definition, checked))| {
                let is_as_before = definition.column_type == checked.column_type
                    && definition.uses == checked.uses;
                *at != position && !is_as_before
            })
            .map(|(_, (definition, checked))| FormulaColumn {
                column_type: checked.column_type,
                uses: checked.uses.clone(),
                ..definition.clone()
            })
            .collect();
        let sheet = FormulaSheet::new(offered, definitions);
        let (result_type, used, warnings) = match sheet.formula(position) {
            Some(Ok(formula)) => {
                let warnings = self::problems_from_diagnostics(formula.warnings(), source);
                (formula.result_type(), formula.columns().to_vec(), warnings)
            }
            Some(Err(problems)) => return Err(self::problems_from_diagnostics(problems, source)),
            None => (ColumnType::Text, Vec::new(), Vec::new()),
        };
        let uses = self.resolve_types(&used, &retyped);
        Ok(FittedFormula {
            columns: self.display_names(&used),
            sheet,
            position,
            result_type,
            uses,
            warnings,
            retyped,
        })
    }

    /// The types of columns by folded name, those of changed formula columns as they will be.
    fn resolve_types(&self, folded: &[String], retyped: &[FormulaColumn]) -> UsedColumnTypes {
        let type_of = |key: &String| {
            let retyped = retyped.iter().find(|other| fold_name(&other.name) == *key);
            let own = || self.columns.iter().find(|column| column.name_key == *key);
            let built_in = || BuiltInColumn::from_key(key).map(BuiltInColumn::column_type);
            let stored = retyped
                .map(|other| other.column_type)
                .or_else(|| Some(own()?.column_type));
            Some((key.clone(), stored.or_else(built_in)?))
        };
        folded.iter().filter_map(type_of).collect()
    }

    /// Folded names as they were first written.
    fn display_names(&self, folded: &[String]) -> Vec<String> {
        let name = |folded: &String| {
            let own = self
                .columns
                .iter()
                .find(|column| column.name_key == *folded);
            own.map_or_else(|| folded.clone(), |column| column.name.clone())
        };
        folded.iter().map(name).collect()
    }
}

/// The source of a formula column.
pub fn formula_source(column: &TeamColumn) -> Option<&str> {
    column.formula.as_deref()
}

/// The definitions with this one in the place of the one of its name, or behind them.
fn replace_definition(
    mut definitions: Vec<FormulaColumn>,
    source: &str,
    name: Option<&str>,
) -> (Vec<FormulaColumn>, usize) {
    let folded = fold_name(name.unwrap_or(UNNAMED));
    match definitions
        .iter()
        .position(|definition| fold_name(&definition.name) == folded)
    {
        Some(position) => {
            definitions[position].source = source.to_owned();
            definitions[position].uses = None;
            (definitions, position)
        }
        None => {
            definitions.push(FormulaColumn {
                name: name.unwrap_or(UNNAMED).trim().to_owned(),
                column_type: ColumnType::Text,
                source: source.to_owned(),
                uses: None,
            });
            let position = definitions.len() - 1;
            (definitions, position)
        }
    }
}

/// The names of the formula columns that use the one at a position, and were saved when it had another type than this.
fn find_mistyped_dependents<'a>(
    definitions: &'a [FormulaColumn],
    checked: &[CheckedColumn],
    position: usize,
    column_type: ColumnType,
) -> Vec<&'a str> {
    let key = fold_name(&definitions[position].name);
    let uses = |(definition, checked): (&'a FormulaColumn, &CheckedColumn)| {
        let saved = match &definition.uses {
            Some(uses) => uses.get(&key).is_some_and(|saved| *saved != column_type),
            // With which types it was saved is not known.
            None => checked
                .uses
                .as_ref()
                .is_some_and(|uses| uses.contains_key(&key)),
        };
        saved.then_some(definition.name.as_str())
    };
    let others = definitions
        .iter()
        .zip(checked)
        .enumerate()
        .filter(|(at, _)| *at != position);
    others.filter_map(|(_, other)| uses(other)).collect()
}

/// Over another type the formulas that use a column would mean something else.
fn type_change_problem(users: &[&str], before: ColumnType, wanted: ColumnType) -> FormulaProblem {
    let (users, before, wanted) = (
        users.join(", "),
        describe_type(before),
        describe_type(wanted),
    );
    FormulaProblem {
        offset: 0,
        length: 0,
        excerpt: String::new(),
        message: format!(
            "Other formula columns use this one as {before}, and would mean something else when it is {wanted}: {users}. \
             Save the formula under another name, or take it out of those first."
        ),
        suggestion: None,
    }
}

const fn describe_type(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "text",
        ColumnType::Number => "a number",
        ColumnType::Date => "a date",
        ColumnType::YesNo => "yes or no",
    }
}

/// A problem of a formula as its writer is told it; one of another column has no place in it.
fn problem_from_column(found: ColumnDiagnostic, own: &FormulaColumn) -> FormulaProblem {
    if found.column == own.name {
        return problem_from_diagnostic(&found.problem, &own.source);
    }
    FormulaProblem {
        offset: 0,
        length: 0,
        excerpt: String::new(),
        message: format!(
            "The column {}, which uses this one, would fail: {}",
            found.column, found.problem.message
        ),
        suggestion: None,
    }
}

/// Problems with the characters that stand at their places.
fn problems_from_diagnostics(found: &[FormulaDiagnostic], source: &str) -> Vec<FormulaProblem> {
    found
        .iter()
        .map(|found| problem_from_diagnostic(found, source))
        .collect()
}

fn problem_from_diagnostic(found: &FormulaDiagnostic, source: &str) -> FormulaProblem {
    FormulaProblem {
        offset: found.offset,
        length: found.length,
        excerpt: source
            .chars()
            .skip(found.offset)
            .take(found.length)
            .collect(),
        message: found.message.clone(),
        suggestion: found.suggestion.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book with these formula columns, as they were saved.
    fn build_catalog(columns: &[(&str, ColumnType, &str)]) -> ColumnCatalog {
        let column = |(name, column_type, source): &(&str, ColumnType, &str)| {
            TeamColumn::new_formula(name, *column_type, source)
        };
        ColumnCatalog::new(columns.iter().map(column).collect())
    }

    #[test]
    fn a_formula_that_fits_has_a_type_and_the_columns_that_it_uses_as_they_are_written() {
        let size = TeamColumn::new_formula("Größe M", ColumnType::Number, "1");
        let book = ColumnCatalog::new(vec![TeamColumn {
            formula_uses: Some(UsedColumnTypes::new()),
            ..size
        }]);
        let fitting = book
            .fit_formula("{größe m} + LEN(First_Name)", None)
            .ok()
            .unwrap();
        assert_eq!(fitting.result_type, ColumnType::Number);
        assert_eq!(fitting.columns, ["Größe M", "first_name"]);
        assert!(fitting.retyped.is_empty());
    }

    #[test]
    fn a_column_that_others_use_keeps_its_type_until_they_are_saved_without_it() {
        let saved = |uses: &[(&str, ColumnType)]| {
            Some(
                uses.iter()
                    .map(|(name, column_type)| ((*name).to_owned(), *column_type))
                    .collect::<UsedColumnTypes>(),
            )
        };
        let mut book = build_catalog(&[
            ("A", ColumnType::Number, "LEN(first_name)"),
            ("B", ColumnType::Number, "A + 1"),
            ("C", ColumnType::Number, "B + 2"),
            ("D", ColumnType::Text, "last_name"),
        ]);
        // Whether or not it is known with which types they were saved.
        for uses in [None, saved(&[("a", ColumnType::Number)])] {
            book.columns[1].formula_uses = uses;
            let problems = book.fit_formula("first_name", Some("a")).err().unwrap();
            assert!(
                problems[0].message.contains("as a number") && problems[0].message.contains(": B."),
                "{problems:?}"
            );
        }
        // The same type, and a column that nobody uses.
        assert!(book.fit_formula("LEN(last_name)", Some("A")).is_ok());
        assert!(book.fit_formula("LEN(last_name)", Some("D")).is_ok());
        // Back to the type with which others were saved.
        book.columns[0] = TeamColumn::new_formula("A", ColumnType::Text, "first_name");
        assert!(book.fit_formula("LEN(first_name)", Some("A")).is_ok());
    }

    #[test]
    fn a_circle_and_a_column_that_would_break_are_problems_of_the_new_formula() {
        let book = build_catalog(&[
            ("Day", ColumnType::Date, "DATE(2026, 1, 31)"),
            ("Year", ColumnType::Number, "YEAR(Day)"),
        ]);
        assert!(
            !book
                .fit_formula("Year + 1", Some("Day"))
                .err()
                .unwrap()
                .is_empty()
        );
        let problems = book
            .fit_formula("first_name == \"x\"", Some("Day"))
            .err()
            .unwrap();
        assert!(problems[0].message.contains("Year"), "{problems:?}");
        assert_eq!((problems[0].length, problems[0].excerpt.as_str()), (0, ""));
    }

    #[test]
    fn what_is_wrong_elsewhere_already_is_not_the_new_formulas_fault() {
        let book = build_catalog(&[("Broken", ColumnType::Text, "nothing_like_it")]);
        assert!(book.fit_formula("LEN(first_name)", Some("New")).is_ok());
        assert!(book.fit_formula("nothing_like_it", Some("Broken")).is_err());
    }
}
