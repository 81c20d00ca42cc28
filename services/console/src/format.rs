//! How values are shown to people.

use audience::ColumnType;
use chrono::{
    DateTime, Datelike as _, NaiveDate, NaiveDateTime, SecondsFormat, TimeZone as _, Utc,
};
use chrono_tz::Tz;
use model::money::DollarAmount;

/// The zone of a team's times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamTimeZone(Tz);

impl TeamTimeZone {
    /// Shows times in this zone.
    pub(crate) const fn new(zone: Tz) -> Self {
        Self(zone)
    }

    /// The day of a moment.
    pub(crate) fn day_of(self, moment: DateTime<Utc>) -> NaiveDate {
        moment.with_timezone(&self.0).date_naive()
    }

    /// A moment for other programs, with the zone's offset: `2026-11-21T15:04:05-05:00`.
    pub(crate) fn format_stamp(self, moment: &DateTime<Utc>) -> String {
        moment
            .with_timezone(&self.0)
            .to_rfc3339_opts(SecondsFormat::Secs, false)
    }

    /// A moment, such as `Nov 21, 2026, 3:04 PM EST`.
    pub(crate) fn format_time(self, moment: &DateTime<Utc>) -> String {
        moment
            .with_timezone(&self.0)
            .format("%b %-d, %Y, %-I:%M %p %Z")
            .to_string()
    }
}

impl TeamTimeZone {
    /// The moment that a form's field of day and time names; `None` when it names none, as in the hour that a clock
    /// skips, or one of a year that the database does not hold. Of the two that an hour which comes twice has, the earlier one.
    pub(crate) fn parse_moment(self, typed: &str) -> Option<DateTime<Utc>> {
        let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
        let local = forms
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(typed.trim(), form).ok())?;
        let moment = self.0.from_local_datetime(&local).earliest()?.to_utc();
        is_storable(&moment).then_some(moment)
    }
}

/// Whether the database holds a moment, and chrono whatever is reckoned from it: those of the years that people mean.
pub(crate) fn is_storable(moment: &DateTime<Utc>) -> bool {
    (1900..=9999).contains(&moment.year())
}

/// Cents as dollars: `$1,234.50`.
pub(crate) fn format_dollars(cents: i64) -> String {
    DollarAmount(cents).to_string()
}

/// A number with its thousands apart: `1,234,567`.
pub(crate) fn format_number(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// Whether a name has something that people see: characters without width, and those that only say how others are
/// written, are nothing.
pub(crate) fn is_visible(name: &str) -> bool {
    let is_nothing = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
    };
    !name.chars().all(is_nothing)
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
        assert_eq!(format_dollars(123_450), "$1,234.50");
        assert_eq!(format_dollars(-5), "-$0.05");
        assert_eq!(format_number(0), "0");
        assert_eq!(format_number(999), "999");
        assert_eq!(format_number(1_000_000), "1,000,000");
    }

    #[test]
    fn a_name_of_nothing_is_not_visible() {
        assert!(!is_visible("") && !is_visible(" \u{200b}\u{2060}\u{feff}\u{3164} "));
        assert!(is_visible("\u{200e}é") && is_visible("東京"));
    }

    #[test]
    fn times_are_the_team_s() {
        let noon = "2026-07-04T16:00:00Z".parse().unwrap();
        assert_eq!(
            TeamTimeZone::new(chrono_tz::America::New_York).format_time(&noon),
            "Jul 4, 2026, 12:00 PM EDT"
        );
        assert_eq!(
            TeamTimeZone::new(chrono_tz::America::New_York).format_stamp(&noon),
            "2026-07-04T12:00:00-04:00"
        );
        let zone = TeamTimeZone::new(chrono_tz::America::New_York);
        assert_eq!(zone.parse_moment("2026-07-04T12:00"), Some(noon));
        assert_eq!(
            zone.parse_moment("2026-03-08T02:30"),
            None,
            "the clock skips it"
        );
        assert_eq!(
            zone.parse_moment("2026-11-01T01:30:00"),
            "2026-11-01T05:30:00Z".parse().ok(),
            "it comes twice"
        );
        for typed in [
            "yesterday",
            "-99999-01-01T00:00",
            "+99999-01-01T00:00",
            "0001-01-01T00:00",
        ] {
            assert_eq!(zone.parse_moment(typed), None, "{typed}");
        }
        assert_eq!(
            TeamTimeZone::new(Tz::UTC).format_time(&noon),
            "Jul 4, 2026, 4:00 PM UTC"
        );
    }
}
