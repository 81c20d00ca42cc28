//! The ways in which an address can be read.

use address::{
    AddressInput, AddressReading, CheckedAddress, READINGS_MAX, ReadingGround, parse,
    parse_readings,
};
use proptest::prelude::*;

fn input(address_1: &str) -> AddressInput<'_> {
    AddressInput {
        address_1,
        address_2: "",
        city: "Austin",
        state: "TX",
        zip: "78701",
    }
}

/// The delivery lines of the readings behind the first one, and what speaks for them.
fn other_lines(address_1: &str) -> Vec<(String, ReadingGround)> {
    let readings = parse_readings(input(address_1)).into_iter().skip(1);
    readings
        .map(|reading| (reading.parsed.line1, reading.ground))
        .collect()
}

#[test]
fn a_word_with_two_meanings_gives_two_readings() {
    for (address_1, line1, ground) in [
        (
            "123 North Cove Rd",
            "123 North Cove Rd",
            ReadingGround::DirectionalBegins,
        ),
        (
            "123 N Cove Rd",
            "123 North Cove Rd",
            ReadingGround::DirectionalBegins,
        ),
        (
            "E 613 Mitchell Ave",
            "E613 Mitchell Ave",
            ReadingGround::GridNumber,
        ),
        (
            "One Twenty-Five High Street",
            "1 Twenty-Five High St",
            ReadingGround::NumberNamesStreet,
        ),
        ("12 Oak Un 282", "12 Oak Unit 282", ReadingGround::ShortUnit),
        (
            "12 Oak St Un 282",
            "12 Oak Street Un # 282",
            ReadingGround::ShortUnit,
        ),
        (
            "60 Park East",
            "60 Park East",
            ReadingGround::DirectionalEnds,
        ),
        (
            "42 Cottage Grove",
            "42 Cottage Grove",
            ReadingGround::SuffixInName,
        ),
        (
            "12 Main St E",
            "12 Main St # E",
            ReadingGround::DirectionalIsUnit,
        ),
        (
            "12 B Main St",
            "12 Main St # B",
            ReadingGround::LetterIsUnit,
        ),
        (
            "1020 Bryn Mawr 211",
            "1020 Bryn Mawr 211",
            ReadingGround::NumberInName,
        ),
    ] {
        let others = other_lines(address_1);
        assert!(
            others.contains(&(line1.to_owned(), ground)),
            "{address_1}: {others:?}"
        );
    }
}

#[test]
fn what_has_one_meaning_has_one_reading() {
    for address_1 in [
        "123 Main St",
        "123 Main St Apt 4",
        "PO Box 12",
        "N 5th St",
        "",
        "?",
    ] {
        assert_eq!(other_lines(address_1), [], "{address_1}");
    }
}

#[test]
fn a_reading_is_checked_as_the_address_is() {
    let sent = AddressInput {
        city: "Asutin",
        ..input("123 North Cove Rd")
    };
    let checked: Vec<CheckedAddress> = parse_readings(sent)
        .into_iter()
        .map(|reading| CheckedAddress::from_reading(reading, sent))
        .collect();
    assert_eq!(checked.len(), 2);
    for reading in checked {
        assert_eq!(reading.failure(), None);
        assert_eq!(reading.parsed().city, "Austin");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_first_reading_is_the_usual_one_and_none_comes_twice(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "12", "E", "North", "Main", "Cove", "St", "Ave", "Grove", "B", "Apt", "#", "4", "Park", "of", "One",
                "Twenty-Five", "Un", "CR", "PO", "Box", ",", "S", "W",
            ]),
            0..9,
        ),
    ) {
        let address_1 = words.join(" ");
        let readings = parse_readings(input(&address_1));
        prop_assert!((1..=READINGS_MAX).contains(&readings.len()));
        let first = AddressReading { parsed: parse(input(&address_1)), ground: ReadingGround::Standard };
        prop_assert_eq!(&readings[0], &first);
        for (index, reading) in readings.iter().enumerate() {
            prop_assert!(readings[..index].iter().all(|before| before.parsed.id() != reading.parsed.id()));
        }
    }
}

#[test]
fn a_directional_before_the_number_is_the_numbers_in_wisconsin() {
    let sent = AddressInput {
        city: "Brookfield",
        state: "Wisconsin",
        zip: "53045",
        ..input("W 1234 Smith Rd")
    };
    let lines: Vec<String> = parse_readings(sent)
        .into_iter()
        .map(|reading| reading.parsed.line1)
        .collect();
    assert_eq!(lines, ["W1234 Smith Rd", "1234 W Smith Rd"]);
}
