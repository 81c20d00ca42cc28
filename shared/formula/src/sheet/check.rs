//! May these formula columns be saved?

use std::collections::{HashMap, HashSet};

use audience::{ColumnType, fold_name};

use super::Definition;
use crate::limits::{MAX_CHAIN, MAX_FORMULA_COLUMNS};
use crate::problem::Span;
use crate::scan::{Kind, scan};
use crate::{Column, Problem, build, compile_among, shape};

/// A problem of one of the columns.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ColumnProblem {
    /// The formula column's name.
    pub column: String,
    /// What is wrong with its formula.
    #[serde(flatten)]
    pub problem: Problem,
}

/// Compiles all formula columns in the order in which they build on each other, and gives the types of their
/// values, in the order of the definitions. `columns` are the team's others; a definition stands before one of its name.
///
/// # Errors
/// The problems of all columns: those of the formulas, circles, chains of more than [`MAX_CHAIN`] columns, and
/// more columns than [`MAX_FORMULA_COLUMNS`].
pub fn check(columns: &[Column], definitions: &[Definition]) -> Result<Vec<ColumnType>, Vec<ColumnProblem>> {
    if let Some(beyond) = definitions.get(MAX_FORMULA_COLUMNS) {
        let message = format!("A team has at most {MAX_FORMULA_COLUMNS} formula columns.");
        return Err(vec![of_column(beyond, Span::at(0).problem(message))]);
    }
    let mut order = Order::new(definitions);
    let mut known: HashMap<String, Column> =
        columns.iter().map(|column| (fold_name(&column.name), column.clone())).collect();
    let mut types: Vec<ColumnType> = definitions.iter().map(|definition| definition.column_type).collect();
    let mut problems = Vec::new();
    // Until it is compiled a column has the type that it was saved with.
    for definition in definitions {
        let column = Column { name: definition.name.clone(), column_type: definition.column_type };
        known.insert(fold_name(&definition.name), column);
    }
    while let Some(at) = order.next() {
        let definition = &definitions[at];
        if order.chain[at] > MAX_CHAIN {
            let message = format!("At most {MAX_CHAIN} formula columns build on each other in a row.");
            problems.push(of_column(definition, Span::at(0).problem(message)));
            continue;
        }
        let among: build::Columns<'_> = known.iter().map(|(key, column)| (key.clone(), column)).collect();
        match compile_among(&definition.source, &among) {
            Ok(formula) => {
                types[at] = formula.result_type();
                let column = Column { name: definition.name.clone(), column_type: types[at] };
                known.insert(fold_name(&definition.name), column);
            }
            Err(found) => problems.extend(found.into_iter().map(|problem| of_column(definition, problem))),
        }
    }
    problems.extend(order.circles(definitions));
    if problems.is_empty() { Ok(types) } else { Err(problems) }
}

fn of_column(definition: &Definition, problem: Problem) -> ColumnProblem {
    ColumnProblem { column: definition.name.clone(), problem }
}

/// Which formula columns build on which, and which come next.
struct Order {
    /// For each column those that it uses, with the place where.
    uses: Vec<Vec<(usize, Span)>>,
    /// How many formulas stand on each other up to this one.
    chain: Vec<usize>,
    done: HashSet<usize>,
}

impl Order {
    fn new(definitions: &[Definition]) -> Self {
        let positions: HashMap<String, usize> = definitions
            .iter()
            .enumerate()
            .map(|(at, definition)| (fold_name(&definition.name), at))
            .collect();
        let uses = definitions.iter().map(|definition| uses(&definition.source, &positions)).collect();
        Self { uses, chain: vec![1; definitions.len()], done: HashSet::new() }
    }

    /// A column whose others have all been given.
    fn next(&mut self) -> Option<usize> {
        let is_ready = |at: &usize| self.uses[*at].iter().all(|(other, _)| self.done.contains(other));
        let next = (0..self.uses.len()).find(|at| !self.done.contains(at) && is_ready(at))?;
        self.chain[next] = 1 + self.uses[next].iter().map(|(other, _)| self.chain[*other]).max().unwrap_or(0);
        self.done.insert(next);
        Some(next)
    }

    /// The problems of the columns in circles. Those that merely build on one are not to blame.
    fn circles(&self, definitions: &[Definition]) -> Vec<ColumnProblem> {
        let circle = |start| self.circle(start).map(|(path, span)| (start, path, span));
        (0..definitions.len())
            .filter(|at| !self.done.contains(at))
            .filter_map(circle)
            .map(|(start, path, span)| {
                let names: Vec<&str> = path.iter().map(|at| definitions[*at].name.as_str()).collect();
                let message = format!("The column builds on itself: {}.", names.join(" → "));
                of_column(&definitions[start], span.problem(message))
            })
            .collect()
    }

    /// The shortest way from a column back to itself, and the place where it begins.
    fn circle(&self, start: usize) -> Option<(Vec<usize>, Span)> {
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
                    let (_, span) = self.uses[start].iter().find(|(other, _)| *other == second)?;
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

/// The formula columns that a formula names. One that cannot be cut into tokens names none: it is refused.
fn uses(source: &str, positions: &HashMap<String, usize>) -> Vec<(usize, Span)> {
    let tokens = scan(source).unwrap_or_default();
    tokens
        .iter()
        .enumerate()
        .filter_map(|(at, token)| {
            let name = match &token.kind {
                Kind::Braced(name) => name,
                Kind::Word if !shape::is_called(&tokens, at) => &token.source,
                _ => return None,
            };
            Some((*positions.get(&fold_name(name))?, token.span))
        })
        .collect()
}
