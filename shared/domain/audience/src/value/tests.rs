use super::*;
use proptest::prelude::*;

fn ymd(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

#[test]
fn a_blank_is_neither_readable_nor_unreadable() {
    for column_type in ColumnType::ALL {
        for blank in ["", "  ", "\t\n", "\u{a0}"] {
            assert_eq!(parse_typed(column_type, blank), Ok(None));
            assert!(is_valid(column_type, blank));
        }
    }
}

#[test]
fn what_does_not_read_names_its_type() {
    for column_type in [ColumnType::Number, ColumnType::Date, ColumnType::YesNo] {
        assert_eq!(
            parse_typed(column_type, "gold"),
            Err(ColumnValueError { column_type })
        );
        assert!(!is_valid(column_type, "gold"));
    }
    assert_eq!(
        parse_typed(ColumnType::Text, " gold "),
        Ok(Some(ColumnValue::Text("gold".to_owned())))
    );
}

#[test]
fn numbers_are_read_with_commas_dollars_and_signs() {
    let readable = [
        ("1,234.50", 1234.5),
        ("$12", 12.0),
        ("-5", -5.0),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("+7", 7.0),
        (" $1,234,567 ", 1_234_567.0),
        (".5", 0.5),
        ("007", 7.0),
        ("1e3", 1000.0),
        ("1.5E-2", 0.015),
        ("1e-999", 0.0),
    ];
    for (text, number) in readable {
        assert_eq!(read_number(text), Some(number), "{text:?}");
    }
}

#[test]
fn what_is_no_decimal_number_is_refused() {
    let refused = [
        "1,23",
        "1,2345",
        ",123",
        "1,,234",
        "1234,567",
        "1,234,",
        "1.2,345",
        "1e1,000",
        "1e999",
        "-1e999",
        "NaN",
        "nan",
        "inf",
        "-infinity",
        "0x1F",
        "1_000",
        "5.",
        ".",
        "-",
        "$",
        "--5",
        "-$-5",
        "$$5",
        "5$",
        "$ 5",
        "5%",
        "1.2.3",
        "1e",
        "e5",
        "1e5.5",
        "1 234",
        "٣",
        "½",
    ];
    for text in refused {
        assert_eq!(read_number(text), None, "{text:?}");
    }
}

#[test]
fn negative_zero_is_zero() {
    for text in ["-0", "-$0.00", "-1e-999"] {
        assert!(read_number(text).unwrap().is_sign_positive(), "{text}");
    }
}

#[test]
fn dates_are_read_in_three_forms() {
    let readable = [
        ("2026-01-31", ymd(2026, 1, 31)),
        (" 1/31/2026 ", ymd(2026, 1, 31)),
        ("01/05/2026", ymd(2026, 1, 5)),
        ("2028-02-29", ymd(2028, 2, 29)),
        ("2026-01-31T23:30:00Z", ymd(2026, 1, 31)),
        ("9999-12-31", ymd(9999, 12, 31)),
    ];
    for (text, date) in readable {
        assert_eq!(read_date(text), Some(date), "{text:?}");
    }
}

#[test]
fn a_time_keeps_the_date_that_is_written_in_it() {
    assert_eq!(
        read_date("2026-01-31T23:30:00-05:00"),
        Some(ymd(2026, 1, 31))
    );
    assert_eq!(
        read_date("2026-01-31T00:30:00.25+14:00"),
        Some(ymd(2026, 1, 31))
    );
}

#[test]
fn other_forms_and_days_that_do_not_exist_are_no_dates() {
    let refused = [
        "2026-02-29",
        "2/30/2026",
        "13/1/2026",
        "31/1/2026",
        "2026-1-5",
        "1/5/26",
        "0000-01-01",
        "12026-01-01",
        "+2026-01-01",
        "-2026-01-01",
        "2026/01/31",
        "1-31-2026",
        "2026-01-31T",
        "20260131",
        "2026-01-31-",
        "1/31",
        "Jan 31, 2026",
        "2026-01-31T25:00:00Z",
        "1//2026",
        "٢٠٢٦-01-31",
    ];
    for text in refused {
        assert_eq!(read_date(text), None, "{text:?}");
    }
}

#[test]
fn yes_and_no_are_read_in_any_case() {
    for text in ["yes", "YES", " Yes ", "true", "True", "y", "Y", "1"] {
        assert_eq!(read_yes_no(text), Some(true), "{text:?}");
    }
    for text in ["no", "NO", "false", "FALSE", "n", "N", "0"] {
        assert_eq!(read_yes_no(text), Some(false), "{text:?}");
    }
    for text in ["", "maybe", "yes!", "2", "01", "on", "ja"] {
        assert_eq!(read_yes_no(text), None, "{text:?}");
    }
}

/// The whole number with a comma before every third digit from the end.
fn with_commas(whole: u64) -> String {
    let digits = whole.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

proptest! {
    #[test]
    fn an_amount_reads_the_same_with_and_without_commas_and_dollars(
        whole in any::<u64>(), cents in 0u8..100, negative: bool,
    ) {
        let sign = if negative { "-" } else { "" };
        let expected: f64 = format!("{sign}{whole}.{cents:02}").parse().unwrap();
        let grouped = with_commas(whole);
        for text in [
            format!("{sign}{whole}.{cents:02}"),
            format!("{sign}{grouped}.{cents:02}"),
            format!("{sign}${grouped}.{cents:02}"),
            format!("${sign}{whole}.{cents:02}"),
        ] {
            prop_assert_eq!(read_number(&text), Some(expected), "{}", text);
        }
    }

    #[test]
    fn every_number_of_json_reads_as_itself(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
        let text = serde_json::to_string(&number).unwrap();
        prop_assert_eq!(read_number(&text), Some(number));
    }

    #[test]
    fn what_reads_as_a_number_is_finite_and_a_number_to_rust_too(text in "[-+$0-9,.eE ]{0,12}") {
        if let Some(number) = read_number(&text) {
            let plain: String = text.chars().filter(|c| !"$, ".contains(*c)).collect();
            prop_assert!(number.is_finite());
            prop_assert_eq!(plain.parse::<f64>(), Ok(number));
        }
    }

    #[test]
    fn every_day_reads_back_in_every_form(days in 0i32..3_652_059, offset in -14i32..=14) {
        let date = ymd(1, 1, 1) + chrono::Days::new(days.unsigned_abs().into());
        let (year, month, day) = (date.year(), date.month(), date.day());
        let forms = [
            format!("{year:04}-{month:02}-{day:02}"),
            format!("{month}/{day}/{year:04}"),
            format!("{month:02}/{day:02}/{year:04}"),
            format!("{year:04}-{month:02}-{day:02}T12:00:00{offset:+03}:00"),
        ];
        for text in forms {
            prop_assert_eq!(read_date(&text), Some(date), "{}", text);
        }
    }

    #[test]
    fn three_numbers_are_a_date_exactly_when_the_calendar_has_it(
        year in 1i32..=9999, month in 0u32..=99, day in 0u32..=99,
    ) {
        let expected = NaiveDate::from_ymd_opt(year, month, day);
        prop_assert_eq!(read_date(&format!("{year:04}-{month:02}-{day:02}")), expected);
        prop_assert_eq!(read_date(&format!("{month}/{day}/{year:04}")), expected);
    }

    #[test]
    fn reading_never_panics(text in any::<String>()) {
        for column_type in ColumnType::ALL {
            let _ = parse_typed(column_type, &text);
        }
    }
}
