//! Runs a compiled formula on one row.

use std::borrow::Cow;
use std::cmp::Ordering;

use audience::value;
use chrono::{Datelike, Days, NaiveDate};

use crate::limits::{BYTES_PER_STEP, MAX_STEPS, MAX_TEXT_BYTES, PATTERN_BYTES_PER_STEPS};
use crate::node::{
    AdditiveOperator, ColumnUse, ComparisonOperator, ExpressionNode, MultiplicativeOperator,
    RegexPattern,
};
use crate::outcome::BlankReason;
use crate::row::FormulaRow;
use crate::value::{
    CellValue, ValueType, compute_remainder, order_numbers, round_significant, round_sum,
};

/// A value, or why there is none.
pub(crate) type EvaluationResult<'a, T = CellValue<'a>> = Result<T, EvaluationError<'a>>;

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum EvaluationError<'a> {
    /// `null`, or a function's own blank, with the reason.
    Nothing(&'static str),
    /// The column has no value.
    BlankColumn(&'a ColumnUse),
    /// The column's value does not read as its type, and counts as blank.
    UnreadableColumn(&'a ColumnUse),
    /// There is no result, and nothing but IFERROR and IFBLANK goes on from here.
    Error(String),
    /// A bound; nothing goes on from here.
    Stopped(&'static str),
}

impl EvaluationError<'_> {
    pub(crate) const fn is_blank(&self) -> bool {
        matches!(
            self,
            Self::Nothing(_) | Self::BlankColumn(_) | Self::UnreadableColumn(_)
        )
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(_))
    }

    pub(crate) fn into_reason(self) -> BlankReason {
        match self {
            Self::Nothing(sentence) => BlankReason::Nothing(sentence),
            Self::BlankColumn(column) => BlankReason::BlankColumn(column.name.clone()),
            Self::UnreadableColumn(column) => {
                BlankReason::UnreadableColumn(column.name.clone(), column.of.column_type())
            }
            Self::Error(sentence) => BlankReason::Error(sentence),
            Self::Stopped(sentence) => BlankReason::Stopped(sentence.to_owned()),
        }
    }
}

const TOO_LONG: EvaluationError<'static> =
    EvaluationError::Stopped("a text within the formula gets too long here");

/// An error with this sentence.
pub(crate) fn evaluation_error<'a, T>(sentence: impl Into<String>) -> EvaluationResult<'a, T> {
    Err(EvaluationError::Error(sentence.into()))
}

/// A row and what is left of the steps.
pub(crate) struct FormulaEvaluator<'a> {
    row: &'a dyn FormulaRow,
    today: NaiveDate,
    steps_left: u32,
}

impl<'a> FormulaEvaluator<'a> {
    pub(crate) fn new(row: &'a dyn FormulaRow, today: NaiveDate) -> Self {
        Self {
            row,
            today,
            steps_left: MAX_STEPS,
        }
    }

    pub(crate) const fn today(&self) -> NaiveDate {
        self.today
    }

    /// Takes steps, or stops.
    pub(crate) fn spend_steps(&mut self, steps: u32) -> EvaluationResult<'a, ()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                self.steps_left = 0;
                Err(EvaluationError::Stopped(
                    "the formula takes too many steps here",
                ))
            }
        }
    }

    /// Takes the steps for making or searching a text of so many bytes, before it is done.
    pub(crate) fn spend_text(&mut self, bytes: usize) -> EvaluationResult<'a, ()> {
        if bytes > MAX_TEXT_BYTES {
            return Err(TOO_LONG);
        }
        // At most 512 of them.
        self.spend_steps((bytes / BYTES_PER_STEP) as u32)
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, node: &'a ExpressionNode) -> EvaluationResult<'a> {
        self.spend_steps(1)?;
        match node {
            ExpressionNode::Blank | ExpressionNode::Pattern(_) => {
                Err(EvaluationError::Nothing("null is blank"))
            }
            ExpressionNode::Constant(cell) => Ok(borrow_cell(cell)),
            ExpressionNode::Column(column) => self.evaluate_column(column),
            ExpressionNode::Join(parts) => self.evaluate_join(parts),
            ExpressionNode::Sum(first, rest) => self.evaluate_sum(first, rest),
            ExpressionNode::Product(first, rest) => self.evaluate_product(first, rest),
            ExpressionNode::Negate(node) => Ok(CellValue::Number(-self.evaluate_number(node)?)),
            ExpressionNode::Shift(date, sign, days) => self.evaluate_date_shift(date, *sign, days),
            ExpressionNode::DaysBetween(later, earlier) => {
                let days = (self.evaluate_date(later)? - self.evaluate_date(earlier)?).num_days();
                Ok(CellValue::Number(days as f64))
            }
            ExpressionNode::Compare(comparison, left, right) => {
                self.evaluate_comparison(*comparison, left, right)
            }
            ExpressionNode::All(nodes) => self.evaluate_short_circuit(false, nodes),
            ExpressionNode::Any(nodes) => self.evaluate_short_circuit(true, nodes),
            ExpressionNode::Not(node) => Ok(CellValue::YesNo(!self.evaluate_condition(node)?)),
            ExpressionNode::Choose(branches) => {
                let [condition, yes, no] = branches.as_ref();
                if self.evaluate_condition(condition)? {
                    self.evaluate(yes)
                } else {
                    self.evaluate(no)
                }
            }
            ExpressionNode::OneOf(needle, list) => self.evaluate_in_list(needle, list),
            ExpressionNode::Call(function, arguments) => (function.run)(self, arguments),
        }
    }

    /// The value, `None` when it is blank.
    pub(crate) fn evaluate_optional(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, Option<CellValue<'a>>> {
        match self.evaluate(node) {
            Ok(CellValue::Text(text)) if text.is_empty() => Ok(None),
            Ok(cell) => Ok(Some(cell)),
            Err(halt) if halt.is_blank() => Ok(None),
            Err(halt) => Err(halt),
        }
    }

    /// The value as text; blank is empty.
    pub(crate) fn evaluate_text(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, Cow<'a, str>> {
        Ok(self
            .evaluate_optional(node)?
            .map_or(Cow::Borrowed(""), CellValue::into_text))
    }

    /// The value of an expression that gives a number. Blank halts.
    pub(crate) fn evaluate_number(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, f64> {
        match self.evaluate(node)? {
            CellValue::Number(number) => Ok(number),
            _ => evaluation_error("a number is needed"),
        }
    }

    /// The number without what is behind the point, within the range of a count.
    pub(crate) fn evaluate_integer(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, i32> {
        // The cast saturates.
        Ok(round_significant(self.evaluate_number(node)?) as i32)
    }

    /// The value of an expression that gives a date. Blank halts.
    pub(crate) fn evaluate_date(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, NaiveDate> {
        match self.evaluate(node)? {
            CellValue::Date(date) => Ok(date),
            _ => evaluation_error("a date is needed"),
        }
    }

    /// Whether a condition holds. Blank does not.
    pub(crate) fn evaluate_condition(
        &mut self,
        node: &'a ExpressionNode,
    ) -> EvaluationResult<'a, bool> {
        Ok(matches!(
            self.evaluate_optional(node)?,
            Some(CellValue::YesNo(true))
        ))
    }

    /// The regular expression that an argument is, with the steps taken for searching a text of so many bytes once.
    pub(crate) fn evaluate_pattern(
        &mut self,
        node: &'a ExpressionNode,
        bytes: usize,
    ) -> EvaluationResult<'a, &'a RegexPattern> {
        match node {
            ExpressionNode::Pattern(pattern) => {
                self.spend_text(bytes)?;
                self.spend_search(pattern, bytes)?;
                Ok(pattern)
            }
            _ => evaluation_error("a regular expression is needed"),
        }
    }

    /// Takes the steps for a search through so many bytes. A search may look at all that is left of a text before it
    /// finds the match that ends first, so each one costs what is left, not what it found.
    pub(crate) fn spend_search(
        &mut self,
        pattern: &RegexPattern,
        bytes: usize,
    ) -> EvaluationResult<'a, ()> {
        // Texts are bounded, at 2^13 bytes.
        let steps = pattern.steps.saturating_mul(bytes as u32) / PATTERN_BYTES_PER_STEPS;
        self.spend_steps(steps.max(1))
    }

    fn evaluate_column(&mut self, column: &'a ColumnUse) -> EvaluationResult<'a> {
        let stored = match self.row.text(&column.key) {
            Ok(stored) => stored.map(str::trim).filter(|text| !text.is_empty()),
            Err(sentence) => return evaluation_error(format!("{}: {sentence}", column.name)),
        };
        let Some(text) = stored else {
            return Err(EvaluationError::BlankColumn(column));
        };
        let cell = match column.of {
            ValueType::Text | ValueType::Blank => Some(CellValue::Text(Cow::Borrowed(text))),
            ValueType::Number => value::read_number(text).map(CellValue::Number),
            ValueType::Date => value::read_date(text).map(CellValue::Date),
            ValueType::YesNo => value::read_yes_no(text).map(CellValue::YesNo),
        };
        cell.ok_or(EvaluationError::UnreadableColumn(column))
    }

    /// One text after the other.
    pub(crate) fn evaluate_join(&mut self, parts: &'a [ExpressionNode]) -> EvaluationResult<'a> {
        let mut joined = String::new();
        for part in parts {
            let text = self.evaluate_text(part)?;
            self.append_text(&mut joined, &text)?;
        }
        Ok(CellValue::Text(Cow::Owned(joined)))
    }

    /// Adds to a text that is being made.
    pub(crate) fn append_text(
        &mut self,
        made: &mut String,
        text: &str,
    ) -> EvaluationResult<'a, ()> {
        self.spend_text(text.len())?;
        if made.len() + text.len() > MAX_TEXT_BYTES {
            return Err(TOO_LONG);
        }
        made.push_str(text);
        Ok(())
    }

    fn evaluate_sum(
        &mut self,
        first: &'a ExpressionNode,
        rest: &'a [(AdditiveOperator, ExpressionNode)],
    ) -> EvaluationResult<'a> {
        let mut sum = self.evaluate_number(first)?;
        let mut largest = sum.abs();
        for (sign, node) in rest {
            let number = self.evaluate_number(node)?;
            largest = largest.max(number.abs());
            match sign {
                AdditiveOperator::Plus => sum += number,
                AdditiveOperator::Minus => sum -= number,
            }
        }
        check_finite(round_sum(sum, largest))
    }

    fn evaluate_product(
        &mut self,
        first: &'a ExpressionNode,
        rest: &'a [(MultiplicativeOperator, ExpressionNode)],
    ) -> EvaluationResult<'a> {
        let mut product = self.evaluate_number(first)?;
        for (factor, node) in rest {
            let number = self.evaluate_number(node)?;
            if number == 0.0 && *factor != MultiplicativeOperator::Times {
                return evaluation_error("division by zero");
            }
            match factor {
                MultiplicativeOperator::Times => product *= number,
                MultiplicativeOperator::Over => product /= number,
                MultiplicativeOperator::Modulo => product = compute_remainder(product, number),
            }
        }
        check_finite(product)
    }

    fn evaluate_date_shift(
        &mut self,
        date: &'a ExpressionNode,
        sign: AdditiveOperator,
        days: &'a ExpressionNode,
    ) -> EvaluationResult<'a> {
        let date = self.evaluate_date(date)?;
        let days = self.evaluate_integer(days)?;
        let days = if sign == AdditiveOperator::Plus {
            i64::from(days)
        } else {
            -i64::from(days)
        };
        let count = Days::new(days.unsigned_abs());
        let moved = if days < 0 {
            date.checked_sub_days(count)
        } else {
            date.checked_add_days(count)
        };
        calendar_date(moved)
    }

    fn evaluate_comparison(
        &mut self,
        comparison: ComparisonOperator,
        left: &'a ExpressionNode,
        right: &'a ExpressionNode,
    ) -> EvaluationResult<'a> {
        let (left, right) = (
            self.evaluate_optional(left)?,
            self.evaluate_optional(right)?,
        );
        let is_equal = match (&left, &right) {
            (None, None) => true,
            (Some(left), Some(right)) => compare_cells(left, right).is_eq(),
            _ => false,
        };
        // A blank is neither less nor greater than anything.
        let ordering = left
            .as_ref()
            .zip(right.as_ref())
            .map(|(left, right)| compare_cells(left, right));
        Ok(CellValue::YesNo(match comparison {
            ComparisonOperator::Equal => is_equal,
            ComparisonOperator::NotEqual => !is_equal,
            ComparisonOperator::Less => ordering.is_some_and(Ordering::is_lt),
            ComparisonOperator::LessOrEqual => ordering.is_some_and(Ordering::is_le),
            ComparisonOperator::Greater => ordering.is_some_and(Ordering::is_gt),
            ComparisonOperator::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
        }))
    }

    /// Whether one of the conditions is `wanted`: the answer of "any" for yes, turned round that of "all" for
    /// no. As in CEL an error gives way to a condition that decides.
    pub(crate) fn evaluate_short_circuit(
        &mut self,
        wanted: bool,
        nodes: &'a [ExpressionNode],
    ) -> EvaluationResult<'a> {
        let mut first_error = None;
        for node in nodes {
            match self.evaluate_condition(node) {
                Ok(yes) if yes == wanted => return Ok(CellValue::YesNo(wanted)),
                Ok(_) => {}
                Err(halt) if halt.is_stopped() => return Err(halt),
                Err(halt) => first_error = first_error.or(Some(halt)),
            }
        }
        first_error.map_or(Ok(CellValue::YesNo(!wanted)), Err)
    }

    fn evaluate_in_list(
        &mut self,
        needle: &'a ExpressionNode,
        list: &'a [ExpressionNode],
    ) -> EvaluationResult<'a> {
        let needle = self.evaluate_optional(needle)?;
        for node in list {
            let one = self.evaluate_optional(node)?;
            let is_equal = match (&needle, &one) {
                (None, None) => true,
                (Some(needle), Some(one)) => compare_cells(needle, one).is_eq(),
                _ => false,
            };
            if is_equal {
                return Ok(CellValue::YesNo(true));
            }
        }
        Ok(CellValue::YesNo(false))
    }
}

fn borrow_cell<'a>(cell: &'a CellValue<'static>) -> CellValue<'a> {
    match cell {
        CellValue::Text(text) => CellValue::Text(Cow::Borrowed(text)),
        CellValue::Number(number) => CellValue::Number(*number),
        CellValue::Date(date) => CellValue::Date(*date),
        CellValue::YesNo(yes) => CellValue::YesNo(*yes),
    }
}

/// How two values stand: numbers, dates, no before yes, and everything else as text, by code point as in CEL.
pub(crate) fn compare_cells(left: &CellValue<'_>, right: &CellValue<'_>) -> Ordering {
    match (left, right) {
        (CellValue::Number(left), CellValue::Number(right)) => order_numbers(*left, *right),
        (CellValue::Date(left), CellValue::Date(right)) => left.cmp(right),
        (CellValue::YesNo(left), CellValue::YesNo(right)) => left.cmp(right),
        (CellValue::Text(left), CellValue::Text(right)) => left.cmp(right),
        _ => left.clone().into_text().cmp(&right.clone().into_text()),
    }
}

/// The number, unless it went beyond all bounds.
pub(crate) fn check_finite<'a>(number: f64) -> EvaluationResult<'a> {
    if number.is_finite() {
        Ok(CellValue::Number(number))
    } else {
        evaluation_error("the number gets too large")
    }
}

/// The date, unless it is beyond the years 1 to 9999.
pub(crate) fn calendar_date<'a>(date: Option<NaiveDate>) -> EvaluationResult<'a> {
    match date.filter(|date| (1..=9999).contains(&date.year())) {
        Some(date) => Ok(CellValue::Date(date)),
        None => evaluation_error("there is no such date"),
    }
}
