//! What the local verifier answers.

use address::{
    AddressCorrection, AddressError, AddressField, AddressInput, AddressVerdict, ConfirmationLevel,
    INPUT_BYTES_MAX, VerifiedAddress, one_line_as_sent, parse_one_line, unverified_address_id,
    verify_address, zip_centre,
};

fn build_input<'a>(address_1: &'a str, address_2: &'a str, last: [&'a str; 3]) -> AddressInput<'a> {
    let [city, state, zip] = last;
    AddressInput {
        address_1,
        address_2,
        city,
        state,
        zip,
    }
}

const AUSTIN: [&str; 3] = ["Austin", "TX", "78701"];

#[track_caller]
fn expect_deliverable(address_1: &str, address_2: &str, last: [&str; 3]) -> VerifiedAddress {
    match verify_address(build_input(address_1, address_2, last)) {
        AddressVerdict::Deliverable(verified) => *verified,
        AddressVerdict::Undeliverable(failure) => panic!("undeliverable: {failure}"),
    }
}

#[track_caller]
fn expect_undeliverable(address_1: &str, last: [&str; 3]) -> AddressError {
    match verify_address(build_input(address_1, "", last)) {
        AddressVerdict::Undeliverable(failure) => failure,
        AddressVerdict::Deliverable(verified) => panic!("deliverable: {}", verified.one_line),
    }
}

#[test]
fn the_verified_form_is_the_one_of_the_contract() {
    let verified = expect_deliverable(
        "123 NORTH MAIN STREET",
        "",
        ["austin", "texas", "787011234"],
    );
    assert_eq!(verified.one_line, "123 N Main St, Austin, TX 78701-1234");
    assert_eq!(verified.line1, "123 N Main St");
    assert_eq!(
        (verified.city.as_str(), verified.state.as_str()),
        ("Austin", "TX")
    );
    assert_eq!(
        (verified.zip.as_str(), verified.plus4.as_deref()),
        ("78701", Some("1234"))
    );
    assert_eq!(verified.level, ConfirmationLevel::Zip);
    assert_eq!(verified.corrections, []);
}

#[test]
fn a_unit_shows_on_one_line_only_when_address_1_had_it() {
    let first = expect_deliverable("123 Main St Apt 4", "", AUSTIN);
    let second = expect_deliverable("123 Main St", "Apt 4", AUSTIN);
    assert_eq!(first.one_line, "123 Main St Apt 4, Austin, TX 78701");
    assert_eq!(second.one_line, "123 Main St, Austin, TX 78701");
    assert_eq!(first.line1, second.line1);
    assert_eq!(first.id, second.id);
}

#[test]
fn two_units_are_two_addresses() {
    let ids = ["", "Apt 4", "Apt 5", "Bldg 4", "Rear"]
        .map(|unit| expect_deliverable("123 Main St", unit, AUSTIN).id);
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "unit {index} is another's");
    }
}

#[test]
fn spellings_of_one_address_are_one_address() {
    let id = expect_deliverable("123 N Main St Apt 4", "", AUSTIN).id;
    for (address_1, address_2, last) in [
        ("123 north main street", "#4", AUSTIN),
        (
            "123 N. Main St., Unit 4",
            "",
            ["AUSTIN", "Texas", "78701-9999"],
        ),
        ("Apt 4, 123 N MAIN ST", "apt. 4", AUSTIN),
        ("123 N Main St", "c/o Jane Doe, Apt 4", AUSTIN),
    ] {
        assert_eq!(
            expect_deliverable(address_1, address_2, last).id,
            id,
            "{address_1} {address_2}"
        );
    }
}

#[test]
fn the_same_line_in_another_zip_is_another_address() {
    let other = expect_deliverable("123 Main St", "", ["Austin", "TX", "78702"]);
    assert_ne!(expect_deliverable("123 Main St", "", AUSTIN).id, other.id);
}

#[test]
fn each_required_part_may_not_be_missing() {
    let whole = ["123 Main St", "Austin", "TX", "78701"];
    let fields = [
        AddressField::Address1,
        AddressField::City,
        AddressField::State,
        AddressField::Zip,
    ];
    for (index, field) in fields.into_iter().enumerate() {
        let mut parts = whole;
        parts[index] = "  ";
        let [address_1, city, state, zip] = parts;
        let failure = expect_undeliverable(address_1, [city, state, zip]);
        assert_eq!(failure, AddressError::Missing(field));
        assert_eq!(
            failure.to_sentence(),
            format!("The address has no {}.", field.as_str())
        );
    }
}

#[test]
fn a_zip_that_lost_its_leading_zero_is_mended_and_the_correction_kept() {
    let verified = expect_deliverable("10 Beacon St", "", ["Boston", "MA", "2108"]);
    assert_eq!(verified.zip, "02108");
    let correction = AddressCorrection {
        field: AddressField::Zip,
        from: "2108".to_owned(),
        to: "02108".to_owned(),
    };
    assert_eq!(verified.corrections, [correction]);
}

#[test]
fn spellings_of_the_city_are_no_correction() {
    for city in ["St. Louis", "saint louis", "ST LOUIS", "St.Louis"] {
        let verified = expect_deliverable("123 Main St", "", [city, "MO", "63101"]);
        assert_eq!(verified.city, "Saint Louis", "{city}");
        assert_eq!(verified.corrections, [], "{city}");
    }
}

#[test]
fn a_neighbouring_post_office_is_kept_as_sent() {
    let verified = expect_deliverable("123 Main St", "", ["Round Rock", "TX", "78701"]);
    assert_eq!(verified.city, "Round Rock");
    assert_eq!(verified.corrections, []);
}

#[test]
fn a_city_elsewhere_in_the_state_contradicts_the_zip() {
    for (city, state, zip) in [
        ("Houston", "TX", "78701"),
        ("Miami", "FL", "32301"),
        ("Los Angeles", "CA", "94105"),
    ] {
        assert!(
            matches!(
                expect_undeliverable("123 Main St", [city, state, zip]),
                AddressError::CityNotInZip { .. }
            ),
            "{city}"
        );
    }
    for city in ["!!", "12345"] {
        assert_eq!(
            expect_undeliverable("123 Main St", [city, "TX", "78701"]),
            AddressError::UnreadableCity(city.to_owned())
        );
    }
}

#[test]
fn a_city_of_another_state_contradicts_state_and_zip() {
    for (city, state, zip) in [
        ("Albuquerque", "CA", "90028"),
        ("Los Angeles", "TX", "78701"),
        ("Miami", "CA", "90028"),
        ("SAINT LOUIS", "IL", "60601"),
    ] {
        let failure = expect_undeliverable("500 Main St", [city, state, zip]);
        assert!(
            matches!(failure, AddressError::CityNotInZip { .. }),
            "{city}: {failure}"
        );
    }
    // Names that cities of several states have may be a quarter's.
    for (city, state, zip) in [
        ("Hollywood", "CA", "90028"),
        ("Brooklyn", "OH", "44144"),
        ("Ballard", "WA", "98107"),
    ] {
        expect_deliverable("500 Main St", "", [city, state, zip]);
    }
}

#[test]
fn a_city_that_no_post_office_has_is_corrected_to_the_one_of_the_zip() {
    for city in ["Asutin", "Gotham"] {
        let verified = expect_deliverable("123 Main St", "", [city, "TX", "78701"]);
        assert_eq!(verified.one_line, "123 Main St, Austin, TX 78701");
        assert_eq!(verified.corrections.len(), 1, "{city}");
        assert_eq!(verified.corrections[0].from, city);
    }
}

#[test]
fn a_zip_of_another_state_is_undeliverable() {
    let failure = expect_undeliverable("123 Main St", ["Austin", "TX", "10001"]);
    assert_eq!(failure.to_sentence(), "ZIP code 10001 is in NY, not in TX.");
}

#[test]
fn unknown_zips_and_states_are_undeliverable() {
    assert_eq!(
        expect_undeliverable("1 A St", ["Austin", "TX", "00000"]),
        AddressError::UnknownZip("00000".to_owned())
    );
    assert_eq!(
        expect_undeliverable("1 A St", ["Austin", "TX", "7870X"]),
        AddressError::UnreadableZip("7870X".to_owned())
    );
    assert_eq!(
        expect_undeliverable("1 A St", ["Austin", "ZZ", "78701"]),
        AddressError::UnknownState("ZZ".to_owned())
    );
}

#[test]
fn a_line_without_number_or_box_is_undeliverable() {
    for line in ["Main St", "City Hall", "5th Ave", "Apt 4", "?!", "Room 1"] {
        assert!(
            matches!(
                expect_undeliverable(line, AUSTIN),
                AddressError::UnreadableStreet(_)
            ),
            "{line}"
        );
    }
}

#[test]
fn military_addresses_go_by_their_zip() {
    let verified = expect_deliverable("PSC 802 Box 74", "", ["apo", "AE", "09499"]);
    assert_eq!(verified.one_line, "PSC 802 Box 74, APO, AE 09499");
    assert!(matches!(
        expect_undeliverable("PSC 802 Box 74", ["APO", "AP", "09499"]),
        AddressError::ZipNotInState { .. }
    ));
}

#[test]
fn islands_have_their_zips() {
    assert_eq!(
        expect_deliverable(
            "150 Calle A",
            "Urb Las Gladiolas",
            ["San Juan", "PR", "926"]
        )
        .line2,
        "Urb Las Gladiolas"
    );
    assert_eq!(
        expect_deliverable("12 Main St", "", ["Tamuning", "GU", "96931"]).corrections,
        []
    );
}

#[test]
fn zips_of_post_office_boxes_and_of_the_military_are_known() {
    let puerto_rico = "00902 00908 00910 00914 00916 00919 00922 00928 00929 00931 00936 00937 00939 00940 00955 00963 \
        00970 00977 00978 00981 00984 00986 00988";
    for zip in puerto_rico.split_ascii_whitespace() {
        assert_eq!(
            expect_deliverable("PO Box 12", "", ["San Juan", "PR", zip]).zip,
            zip
        );
    }
    assert_eq!(
        expect_deliverable("PSC 1 Box 12", "", ["APO", "AA", "34090"]).city,
        "APO"
    );
    assert_eq!(
        expect_deliverable("USS Nimitz Box 12", "", ["FPO", "AP", "96601"]).one_line,
        "USS Nimitz Box 12, FPO, AP 96601"
    );
}

#[test]
fn places_without_a_number_of_their_own_are_deliverable() {
    let last = ["San Juan", "PR", "00926"];
    assert_eq!(
        expect_deliverable("Cond X Apt 4", "", last).line1,
        "Cond X Apt 4"
    );
    assert_eq!(
        expect_deliverable("Pier 39", "", ["San Francisco", "CA", "94133"]).line1,
        "Pier 39"
    );
    assert!(
        matches!(
            expect_undeliverable("Cond X", last),
            AddressError::UnreadableStreet(_)
        ),
        "no unit"
    );
    assert!(
        matches!(
            expect_undeliverable("Cond X Apt 4", AUSTIN),
            AddressError::UnreadableStreet(_)
        ),
        "not in Puerto Rico"
    );
}

#[test]
fn nothing_of_an_address_is_dropped_in_silence() {
    assert_eq!(
        expect_undeliverable("12 東京 St", AUSTIN),
        AddressError::UnreadableCharacter('東')
    );
    assert_eq!(
        expect_undeliverable("12 Невский St", AUSTIN).to_sentence(),
        "The address has a character that mail cannot be addressed with: Н."
    );
    let verified = expect_deliverable("12 Main St 🎉", "Apt 4 ☂", AUSTIN);
    assert_eq!(
        (verified.line1.as_str(), verified.line2.as_str()),
        ("12 Main St Apt 4", "")
    );
    let changed: Vec<(AddressField, &str)> = verified
        .corrections
        .iter()
        .map(|correction| (correction.field, correction.from.as_str()))
        .collect();
    assert_eq!(
        changed,
        [
            (AddressField::Address1, "12 Main St 🎉"),
            (AddressField::Address2, "Apt 4 ☂")
        ]
    );
    for plain in [
        "12 Main St – “Rear”",
        "12½ Cañón Rd",
        "12 Straße № 5",
        "１２ Ｍａｉｎ Ｓｔ",
    ] {
        assert_eq!(plainly_verified(plain).corrections, [], "{plain}");
    }
}

fn plainly_verified(address_1: &str) -> VerifiedAddress {
    expect_deliverable(address_1, "", AUSTIN)
}

#[test]
fn an_address_longer_than_the_limit_is_undeliverable() {
    let line = "1".repeat(INPUT_BYTES_MAX);
    assert_eq!(expect_undeliverable(&line, AUSTIN), AddressError::TooLong);
}

#[test]
fn a_zip_has_a_centre_and_a_military_one_has_none() {
    let (latitude, longitude) = zip_centre("78701").expect("Austin has a centre");
    assert!((latitude - 30.27).abs() < 0.05 && (longitude + 97.74).abs() < 0.05);
    assert_eq!(zip_centre("09499"), None);
    assert_eq!(zip_centre("00000"), None);
    assert_eq!(zip_centre("7870"), None);
}

#[test]
fn the_line_as_sent_is_trimmed_and_without_address_2() {
    let sent = build_input(" 12  Nowhere\tRd ", "Apt 1", [" X ", "", "99999"]);
    assert_eq!(one_line_as_sent(sent), "12 Nowhere Rd, X 99999");
    assert_eq!(one_line_as_sent(AddressInput::default()), "");
}

#[test]
fn unverified_addresses_compare_by_their_parts_without_case_and_spaces() {
    let id = unverified_address_id(build_input("Nowhere", "1", AUSTIN));
    assert_eq!(
        unverified_address_id(build_input(" NOWHERE ", "1", ["AUSTIN", "tx", "78701"])),
        id
    );
    assert_ne!(
        unverified_address_id(build_input("Nowhere1", "", AUSTIN)),
        id
    );
}

#[test]
fn one_line_is_split_with_and_without_commas() {
    for text in [
        "123 N Main St Apt 4, Austin, TX 78701-1234",
        "123 north main street apt 4 austin texas 78701 1234",
        "123 N MAIN ST, #4, AUSTIN TX 787011234, USA",
        "Apt 4, 123 N Main St, Austin, TX, 78701-1234, United States of America",
    ] {
        let parsed = parse_one_line(text);
        let parts = [
            &parsed.city,
            &parsed.state,
            &parsed.zip,
            &parsed.plus4,
            &parsed.unit,
        ];
        assert_eq!(parts, ["Austin", "TX", "78701", "1234", "4"], "{text}");
        assert_eq!(
            (parsed.street.as_str(), parsed.suffix.as_str()),
            ("Main", "St"),
            "{text}"
        );
    }
}

#[test]
fn one_line_without_state_or_zip_keeps_what_there_is() {
    for (text, line1, city, state, zip) in [
        (
            "461 5th Avenue, New York, NY 10017",
            "461 5th Ave",
            "New York",
            "NY",
            "10017",
        ),
        (
            "1085 Santa Paula Avenue, Los Osos",
            "1085 Santa Paula Ave",
            "Los Osos",
            "",
            "",
        ),
        (
            "2677 Gross Point Road, Evanston, 60201",
            "2677 Gross Point Rd",
            "Evanston",
            "",
            "60201",
        ),
        (
            "465 pack lane cheshire ct",
            "465 Pack Ln",
            "Cheshire",
            "CT",
            "",
        ),
        ("123 Maple Ct", "123 Maple Ct", "", "", ""),
        ("222 7th Street Southeast", "222 7th St SE", "", "", ""),
        (
            "1105 Bolton Road, NW Atlanta, GA 30331",
            "1105 Bolton Rd NW",
            "Atlanta",
            "GA",
            "30331",
        ),
        ("707 E MAIN ST 20TH FL", "707 E Main St Fl 20", "", "", ""),
        (
            "9 Front St Washington DC 20001",
            "9 Front St",
            "Washington",
            "DC",
            "20001",
        ),
        (
            "2108 Wealthy St SE E Grand Rapids, MI 49506",
            "2108 Wealthy St SE",
            "East Grand Rapids",
            "MI",
            "49506",
        ),
        (
            "6625 HUNTINGDON PIKE HUNTINGDON VY PA 19006",
            "6625 Huntingdon Pike",
            "Huntingdon Valley",
            "PA",
            "19006",
        ),
        (
            "PO Box 460, Western Springs, IL 60558",
            "PO Box 460",
            "Western Springs",
            "IL",
            "60558",
        ),
        (
            "3520 Okemos Rd PMB 175 Okemos, MI 48864",
            "3520 Okemos Rd PMB 175",
            "Okemos",
            "MI",
            "48864",
        ),
    ] {
        let parsed = parse_one_line(text);
        let parts = [&parsed.line1, &parsed.city, &parsed.state, &parsed.zip];
        assert_eq!(parts, [line1, city, state, zip], "{text}");
    }
}

#[test]
fn a_place_that_another_post_office_delivers_to_is_kept_as_sent() {
    for (city, state, zip) in [
        ("Hollywood", "CA", "90028"),
        ("North Miami", "FL", "33161"),
        ("N. Miami", "FL", "33161"),
        ("Doral", "FL", "33178"),
        ("Shoreline", "WA", "98133"),
        ("Overland Park", "KS", "66204"),
        ("Cleveland Heights", "OH", "44106"),
        ("Saint Louis Park", "MN", "55416"),
        ("St. Louis Park", "MN", "55416"),
    ] {
        let verified = expect_deliverable("100 Main St", "", [city, state, zip]);
        assert_eq!(verified.corrections, [], "{city}");
        let kept = city.replace("N.", "North").replace("St.", "Saint");
        assert_eq!(verified.city, kept);
    }
    // The same name in another part of the state contradicts the ZIP.
    assert!(matches!(
        expect_undeliverable("100 Main St", ["Hollywood", "CA", "94105"]),
        AddressError::CityNotInZip { .. }
    ));
}

#[test]
fn a_large_city_of_another_state_contradicts_the_zip() {
    for (city, state, zip) in [
        ("Albuquerque", "CA", "90028"),
        ("Seattle", "CA", "90028"),
        ("Chicago", "TX", "78701"),
        ("houston", "CA", "90028"),
        ("Boise", "WA", "98101"),
        ("Salt Lake City", "NV", "89101"),
        ("ST. LOUIS", "TX", "78701"),
    ] {
        let failure = expect_undeliverable("500 Main St", [city, state, zip]);
        assert!(
            matches!(failure, AddressError::CityNotInZip { .. }),
            "{city}: {failure:?}"
        );
        assert!(failure.to_sentence().contains(city), "{failure:?}");
    }
}

#[test]
fn a_state_and_its_zip_in_one_word_can_be_mailed() {
    for last in [
        ["Austin", "TX78701", ""],
        ["Austin", "", "TX78701"],
        ["Austin", "TX", "TX78701"],
    ] {
        let verified = expect_deliverable("123 Main St", "", last);
        assert_eq!(verified.one_line, "123 Main St, Austin, TX 78701");
        assert_eq!(verified.corrections, [], "{last:?}");
    }
}
