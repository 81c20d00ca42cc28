//! Runs a compiled formula on one row.

use std::borrow::Cow;
use std::cmp::Ordering;

use audience::value;
use chrono::{Datelike, Days, NaiveDate};

use crate::limits::{BYTES_PER_STEP, MAX_STEPS, MAX_TEXT_BYTES, PATTERN_BYTES_PER_STEPS};
use crate::node::{ColumnUse, Comparison, Factor, Node, Pattern, Sign};
use crate::outcome::Reason;
use crate::row::Row;
use crate::value::{Cell, Type, order_numbers, remainder, settled, tidy};

/// A value, or why there is none.
pub(crate) type Answer<'a, T = Cell<'a>> = Result<T, Halt<'a>>;

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum Halt<'a> {
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

impl Halt<'_> {
    pub(crate) const fn is_blank(&self) -> bool {
        matches!(self, Self::Nothing(_) | Self::BlankColumn(_) | Self::UnreadableColumn(_))
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(_))
    }

    pub(crate) fn into_reason(self) -> Reason {
        match self {
            Self::Nothing(sentence) => Reason::Nothing(sentence),
            Self::BlankColumn(column) => Reason::BlankColumn(column.name.clone()),
            Self::UnreadableColumn(column) => {
                Reason::UnreadableColumn(column.name.clone(), column.of.column_type())
            }
            Self::Error(sentence) => Reason::Error(sentence),
            Self::Stopped(sentence) => Reason::Stopped(sentence.to_owned()),
        }
    }
}

const TOO_LONG: Halt<'static> = Halt::Stopped("a text within the formula gets too long here");

/// An error with this sentence.
pub(crate) fn error<'a, T>(sentence: impl Into<String>) -> Answer<'a, T> {
    Err(Halt::Error(sentence.into()))
}

/// A row and what is left of the steps.
pub(crate) struct Machine<'a> {
    row: &'a dyn Row,
    today: NaiveDate,
    steps_left: u32,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(row: &'a dyn Row, today: NaiveDate) -> Self {
        Self { row, today, steps_left: MAX_STEPS }
    }

    pub(crate) const fn today(&self) -> NaiveDate {
        self.today
    }

    /// Takes steps, or stops.
    pub(crate) fn spend(&mut self, steps: u32) -> Answer<'a, ()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                self.steps_left = 0;
                Err(Halt::Stopped("the formula takes too many steps here"))
            }
        }
    }

    /// Takes the steps for making or searching a text of so many bytes, before it is done.
    pub(crate) fn spend_text(&mut self, bytes: usize) -> Answer<'a, ()> {
        if bytes > MAX_TEXT_BYTES {
            return Err(TOO_LONG);
        }
        // At most 512 of them.
        self.spend((bytes / BYTES_PER_STEP) as u32)
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, node: &'a Node) -> Answer<'a> {
        self.spend(1)?;
        match node {
            Node::Blank | Node::Pattern(_) => Err(Halt::Nothing("null is blank")),
            Node::Constant(cell) => Ok(borrowed(cell)),
            Node::Column(column) => self.column(column),
            Node::Join(parts) => self.join(parts),
            Node::Sum(first, rest) => self.sum(first, rest),
            Node::Product(first, rest) => self.product(first, rest),
            Node::Negate(node) => Ok(Cell::Number(-self.number(node)?)),
            Node::Shift(date, sign, days) => self.shift(date, *sign, days),
            Node::DaysBetween(later, earlier) => {
                let days = (self.date(later)? - self.date(earlier)?).num_days();
                Ok(Cell::Number(days as f64))
            }
            Node::Compare(comparison, left, right) => self.compare(*comparison, left, right),
            Node::All(nodes) => self.first_that_is(false, nodes),
            Node::Any(nodes) => self.first_that_is(true, nodes),
            Node::Not(node) => Ok(Cell::YesNo(!self.yes(node)?)),
            Node::Choose(branches) => {
                let [condition, yes, no] = branches.as_ref();
                if self.yes(condition)? { self.value(yes) } else { self.value(no) }
            }
            Node::OneOf(needle, list) => self.one_of(needle, list),
            Node::Call(function, arguments) => (function.run)(self, arguments),
        }
    }

    /// The value, `None` when it is blank.
    pub(crate) fn blankable(&mut self, node: &'a Node) -> Answer<'a, Option<Cell<'a>>> {
        match self.value(node) {
            Ok(Cell::Text(text)) if text.is_empty() => Ok(None),
            Ok(cell) => Ok(Some(cell)),
            Err(halt) if halt.is_blank() => Ok(None),
            Err(halt) => Err(halt),
        }
    }

    /// The value as text; blank is empty.
    pub(crate) fn text(&mut self, node: &'a Node) -> Answer<'a, Cow<'a, str>> {
        Ok(self.blankable(node)?.map_or(Cow::Borrowed(""), Cell::into_text))
    }

    /// The value of an expression that gives a number. Blank halts.
    pub(crate) fn number(&mut self, node: &'a Node) -> Answer<'a, f64> {
        match self.value(node)? {
            Cell::Number(number) => Ok(number),
            _ => error("a number is needed"),
        }
    }

    /// The number without what is behind the point, within the range of a count.
    pub(crate) fn whole(&mut self, node: &'a Node) -> Answer<'a, i32> {
        // The cast saturates.
        Ok(tidy(self.number(node)?) as i32)
    }

    /// The value of an expression that gives a date. Blank halts.
    pub(crate) fn date(&mut self, node: &'a Node) -> Answer<'a, NaiveDate> {
        match self.value(node)? {
            Cell::Date(date) => Ok(date),
            _ => error("a date is needed"),
        }
    }

    /// Whether a condition holds. Blank does not.
    pub(crate) fn yes(&mut self, node: &'a Node) -> Answer<'a, bool> {
        Ok(matches!(self.blankable(node)?, Some(Cell::YesNo(true))))
    }

    /// The regular expression that an argument is, with the steps taken for searching a text of so many bytes once.
    pub(crate) fn pattern(&mut self, node: &'a Node, bytes: usize) -> Answer<'a, &'a Pattern> {
        match node {
            Node::Pattern(pattern) => {
                self.spend_text(bytes)?;
                self.spend_search(pattern, bytes)?;
                Ok(pattern)
            }
            _ => error("a regular expression is needed"),
        }
    }

    /// Takes the steps for a search through so many bytes. A search may look at all that is left of a text before it
    /// finds the match that ends first, so each one costs what is left, not what it found.
    pub(crate) fn spend_search(&mut self, pattern: &Pattern, bytes: usize) -> Answer<'a, ()> {
        // Texts are bounded, at 2^13 bytes.
        let steps = pattern.steps.saturating_mul(bytes as u32) / PATTERN_BYTES_PER_STEPS;
        self.spend(steps.max(1))
    }

    fn column(&mut self, column: &'a ColumnUse) -> Answer<'a> {
        let stored = match self.row.text(&column.key) {
            Ok(stored) => stored.map(str::trim).filter(|text| !text.is_empty()),
            Err(sentence) => return error(format!("{}: {sentence}", column.name)),
        };
        let Some(text) = stored else {
            return Err(Halt::BlankColumn(column));
        };
        let cell = match column.of {
            Type::Text | Type::Blank => Some(Cell::Text(Cow::Borrowed(text))),
            Type::Number => value::read_number(text).map(Cell::Number),
            Type::Date => value::read_date(text).map(Cell::Date),
            Type::YesNo => value::read_yes_no(text).map(Cell::YesNo),
        };
        cell.ok_or(Halt::UnreadableColumn(column))
    }

    /// One text after the other.
    pub(crate) fn join(&mut self, parts: &'a [Node]) -> Answer<'a> {
        let mut joined = String::new();
        for part in parts {
            let text = self.text(part)?;
            self.append(&mut joined, &text)?;
        }
        Ok(Cell::Text(Cow::Owned(joined)))
    }

    /// Adds to a text that is being made.
    pub(crate) fn append(&mut self, made: &mut String, text: &str) -> Answer<'a, ()> {
        self.spend_text(text.len())?;
        if made.len() + text.len() > MAX_TEXT_BYTES {
            return Err(TOO_LONG);
        }
        made.push_str(text);
        Ok(())
    }

    fn sum(&mut self, first: &'a Node, rest: &'a [(Sign, Node)]) -> Answer<'a> {
        let mut sum = self.number(first)?;
        let mut largest = sum.abs();
        for (sign, node) in rest {
            let number = self.number(node)?;
            largest = largest.max(number.abs());
            match sign {
                Sign::Plus => sum += number,
                Sign::Minus => sum -= number,
            }
        }
        finite(settled(sum, largest))
    }

    fn product(&mut self, first: &'a Node, rest: &'a [(Factor, Node)]) -> Answer<'a> {
        let mut product = self.number(first)?;
        for (factor, node) in rest {
            let number = self.number(node)?;
            if number == 0.0 && *factor != Factor::Times {
                return error("division by zero");
            }
            match factor {
                Factor::Times => product *= number,
                Factor::Over => product /= number,
                Factor::Modulo => product = remainder(product, number),
            }
        }
        finite(product)
    }

    fn shift(&mut self, date: &'a Node, sign: Sign, days: &'a Node) -> Answer<'a> {
        let date = self.date(date)?;
        let days = self.whole(days)?;
        let days = if sign == Sign::Plus { i64::from(days) } else { -i64::from(days) };
        let count = Days::new(days.unsigned_abs());
        let moved = if days < 0 { date.checked_sub_days(count) } else { date.checked_add_days(count) };
        calendar_date(moved)
    }

    fn compare(&mut self, comparison: Comparison, left: &'a Node, right: &'a Node) -> Answer<'a> {
        let (left, right) = (self.blankable(left)?, self.blankable(right)?);
        let is_equal = match (&left, &right) {
            (None, None) => true,
            (Some(left), Some(right)) => order(left, right).is_eq(),
            _ => false,
        };
        // A blank is neither less nor greater than anything.
        let ordering = left.as_ref().zip(right.as_ref()).map(|(left, right)| order(left, right));
        Ok(Cell::YesNo(match comparison {
            Comparison::Equal => is_equal,
            Comparison::NotEqual => !is_equal,
            Comparison::Less => ordering.is_some_and(Ordering::is_lt),
            Comparison::LessOrEqual => ordering.is_some_and(Ordering::is_le),
            Comparison::Greater => ordering.is_some_and(Ordering::is_gt),
            Comparison::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
        }))
    }

    /// Whether one of the conditions is `wanted`: the answer of "any" for yes, turned round that of "all" for
    /// no. As in CEL an error gives way to a condition that decides.
    pub(crate) fn first_that_is(&mut self, wanted: bool, nodes: &'a [Node]) -> Answer<'a> {
        let mut first_error = None;
        for node in nodes {
            match self.yes(node) {
                Ok(yes) if yes == wanted => return Ok(Cell::YesNo(wanted)),
                Ok(_) => {}
                Err(halt) if halt.is_stopped() => return Err(halt),
                Err(halt) => first_error = first_error.or(Some(halt)),
            }
        }
        first_error.map_or(Ok(Cell::YesNo(!wanted)), Err)
    }

    fn one_of(&mut self, needle: &'a Node, list: &'a [Node]) -> Answer<'a> {
        let needle = self.blankable(needle)?;
        for node in list {
            let one = self.blankable(node)?;
            let is_equal = match (&needle, &one) {
                (None, None) => true,
                (Some(needle), Some(one)) => order(needle, one).is_eq(),
                _ => false,
            };
            if is_equal {
                return Ok(Cell::YesNo(true));
            }
        }
        Ok(Cell::YesNo(false))
    }
}

fn borrowed<'a>(cell: &'a Cell<'static>) -> Cell<'a> {
    match cell {
        Cell::Text(text) => Cell::Text(Cow::Borrowed(text)),
        Cell::Number(number) => Cell::Number(*number),
        Cell::Date(date) => Cell::Date(*date),
        Cell::YesNo(yes) => Cell::YesNo(*yes),
    }
}

/// How two values stand: numbers, dates, no before yes, and everything else as text, by code point as in CEL.
pub(crate) fn order(left: &Cell<'_>, right: &Cell<'_>) -> Ordering {
    match (left, right) {
        (Cell::Number(left), Cell::Number(right)) => order_numbers(*left, *right),
        (Cell::Date(left), Cell::Date(right)) => left.cmp(right),
        (Cell::YesNo(left), Cell::YesNo(right)) => left.cmp(right),
        (Cell::Text(left), Cell::Text(right)) => left.cmp(right),
        _ => left.clone().into_text().cmp(&right.clone().into_text()),
    }
}

/// The number, unless it went beyond all bounds.
pub(crate) fn finite<'a>(number: f64) -> Answer<'a> {
    if number.is_finite() { Ok(Cell::Number(number)) } else { error("the number gets too large") }
}

/// The date, unless it is beyond the years 1 to 9999.
pub(crate) fn calendar_date<'a>(date: Option<NaiveDate>) -> Answer<'a> {
    match date.filter(|date| (1..=9999).contains(&date.year())) {
        Some(date) => Ok(Cell::Date(date)),
        None => error("there is no such date"),
    }
}
