//! Which other street an address may have meant when its ZIP has none as it was written. Pure: looking streets and
//! houses up is the caller's part.
//!
//! Another household's card is worse than none, so one component changes at the most: the street's suffix (one that was
//! left out is added, a wrong one gives way to another), its name by one slip of the pen, or the ZIP. A directional never
//! changes. A street that stands as it was written, here or in a ZIP nearby, is the one that was meant. What adds to the
//! written words comes before what takes some away, a name that stands is no slip, and where two addresses remain neither
//! is taken.

use crate::{
    compared,
    input::AddressInput,
    misspelling::{self, NameEnds},
    parsed::ParsedAddress,
    points::{self, StandardStreet},
    tables::{direction, suffix},
    verify::CheckedAddress,
    zips,
};

/// A written street that its ZIP does not know, as it is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreetQuestion {
    /// The ZIP as a number; of no ZIP when the written one cannot be the right one.
    pub zip: i32,
    /// The first and the last ZIP of the neighbourhood, in which a sender may have taken the wrong one.
    pub zips_nearby: (i32, i32),
    /// The first and the last ZIP of the city that was written.
    pub zips_of_city: Option<(i32, i32)>,
    /// The street as it was written.
    pub street_key: i64,
    /// Its name.
    pub name_key: i64,
    /// Names that hold all words of it, so that a suffix may follow: `Carroll Manor` of `Carroll Mnr`.
    pub longer_name_keys: Vec<i64>,
    /// What a name that is one slip from it shares with it.
    pub name_ends: Option<NameEnds>,
}

/// What is known of the streets that share a name with a written one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimilarStreets {
    /// The streets of the ZIP with its name or a longer one.
    pub in_zip: Vec<StandardStreet>,
    /// Whether the street stands nearby as it was written.
    pub is_written_nearby: bool,
    /// Whether one with a longer name does.
    pub is_longer_nearby: bool,
    /// The ZIPs from the first to the last of the city in which the street stands as it was written.
    pub written_zips: Vec<i32>,
    /// The streets of the ZIP that share an end of the name, with names that are one slip apart among them.
    pub alike_in_zip: Vec<StandardStreet>,
}

/// A name that holds all words of a written street.
struct LongerName {
    compared: String,
    /// What is left of the directional behind the street: nothing when the name has it.
    postdirectional: String,
}

impl CheckedAddress {
    /// What to ask of the streets when none is known as it was written; `None` for what is on no street of a ZIP.
    pub fn street_question(&self, is_zip_covered: bool) -> Option<StreetQuestion> {
        if self.failure.is_some() || !is_zip_covered {
            return self.misplaced_question();
        }
        let key = self.point_key();
        let zips_nearby = zips::nearby_zips(&self.parsed.zip).filter(|_| key.is_in_zip())?;
        let longer_name_keys = longer_names(&self.parsed)
            .iter()
            .map(|longer| points::hash_compared_street(&longer.compared))
            .collect();
        let (street_key, name_key) = (key.street_key, key.name_key);
        Some(StreetQuestion {
            zip: key.zip,
            zips_nearby,
            zips_of_city: self.zips_of_city(),
            street_key,
            name_key,
            longer_name_keys,
            name_ends: NameEnds::from_name(&self.parsed.street),
        })
    }

    /// The addresses that this one, sent as `input`, may stand for when its ZIP does not know its street. Where points do
    /// not cover the ZIP, the street may well be there: then only a ZIP that is not the city's can be wrong.
    pub fn street_candidates(
        &self,
        input: AddressInput<'_>,
        namesakes: &SimilarStreets,
        is_zip_covered: bool,
    ) -> Vec<Self> {
        if self.failure.is_some() || !is_zip_covered || namesakes.is_written_nearby {
            return self.candidates_in_city(input, namesakes, is_zip_covered);
        }
        let longer_names = longer_names(&self.parsed);
        let longer: Vec<Self> = self.candidates_on_streets(&namesakes.in_zip, |street| {
            extends_written_name(&self.parsed, &longer_names, street)
        });
        if !longer.is_empty() || namesakes.is_longer_nearby {
            return longer;
        }
        let is_named = |street: &StandardStreet| has_name(&self.parsed, street);
        if namesakes.in_zip.iter().any(is_named) {
            return self.candidates_on_streets(&namesakes.in_zip, |street| {
                differs_in_suffix(&self.parsed, street)
            });
        }
        self.candidates_on_streets(&namesakes.alike_in_zip, |street| {
            differs_by_slip(&self.parsed, street)
        })
    }

    fn candidates_on_streets(
        &self,
        streets: &[StandardStreet],
        is_meant: impl Fn(&StandardStreet) -> bool,
    ) -> Vec<Self> {
        streets
            .iter()
            .filter(|street| is_meant(street))
            .map(|street| self.with_street(street))
            .collect()
    }
}

/// Whether somebody else's form of an address may be taken for what was sent: one component is another at the most, the
/// name, the suffix or the ZIP, and neither the number nor a directional. What is on no numbered street, as a route that has
/// got street addresses, is not compared.
pub fn is_one_component_apart(sent: &ParsedAddress, known: &ParsedAddress) -> bool {
    if !sent.is_street() || !known.is_street() {
        return true;
    }
    let street = known.street_parts();
    let is_name_changed =
        compared::comparable_name(&sent.street) != compared::comparable_name(&known.street);
    let changes_of_street = if extends_written_name(sent, &longer_names(sent), &street) {
        1
    } else if has_directionals(&street, &sent.predirectional, &sent.postdirectional) {
        usize::from(is_name_changed) + usize::from(sent.suffix != known.suffix)
    } else {
        return false;
    };
    let has_number = compared::comparable_house_number(&sent.number, &known.zip)
        == compared::comparable_house_number(&known.number, &known.zip);
    has_number && changes_of_street + usize::from(sent.zip != known.zip) <= 1
}

fn has_directionals(street: &StandardStreet, predirectional: &str, postdirectional: &str) -> bool {
    street.predirectional == predirectional && street.postdirectional == postdirectional
}

/// Another suffix, and nothing else.
fn differs_in_suffix(written: &ParsedAddress, street: &StandardStreet) -> bool {
    has_directionals(street, &written.predirectional, &written.postdirectional)
        && street.suffix != written.suffix
        && has_name(written, street)
}

/// A name with one slip in it, and nothing else.
fn differs_by_slip(written: &ParsedAddress, street: &StandardStreet) -> bool {
    has_directionals(street, &written.predirectional, &written.postdirectional)
        && street.suffix == written.suffix
        && misspelling::is_one_slip_apart(
            &compared::comparable_name(&written.street),
            &compared::comparable_name(&street.name),
        )
}

fn has_name(written: &ParsedAddress, street: &StandardStreet) -> bool {
    compared::comparable_name(&street.name) == compared::comparable_name(&written.street)
}

/// All words that were written, and a suffix.
fn extends_written_name(
    written: &ParsedAddress,
    longer_names: &[LongerName],
    street: &StandardStreet,
) -> bool {
    if street.suffix.is_empty() {
        return false;
    }
    let name = compared::comparable_name(&street.name);
    let is_named = |longer: &LongerName| {
        longer.compared == name
            && has_directionals(street, &written.predirectional, &longer.postdirectional)
    };
    longer_names.iter().any(is_named)
        || (written.suffix.is_empty() && differs_in_suffix(written, street))
}

/// The names that a written street would have if a suffix followed: its suffix, in any spelling, and the directional
/// behind it would be part of the name (Publication 28 §233.3 and §234).
fn longer_names(written: &ParsedAddress) -> Vec<LongerName> {
    let mut names = Vec::new();
    let mut push = |name: &str, postdirectional: &str| {
        let compared = compared::comparable_name(name);
        names.push(LongerName {
            compared,
            postdirectional: postdirectional.to_owned(),
        });
    };
    let suffixed: Vec<String> = suffix::suffix_spellings(&written.suffix)
        .map(|word| format!("{} {word}", written.street))
        .collect();
    for name in &suffixed {
        push(name, &written.postdirectional);
    }
    if !written.postdirectional.is_empty() {
        let bare = written.suffix.is_empty().then(|| written.street.clone());
        for name in suffixed.iter().chain(&bare) {
            push(
                &format!(
                    "{name} {}",
                    direction::spell_directional(&written.postdirectional)
                ),
                "",
            );
        }
    }
    names
}
