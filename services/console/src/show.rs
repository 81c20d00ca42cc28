//! How values are shown to people.

use audience::ColumnType;
use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use contract::money::Dollars;

/// The zone of a team's times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone(Tz);

impl Zone {
    /// The zone of this IANA name. One that cannot be read was never stored; UTC stands in for it.
    pub(crate) fn new(name: &str) -> Self {
        Self(name.parse().unwrap_or(Tz::UTC))
    }

    /// The day of a moment.
    pub(crate) fn day(self, moment: DateTime<Utc>) -> NaiveDate {
        moment.with_timezone(&self.0).date_naive()
    }

    /// A moment, such as `Nov 21, 2026, 3:04 PM EST`.
    pub(crate) fn time(self, moment: &DateTime<Utc>) -> String {
        moment.with_timezone(&self.0).format("%b %-d, %Y, %-I:%M %p %Z").to_string()
    }
}

impl Zone {
    /// The moment that a form's field of day and time names; `None` when it names none, as in the hour that a clock
    /// skips. Of the two that an hour which comes twice has, the earlier one.
    pub(crate) fn moment(self, typed: &str) -> Option<DateTime<Utc>> {
        let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
        let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(typed.trim(), form).ok())?;
        self.0.from_local_datetime(&local).earliest().map(|moment| moment.to_utc())
    }
}

/// Cents as dollars: `$1,234.50`.
pub(crate) fn dollars(cents: i64) -> String {
    Dollars(cents).to_string()
}

/// A number with its thousands apart: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A column's type as people call it.
pub(crate) const fn type_name(column_type: &ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "Text",
        ColumnType::Number => "Number",
        ColumnType::Date => "Date",
        ColumnType::YesNo => "Yes or no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_and_numbers_have_their_thousands_apart() {
        assert_eq!(dollars(123_450), "$1,234.50");
        assert_eq!(dollars(-5), "-$0.05");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn times_are_the_team_s() {
        let noon = "2026-07-04T16:00:00Z".parse().unwrap();
        assert_eq!(Zone::new("America/New_York").time(&noon), "Jul 4, 2026, 12:00 PM EDT");
        let zone = Zone::new("America/New_York");
        assert_eq!(zone.moment("2026-07-04T12:00"), Some(noon));
        assert_eq!(zone.moment("2026-03-08T02:30"), None, "the clock skips it");
        assert_eq!(zone.moment("2026-11-01T01:30:00"), "2026-11-01T05:30:00Z".parse().ok(), "it comes twice");
        assert_eq!(zone.moment("yesterday"), None);
        assert_eq!(Zone::new("nowhere").time(&noon), "Jul 4, 2026, 4:00 PM UTC");
    }
}
