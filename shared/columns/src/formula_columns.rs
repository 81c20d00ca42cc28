//! The team's formula columns over a recipient.

use audience::{BuiltIn, Lookup};
use chrono::NaiveDate;
use formula::{Computed, Definition, Sheet};
use store::Column;

/// Formula columns, compiled when a campaign first looks at one of them. What is stored or sent under their names
/// is never seen.
#[derive(Debug, Default)]
pub struct FormulaColumns {
    sheet: Sheet,
}

impl FormulaColumns {
    /// The formula columns among a team's columns, which they may all use.
    pub fn new(columns: &[Column]) -> Self {
        Self { sheet: Sheet::new(offered(columns), definitions(columns)) }
    }

    /// A recipient as conditions, designs and links see it. `today` is the team's day.
    pub fn over<'a>(&'a self, recipient: &'a dyn Lookup, today: NaiveDate) -> Computed<'a> {
        Computed::new(&self.sheet, recipient, today)
    }
}

/// The formula columns among a team's columns.
pub(crate) fn definitions(columns: &[Column]) -> Vec<Definition> {
    let definition = |column: &Column| {
        Some(Definition {
            name: column.name.clone(),
            column_type: column.column_type,
            source: column.formula.clone()?,
        })
    };
    columns.iter().filter_map(definition).collect()
}

/// The columns that a formula may use: the built-in ones and the team's own.
pub(crate) fn offered(columns: &[Column]) -> impl Iterator<Item = formula::Column> {
    let built_in = BuiltIn::ALL
        .into_iter()
        .map(|column| formula::Column { name: column.key().to_owned(), column_type: column.column_type() });
    let own = columns
        .iter()
        .map(|column| formula::Column { name: column.name.clone(), column_type: column.column_type });
    built_in.chain(own)
}
