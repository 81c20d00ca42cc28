//! A recipient as conditions, designs and links see it.

use audience::{BuiltInColumn, ValueLookup};
use chrono::{DateTime, NaiveDate, Utc};
use design::TextTemplate;
use formula::{ComputedRow, FormulaColumn, FormulaSheet, PromptColumn};
use store::{BookEntryAddress, BookEntryValues, Team, TeamColumn};

use crate::standardised::StandardisedRecipient;

/// A recipient as conditions see it: the verified address, what was sent, and behind it what is stored.
pub struct RecipientProfile<'a> {
    /// First and last name.
    pub name: (&'a str, &'a str),
    /// Delivery line and second line.
    pub lines: (&'a str, &'a str),
    /// Verified.
    pub city: &'a str,
    /// Verified.
    pub state: &'a str,
    /// Verified, five digits.
    pub zip: &'a str,
    /// Latitude and longitude, when known.
    pub place: Option<(f64, f64)>,
    /// The other columns, by folded name: sent, else stored.
    pub values: &'a dyn ValueLookup,
}

impl<'a> RecipientProfile<'a> {
    /// As it stands in the address book.
    pub fn from_entry(entry: &'a BookEntryAddress, values: &'a BookEntryValues) -> Self {
        Self {
            name: (&entry.first_name, &entry.last_name),
            lines: (&entry.address_1, &entry.address_2),
            city: &entry.city,
            state: &entry.state,
            zip: &entry.zip,
            place: entry.latitude.zip(entry.longitude),
            values,
        }
    }
}

impl ValueLookup for RecipientProfile<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        match BuiltInColumn::from_key(column) {
            Some(BuiltInColumn::FirstName) => Some(self.name.0),
            Some(BuiltInColumn::LastName) => Some(self.name.1),
            Some(BuiltInColumn::Address1) => Some(self.lines.0),
            Some(BuiltInColumn::Address2) => Some(self.lines.1),
            Some(BuiltInColumn::City) => Some(self.city),
            Some(BuiltInColumn::State) => Some(self.state),
            Some(BuiltInColumn::Zip) => Some(self.zip),
            _ => self.values.value(column),
        }
    }
}

/// Formula columns, compiled when a campaign first looks at one of them. What is stored or sent under their names
/// is never seen.
#[derive(Debug, Default)]
pub struct FormulaColumns {
    sheet: FormulaSheet,
}

impl FormulaColumns {
    /// The formula columns among a team's columns, which they may all use.
    pub fn new(columns: &[TeamColumn]) -> Self {
        Self {
            sheet: FormulaSheet::new(list_input_columns(columns), list_formula_columns(columns)),
        }
    }

    /// A recipient as conditions, designs and links see it. `today` is the team's day.
    pub fn for_recipient<'a>(
        &'a self,
        recipient: &'a dyn ValueLookup,
        today: NaiveDate,
    ) -> ComputedRecipient<'a> {
        ComputedRow::new(&self.sheet, StandardisedRecipient::new(recipient), today)
    }
}

/// A recipient with the team's formula columns.
pub type ComputedRecipient<'a> = ComputedRow<'a, StandardisedRecipient<'a>>;

/// The team's day.
pub fn team_today(team: &Team, now: DateTime<Utc>) -> NaiveDate {
    now.with_timezone(&team.time_zone).date_naive()
}

/// The formula columns among a team's columns.
pub fn list_formula_columns(columns: &[TeamColumn]) -> Vec<FormulaColumn> {
    let definition = |column: &TeamColumn| {
        Some(FormulaColumn {
            name: column.name.clone(),
            column_type: column.column_type,
            source: column.formula.clone()?,
            uses: column.formula_uses.clone(),
        })
    };
    columns.iter().filter_map(definition).collect()
}

/// The prompts among a team's columns. One that cannot be read asks nothing and uses nothing.
pub fn parse_prompts(columns: &[TeamColumn]) -> Vec<PromptColumn> {
    let prompt = |column: &TeamColumn| {
        let template = TextTemplate::parse(column.prompt.as_deref()?).ok()?;
        Some(PromptColumn {
            name: column.name.clone(),
            fields: template.field_names().map(str::to_owned).collect(),
        })
    };
    columns.iter().filter_map(prompt).collect()
}

/// The columns that a formula may use: the built-in ones and the team's own.
pub fn list_input_columns(columns: &[TeamColumn]) -> impl Iterator<Item = formula::InputColumn> {
    let built_in = BuiltInColumn::ALL
        .into_iter()
        .map(|column| formula::InputColumn {
            name: column.key().to_owned(),
            column_type: column.column_type(),
        });
    let own = columns.iter().map(|column| formula::InputColumn {
        name: column.name.clone(),
        column_type: column.column_type,
    });
    built_in.chain(own)
}
