//! When a scan was made.

use chrono::{DateTime, Datelike, LocalResult, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// Years in which the post scans what we read.
const YEARS: std::ops::RangeInclusive<i32> = 2000..=2199;

/// A time as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrittenTime {
    /// With its distance from UTC.
    Fixed(DateTime<Utc>),
    /// As the clock on the wall shows it.
    Local(NaiveDateTime),
}

/// Reads a time as RFC 3339, or by the first of the formats that fits. `None` when none does.
pub(crate) fn parse_time(text: &str, formats: &[String]) -> Option<WrittenTime> {
    let time = match DateTime::parse_from_rfc3339(text) {
        Ok(time) => Some(WrittenTime::Fixed(time.to_utc())),
        Err(_) => formats.iter().find_map(|format| parse_format(text, format)),
    };
    time.filter(|time| YEARS.contains(&time.year()))
}

fn parse_format(text: &str, format: &str) -> Option<WrittenTime> {
    if is_fixed(format) {
        let time = DateTime::parse_from_str(text, format).ok()?;
        return Some(WrittenTime::Fixed(time.to_utc()));
    }
    let time = NaiveDateTime::parse_from_str(text, format).ok()?;
    Some(WrittenTime::Local(time))
}

/// Whether times of the format have their distance from UTC.
fn is_fixed(format: &str) -> bool {
    ["%z", "%:z", "%#z", "%+"]
        .iter()
        .any(|part| format.contains(part))
}

impl WrittenTime {
    fn year(self) -> i32 {
        match self {
            Self::Fixed(time) => time.year(),
            Self::Local(time) => time.year(),
        }
    }

    /// The moment, a local time being one of the zone. One that comes twice in autumn is the first; one that the clocks skip in
    /// spring is as much later as they skip.
    pub(crate) fn to_moment(self, zone: Tz) -> DateTime<Utc> {
        let local = match self {
            Self::Fixed(time) => return time,
            Self::Local(local) => local,
        };
        match zone.from_local_datetime(&local) {
            LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => time.to_utc(),
            LocalResult::None => {
                let before = zone
                    .from_local_datetime(&(local - TimeDelta::hours(3)))
                    .earliest();
                before.map_or_else(
                    || local.and_utc(),
                    |time| time.to_utc() + TimeDelta::hours(3),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::US;

    use super::*;
    use crate::ScanMapping;

    fn moment(text: &str, zone: Tz) -> Option<String> {
        let formats = ScanMapping::default().time_formats;
        let time = parse_time(text, &formats)?;
        Some(time.to_moment(zone).to_rfc3339())
    }

    #[test]
    fn an_offset_counts_and_a_local_time_is_the_facilitys() {
        for (text, expected) in [
            ("2026-11-21T10:00:00-06:00", "2026-11-21T16:00:00+00:00"),
            ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00+00:00"),
            ("2026-11-21 10:00:00 -0600", "2026-11-21T16:00:00+00:00"),
            ("2026-11-21 10:00:00", "2026-11-21T16:00:00+00:00"),
            ("2026-11-21T10:00", "2026-11-21T16:00:00+00:00"),
            ("11/21/2026 10:00:00", "2026-11-21T16:00:00+00:00"),
            ("11/21/2026 10:00:00 PM", "2026-11-22T04:00:00+00:00"),
            ("20261121100000", "2026-11-21T16:00:00+00:00"),
        ] {
            assert_eq!(
                moment(text, US::Central).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn an_hour_that_comes_twice_is_the_first_and_one_that_is_skipped_the_next() {
        assert_eq!(
            moment("2026-11-01 01:30:00", US::Eastern).as_deref(),
            Some("2026-11-01T05:30:00+00:00")
        );
        assert_eq!(
            moment("2026-03-08 02:30:00", US::Eastern).as_deref(),
            Some("2026-03-08T07:30:00+00:00")
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-13-01 00:00:00",
            "1926-11-21 10:00:00",
            "2026-11-21",
        ] {
            assert_eq!(moment(text, US::Eastern), None, "{text}");
        }
    }
}
