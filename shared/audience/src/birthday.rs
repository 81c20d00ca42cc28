//! Birthdays: a month and a day, often without a year.

use std::fmt;

use chrono::{Datelike, NaiveDate};

use crate::value::{read_date, two_digits};

/// A leap year, in which every month and day that can be a birthday exists.
const LEAP_YEAR: i32 = 2000;

/// A day of the year that exists, with the year of birth when it is known.
///
/// Written `M/D` without a year and `YYYY-MM-DD` with one; [`Birthday::parse`] reads both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Birthday {
    month: u32,
    day: u32,
    year: Option<i32>,
}

impl Birthday {
    /// Reads `M/D`, `M-D`, `--MM-DD`, or any form of a date with a year of four digits:
    /// `M/D/YYYY`, `YYYY-MM-DD`, RFC 3339.
    ///
    /// `None` for a blank, another form, or a day that does not exist such as 2/30; 2/29 exists
    /// without a year and in a leap year. No year from 1 to 9999 is refused: whether a year is
    /// likely depends on today, which a stored value outlives.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match read_date(text) {
            Some(date) => Some(Self { month: date.month(), day: date.day(), year: Some(date.year()) }),
            None => Self::parse_without_year(text),
        }
    }

    fn parse_without_year(text: &str) -> Option<Self> {
        let (month, day) = match text.strip_prefix("--") {
            Some(rest) => rest.split_once('-')?,
            None => text.split_once(['/', '-'])?,
        };
        let (month, day) = (two_digits(month)?, two_digits(day)?);
        NaiveDate::from_ymd_opt(LEAP_YEAR, month, day)?;
        Some(Self { month, day, year: None })
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u32 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub const fn day(self) -> u32 {
        self.day
    }

    /// The year of birth, 1 to 9999, when it was given.
    pub const fn year(self) -> Option<i32> {
        self.year
    }

    /// Whether an anniversary falls on one of the days from `today` to `days` days later, both
    /// included. `days` is at most a year; a birthday on 2/29 is kept on 2/28 in other years.
    pub fn is_kept_within_days(self, today: NaiveDate, days: u32) -> bool {
        [today.year(), today.year() + 1]
            .into_iter()
            .filter_map(|year| self.kept_in(year))
            .any(|kept| (0..=i64::from(days)).contains(&(kept - today).num_days()))
    }

    /// The day on which the birthday is kept in a year.
    fn kept_in(self, year: i32) -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(year, self.month, self.day)
            .or_else(|| NaiveDate::from_ymd_opt(year, self.month, self.day - 1))
    }

    /// Whether this is the birthday that `wanted` names; a `wanted` without a year takes any year.
    pub fn is(self, wanted: Self) -> bool {
        let same_day = (self.month, self.day) == (wanted.month, wanted.day);
        same_day && (wanted.year.is_none() || wanted.year == self.year)
    }
}

impl fmt::Display for Birthday {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { month, day, year } = self;
        match year {
            Some(year) => write!(formatter, "{year:04}-{month:02}-{day:02}"),
            None => write!(formatter, "{month}/{day}"),
        }
    }
}

#[cfg(test)]
mod tests;
