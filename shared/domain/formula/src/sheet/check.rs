//! May these formula columns be saved?

use std::collections::{HashMap, HashSet};

use audience::{ColumnType, fold_name};

use super::names::find_column_names;
use super::{FormulaColumn, UsedColumnTypes};
use crate::limits::MAX_CHAIN;
use crate::problem::SourceSpan;
use crate::{FormulaDiagnostic, InputColumn, build, compile_with_columns};

/// A problem of one of the columns.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ColumnDiagnostic {
    /// The formula column's name.
    pub column: String,
    /// What is wrong with its formula.
    #[serde(flatten)]
    pub problem: FormulaDiagnostic,
}

/// A column that a language model fills: formulas may use it, and its prompt may use formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptColumn {
    /// Its name as people write it.
    pub name: String,
    /// The columns whose values its prompt takes, as they are written there.
    pub fields: Vec<String>,
}

/// What a formula column is found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedColumn {
    /// The type of its values.
    pub column_type: ColumnType,
    /// The types of the columns that it uses; `None` of a formula that was never saved with them and cannot be compiled.
    pub uses: Option<UsedColumnTypes>,
}

/// Compiles all formula columns in the order in which they build on each other, and gives what they are found to be, in
/// the order of the definitions. `columns` are the team's others; a definition stands before one of its name. A formula
/// that was saved over other types of `columns` is left as it is: it is blank until somebody saves it again.
///
/// # Errors
/// The problems of all columns: those of the formulas, circles (through prompts too), and chains of more than
/// [`MAX_CHAIN`] columns.
pub fn check_columns(
    columns: &[InputColumn],
    definitions: &[FormulaColumn],
    prompts: &[PromptColumn],
) -> Result<Vec<CheckedColumn>, Vec<ColumnDiagnostic>> {
    let mut order = DependencyOrder::new(definitions, prompts);
    let others: HashMap<String, &InputColumn> = columns
        .iter()
        .map(|column| (fold_name(&column.name), column))
        .collect();
    let mut known: HashMap<String, InputColumn> = others
        .iter()
        .map(|(key, column)| (key.clone(), (*column).clone()))
        .collect();
    let as_saved = |definition: &FormulaColumn| CheckedColumn {
        column_type: definition.column_type,
        uses: definition.uses.clone(),
    };
    let mut checked: Vec<CheckedColumn> = definitions.iter().map(as_saved).collect();
    let mut problems = Vec::new();
    // Until it is compiled a column has the type that it was saved with.
    for definition in definitions {
        let column = InputColumn {
            name: definition.name.clone(),
            column_type: definition.column_type,
        };
        known.insert(fold_name(&definition.name), column);
    }
    let keys: HashSet<String> = definitions
        .iter()
        .map(|definition| fold_name(&definition.name))
        .collect();
    while let Some(at) = order.next() {
        let Some(definition) = definitions.get(at) else {
            continue;
        };
        if order.chain[at] > MAX_CHAIN {
            let message =
                format!("At most {MAX_CHAIN} formula columns build on each other in a row.");
            problems.push(column_diagnostic(
                &definition.name,
                SourceSpan::empty_at(0).to_problem(message),
            ));
            continue;
        }
        if is_over_other_types(definition, |key| {
            others.get(key).filter(|_| !keys.contains(key)).copied()
        }) {
            continue;
        }
        let among: build::ColumnsByName<'_> = known
            .iter()
            .map(|(key, column)| (key.clone(), column))
            .collect();
        match compile_with_columns(&definition.source, &among) {
            Ok(formula) => {
                let type_of = |key: &String| Some((key.clone(), known.get(key)?.column_type));
                let uses = formula.columns().iter().filter_map(type_of).collect();
                checked[at] = CheckedColumn {
                    column_type: formula.result_type(),
                    uses: Some(uses),
                };
                let column = InputColumn {
                    name: definition.name.clone(),
                    column_type: checked[at].column_type,
                };
                known.insert(fold_name(&definition.name), column);
            }
            Err(found) => {
                problems.extend(
                    found
                        .into_iter()
                        .map(|problem| column_diagnostic(&definition.name, problem)),
                );
            }
        }
    }
    let names: Vec<&str> = definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .chain(prompts.iter().map(|prompt| prompt.name.as_str()))
        .collect();
    problems.extend(order.find_cycles(&names));
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(problems)
    }
}

/// Whether a column that is no formula has had another type since this formula was saved.
fn is_over_other_types<'a>(
    definition: &FormulaColumn,
    column: impl Fn(&str) -> Option<&'a InputColumn>,
) -> bool {
    definition
        .uses
        .iter()
        .flatten()
        .any(|(key, saved)| column(key).is_some_and(|column| column.column_type != *saved))
}

fn column_diagnostic(name: &str, problem: FormulaDiagnostic) -> ColumnDiagnostic {
    ColumnDiagnostic {
        column: name.to_owned(),
        problem,
    }
}

/// Which computed columns build on which, and which come next: the formulas first, then the prompts.
struct DependencyOrder {
    /// For each column those that it uses, with the place where.
    uses: Vec<Vec<(usize, SourceSpan)>>,
    /// How many formulas stand on each other up to this one. A prompt's value is stored: it stands on none.
    chain: Vec<usize>,
    formulas: usize,
    done: HashSet<usize>,
}

impl DependencyOrder {
    fn new(definitions: &[FormulaColumn], prompts: &[PromptColumn]) -> Self {
        let names = definitions.iter().map(|definition| &definition.name);
        let names = names.chain(prompts.iter().map(|prompt| &prompt.name));
        let positions: HashMap<String, usize> = names
            .enumerate()
            .map(|(at, name)| (fold_name(name), at))
            .collect();
        let position = |(name, span): (String, SourceSpan)| Some((*positions.get(&name)?, span));
        let of_formulas = definitions
            .iter()
            .map(|definition| find_column_names(&definition.source));
        let of_prompts = prompts.iter().map(|prompt| {
            prompt
                .fields
                .iter()
                .map(|field| (fold_name(field), SourceSpan::empty_at(0)))
                .collect()
        });
        let uses: Vec<Vec<(usize, SourceSpan)>> = of_formulas
            .chain(of_prompts)
            .map(|named: Vec<(String, SourceSpan)>| {
                named.into_iter().filter_map(position).collect()
            })
            .collect();
        Self {
            chain: vec![1; uses.len()],
            uses,
            formulas: definitions.len(),
            done: HashSet::new(),
        }
    }

    /// A column whose others have all been given.
    fn next(&mut self) -> Option<usize> {
        let is_ready = |at: &usize| {
            self.uses[*at]
                .iter()
                .all(|(other, _)| self.done.contains(other))
        };
        let next = (0..self.uses.len()).find(|at| !self.done.contains(at) && is_ready(at))?;
        let below = self.uses[next]
            .iter()
            .map(|(other, _)| self.chain[*other])
            .max()
            .unwrap_or(0);
        self.chain[next] = if next < self.formulas { 1 + below } else { 0 };
        self.done.insert(next);
        Some(next)
    }

    /// The problems of the columns in circles. Those that merely build on one are not to blame.
    fn find_cycles(&self, names: &[&str]) -> Vec<ColumnDiagnostic> {
        let circle = |start| {
            self.find_cycle(start)
                .map(|(path, span)| (start, path, span))
        };
        (0..names.len())
            .filter(|at| !self.done.contains(at))
            .filter_map(circle)
            .map(|(start, path, span)| {
                let way: Vec<&str> = path.iter().map(|at| names[*at]).collect();
                let message = format!("The column builds on itself: {}.", way.join(" → "));
                column_diagnostic(names[start], span.to_problem(message))
            })
            .collect()
    }

    /// The shortest way from a column back to itself, and the place where it begins.
    fn find_cycle(&self, start: usize) -> Option<(Vec<usize>, SourceSpan)> {
        let mut reached: HashMap<usize, usize> = HashMap::new();
        let mut waiting = std::collections::VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            for (other, _) in &self.uses[at] {
                if *other == start {
                    let mut path = vec![start, at];
                    while let Some(before) = path.last().and_then(|last| reached.get(last)) {
                        path.push(*before);
                    }
                    if at == start {
                        path.truncate(2);
                    }
                    path.reverse();
                    let second = path[1];
                    let (_, span) = self.uses[start]
                        .iter()
                        .find(|(other, _)| *other == second)?;
                    return Some((path, *span));
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = reached.entry(*other) {
                    entry.insert(at);
                    waiting.push_back(*other);
                }
            }
        }
        None
    }
}
