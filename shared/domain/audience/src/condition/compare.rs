//! The tests that conditions compile to. None of them holds for a blank or unreadable value.

use std::{
    collections::BTreeSet,
    ops::{Bound, RangeBounds},
};

use chrono::NaiveDate;

use super::{
    operand::{ConditionOperand, OperandError, fold_text},
    operator::{ComparisonKind, Operator},
};
use crate::{birthday::Birthday, column::ColumnType, value};

/// A test of one value, with the operand already of its type.
#[derive(Clone, Debug)]
pub(super) enum ValueTest {
    Text(TextTest),
    Number(ValueRange<f64>),
    Date(DateTest),
    /// Any answer, or one of the two.
    YesNo(Option<bool>),
    Birthday(BirthdayTest),
}

impl ValueTest {
    /// The test of an operator that has no "not" in it (see [`ConditionOperator::split_negation`]).
    pub(super) fn new(
        kind: ComparisonKind,
        operator: Operator,
        operand: ConditionOperand<'_>,
    ) -> Result<Self, OperandError> {
        Ok(match kind {
            ComparisonKind::Typed(ColumnType::Text) => {
                Self::Text(TextTest::new(operator, operand)?)
            }
            ComparisonKind::Typed(ColumnType::Number) => {
                Self::Number(number_range(operator, operand)?)
            }
            ComparisonKind::Typed(ColumnType::Date) => {
                Self::Date(DateTest::new(operator, operand)?)
            }
            ComparisonKind::Typed(ColumnType::YesNo) => {
                Self::YesNo(parse_yes_no_test(operator, operand)?)
            }
            ComparisonKind::Birthday => Self::Birthday(BirthdayTest::new(operator, operand)?),
        })
    }

    /// Whether the test holds for a value as stored.
    pub(super) fn matches(&self, text: &str, today: NaiveDate) -> bool {
        match self {
            Self::Text(test) => test.matches(text),
            Self::Number(range) => {
                value::read_number(text).is_some_and(|number| range.contains(&number))
            }
            Self::Date(test) => {
                value::read_date(text).is_some_and(|date| test.matches(date, today))
            }
            Self::YesNo(wanted) => value::read_yes_no(text)
                .is_some_and(|answer| wanted.is_none_or(|wanted| answer == wanted)),
            Self::Birthday(test) => {
                Birthday::parse(text).is_some_and(|birthday| test.matches(birthday, today))
            }
        }
    }
}

/// Operands are folded and never empty.
#[derive(Clone, Debug)]
pub(super) enum TextTest {
    NotEmpty,
    Is(String),
    Contains(String),
    StartsWith(String),
    EndsWith(String),
    IsOneOf(BTreeSet<String>),
}

impl TextTest {
    fn new(operator: Operator, operand: ConditionOperand<'_>) -> Result<Self, OperandError> {
        match operator {
            Operator::IsNotEmpty => operand.require_absent().map(|()| Self::NotEmpty),
            Operator::Is => operand.parse_text().map(Self::Is),
            Operator::Contains => operand.parse_text().map(Self::Contains),
            Operator::StartsWith => operand.parse_text().map(Self::StartsWith),
            Operator::EndsWith => operand.parse_text().map(Self::EndsWith),
            Operator::IsOneOf => operand.parse_texts().map(Self::IsOneOf),
            _ => Err(OperandError::Operator),
        }
    }

    fn matches(&self, text: &str) -> bool {
        let text = fold_text(text);
        match self {
            Self::NotEmpty => !text.is_empty(),
            Self::Is(wanted) => text == *wanted,
            Self::Contains(part) => text.contains(part),
            Self::StartsWith(start) => text.starts_with(start),
            Self::EndsWith(end) => text.ends_with(end),
            Self::IsOneOf(choices) => choices.contains(&text),
        }
    }
}

/// An interval of numbers or days; each end is included, excluded or open.
#[derive(Clone, Debug)]
pub(super) struct ValueRange<T> {
    low: Bound<T>,
    high: Bound<T>,
}

impl<T: PartialOrd + Copy> ValueRange<T> {
    const EVERY: Self = Self::new(Bound::Unbounded, Bound::Unbounded);

    const fn new(low: Bound<T>, high: Bound<T>) -> Self {
        Self { low, high }
    }

    const fn from_to(low: T, high: T) -> Self {
        Self::new(Bound::Included(low), Bound::Included(high))
    }

    fn contains(&self, value: &T) -> bool {
        (self.low, self.high).contains(value)
    }
}

fn number_range(
    operator: Operator,
    operand: ConditionOperand<'_>,
) -> Result<ValueRange<f64>, OperandError> {
    use Bound::{Excluded, Included, Unbounded};
    match operator {
        Operator::IsNotEmpty => operand.require_absent().map(|()| ValueRange::EVERY),
        Operator::Is => operand
            .parse_number()
            .map(|number| ValueRange::from_to(number, number)),
        Operator::Greater => operand
            .parse_number()
            .map(|low| ValueRange::new(Excluded(low), Unbounded)),
        Operator::GreaterOrEqual => operand
            .parse_number()
            .map(|low| ValueRange::new(Included(low), Unbounded)),
        Operator::Less => operand
            .parse_number()
            .map(|high| ValueRange::new(Unbounded, Excluded(high))),
        Operator::LessOrEqual => operand
            .parse_number()
            .map(|high| ValueRange::new(Unbounded, Included(high))),
        Operator::Between => operand
            .parse_pair(ConditionOperand::parse_number)
            .map(|(low, high)| ValueRange::from_to(low, high)),
        _ => Err(OperandError::Operator),
    }
}

fn parse_yes_no_test(
    operator: Operator,
    operand: ConditionOperand<'_>,
) -> Result<Option<bool>, OperandError> {
    match operator {
        Operator::IsNotEmpty => operand.require_absent().map(|()| None),
        Operator::Is => operand.yes_no().map(Some),
        _ => Err(OperandError::Operator),
    }
}

/// Days that stay, or that move with today.
#[derive(Clone, Debug)]
pub(super) enum DateTest {
    In(ValueRange<NaiveDate>),
    LastDays(u32),
    NextDays(u32),
}

impl DateTest {
    fn new(operator: Operator, operand: ConditionOperand<'_>) -> Result<Self, OperandError> {
        use Bound::{Excluded, Unbounded};
        let range = match operator {
            Operator::InLastDays => return operand.parse_days().map(Self::LastDays),
            Operator::InNextDays => return operand.parse_days().map(Self::NextDays),
            Operator::IsNotEmpty => operand.require_absent().map(|()| ValueRange::EVERY),
            Operator::Is => operand
                .parse_date()
                .map(|date| ValueRange::from_to(date, date)),
            Operator::Before => operand
                .parse_date()
                .map(|date| ValueRange::new(Unbounded, Excluded(date))),
            Operator::After => operand
                .parse_date()
                .map(|date| ValueRange::new(Excluded(date), Unbounded)),
            Operator::Between => operand
                .parse_pair(ConditionOperand::parse_date)
                .map(|(low, high)| ValueRange::from_to(low, high)),
            _ => Err(OperandError::Operator),
        };
        range.map(Self::In)
    }

    fn matches(&self, date: NaiveDate, today: NaiveDate) -> bool {
        let days_away = (date - today).num_days();
        match self {
            Self::In(range) => range.contains(&date),
            Self::LastDays(days) => (-i64::from(*days)..=0).contains(&days_away),
            Self::NextDays(days) => (0..=i64::from(*days)).contains(&days_away),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum BirthdayTest {
    NotEmpty,
    Is(Birthday),
    NextDays(u32),
    Month(u32),
}

impl BirthdayTest {
    fn new(operator: Operator, operand: ConditionOperand<'_>) -> Result<Self, OperandError> {
        match operator {
            Operator::IsNotEmpty => operand.require_absent().map(|()| Self::NotEmpty),
            Operator::Is => operand.parse_birthday().map(Self::Is),
            Operator::AnniversaryToday => operand.require_absent().map(|()| Self::NextDays(0)),
            Operator::AnniversaryInNextDays => operand.anniversary_days().map(Self::NextDays),
            Operator::AnniversaryInMonth => operand.parse_month().map(Self::Month),
            _ => Err(OperandError::Operator),
        }
    }

    fn matches(&self, birthday: Birthday, today: NaiveDate) -> bool {
        match self {
            Self::NotEmpty => true,
            Self::Is(wanted) => birthday.matches(*wanted),
            Self::NextDays(days) => birthday.is_kept_within_days(today, *days),
            Self::Month(month) => birthday.month() == *month,
        }
    }
}
