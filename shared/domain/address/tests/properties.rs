//! What holds for every address.

use address::{
    AddressInput, AddressVerdict, ParsedAddress, parse, parse_one_line, split_unit, verify_address,
};
use proptest::prelude::*;

/// Real last lines: city, state, ZIP.
const LAST_LINES: &[[&str; 3]] = &[
    ["Austin", "TX", "78701"],
    ["New York", "NY", "10017"],
    ["St. Louis", "Missouri", "63101"],
    ["BOSTON", "MA", "2108"],
    ["Salt Lake City", "UT", "84101-1234"],
    ["San Juan", "PR", "00926"],
    ["Long Island City", "NY", "11101"],
];

fn name_strategy() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "Main",
        "OAK",
        "st andrews",
        "McDonald",
        "o'brien",
        "Lake",
        "Park",
        "North",
        "W",
        "5th",
        "42nd",
        "1700",
        "Avenue",
        "Broadway",
        "La",
        "Martin",
        "Luther",
        "King",
        "Jr",
        "Mill",
        "Valley",
        "A",
        "Old",
        "of",
        "the",
        "Key",
        "Front",
        "Pier",
        "winston-salem",
        "Calle",
        "Ext",
    ]);
    prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
}

fn highway_strategy() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "US Hwy",
        "US",
        "County Rd",
        "CR",
        "State Route",
        "I-",
        "FM",
        "Hwy",
        "Old Highway",
        "KY",
    ]);
    (kind, 1..2000_u32).prop_map(|(kind, number)| format!("{kind} {number}"))
}

fn street_strategy() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        "[1-9][0-9]{0,4}",
        "[1-9][0-9]{1,3}[A-F]",
        "[1-9][0-9]{1,2}-[1-9][0-9]",
        "[1-9][0-9]{1,2} 1/2",
        "N[1-9]W[1-9][0-9]{3}",
    ];
    let direction = prop::sample::select(vec!["", "N", "south", "S.W.", "North East"]);
    let suffix = prop::sample::select(vec![
        "", "St", "street", "AVE", "blvd.", "Pkwy", "Ridge", "Trl", "ext", "Mill", "Streeet",
    ]);
    let unit = prop::sample::select(vec![
        "",
        "Apt 4B",
        ", # 5",
        "Suite 200",
        "2nd Floor",
        "rear",
        "Bldg 3 Apt 1",
        "12C",
        "PMB 9",
        "Lot 3",
        "Apt 3 N",
    ]);
    let middle = prop_oneof![3 => name_strategy(), 1 => highway_strategy()];
    (number, direction.clone(), middle, suffix, direction, unit).prop_map(
        |(number, before, name, suffix, behind, unit)| {
            format!("{number} {before} {name} {suffix} {behind} {unit}")
        },
    )
}

fn first_line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => street_strategy(),
        1 => "(PO|P\\.O\\.|Post Office) Box #?[1-9][0-9]{0,5}",
        1 => "(RR|Rural Route|HC|Star Route) [0-9]{1,2},? Box [1-9][0-9]{0,3}[A-C]?",
        1 => "(PSC|CMR|UNIT) [1-9][0-9]{2,3} BOX [1-9][0-9]{1,3}",
        1 => "(A|C|H|N|Z|AB|RR)-?[1-9][0-9]?,? Calle [1-9A-D]( Urb Villa Verde)?",
        1 => "(Carr|PR) [1-9][0-9]{0,2},? Km [1-9][0-9]?(\\.[0-9]| Hm [1-9])?",
        1 => "(Cond|Res|Condominio) (Astral|Las Flores) (Edif 2 )?(Apt|Apto) [1-9][0-9]{0,2}",
        1 => "(USS|USCGC) (Nimitz|SEA DEVIL)( Box [1-9][0-9]?)?",
        1 => "[1-9][0-9]{0,3} (RR|Ranch Rd|FM|Farm Road|RM|I H|County Road) [1-9][0-9]{1,3}( N)?( Apt 4)?",
        1 => "0?[1-9]{3} (Dr )?(MLK|Martin Luther King|M\\.L\\. King)( Jr)? (Blvd|Dr)( Ste 0?[1-9]{2}| # 1-B)?",
        1 => street_strategy().prop_map(|street| format!("c/o Jane Doe, {street}")),
        1 => street_strategy().prop_map(|street| format!("{street}, PO Box 12")),
    ]
}

fn second_line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        "Apt 7",
        "#7",
        "7",
        "Ste B",
        "c/o John Smith",
        "Urb Las Lomas",
        "Rear",
        "Langley Tower",
        "PO Box 99",
        "Attn: Mail Room",
    ])
}

fn parse_again(parsed: &ParsedAddress) -> ParsedAddress {
    parse(AddressInput {
        address_1: &parsed.line1,
        address_2: &parsed.line2,
        city: &parsed.city,
        state: &parsed.state,
        zip: &parsed.zip,
    })
}

proptest! {
    // A fifth of the addresses has a second line; with more cases than these more of them are passed over.
    #![proptest_config(ProptestConfig { cases: 2_000, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn standardising_a_standard_form_changes_nothing(
        address_1 in first_line(),
        address_2 in second_line(),
        last in prop::sample::select(LAST_LINES),
    ) {
        let [city, state, zip] = last;
        let once = parse(AddressInput { address_1: &address_1, address_2, city, state, zip });
        let twice = parse_again(&once);
        prop_assert_eq!(&twice.line1, &once.line1, "of {}", once.line1);
        prop_assert_eq!(&twice.line2, &once.line2);
        prop_assert_eq!(&twice.city, &once.city);
        prop_assert_eq!(&twice.state, &once.state);
        prop_assert_eq!(&twice.zip, &once.zip);
    }

    #[test]
    fn parting_the_unit_from_a_standard_form_loses_nothing(
        address_1 in first_line(),
        address_2 in second_line(),
    ) {
        let parsed = parse(AddressInput { address_1: &address_1, address_2, ..AddressInput::default() });
        let (street, unit) = split_unit(&parsed.line1);
        let joined = format!("{street} {unit}");
        prop_assert_eq!(joined.trim_end(), parsed.line1.as_str());
        let is_parted = parsed.is_street() && !parsed.unit_designator.is_empty();
        prop_assert_eq!(is_parted, parsed.is_street() && !unit.is_empty(), "{}", parsed.line1);
    }

    #[test]
    fn the_verified_form_is_the_same_address(
        address_1 in first_line(),
        address_2 in second_line(),
        last in prop::sample::select(LAST_LINES),
    ) {
        let [city, state, zip] = last;
        let verdict = verify_address(AddressInput { address_1: &address_1, address_2, city, state, zip });
        let AddressVerdict::Deliverable(once) = verdict else {
            return Err(TestCaseError::reject("undeliverable"));
        };
        let twice = verify_address(AddressInput {
            address_1: &once.line1,
            address_2: &once.line2,
            city: &once.city,
            state: &once.state,
            zip: &once.zip,
        });
        let AddressVerdict::Deliverable(twice) = twice else {
            return Err(TestCaseError::fail("the verified form is undeliverable"));
        };
        prop_assert_eq!(twice.id, once.id);
        prop_assert_eq!(twice.corrections, vec![]);
    }

    #[test]
    fn the_printed_line_is_the_same_address(
        address_1 in first_line(),
        last in prop::sample::select(LAST_LINES),
    ) {
        let [city, state, zip] = last;
        let once = parse(AddressInput { address_1: &address_1, address_2: "", city, state, zip });
        // What stands above the delivery line is not on one line.
        prop_assume!(once.line2.is_empty());
        prop_assert_eq!(parse_one_line(&once.one_line).id(), once.id(), "of {}", once.one_line);
    }

    #[test]
    fn case_and_outer_spaces_do_not_make_another_address(
        address_1 in first_line(),
        last in prop::sample::select(LAST_LINES),
    ) {
        let [city, state, zip] = last;
        let id = |address_1: &str| {
            match verify_address(AddressInput { address_1, address_2: "", city, state, zip }) {
                AddressVerdict::Deliverable(verified) => Some(verified.id),
                AddressVerdict::Undeliverable(_) => None,
            }
        };
        prop_assert_eq!(id(&address_1.to_uppercase()), id(&format!("  {address_1} ")));
    }

    #[test]
    fn no_text_makes_it_panic(
        address_1 in "\\PC{0,60}",
        address_2 in "\\PC{0,30}",
        city in "\\PC{0,20}",
        state in "\\PC{0,8}",
        zip in "[0-9 -]{0,12}",
    ) {
        let input = AddressInput { address_1: &address_1, address_2: &address_2, city: &city, state: &state, zip: &zip };
        let _ = verify_address(input);
        let parsed = parse_one_line(&format!("{address_1} {address_2}, {city} {state} {zip}"));
        prop_assert!(parsed.state.len() <= 2);
    }

    #[test]
    fn no_jumble_of_address_words_makes_it_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "PO", "Box", "#", ",", "12", "N", "E", "St", "Ave", "Apt", "Fl", "RR", "HC", "US", "Hwy",
                "c/o", "Urb", "Calle", "TX", "78701", "Austin", "1/2", "5th", "2nd", "Floor", "-", "'",
                "Unit", "PSC", "CR", "I-10", "A", "of", "the", "B", "New", "York", "&", "%", "½", ".",
            ]),
            0..14,
        ),
        split in 0..14_usize,
    ) {
        let text = words.join(" ");
        let head = words[..split.min(words.len())].join(" ");
        let tail = words[split.min(words.len())..].join(" ");
        let _ = parse_one_line(&text);
        let parsed = parse(AddressInput { address_1: &head, address_2: &tail, ..AddressInput::default() });
        prop_assert!(parsed.line1.is_ascii());
    }
}
