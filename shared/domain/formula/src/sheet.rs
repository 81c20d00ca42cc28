//! The formula columns of a team together: whether they may be saved, and their values for one row.

mod check;
mod computed;
mod names;

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use audience::{ColumnType, fold_name};

pub use check::{CheckedColumn, ColumnDiagnostic, PromptColumn, check_columns};
pub use computed::ComputedRow;
pub use names::name_problem;

use crate::{Formula, FormulaDiagnostic, InputColumn, build, compile_with_columns};

/// A formula column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaColumn {
    /// Its name as people write it.
    pub name: String,
    /// The type of its values, as it was when it was saved.
    pub column_type: ColumnType,
    /// Its formula.
    pub source: String,
    /// The types of the columns that it uses, by folded name, as they were when it was saved. A formula means something
    /// else over other types, so it is not computed over them. `None` takes the columns as they are.
    pub uses: Option<UsedColumnTypes>,
}

/// Types of columns by folded name.
pub type UsedColumnTypes = BTreeMap<String, ColumnType>;

/// A team's formula columns. Each is compiled when it is first asked for: what a campaign does not use
/// costs it nothing.
#[derive(Debug, Default)]
pub struct FormulaSheet {
    columns: HashMap<String, InputColumn>,
    definitions: Vec<FormulaColumn>,
    /// Positions by folded name.
    positions: HashMap<String, usize>,
    compiled: Vec<OnceLock<Result<Formula, Vec<FormulaDiagnostic>>>>,
}

impl FormulaSheet {
    /// Puts them together with the other columns that they may use. A definition stands before another column of
    /// its name.
    pub fn new(
        columns: impl IntoIterator<Item = InputColumn>,
        definitions: Vec<FormulaColumn>,
    ) -> Self {
        let own = definitions.iter().map(|definition| InputColumn {
            name: definition.name.clone(),
            column_type: definition.column_type,
        });
        let columns = if definitions.is_empty() {
            // Nobody will ask for them.
            HashMap::new()
        } else {
            columns
                .into_iter()
                .chain(own)
                .map(|column| (fold_name(&column.name), column))
                .collect()
        };
        let positions = definitions
            .iter()
            .enumerate()
            .map(|(at, definition)| (fold_name(&definition.name), at))
            .collect();
        let compiled = definitions.iter().map(|_| OnceLock::new()).collect();
        Self {
            columns,
            definitions,
            positions,
            compiled,
        }
    }

    /// Whether there is no formula column.
    pub const fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// The formula columns, in the order in which they were given.
    pub fn definitions(&self) -> &[FormulaColumn] {
        &self.definitions
    }

    /// The position of a formula column by its folded name.
    pub fn position(&self, folded_name: &str) -> Option<usize> {
        self.positions.get(folded_name).copied()
    }

    /// The formula at a position, or what is wrong with it: a column that it used may be gone or be of another
    /// type now. `None` beyond the end.
    pub fn formula(&self, position: usize) -> Option<Result<&Formula, &[FormulaDiagnostic]>> {
        let definition = self.definitions.get(position)?;
        let compiled = self.compiled[position].get_or_init(|| self.compile_column(definition));
        Some(compiled.as_ref().map_err(Vec::as_slice))
    }

    fn compile_column(
        &self,
        definition: &FormulaColumn,
    ) -> Result<Formula, Vec<FormulaDiagnostic>> {
        let changed = names::changed_types(definition, |key| self.columns.get(key));
        if !changed.is_empty() {
            return Err(changed);
        }
        let columns: build::ColumnsByName<'_> = self
            .columns
            .iter()
            .map(|(key, column)| (key.clone(), column))
            .collect();
        compile_with_columns(&definition.source, &columns)
    }
}
