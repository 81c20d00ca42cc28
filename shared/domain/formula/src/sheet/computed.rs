//! The values of formula columns for one row, computed when they are asked for.

use std::cell::{OnceCell, RefCell};

use audience::ValueLookup;
use chrono::NaiveDate;

use super::FormulaSheet;
use crate::limits::MAX_CHAIN;
use crate::outcome::{BlankReason, EvaluatedCell};
use crate::row::FormulaRow;

/// A row with the formula columns over it. Conditions, designs and links look here and see one kind of column.
pub struct ComputedRow<'a, R> {
    sheet: &'a FormulaSheet,
    row: R,
    today: NaiveDate,
    /// By the position of the formula: the value as text, or the sentence of its error.
    texts: Vec<OnceCell<Result<Option<String>, String>>>,
    /// Formulas that are being computed, each for the one before.
    open: RefCell<Vec<usize>>,
}

impl<'a, R: ValueLookup> ComputedRow<'a, R> {
    /// Puts a team's formula columns over a row. `today` is the day in the team's time zone.
    pub fn new(sheet: &'a FormulaSheet, row: R, today: NaiveDate) -> Self {
        let texts = sheet.definitions.iter().map(|_| OnceCell::new()).collect();
        Self {
            sheet,
            row,
            today,
            texts,
            open: RefCell::new(Vec::new()),
        }
    }

    /// The value of the formula column at a position, or why it has none. Beyond the end: blank.
    pub fn evaluate(&self, position: usize) -> EvaluatedCell {
        // Circles and long chains are refused when a column is saved. This holds even for rows that were
        // written by other means.
        let depth = self.open.borrow().len();
        if depth >= MAX_CHAIN || self.open.borrow().contains(&position) {
            return EvaluatedCell::Blank(BlankReason::Stopped(
                "formula columns build on each other too deep".to_owned(),
            ));
        }
        match self.sheet.formula(position) {
            Some(Ok(formula)) => {
                self.open.borrow_mut().push(position);
                let outcome = formula.evaluate_on(self, self.today);
                self.open.borrow_mut().pop();
                outcome
            }
            Some(Err(problems)) => {
                let problem = problems
                    .first()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                EvaluatedCell::Blank(BlankReason::Error(format!(
                    "the formula cannot be used: {problem}"
                )))
            }
            None => EvaluatedCell::Blank(BlankReason::Empty),
        }
    }

    /// The value of a formula column by its folded name, or why it has none. `None` for another column.
    pub fn evaluate_named(&self, folded_name: &str) -> Option<EvaluatedCell> {
        self.sheet
            .position(folded_name)
            .map(|position| self.evaluate(position))
    }

    fn cached_text(&self, position: usize) -> Result<Option<&str>, &str> {
        let cell = &self.texts[position];
        if cell.get().is_none() {
            let text = match self.evaluate(position) {
                EvaluatedCell::Value(value) => Ok(Some(value.to_string())),
                EvaluatedCell::Blank(
                    BlankReason::Error(sentence) | BlankReason::Stopped(sentence),
                ) => Err(sentence),
                EvaluatedCell::Blank(_) => Ok(None),
            };
            // A formula in a circle is filled by its inner self first.
            let _ = cell.set(text);
        }
        match cell.get() {
            Some(Ok(text)) => Ok(text.as_deref()),
            Some(Err(sentence)) => Err(sentence),
            None => Ok(None),
        }
    }
}

impl<R: ValueLookup> FormulaRow for ComputedRow<'_, R> {
    fn text(&self, key: &str) -> Result<Option<&str>, &str> {
        match self.sheet.position(key) {
            Some(position) => self.cached_text(position),
            None => Ok(self.row.value(key)),
        }
    }
}

impl<R: ValueLookup> ValueLookup for ComputedRow<'_, R> {
    fn value(&self, folded_column: &str) -> Option<&str> {
        // An error is a blank for conditions, designs and links.
        self.text(folded_column).unwrap_or_default()
    }
}
