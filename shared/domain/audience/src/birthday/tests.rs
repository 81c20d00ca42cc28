use super::*;
use proptest::prelude::*;

fn ymd(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

fn parse_parts(text: &str) -> Option<(u32, u32, Option<i32>)> {
    Birthday::parse(text).map(|birthday| (birthday.month(), birthday.day(), birthday.year()))
}

#[test]
fn birthdays_are_read_with_and_without_a_year() {
    for text in ["3/5", "03/05", " 3/5 ", "3-5", "03-05", "--03-05"] {
        assert_eq!(parse_parts(text), Some((3, 5, None)), "{text:?}");
    }
    for text in [
        "1985-03-05",
        "3/5/1985",
        "03/05/1985",
        "1985-03-05T22:00:00-08:00",
    ] {
        assert_eq!(parse_parts(text), Some((3, 5, Some(1985))), "{text:?}");
    }
}

#[test]
fn every_form_that_means_one_day_is_read() {
    for text in [
        "1990-7-4",
        "1990/7/4",
        "1990-07-4",
        "19900704",
        "7/4/1990",
        "7-4-1990",
        "07/04/90",
        "7-4-90",
        "7/4/'90",
        "July 4, 1990",
        "july 4th 1990",
        "Jul 4 1990",
        "4 July 1990",
        "4-Jul-90",
        "04-JUL-1990",
        "1990 July 4",
        "7/4/1990 0:00",
        "1990-07-04 00:00:00",
        "7/4/90 12:30 AM",
    ] {
        assert_eq!(parse_parts(text), Some((7, 4, Some(1990))), "{text:?}");
    }
    for text in [
        "July 4", "Jul. 4", "july 4th", "4 July", "4-Jul", "Jul-4", "JUL 04", "7/4 0:00",
    ] {
        assert_eq!(parse_parts(text), Some((7, 4, None)), "{text:?}");
    }
    assert_eq!(parse_parts("Sept 1st"), Some((9, 1, None)));
    assert_eq!(parse_parts("May 2nd, 1985"), Some((5, 2, Some(1985))));
}

#[test]
fn a_year_of_two_digits_that_may_be_of_two_centuries_is_left_out_and_told() {
    for (text, year, has_unread_year) in [
        ("7/4/39", None, true),
        ("7/4/05", None, true),
        ("July 4, 05", None, true),
        ("7/4/40", Some(1940), false),
        ("7/4/99", Some(1999), false),
        ("7/4", None, false),
    ] {
        let read = Birthday::parse_unambiguous(text).unwrap();
        let Birthday { month, day, .. } = read.birthday;
        assert_eq!(
            (month, day, read.birthday.year(), read.has_unread_year),
            (7, 4, year, has_unread_year),
            "{text}"
        );
    }
}

#[test]
fn a_leap_day_needs_a_leap_year_or_no_year() {
    assert_eq!(parse_parts("2/29"), Some((2, 29, None)));
    assert_eq!(parse_parts("2/29/2024"), Some((2, 29, Some(2024))));
    assert_eq!(parse_parts("2/29/2023"), None);
    assert_eq!(parse_parts("1900-02-29"), None);
}

#[test]
fn impossible_days_and_other_forms_are_refused() {
    let refused = [
        "",
        " ",
        "2/30",
        "4/31",
        "13/1",
        "0/5",
        "5/0",
        "3/5/085",
        "3/5/1",
        "3",
        "3/",
        "/5",
        "3/5/",
        "--3",
        "---03-05",
        "--03/05",
        "003/5",
        "+3/5",
        "March",
        "Ma 5",
        "March 32",
        "Mar 5 1985 x",
        "March 1985",
        "31/12/1990",
        "4.7.1990",
        "0000-03-05",
        "19901304",
        "1990704",
        "3/5-1985",
        "1985",
    ];
    for text in refused {
        assert_eq!(parse_parts(text), None, "{text:?}");
    }
}

#[test]
fn a_wanted_birthday_without_a_year_takes_any_year() {
    let [born, same_day, other_year] =
        ["1985-03-05", "3/5", "1986-03-05"].map(|text| Birthday::parse(text).unwrap());
    assert!(born.matches(same_day) && born.matches(born));
    assert!(!born.matches(other_year) && !same_day.matches(born));
}

#[test]
fn the_days_of_an_anniversary_reach_into_the_next_year() {
    let birthday = Birthday::parse("1/2").unwrap();
    assert!(birthday.is_kept_within_days(ymd(2026, 1, 2), 0));
    assert!(!birthday.is_kept_within_days(ymd(2025, 12, 30), 2));
    assert!(birthday.is_kept_within_days(ymd(2025, 12, 30), 3));
    assert!(!birthday.is_kept_within_days(ymd(2026, 1, 3), 30));
}

#[test]
fn a_leap_day_is_kept_on_february_28_in_other_years() {
    let birthday = Birthday::parse("2/29").unwrap();
    assert!(birthday.is_kept_within_days(ymd(2026, 2, 28), 0));
    assert!(!birthday.is_kept_within_days(ymd(2026, 3, 1), 0));
    assert!(!birthday.is_kept_within_days(ymd(2028, 2, 28), 0));
    assert!(birthday.is_kept_within_days(ymd(2028, 2, 29), 0));
}

#[test]
fn the_ends_of_the_calendar_are_days_like_others() {
    let birthday = Birthday::parse("1/1").unwrap();
    assert!(!birthday.is_kept_within_days(NaiveDate::MAX, 366));
    assert!(birthday.is_kept_within_days(NaiveDate::MIN, 0));
}

proptest! {
    #[test]
    fn a_birthday_reads_back_as_it_is_written(days in 0u64..3_652_059, with_year: bool) {
        let date = ymd(1, 1, 1) + chrono::Days::new(days);
        let birthday = Birthday {
            month: date.month(),
            day: date.day(),
            year: with_year.then(|| date.year()),
        };
        prop_assert_eq!(Birthday::parse(&birthday.to_string()), Some(birthday));
    }

    #[test]
    fn every_birthday_is_kept_once_or_twice_in_366_days(month in 1u32..=12, date in 1u32..=31, days in 0u64..40_000) {
        if let Some(birthday) = Birthday::parse(&format!("{month}/{date}")) {
            let today = ymd(1990, 1, 1) + chrono::Days::new(days);
            prop_assert!(birthday.is_kept_within_days(today, 366));
            let kept = (0..=366u64).filter(|ahead| {
                birthday.is_kept_within_days(today + chrono::Days::new(*ahead), 0)
            });
            prop_assert!((1..=2).contains(&kept.count()));
        }
    }

    #[test]
    fn reading_never_panics(text in any::<String>()) {
        let _ = Birthday::parse(&text);
    }
}
