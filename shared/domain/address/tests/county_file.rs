//! The rules of correction on a whole county: pairs of streets that are told apart by little, and addresses with one thing
//! wrong. It needs a file of address points: `tests/accuracy/README.md` says which, and how to run it.

#![allow(
    clippy::print_stdout,
    reason = "its figures go into docs/reference/address-accuracy.md"
)]

#[allow(dead_code, reason = "other tests use the rest")]
mod county;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use address::{
    AddressInput, AddressVerdict, ConfirmationLevel, ParsedAddress, StandardStreet, parse_readings,
};
use county::{County, Household};

/// Points that cover a ZIP, as the configuration has it.
const COVERAGE_POINTS: usize = 500;

/// Every so-manieth house is written with something wrong.
const SAMPLE: usize = 97;

struct Place {
    household: Household,
    city: String,
    /// Read with the parts that the file has.
    parsed: ParsedAddress,
}

/// The reading with these parts of the street, or the usual one.
fn read_as_source(input: AddressInput<'_>, parts: [&str; 3]) -> ParsedAddress {
    let mut readings = parse_readings(input);
    let fits = |parsed: &ParsedAddress| {
        let read = [
            &parsed.predirectional,
            &parsed.suffix,
            &parsed.postdirectional,
        ];
        read.into_iter()
            .zip(parts)
            .all(|(read, part)| read.is_empty() == part.is_empty())
    };
    let at = readings
        .iter()
        .position(|reading| fits(&reading.parsed))
        .unwrap_or(0);
    readings.swap_remove(at).parsed
}

/// The places of the file, in its order. No value of it has a comma.
fn read_places() -> Vec<Place> {
    let path = std::env::var_os("ADDRESS_POINTS").expect("ADDRESS_POINTS names a file of points");
    let file = std::fs::File::open(path).expect("the file can be opened");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("gzip");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| {
        header
            .iter()
            .position(|column| *column == name)
            .expect("a known column")
    };
    let columns = [
        "ADDRLABEL",
        "ST_NUMBER",
        "CITY_POSTA",
        "ZIP",
        "STATUS",
        "ST_PREFIXD",
        "ST_TYPE",
        "ST_SUFFIXD",
    ]
    .map(at);
    let places = rows.filter_map(|row| {
        let [label, number, city, zip, status, before, suffix, behind] =
            columns.map(|column| row[column]);
        let street = label.strip_prefix(number)?.strip_prefix(' ')?;
        if status != "ACTIVE" || city.is_empty() || number == "0" {
            return None;
        }
        let input = AddressInput {
            address_1: label,
            city,
            state: "MD",
            zip,
            ..AddressInput::default()
        };
        Some(Place {
            household: Household {
                number: number.to_owned(),
                street: street.to_owned(),
                unit: String::new(),
                zip: zip.to_owned(),
            },
            city: city.to_owned(),
            parsed: read_as_source(input, [before, suffix, behind]),
        })
    });
    places.collect()
}

/// What is known of one ZIP's streets: each street with its numbers and how it is written.
#[derive(Default)]
struct ZipStreets {
    streets: BTreeMap<i64, (StandardStreet, BTreeSet<String>, String, String)>,
}

#[derive(Default, Debug)]
struct Tally {
    asked: usize,
    right: usize,
    wrong: usize,
    examples: Vec<String>,
}

impl Tally {
    fn count(&mut self, county: &County, line: &str, city: &str, zip: &str, right: Option<&str>) {
        let input = AddressInput {
            address_1: line,
            city,
            state: "MD",
            zip,
            ..AddressInput::default()
        };
        if county.knows_house(input) {
            // What was made wrong is another house.
            return;
        }
        self.asked += 1;
        let confirmed = match county.verify(input) {
            AddressVerdict::Deliverable(verified)
                if verified.level == ConfirmationLevel::DeliveryPoint =>
            {
                Some(verified.one_line)
            }
            _ => None,
        };
        match (confirmed, right) {
            (Some(confirmed), Some(right)) if confirmed == right => self.right += 1,
            (Some(confirmed), right) => {
                self.wrong += 1;
                self.examples
                    .push(format!("{line} {zip} became {confirmed}, not {right:?}"));
            }
            (None, Some(_)) if self.examples.len() < 12 => {
                self.examples.push(format!("{line} {zip}"))
            }
            (None, _) => {}
        }
    }

    fn print(&self, name: &str) {
        println!(
            "{name}: {} asked, {} right, {} wrong",
            self.asked, self.right, self.wrong
        );
        for example in &self.examples {
            println!("    {example}");
        }
    }
}

#[test]
#[ignore = "it needs a file of address points, named by ADDRESS_POINTS"]
fn nobody_elses_house_is_confirmed_in_a_whole_county() {
    let places = read_places();
    let points = places
        .iter()
        .map(|place| (place.household.clone(), place.parsed.clone()));
    let county = County::from_points(points).covered_by(COVERAGE_POINTS);
    let mut zips: BTreeMap<String, ZipStreets> = BTreeMap::new();
    let mut standard_line = BTreeMap::new();
    for Place {
        household,
        city,
        parsed,
    } in &places
    {
        let line = household.delivery_line();
        let Some(key) = parsed.point_key() else {
            continue;
        };
        let zip = zips.entry(household.zip.clone()).or_default();
        let street = zip.streets.entry(key.street_key).or_insert_with(|| {
            (
                parsed.street_parts(),
                BTreeSet::new(),
                household.street.clone(),
                city.clone(),
            )
        });
        street.1.insert(parsed.number.clone());
        standard_line.insert(line + &household.zip, parsed.one_line.clone());
    }
    let mut siblings = Tally::default();
    for (zip, ZipStreets { streets }) in &zips {
        for (written, (one, numbers, as_written, city)) in streets {
            for (other_key, (other, other_numbers, _, _)) in streets {
                if written == other_key || !one.name.eq_ignore_ascii_case(&other.name) {
                    continue;
                }
                for number in other_numbers.difference(numbers) {
                    siblings.count(&county, &format!("{number} {as_written}"), city, zip, None);
                }
            }
        }
    }
    siblings.print("a number of a sibling street");
    assert_eq!((siblings.right, siblings.wrong), (0, 0));
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (
        at,
        Place {
            household,
            city,
            parsed,
        },
    ) in places.iter().enumerate().filter(|(at, _)| at % SAMPLE == 0)
    {
        let line = household.delivery_line();
        let zip = &household.zip;
        if !county.is_covered(zip.parse().expect("digits")) {
            continue;
        }
        let right = standard_line
            .get(&format!("{line}{zip}"))
            .map(String::as_str);
        let mut ask = |name, line: &str, zip: &str| {
            tallies
                .entry(name)
                .or_default()
                .count(&county, line, city, zip, right);
        };
        let words: Vec<&str> = line.split(' ').collect();
        if !parsed.suffix.is_empty() && parsed.postdirectional.is_empty() {
            ask(
                "a suffix left out",
                &words[..words.len() - 1].join(" "),
                zip,
            );
            let other = if parsed.suffix == "Ct" { "LN" } else { "CT" };
            ask(
                "a wrong suffix",
                &format!("{} {other}", words[..words.len() - 1].join(" ")),
                zip,
            );
        }
        if let Some(name) = slip_in(&parsed.street, at) {
            let upper = line.to_uppercase();
            let written = upper.replacen(&parsed.street.to_uppercase(), &name, 1);
            if written != upper {
                ask("a slip in the name", &written, zip);
            }
        }
        let others: Vec<&String> = zips
            .keys()
            .filter(|other| *other != zip && county.is_covered(other.parse().expect("digits")))
            .collect();
        ask(
            "another ZIP of the county",
            &line,
            others[at % others.len()],
        );
        let mut digits = zip.clone().into_bytes();
        digits.swap(2 + at % 2, 3 + at % 2);
        let swapped = String::from_utf8(digits).expect("digits");
        if swapped != *zip {
            ask("two figures of the ZIP exchanged", &line, &swapped);
        }
    }
    for (name, tally) in &tallies {
        tally.print(name);
        assert_eq!(tally.wrong, 0, "{name}");
    }
}

/// The name with one slip in it, another kind for each number.
fn slip_in(name: &str, number: usize) -> Option<String> {
    let mut letters: Vec<char> = name.to_uppercase().chars().collect();
    let at = number / 4 % letters.len();
    let letter = char::from(b'A' + (number / 97 % 26) as u8);
    if !letters[at].is_ascii_alphabetic() {
        return None;
    }
    match number % 4 {
        0 => letters[at] = letter,
        1 => letters.insert(at, letter),
        2 => {
            letters.remove(at);
        }
        _ => {
            let next = at.checked_sub(1)?;
            letters.swap(at, next);
        }
    }
    let slipped: String = letters.into_iter().collect();
    (slipped != name.to_uppercase()).then_some(slipped)
}
