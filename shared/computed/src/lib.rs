//! A team's computed columns, as the store has them: what is computed for a card, shown of a person or checked when it
//! is saved comes from here.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod recipient;

pub use recipient::{Recipient, standardise};

use audience::{BuiltIn, Lookup};
use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use design::Template;
use formula::{Computed, Definition, Prompt, Sheet};
use store::{Column, Team};

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
    pub fn over<'a>(&'a self, recipient: &'a dyn Lookup, today: NaiveDate) -> Seen<'a> {
        Computed::new(&self.sheet, Recipient::new(recipient), today)
    }
}

/// A recipient with the team's formula columns.
pub type Seen<'a> = Computed<'a, Recipient<'a>>;

/// The team's day. A zone that cannot be read was never stored; UTC stands in for it.
pub fn today(team: &Team, now: DateTime<Utc>) -> NaiveDate {
    now.with_timezone(&team.time_zone.parse().unwrap_or(Tz::UTC)).date_naive()
}

/// The formula columns among a team's columns.
pub fn definitions(columns: &[Column]) -> Vec<Definition> {
    let definition = |column: &Column| {
        Some(Definition {
            name: column.name.clone(),
            column_type: column.column_type,
            source: column.formula.clone()?,
            uses: column.formula_uses.clone(),
        })
    };
    columns.iter().filter_map(definition).collect()
}

/// The prompts among a team's columns. One that cannot be read asks nothing and uses nothing.
pub fn prompts(columns: &[Column]) -> Vec<Prompt> {
    let prompt = |column: &Column| {
        let template = Template::parse(column.prompt.as_deref()?).ok()?;
        Some(Prompt { name: column.name.clone(), fields: template.fields().map(str::to_owned).collect() })
    };
    columns.iter().filter_map(prompt).collect()
}

/// The columns that a formula may use: the built-in ones and the team's own.
pub fn offered(columns: &[Column]) -> impl Iterator<Item = formula::Column> {
    let built_in = BuiltIn::ALL
        .into_iter()
        .map(|column| formula::Column { name: column.key().to_owned(), column_type: column.column_type() });
    let own = columns
        .iter()
        .map(|column| formula::Column { name: column.name.clone(), column_type: column.column_type });
    built_in.chain(own)
}
