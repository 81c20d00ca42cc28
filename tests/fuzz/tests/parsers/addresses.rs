//! Addresses, in parts and on one line.

use address::{
    AddressInput, AddressListEntry, AddressVerdict, one_line_as_sent, parse, parse_one_line,
    verify_address,
};
use fuzz::Target;
use proptest::{prop_assert, prop_assert_eq};

const ADDRESSES: [&str; 10] = [
    "123 N Main St Apt 4|c/o John Smith|Austin|Texas|78701-1234",
    "P.O. Box 12||Austin|TX|78701",
    "RR 2 Box 18-A||Blanco|TX|78606",
    "HC 1 Box 5||Marfa|TX|79843",
    "PSC 3 Box 4||APO|AE|09012",
    "Urb Las Gladiolas||San Juan|PR|00926",
    "1/2 Calle #7||Ponce|PR|731",
    "N6W23001 Bluemound Rd||Brookfield|WI|53045",
    "100 US Hwy 290 W Ste B2||Austin|TX|787011234",
    "١٢٣ Straße|Apt Ä|Köln|İ|०१२३४",
];

const WORDS: [&str; 14] = [
    "|",
    " Apt ",
    "#",
    " St",
    " Ave",
    "Hwy",
    "Box",
    "1/2",
    "-",
    " N ",
    "Saint ",
    "Unit Unit",
    "99999",
    "00501",
];

fn parts(text: &str) -> [&str; 5] {
    let mut parts = text.split('|');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn input<'a>([address_1, address_2, city, state, zip]: [&'a str; 5]) -> AddressInput<'a> {
    AddressInput {
        address_1,
        address_2,
        city,
        state,
        zip,
    }
}

#[test]
fn fuzz_address() {
    Target::new(ADDRESSES)
        .words(WORDS)
        .cases(4_000)
        .run_text(|text| {
            let sent = input(parts(text));
            let parsed = parse(sent);
            prop_assert_eq!(parse(sent).id(), parsed.id());
            let _ = one_line_as_sent(sent);
            let AddressVerdict::Deliverable(verified) = verify_address(sent) else {
                return Ok(());
            };
            prop_assert!(text.len() >= 5, "made of nothing");
            let is_zip =
                |zip: &str| zip.len() == 5 && zip.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert!(
                is_zip(&verified.zip) && verified.state.len() == 2 && !verified.city.is_empty()
            );
            // What prints is what was sent and a few words: nobody's card overflows by what an address becomes.
            prop_assert!(
                verified.one_line.len() <= text.len() * 2 + 100,
                "{}",
                verified.one_line
            );
            prop_assert!(
                !verified.one_line.contains(char::is_control),
                "{:?}",
                verified.one_line
            );
            Ok(())
        });
}

#[test]
fn fuzz_address_line() {
    let lines = ADDRESSES.map(|address| address.replace('|', ", "));
    Target::new(lines)
        .words(WORDS)
        .cases(3_000)
        .run_text(|text| {
            prop_assert_eq!(parse_one_line(text).id(), parse_one_line(text).id());
            if let Ok(listed) = AddressListEntry::from_line(text) {
                prop_assert!(listed.line.len() <= text.len() * 2 + 100, "{}", listed.line);
                prop_assert!(!listed.line.contains(char::is_control), "{:?}", listed.line);
            }
            Ok(())
        });
}
