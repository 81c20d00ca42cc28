//! Birthdays: a month and a day, often without a year.

use std::fmt;

use chrono::{Datelike, NaiveDate};

use crate::value::{is_digits, read_date, two_digits};

/// Years that a date can have.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// The names of the months; the first three letters suffice.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A leap year, in which every month and day that can be a birthday exists.
const LEAP_YEAR: i32 = 2000;

/// A day of the year that exists, with the year of birth when it is known.
///
/// Written `M/D` without a year and `YYYY-MM-DD` with one; [`Birthday::parse_unambiguous`] reads both, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Birthday {
    month: u32,
    day: u32,
    year: Option<i32>,
}

/// What a text says of a birthday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedBirthday {
    /// The day, with the year when that is certain.
    pub birthday: Birthday,
    /// Whether there is a year whose century is not.
    pub has_unread_year: bool,
}

/// The first year of two digits that can only be of the 20th century, whoever was born by now.
const FIRST_YEAR_OF_1900S: i32 = 40;

/// A year as it was written.
#[derive(Clone, Copy)]
enum BirthYear {
    Known(i32),
    /// Two digits that may be of this century or of the last.
    Unread,
}

impl Birthday {
    /// Reads a birthday as [`Birthday::parse_unambiguous`] does, for those who do not ask after the year.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_unambiguous(text).map(|read| read.birthday)
    }

    /// Reads every form of a day that means one day only: `M/D`, `M-D` and `--MM-DD` without a year; `M/D/YYYY`,
    /// `M-D-YYYY`, `YYYY-M-D`, `YYYY/M/D`, `YYYYMMDD`, RFC 3339, and a time behind the day; a month by its name
    /// (`July 4`, `4 Jul 1990`, `July 4th, 1990`, `4-Jul-90`). As in the whole API the month stands before the day. A year of two
    /// digits from 40 on is of the 1900s; one below may be of two centuries, and the day is read without it.
    ///
    /// `None` for a blank, another form, or a day that does not exist such as 2/30; 2/29 exists
    /// without a year and in a leap year. No year from 1 to 9999 is refused: whether a year is
    /// likely depends on today, which a stored value outlives.
    pub fn parse_unambiguous(text: &str) -> Option<ParsedBirthday> {
        let text = text.trim();
        if let Some(date) = read_date(text) {
            return Self::from_parts(
                date.month(),
                date.day(),
                Some(BirthYear::Known(date.year())),
            );
        }
        let day = without_time(text);
        Self::with_month_name(day).or_else(|| Self::parse_numeric(day))
    }

    /// A day that exists.
    fn from_parts(month: u32, day: u32, year: Option<BirthYear>) -> Option<ParsedBirthday> {
        let known = match year {
            Some(BirthYear::Known(year)) => Some(year),
            Some(BirthYear::Unread) | None => None,
        };
        if known.is_some_and(|year| !YEARS.contains(&year)) {
            return None;
        }
        NaiveDate::from_ymd_opt(known.unwrap_or(LEAP_YEAR), month, day)?;
        let has_unread_year = matches!(year, Some(BirthYear::Unread));
        Some(ParsedBirthday {
            birthday: Self {
                month,
                day,
                year: known,
            },
            has_unread_year,
        })
    }

    fn parse_numeric(text: &str) -> Option<ParsedBirthday> {
        if let Some(rest) = text.strip_prefix("--") {
            let (month, day) = rest.split_once('-')?;
            return Self::from_parts(two_digits(month)?, two_digits(day)?, None);
        }
        if text.len() == 8 && is_digits(text) {
            let (year, day) = text.split_at(4);
            return Self::from_parts(
                two_digits(&day[..2])?,
                two_digits(&day[2..])?,
                Some(four_digits(year)?),
            );
        }
        let separator = text.chars().find(|c| matches!(c, '/' | '-'))?;
        let parts: Vec<&str> = text.split(separator).collect();
        match parts.as_slice() {
            [month, day] => Self::from_parts(two_digits(month)?, two_digits(day)?, None),
            [year, month, day] if year.len() == 4 => Self::from_parts(
                two_digits(month)?,
                two_digits(day)?,
                Some(four_digits(year)?),
            ),
            [month, day, year] => {
                Self::from_parts(two_digits(month)?, two_digits(day)?, Some(read_year(year)?))
            }
            _ => None,
        }
    }

    fn with_month_name(text: &str) -> Option<ParsedBirthday> {
        let is_between = |c: char| matches!(c, ' ' | ',' | '-' | '/' | '.');
        let words: Vec<&str> = text
            .split(is_between)
            .filter(|word| !word.is_empty())
            .collect();
        let (month, day, year) = match words.as_slice() {
            [first, second] => match month_of(first) {
                Some(month) => (month, day_of(second)?, None),
                None => (month_of(second)?, day_of(first)?, None),
            },
            [first, second, year] => match month_of(first) {
                Some(month) => (month, day_of(second)?, Some(read_year(year)?)),
                None => match month_of(second) {
                    Some(month) if first.len() == 4 => {
                        (month, day_of(year)?, Some(four_digits(first)?))
                    }
                    Some(month) => (month, day_of(first)?, Some(read_year(year)?)),
                    None => return None,
                },
            },
            _ => return None,
        };
        Self::from_parts(month, day, year)
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
            .filter_map(|year| self.date_in_year(year))
            .any(|kept| (0..=i64::from(days)).contains(&(kept - today).num_days()))
    }

    /// The day on which the birthday is kept in a year.
    fn date_in_year(self, year: i32) -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(year, self.month, self.day)
            .or_else(|| NaiveDate::from_ymd_opt(year, self.month, self.day - 1))
    }

    /// Whether this is the birthday that `wanted` names; a `wanted` without a year takes any year.
    pub fn matches(self, wanted: Self) -> bool {
        let same_day = (self.month, self.day) == (wanted.month, wanted.day);
        same_day && (wanted.year.is_none() || wanted.year == self.year)
    }
}

/// The text without a time behind it, as spreadsheets write one: `7/4/1990 0:00`.
fn without_time(text: &str) -> &str {
    match text.split_once(' ') {
        Some((day, time))
            if time.trim_start().starts_with(|c: char| c.is_ascii_digit())
                && time.contains(':') =>
        {
            day
        }
        _ => text,
    }
}

/// The month of this name, or of its first three letters or more.
fn month_of(word: &str) -> Option<u32> {
    let word = word.to_ascii_lowercase();
    let is_named = |month: &&str| word.len() >= 3 && month.starts_with(&word);
    let at = if word == "sept" {
        Some(8)
    } else {
        MONTHS.iter().position(is_named)
    };
    at.and_then(|at| u32::try_from(at + 1).ok())
}

/// A day of a month: `4`, `04`, `4th`.
fn day_of(word: &str) -> Option<u32> {
    let ending = ["st", "nd", "rd", "th"].iter().find_map(|ending| {
        let cut = word.len().checked_sub(ending.len())?;
        word.get(cut..)
            .filter(|end| end.eq_ignore_ascii_case(ending))
            .and_then(|_| word.get(..cut))
    });
    two_digits(ending.unwrap_or(word))
}

fn four_digits(text: &str) -> Option<BirthYear> {
    (text.len() == 4 && is_digits(text)).then(|| text.parse().ok().map(BirthYear::Known))?
}

/// A year of four digits, or of two, with or without an apostrophe before them.
fn read_year(text: &str) -> Option<BirthYear> {
    let text = text.strip_prefix('\'').unwrap_or(text);
    if text.len() != 2 {
        return four_digits(text);
    }
    let year = i32::try_from(two_digits(text)?).ok()?;
    Some(if year >= FIRST_YEAR_OF_1900S {
        BirthYear::Known(1900 + year)
    } else {
        BirthYear::Unread
    })
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
