//! The values of formula columns for one row, computed when they are asked for.

use std::cell::{OnceCell, RefCell};

use audience::Lookup;
use chrono::NaiveDate;

use super::Sheet;
use crate::limits::MAX_CHAIN;
use crate::outcome::{Outcome, Reason};

/// A row with the formula columns over it. Conditions, designs and links look here and see one kind of column.
pub struct Computed<'a> {
    sheet: &'a Sheet,
    row: &'a dyn Lookup,
    today: NaiveDate,
    /// By the position of the formula.
    texts: Vec<OnceCell<Option<String>>>,
    /// Formulas that are being computed, each for the one before.
    open: RefCell<Vec<usize>>,
}

impl<'a> Computed<'a> {
    /// Puts a team's formula columns over a row. `today` is the day in the team's time zone.
    pub fn new(sheet: &'a Sheet, row: &'a dyn Lookup, today: NaiveDate) -> Self {
        let texts = sheet.definitions.iter().map(|_| OnceCell::new()).collect();
        Self { sheet, row, today, texts, open: RefCell::new(Vec::new()) }
    }

    /// The value of the formula column at a position, or why it has none. Beyond the end: blank.
    pub fn outcome(&self, position: usize) -> Outcome {
        // Circles and long chains are refused when a column is saved. This holds even for rows that were
        // written by other means.
        let depth = self.open.borrow().len();
        if depth >= MAX_CHAIN || self.open.borrow().contains(&position) {
            return Outcome::Blank(Reason::Stopped(
                "formula columns build on each other too deep".to_owned(),
            ));
        }
        match self.sheet.formula(position) {
            Some(Ok(formula)) => {
                self.open.borrow_mut().push(position);
                let outcome = formula.evaluate(self, self.today);
                self.open.borrow_mut().pop();
                outcome
            }
            Some(Err(problems)) => {
                let problem = problems.first().map(ToString::to_string).unwrap_or_default();
                Outcome::Blank(Reason::Error(format!("the formula cannot be used: {problem}")))
            }
            None => Outcome::Blank(Reason::Empty),
        }
    }
}

impl Lookup for Computed<'_> {
    fn value(&self, folded_column: &str) -> Option<&str> {
        let Some(position) = self.sheet.position(folded_column) else {
            return self.row.value(folded_column);
        };
        let cell = &self.texts[position];
        if cell.get().is_none() {
            let text = self.outcome(position).text();
            // A formula in a circle is filled by its inner self first.
            let _ = cell.set(text);
        }
        cell.get()?.as_deref()
    }
}
