//! Which other street an address may have meant when its ZIP has none as it was written. Pure: looking streets and
//! houses up is the caller's part.
//!
//! Another household's card is worse than none, so one component changes at the most, and it is the street's suffix: one
//! that was left out is added, a wrong one gives way to another. A directional never changes. A street that stands as it
//! was written, here or in a ZIP nearby, is the one that was meant. What adds to the written words comes before what
//! takes some away, and where two addresses remain neither is taken.

use crate::{
    compared,
    parsed::ParsedAddress,
    points::{self, PointEvidence, StandardStreet},
    tables::{direction, suffix},
    verify::CheckedAddress,
    zips,
};

/// A written street that its ZIP does not know, as it is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreetQuestion {
    /// The ZIP as a number.
    pub zip: i32,
    /// The first and the last ZIP of the neighbourhood, in which a sender may have taken the wrong one.
    pub zips_nearby: (i32, i32),
    /// The street as it was written.
    pub street_key: i64,
    /// Its name.
    pub name_key: i64,
    /// Names that hold all words of it, so that a suffix may follow: `Carroll Manor` of `Carroll Mnr`.
    pub longer_name_keys: Vec<i64>,
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
}

/// A name that holds all words of a written street.
struct LongerName {
    compared: String,
    /// What is left of the directional behind the street: nothing when the name has it.
    postdirectional: String,
}

impl CheckedAddress {
    /// What to ask of the streets when none is known as it was written; `None` for what is on no street of a ZIP.
    pub fn street_question(&self) -> Option<StreetQuestion> {
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
            street_key,
            name_key,
            longer_name_keys,
        })
    }

    /// The addresses that this one may stand for, when its ZIP does not know its street.
    pub fn street_candidates(&self, namesakes: &SimilarStreets) -> Vec<Self> {
        if namesakes.is_written_nearby {
            return Vec::new();
        }
        let longer_names = longer_names(&self.parsed);
        let longer: Vec<Self> = self.candidates_on_streets(namesakes, |street| {
            extends_written_name(&self.parsed, &longer_names, street)
        });
        if !longer.is_empty() || namesakes.is_longer_nearby {
            return longer;
        }
        self.candidates_on_streets(namesakes, |street| differs_in_suffix(&self.parsed, street))
    }

    fn candidates_on_streets(
        &self,
        namesakes: &SimilarStreets,
        is_meant: impl Fn(&StandardStreet) -> bool,
    ) -> Vec<Self> {
        namesakes
            .in_zip
            .iter()
            .filter(|street| is_meant(street))
            .map(|street| self.with_street(street))
            .collect()
    }
}

/// The one candidate whose house is known, when no other's is and it is confirmed whole.
pub fn find_only_confirmed<Facts>(
    candidates: impl IntoIterator<Item = (CheckedAddress, Facts)>,
    evidence: impl Fn(&Facts) -> &PointEvidence,
) -> Option<(CheckedAddress, Facts)> {
    let is_house = |facts: &Facts| {
        matches!(
            evidence(facts),
            PointEvidence::DeliveryPoint(_) | PointEvidence::House(_)
        )
    };
    let mut houses = candidates.into_iter().filter(|(_, facts)| is_house(facts));
    let only = houses.next().filter(|_| houses.next().is_none());
    only.filter(|(_, facts)| matches!(evidence(facts), PointEvidence::DeliveryPoint(_)))
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
        && compared::comparable_name(&street.name) == compared::comparable_name(&written.street)
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
