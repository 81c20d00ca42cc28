//! What address points confirm of an address.

use address::{
    AddressError, AddressInput, AddressVerdict, CheckedAddress, ConfirmationLevel, DeliveryPoint,
    PointEvidence, StandardStreet, VerificationStrictness, parse,
};
use proptest::prelude::*;

fn austin_input(address_1: &str) -> AddressInput<'_> {
    AddressInput {
        address_1,
        city: "Austin",
        state: "TX",
        zip: "78701",
        ..AddressInput::default()
    }
}

fn sample_point() -> DeliveryPoint {
    DeliveryPoint {
        latitude: 30.27,
        longitude: -97.74,
        plus4: Some("1234".to_owned()),
        residential: Some(true),
    }
}

#[test]
fn each_evidence_has_its_level_and_says_what_is_lacking() {
    let confirmed =
        |evidence| CheckedAddress::from_input(austin_input("1 Main St Apt 4")).confirm(evidence);
    let nothing = confirmed(PointEvidence::Nothing);
    assert_eq!(nothing.level, ConfirmationLevel::Zip);
    assert!(matches!(
        nothing.shortfall,
        Some(AddressError::UnknownStreet { .. })
    ));
    // Where nothing is known of a ZIP's streets, nothing is said against this one.
    let uncovered = confirmed(PointEvidence::Uncovered);
    assert_eq!(uncovered.level, ConfirmationLevel::Zip);
    assert_eq!(
        uncovered.shortfall.map(|shortfall| shortfall.to_sentence()),
        Some(
            "City, state and ZIP code agree, but too little is known of ZIP code 78701 to say whether Main St is there."
                .to_owned()
        )
    );
    let street = confirmed(PointEvidence::Street);
    assert_eq!(street.level, ConfirmationLevel::Street);
    assert!(matches!(
        street.shortfall,
        Some(AddressError::UnknownNumber { .. })
    ));
    let house = confirmed(PointEvidence::House(sample_point()));
    assert_eq!(
        (house.level, house.latitude),
        (ConfirmationLevel::Street, Some(30.27))
    );
    assert!(matches!(
        house.shortfall,
        Some(AddressError::UnknownUnit(_))
    ));
    let without_unit = CheckedAddress::from_input(austin_input("1 Main St"))
        .confirm(PointEvidence::House(sample_point()));
    assert_eq!(
        without_unit.shortfall,
        Some(AddressError::MissingUnit("1 Main St".to_owned()))
    );
    let point = confirmed(PointEvidence::DeliveryPoint(sample_point()));
    assert_eq!(
        (point.level, point.shortfall.is_none()),
        (ConfirmationLevel::DeliveryPoint, true)
    );
    assert_eq!(point.one_line, "1 Main St Apt 4, Austin, TX 78701-1234");
    assert_eq!(
        (point.longitude, point.residential),
        (Some(-97.74), Some(true))
    );
}

#[test]
fn a_strictness_accepts_its_level_and_what_is_above() {
    for (evidence, accepted) in [
        (PointEvidence::Nothing, [true, false, false]),
        (PointEvidence::Street, [true, true, false]),
        (
            PointEvidence::DeliveryPoint(sample_point()),
            [true, true, true],
        ),
    ] {
        let verdicts = VerificationStrictness::ALL.map(|strictness| {
            let verdict = CheckedAddress::from_input(austin_input("1 Main St"))
                .confirm(evidence.clone())
                .into_verdict(strictness);
            matches!(verdict, AddressVerdict::Deliverable(_))
        });
        assert_eq!(verdicts, accepted, "{evidence:?}");
    }
}

#[test]
fn a_unit_lies_within_its_house_and_another_house_does_not() {
    let id = |line| parse(austin_input(line)).id();
    let house = id("1 Main St");
    assert_eq!(house, house.without_unit());
    for unit in ["1 Main St Apt 4", "1 Main St # 9", "1 Main St Bldg 2"] {
        assert_eq!(id(unit).without_unit(), house);
        assert!(
            id(unit) > house && id(unit) <= house.last_unit_id(),
            "{unit}"
        );
    }
    assert_ne!(id("2 Main St Apt 4").without_unit(), house);
}

#[test]
fn addresses_stand_in_the_order_of_their_zips() {
    let id = |line, zip| {
        parse(AddressInput {
            zip,
            ..austin_input(line)
        })
        .id()
    };
    for lines in [
        ["1 Main St", "9 Oak Ave"],
        ["9 Oak Ave", "1 Main St"],
        ["1 Main St Apt 4", "PO Box 9"],
    ] {
        assert!(id(lines[0], "02108") < id(lines[1], "78701"));
        assert!(id(lines[0], "78701") < id(lines[1], "99950"));
    }
}

#[test]
fn another_street_of_the_name_keeps_number_and_unit_and_is_a_correction() {
    let reading = CheckedAddress::from_input(austin_input("8 n main ave apt 4"));
    let street = StandardStreet {
        name: "Main".to_owned(),
        suffix: "St".to_owned(),
        ..StandardStreet::default()
    };
    let corrected = reading.with_street(&street);
    assert_eq!(corrected.id(), parse(austin_input("8 Main St Apt 4")).id());
    assert_eq!(
        corrected.point_key(),
        CheckedAddress::from_input(austin_input("8 Main St Apt 4")).point_key()
    );
    assert_eq!(corrected.point_key().name_key, reading.point_key().name_key);
    let AddressVerdict::Deliverable(verified) = corrected.into_verdict() else {
        panic!("undeliverable")
    };
    assert_eq!(verified.one_line, "8 Main St Apt 4, Austin, TX 78701");
    assert_eq!(
        (
            verified.corrections[0].from.as_str(),
            verified.corrections[0].to.as_str()
        ),
        ("N Main Ave", "Main St")
    );
}

#[test]
fn boxes_and_failures_are_in_no_zip() {
    for line in ["PO Box 7", "RR 2 Box 18", "Main St", ""] {
        assert!(
            !CheckedAddress::from_input(austin_input(line))
                .point_key()
                .is_in_zip(),
            "{line}"
        );
    }
    let unknown_zip = AddressInput {
        zip: "00000",
        ..austin_input("1 Main St")
    };
    assert!(
        !CheckedAddress::from_input(unknown_zip)
            .point_key()
            .is_in_zip()
    );
}

proptest! {
    #[test]
    fn the_key_of_a_standard_form_is_the_key_of_what_was_sent(
        number in 1_u32..99_999,
        name in "[A-Za-z]{3,10}( [A-Za-z]{3,8})?",
        suffix in prop::sample::select(vec!["street", "AVE", "Blvd.", "ct", ""]),
        unit in prop::sample::select(vec!["", " Apt 4", " #12B", " suite 200"]),
    ) {
        let line = format!("{number} {name} {suffix}{unit}");
        let sent = CheckedAddress::from_input(austin_input(&line));
        let standard = sent.parsed().line1.clone();
        prop_assert_eq!(CheckedAddress::from_input(austin_input(&standard)).point_key(), sent.point_key());
    }
}
