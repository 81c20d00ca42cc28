use chrono::Timelike;
use chrono_tz::{America, Australia, Pacific, TZ_VARIANTS};
use proptest::prelude::*;

use super::*;

fn parse_date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn parse_time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn cut_off() -> NaiveTime {
    NaiveTime::from_hms_opt(15, 0, 0).unwrap()
}

/// Days on which post offices are closed for a holiday, weekends included.
const CLOSED: [(i32, &str); 5] = [
    (
        2022,
        "01-01 01-17 02-21 05-30 06-19 06-20 07-04 09-05 10-10 11-11 11-24 12-25 12-26",
    ),
    (
        2023,
        "01-01 01-02 01-16 02-20 05-29 06-19 07-04 09-04 10-09 11-11 11-23 12-25",
    ),
    (
        2025,
        "01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25",
    ),
    (
        2026,
        "01-01 01-19 02-16 05-25 06-19 07-04 09-07 10-12 11-11 11-26 12-25",
    ),
    (
        2027,
        "01-01 01-18 02-15 05-31 06-19 07-04 07-05 09-06 10-11 11-11 11-25 12-25",
    ),
];

#[test]
fn holidays_are_those_of_the_postal_service() {
    for (year, days) in CLOSED {
        let closed: Vec<_> = parse_date(&format!("{year}-01-01"))
            .iter_days()
            .take_while(|day| day.year() == year)
            .filter(|day| is_postal_holiday(*day))
            .map(|day| day.format("%m-%d").to_string())
            .collect();
        assert_eq!(closed.join(" "), days, "{year}");
    }
}

#[test]
fn a_saturday_holiday_closes_neither_friday_nor_monday() {
    // Independence Day 2026 is a Saturday.
    for (day, is_holiday) in [
        ("2026-07-03", false),
        ("2026-07-04", true),
        ("2026-07-06", false),
    ] {
        assert_eq!(is_postal_holiday(parse_date(day)), is_holiday, "{day}");
    }
}

#[test]
fn production_days_are_business_days_after_today() {
    for (now, production_days, expected) in [
        // A plain Monday, noon in New York.
        ("2026-08-03T16:00:00Z", 1, "2026-08-04"),
        ("2026-08-03T16:00:00Z", 3, "2026-08-06"),
        ("2026-08-03T16:00:00Z", 0, "2026-08-03"),
        // Over a weekend.
        ("2026-08-06T16:00:00Z", 3, "2026-08-11"),
        ("2026-08-08T16:00:00Z", 1, "2026-08-10"),
        // Over Labor Day, and over Thanksgiving.
        ("2026-09-04T16:00:00Z", 1, "2026-09-08"),
        ("2026-11-25T17:00:00Z", 1, "2026-11-27"),
        // Over a Sunday holiday that is kept on the Monday.
        ("2027-07-02T16:00:00Z", 1, "2027-07-06"),
        // Past a Saturday holiday, which takes no business day.
        ("2026-07-02T16:00:00Z", 2, "2026-07-06"),
        // Over the turn of the year.
        ("2026-12-31T17:00:00Z", 1, "2027-01-04"),
    ] {
        let day = mail_by_date(
            parse_time(now),
            America::New_York,
            cut_off(),
            production_days,
        );
        assert_eq!(
            day,
            parse_date(expected),
            "{now} and {production_days} days"
        );
    }
}

#[test]
fn from_the_cut_off_on_a_request_counts_from_tomorrow() {
    for (now, expected) in [
        ("2026-08-03T18:59:59Z", "2026-08-04"),
        ("2026-08-03T19:00:00Z", "2026-08-05"),
        // Friday afternoon counts from Saturday, whose next business day is Monday.
        ("2026-08-07T19:00:00Z", "2026-08-10"),
    ] {
        assert_eq!(
            mail_by_date(parse_time(now), America::New_York, cut_off(), 1),
            parse_date(expected),
            "{now}"
        );
    }
}

#[test]
fn today_is_the_teams_day() {
    let now = parse_time("2026-08-04T02:00:00Z");
    // Monday evening in Los Angeles, past the cut-off; Tuesday noon on Guam.
    assert_eq!(
        mail_by_date(now, America::Los_Angeles, cut_off(), 1),
        parse_date("2026-08-05")
    );
    assert_eq!(
        mail_by_date(now, Pacific::Guam, cut_off(), 1),
        parse_date("2026-08-05")
    );
    assert_eq!(
        mail_by_date(now, America::Los_Angeles, cut_off(), 0),
        parse_date("2026-08-04")
    );
}

#[test]
fn production_has_a_longest_time() {
    let now = parse_time("2026-08-03T16:00:00Z");
    let longest = mail_by_date(now, America::New_York, cut_off(), MAX_PRODUCTION_DAYS);
    assert_eq!(
        mail_by_date(now, America::New_York, cut_off(), u32::MAX),
        longest
    );
    // The calendar's last day has no next one.
    let last = DateTime::<Utc>::MAX_UTC - Duration::days(2);
    assert!(mail_by_date(last, America::New_York, cut_off(), 9) >= last.date_naive());
}

#[test]
fn the_next_hour_is_today_or_tomorrow() {
    for (now, hour, expected) in [
        ("2026-08-03T09:59:59Z", 6, "2026-08-03T10:00:00Z"),
        ("2026-08-03T10:00:00Z", 6, "2026-08-04T10:00:00Z"),
        ("2026-08-03T10:00:01Z", 6, "2026-08-04T10:00:00Z"),
        ("2026-08-03T03:00:00Z", 0, "2026-08-03T04:00:00Z"),
        // From winter time to summer time, and back.
        ("2026-03-07T11:00:00Z", 6, "2026-03-08T10:00:00Z"),
        ("2026-10-31T10:00:00Z", 6, "2026-11-01T11:00:00Z"),
    ] {
        assert_eq!(
            next_local_hour(parse_time(now), America::New_York, hour),
            parse_time(expected),
            "{now}, {hour}"
        );
    }
}

#[test]
fn an_hour_that_the_clock_skips_comes_once_all_the_same() {
    // 2:00 became 3:00 in New York.
    let before = parse_time("2026-03-08T05:00:00Z");
    let skipped = next_local_hour(before, America::New_York, 2);
    assert_eq!(skipped, parse_time("2026-03-08T07:00:00Z"));
    assert_eq!(
        next_local_hour(skipped, America::New_York, 2),
        parse_time("2026-03-09T06:00:00Z")
    );
    // Lord Howe jumps by half an hour; Apia skipped all of 30 December 2011.
    assert_eq!(
        next_local_hour(parse_time("2026-10-03T12:00:00Z"), Australia::Lord_Howe, 2),
        parse_time("2026-10-03T15:30:00Z")
    );
    let apia = next_local_hour(parse_time("2011-12-29T20:00:00Z"), Pacific::Apia, 6);
    assert_eq!(apia, parse_time("2011-12-30T16:00:00Z"));
}

#[test]
fn an_hour_that_the_clock_shows_twice_comes_once() {
    // 1:00 came at 5:00 and at 6:00 UTC.
    let first = next_local_hour(parse_time("2026-11-01T04:00:00Z"), America::New_York, 1);
    assert_eq!(first, parse_time("2026-11-01T05:00:00Z"));
    assert_eq!(
        next_local_hour(first, America::New_York, 1),
        parse_time("2026-11-02T06:00:00Z")
    );
}

fn any_zone() -> impl Strategy<Value = Tz> {
    prop::sample::select(TZ_VARIANTS.as_slice())
}

/// From 2000 to 2050.
fn any_time() -> impl Strategy<Value = DateTime<Utc>> {
    (946_684_800..2_524_608_000_i64)
        .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap())
}

proptest! {
    #[test]
    fn the_mail_by_date_is_as_many_business_days_away_as_production_takes(
        now in any_time(), zone in any_zone(), production_days in 1..40_u32,
    ) {
        let local = now.with_timezone(&zone);
        prop_assume!(local.time() < cut_off());
        let day = mail_by_date(now, zone, cut_off(), production_days);
        let today = local.date_naive();
        let is_open = |day: &NaiveDate| day.weekday().num_days_from_monday() < 5 && !is_postal_holiday(*day);
        prop_assert!(is_open(&day));
        let open = today.iter_days().skip(1).take_while(|each| *each <= day).filter(is_open).count();
        prop_assert_eq!(open, production_days as usize);
    }

    #[test]
    fn the_next_hour_is_later_within_two_days_and_mostly_shown(
        now in any_time(), zone in any_zone(), hour in 0..24_u32,
    ) {
        let next = next_local_hour(now, zone, hour);
        prop_assert!(next > now);
        prop_assert!(next - now <= Duration::hours(50), "{} {} {}", now, zone, next);
        let shown = next.with_timezone(&zone);
        // Where the clock does not show the hour, it jumped within the hours before.
        let jumped = (next - Duration::days(1)).with_timezone(&zone).time() != shown.time();
        prop_assert!((shown.hour() == hour && shown.minute() == 0) || jumped, "{} {} {}", now, zone, next);
    }
}
