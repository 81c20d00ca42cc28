//! Which street is taken for another: never one that leads to another household.

mod county;

use address::{
    AddressField, AddressInput, AddressVerdict, ConfirmationLevel, parse, parse_readings,
};
use county::{County, Household, ZIPS};
use proptest::prelude::*;

/// Names of which some are the beginning of others, some end in a word that is a suffix too, some in a directional.
const NAMES: &[&str] = &[
    "Holly",
    "Carroll",
    "Carroll Manor",
    "Old Court",
    "Old",
    "Marine",
    "Park East",
    "Holly Park",
];
const SUFFIXES: &[&str] = &["Rd", "Cir", "Ct", "Ave", "Ln", ""];
const DIRECTIONALS: &[&str] = &["", "", "", "N", "S", "E"];

/// A county of streets that are told apart by little: by suffix, by a directional before or behind, by one more word,
/// by the ZIP; each with a few houses.
fn county_strategy() -> impl Strategy<Value = County> {
    let select = |words: &'static [&'static str]| prop::sample::select(words);
    let name = (
        select(DIRECTIONALS),
        select(NAMES),
        select(SUFFIXES),
        select(DIRECTIONALS),
    );
    let street = name.prop_map(|(before, name, suffix, behind)| {
        [before, name, suffix, behind]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    });
    let houses = prop::collection::vec(
        (1_u32..9, prop::sample::select(vec!["", "Apt 1", "Apt 2"])),
        1..6,
    );
    let streets =
        prop::collection::vec((street, prop::sample::select(ZIPS.to_vec()), houses), 2..16);
    // Points in a ZIP are that many or fewer: some are covered, some are not.
    (streets, 0_usize..12).prop_map(|(streets, coverage_points)| {
        County::from_households(streets.into_iter().flat_map(|(street, zip, houses)| {
            houses.into_iter().map(move |(number, unit)| Household {
                number: number.to_string(),
                street: street.clone(),
                unit: unit.to_owned(),
                zip: zip.to_owned(),
            })
        }))
        .covered_by(coverage_points)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_house_is_taken_for_one_on_another_street_that_stands(county in county_strategy()) {
        for street in county.street_names() {
            for household in county.iter_households() {
                for zip in ZIPS {
                    let written = Household { street: street.clone(), zip: (*zip).to_owned(), ..household.clone() };
                    let address_1 = written.delivery_line();
                    let input = written.address_input(&address_1);
                    let AddressVerdict::Deliverable(verified) = county.verify(input) else { continue };
                    if verified.level == ConfirmationLevel::DeliveryPoint {
                        // A ZIP is another only where it is told, and where no other of the city has such a house.
                        let zip = verified.zip.as_str();
                        prop_assert_eq!(verified.id, parse(AddressInput { zip, ..input }).id(), "{} is {}", address_1, verified.one_line);
                        let is_moved = verified.corrections.iter().any(|one| one.field == AddressField::Zip);
                        prop_assert_eq!(zip != written.zip, is_moved);
                        let knows = |zip: &&&str| {
                            county.knows_house(AddressInput { zip, ..input })
                        };
                        let known = ZIPS.iter().filter(knows).count();
                        prop_assert!(!is_moved || known == 1, "{} is in {} ZIPs", address_1, known);
                    }
                }
            }
        }
    }

    #[test]
    fn a_correction_keeps_every_word_but_a_suffix(
        county in county_strategy(),
        name in prop::sample::select(NAMES),
        suffix in prop::sample::select(SUFFIXES),
        number in 1_u32..9,
    ) {
        for zip in ZIPS {
            let address_1 = format!("{number} {name} {suffix}");
            let input = AddressInput { address_1: &address_1, zip, ..county::last_line() };
            let AddressVerdict::Deliverable(verified) = county.verify(input) else { continue };
            let is_covered = county.is_covered(zip.parse().expect("digits"));
            prop_assert!(is_covered || verified.corrections.is_empty(), "corrected in a thin ZIP");
            for correction in &verified.corrections {
                let words: Vec<&str> = correction.to.split(' ').collect();
                let mut kept: Vec<&str> = correction.from.split(' ').collect();
                if !suffix.is_empty() && !words.starts_with(&kept) {
                    // The suffix that was written gave way; as a part of the name it may be written out.
                    kept.pop();
                }
                prop_assert!(words.starts_with(&kept) && words.len() - kept.len() <= 2, "{correction:?}");
                let is_directional = |word: &&&str| ["N", "S", "E"].contains(*word);
                prop_assert_eq!(
                    words.iter().filter(is_directional).count(),
                    kept.iter().filter(is_directional).count()
                );
            }
        }
    }
}

#[test]
fn where_points_are_too_few_to_know_that_a_street_is_not_there_it_stays() {
    let one = || County::from_households([Household::parse("7 Main St|21209")]);
    let written = Household::parse("7 Main Ave|21209");
    let address_1 = written.delivery_line();
    let line = |county: County| match county.verify(written.address_input(&address_1)) {
        AddressVerdict::Deliverable(verified) => verified.line1,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(one().covered_by(1)), "7 Main St");
    assert_eq!(line(one().covered_by(2)), "7 Main Ave");
}

/// What becomes of an address in a county of these, each `line|zip`.
fn verify_in_county(points: &[&str], line: &str) -> (ConfirmationLevel, String) {
    let county = County::from_households(points.iter().map(|point| Household::parse(point)));
    let written = Household::parse(line);
    let address_1 = written.delivery_line();
    let AddressVerdict::Deliverable(verified) = county.verify(written.address_input(&address_1))
    else {
        panic!("undeliverable")
    };
    (verified.level, verified.line1)
}

fn is_corrected(points: &[&str], written: &str, to: &str) {
    assert_eq!(
        verify_in_county(points, written),
        (ConfirmationLevel::DeliveryPoint, to.to_owned()),
        "{written}"
    );
}

fn is_left_alone(points: &[&str], written: &str) {
    let (level, line) = verify_in_county(points, written);
    assert_ne!(
        level,
        ConfirmationLevel::DeliveryPoint,
        "{written} became {line}"
    );
    assert!(written.starts_with(&line), "{written} became {line}");
}

#[test]
fn a_street_that_stands_as_it_was_written_is_never_another() {
    is_left_alone(
        &["2628 N Marine Ave|21209", "1 S Marine Ave|21209"],
        "2628 S Marine Ave|21209",
    );
    is_left_alone(
        &["121 Holly Cir|21210", "1 Holly Rd|21210"],
        "121 Holly Rd|21210",
    );
    // In a ZIP nearby too: the ZIP may be what is wrong.
    is_left_alone(
        &["121 Holly Cir|21210", "1 Holly Rd|21212"],
        "121 Holly Rd|21210",
    );
    is_left_alone(&["121 Holly Cir|21210", "1 Holly|21212"], "121 Holly|21210");
}

#[test]
fn a_directional_is_neither_changed_nor_added_nor_dropped() {
    for (there, written) in [
        ("2628 N Marine Ave|21209", "2628 S Marine Ave|21209"),
        ("2628 N Marine Ave|21209", "2628 Marine Ave|21209"),
        ("2628 Marine Ave|21209", "2628 N Marine Ave|21209"),
        ("2628 Marine Ave E|21209", "2628 Marine Ave W|21209"),
        ("2628 Marine Ave E|21209", "2628 Marine Ave|21209"),
        ("2628 Marine Ave E|21209", "2628 E Marine Ave|21209"),
        ("8 Main St|21209", "8 N Main Ave|21209"),
    ] {
        is_left_alone(&[there], written);
    }
}

#[test]
fn a_suffix_that_is_missing_or_wrong_is_put_right_where_no_street_stands_as_written() {
    is_corrected(&["7 Main St|21209"], "7 Main|21209", "7 Main St");
    is_corrected(&["7 N Main St|21209"], "7 N Main|21209", "7 N Main St");
    is_corrected(&["7 Main St|21209"], "7 Main Ave|21209", "7 Main St");
    is_corrected(
        &["7 Main St Apt 2|21209"],
        "7 Main Apt 2|21209",
        "7 Main St Apt 2",
    );
    is_left_alone(&["7 Main St|21209"], "8 Main Ave|21209");
}

#[test]
fn a_longer_name_comes_before_a_shorter_one() {
    let manor = "4900 Carroll Manor Rd|21209";
    let court = "4900 Carroll Ct|21209";
    is_corrected(
        &[manor, court],
        "4900 Carroll Manor|21209",
        "4900 Carroll Manor Rd",
    );
    is_corrected(
        &["4900 Carroll Mnr Rd|21209", court],
        "4900 Carroll Manor|21209",
        "4900 Carroll Mnr Rd",
    );
    // The longer one has no such house, or lies in a ZIP nearby: it is meant all the same.
    is_left_alone(
        &["1 Carroll Manor Rd|21209", court],
        "4900 Carroll Mnr|21209",
    );
    is_left_alone(
        &["1 Carroll Manor Rd|21210", court],
        "4900 Carroll Mnr|21209",
    );
    is_corrected(
        &["9 Old Court East Dr|21209", "9 Old Rd E|21209"],
        "9 Old Ct E|21209",
        "9 Old Court East Dr",
    );
}

#[test]
fn where_two_remain_neither_is_taken() {
    is_left_alone(&["7 Main St|21209", "7 Main Ave|21209"], "7 Main|21209");
    is_left_alone(
        &["7 Main St Apt 1|21209", "7 Main Ave|21209"],
        "7 Main|21209",
    );
    is_corrected(
        &["7 Main St|21209", "9 Main Ave|21209"],
        "7 Main|21209",
        "7 Main St",
    );
}

#[test]
fn a_house_without_the_unit_is_no_correction() {
    is_left_alone(&["7 Main St Apt 1|21209"], "7 Main Apt 2|21209");
    is_left_alone(&["7 Main St Apt 1|21209"], "7 Main|21209");
}

#[test]
fn a_slip_in_the_name_of_the_only_such_street_is_put_right() {
    let points = &[
        "7 Holly Rd|21209",
        "7 Carroll Manor Ln|21209",
        "7 N Marine Ave|21209",
    ];
    for (written, to) in [
        ("7 Hollly Rd|21209", "7 Holly Rd"),
        ("7 Holy Rd|21209", "7 Holly Rd"),
        ("7 Ohlly Rd|21209", "7 Holly Rd"),
        ("7 Caroll Manor Ln|21209", "7 Carroll Manor Ln"),
        ("7 N Marin Ave|21209", "7 N Marine Ave"),
        ("7 N Marina Avenue Apt 3|21209", "7 N Marine Ave Apt 3"),
    ] {
        is_corrected(points, written, to);
    }
}

#[test]
fn a_slip_is_all_that_changes() {
    let points = &[
        "7 Holly Rd|21209",
        "7 N Marine Ave|21209",
        "7 42nd St|21209",
        "7 Oak Ln|21209",
    ];
    for written in [
        // The suffix, a directional or the number is another too.
        "7 Hollly Ln|21209",
        "7 Hollly|21209",
        "7 S Marin Ave|21209",
        "7 Marin Ave|21209",
        "8 Hollly Rd|21209",
        // Two slips, a figure, a short name.
        "7 Halllly Rd|21209",
        "7 43rd St|21209",
        "7 41nd St|21209",
        "7 Oaks Ln|21209",
        "7 Elm Ln|21209",
    ] {
        is_left_alone(points, written);
    }
}

#[test]
fn a_name_that_stands_is_no_slip() {
    let house = "7 Holly Rd|21209";
    // With another suffix in the ZIP, or as it was written in one nearby.
    is_left_alone(&[house, "1 Holy Ln|21209"], "7 Holy Rd|21209");
    is_left_alone(&[house, "1 Holy Rd|21210"], "7 Holy Rd|21209");
    // Two names are one slip away.
    is_left_alone(&[house, "7 Hally Rd|21209"], "7 Hully Rd|21209");
    is_corrected(
        &[house, "9 Hally Rd|21209"],
        "7 Hully Rd|21209",
        "7 Holly Rd",
    );
}

/// What becomes of an address of a last line of its own in a county of these.
fn verify_last_line(points: &[&str], line: &str, last_line: [&str; 3]) -> AddressVerdict {
    let county = County::from_households(points.iter().map(|point| Household::parse(point)));
    let [city, state, zip] = last_line;
    county.verify(AddressInput {
        address_1: line,
        city,
        state,
        zip,
        ..AddressInput::default()
    })
}

#[test]
fn a_wrong_zip_gives_way_to_the_only_one_of_its_city_that_has_the_house() {
    let points = &[
        "7 Holly Rd|21209",
        "7 Elm St|21210",
        "7 Elm St|21212",
        "7 Oak Ln|21209",
        "9 Oak Ln|21210",
    ];
    // A ZIP nearby, one of another city, one of another state, and none at all.
    for zip in ["21210", "21212", "21740", "10001", "21200"] {
        let AddressVerdict::Deliverable(verified) =
            verify_last_line(points, "7 Holly Rd", ["Baltimore", "MD", zip])
        else {
            panic!("{zip}")
        };
        assert_eq!(verified.one_line, "7 Holly Rd, Baltimore, MD 21209");
        assert_eq!(verified.level, ConfirmationLevel::DeliveryPoint);
        let told: Vec<_> = verified
            .corrections
            .iter()
            .map(|one| (one.field, one.from.as_str(), one.to.as_str()))
            .collect();
        assert_eq!(told, [(AddressField::Zip, zip, "21209")]);
    }
}

#[test]
fn a_zip_is_left_where_more_may_be_wrong_or_two_have_the_house() {
    let points = &[
        "7 Holly Rd|21209",
        "7 Elm St|21210",
        "7 Elm St|21212",
        "1 Holly Rd|21212",
    ];
    let is_moved = |line: &str, last_line| matches!(verify_last_line(points, line, last_line), AddressVerdict::Deliverable(verified) if verified.zip != last_line[2]);
    let baltimore = |zip| ["Baltimore", "MD", zip];
    assert!(is_moved("7 Holly Rd", baltimore("21210")));
    // Two ZIPs of the city have it.
    assert!(!is_moved("7 Elm St", baltimore("21209")));
    // The street stands as it was written.
    assert!(!is_moved("7 Holly Rd", baltimore("21212")));
    // Another suffix, name or number; another city or state.
    assert!(!is_moved("7 Holly Ln", baltimore("21210")));
    assert!(!is_moved("7 Hollly Rd", baltimore("21210")));
    assert!(!is_moved("8 Holly Rd", baltimore("21210")));
    assert!(!is_moved("7 Holly Rd", ["Towson", "MD", "21210"]));
    assert!(!is_moved("7 Holly Rd", ["Gotham", "MD", "21210"]));
    assert!(!is_moved("7 Holly Rd", ["Baltimore", "DE", "21210"]));
    // The city of the ZIP has this name too: it may be the state that is wrong.
    assert!(!is_moved("7 Holly Rd", ["Baltimore", "MD", "43105"]));
}

#[test]
fn where_city_and_zip_contradict_each_other_the_zip_is_wrong_only_if_it_has_no_such_street() {
    let hagerstown = ["Baltimore", "MD", "21740"];
    let verdict = |points: &[&str]| verify_last_line(points, "7 Holly Rd", hagerstown);
    assert!(matches!(
        verdict(&["7 Holly Rd|21209"]),
        AddressVerdict::Deliverable(_)
    ));
    for there in ["7 Holly Rd|21740", "1 Holly Rd|21740"] {
        let verdict = verdict(&["7 Holly Rd|21209", there]);
        assert!(
            matches!(verdict, AddressVerdict::Undeliverable(_)),
            "{there}"
        );
    }
}

#[test]
fn where_nothing_is_known_of_a_contradictory_zip_only_a_slip_in_it_is_put_right() {
    let county = || {
        let points = ["7 Holly Rd|21209", "8 Holly Rd|21209"].map(Household::parse);
        County::from_households(points).covered_by(2)
    };
    let becomes = |zip| {
        let input = AddressInput {
            address_1: "7 Holly Rd",
            city: "Baltimore",
            state: "MD",
            zip,
            ..AddressInput::default()
        };
        match county().verify(input) {
            AddressVerdict::Deliverable(verified) => Some(verified.zip),
            AddressVerdict::Undeliverable(_) => None,
        }
    };
    assert_eq!(becomes("21709").as_deref(), Some("21209"));
    assert_eq!(becomes("21740"), None);
    // One nearby is accepted as it is, unless the house is in the city that was written.
    assert_eq!(becomes("21219").as_deref(), Some("21209"));
    assert_eq!(becomes("21228").as_deref(), Some("21228"));
}

/// A county of these, each read in another way than the usual.
fn county_of_other_readings(points: &[&str]) -> County {
    let read = |household: Household| {
        let line = household.delivery_line();
        let mut readings = parse_readings(household.address_input(&line));
        let other = readings.swap_remove(1).parsed;
        (household, other)
    };
    County::from_points(points.iter().map(|point| read(Household::parse(point))))
}

#[test]
fn the_reading_that_points_know_is_the_one_that_is_meant() {
    for (written, line) in [
        ("2628 N Cove Rd|21209", "2628 North Cove Rd"),
        ("2628 North Cove Rd|21209", "2628 North Cove Rd"),
        ("60 Park East|21209", "60 Park East"),
        ("42 Cottage Grove|21209", "42 Cottage Grove"),
    ] {
        let written = Household::parse(written);
        let address_1 = written.delivery_line();
        let input = written.address_input(&address_1);
        let there = Household {
            street: line[line.find(' ').expect("a number") + 1..].to_owned(),
            ..written.clone()
        };
        let county =
            county_of_other_readings(&[&format!("{}|{}", there.delivery_line(), there.zip)])
                .covered_by(9);
        let AddressVerdict::Deliverable(verified) = county.verify(input) else {
            panic!("undeliverable")
        };
        assert_eq!(
            (verified.level, verified.line1.as_str()),
            (ConfirmationLevel::DeliveryPoint, line),
            "{address_1}"
        );
        assert_eq!(verified.corrections, [], "the words are the same");
        assert_eq!(verified.written_id, parse(input).id(), "as lists read it");
    }
}

#[test]
fn a_street_that_stands_in_either_reading_is_not_corrected() {
    let verify = |county: County| {
        let written = Household::parse("7 N Cove Rd|21209");
        let address_1 = written.delivery_line();
        match county.verify(written.address_input(&address_1)) {
            AddressVerdict::Deliverable(verified) => (verified.level, verified.line1),
            other => panic!("{other:?}"),
        }
    };
    let left_alone = |level| (level, "7 N Cove Rd".to_owned());
    // The usual reading's street stands: the house of the other is another.
    let usual = ["1 N Cove Rd|21209"]
        .map(Household::parse)
        .map(|household| {
            let line = household.delivery_line();
            let parsed = parse(household.address_input(&line));
            (household, parsed)
        });
    let other = |point: &str| {
        let household = Household::parse(point);
        let line = household.delivery_line();
        let parsed = parse_readings(household.address_input(&line))
            .swap_remove(1)
            .parsed;
        (household, parsed)
    };
    let both = usual.into_iter().chain([other("7 North Cove Rd|21209")]);
    assert_eq!(
        verify(County::from_points(both)),
        left_alone(ConfirmationLevel::Street)
    );
    // The other reading's street stands without the house: no suffix gives way to another.
    let suffix = Household::parse("7 N Cove Ct|21209");
    let line = suffix.delivery_line();
    let parsed = parse(suffix.address_input(&line));
    let points = [other("1 North Cove Rd|21209"), (suffix.clone(), parsed)];
    assert_eq!(
        verify(County::from_points(points)),
        left_alone(ConfirmationLevel::Zip)
    );
}
