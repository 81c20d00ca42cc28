//! Address points in memory, asked as the local verifier asks the database.

use std::collections::{BTreeMap, BTreeSet};

use address::{
    AddressInput, AddressVerdict, CheckedAddress, DeliveryPoint, ParsedAddress, PointEvidence,
    PointKey, SimilarStreets, StandardStreet, StreetQuestion, VerificationStrictness,
    find_meant_address, parse,
};

/// ZIPs that lie near each other.
pub const ZIPS: &[&str] = &["21209", "21210", "21212"];

/// City and state of all of them.
pub fn last_line() -> AddressInput<'static> {
    AddressInput {
        city: "Baltimore",
        state: "MD",
        ..AddressInput::default()
    }
}

/// One delivery point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Household {
    pub number: String,
    pub street: String,
    pub unit: String,
    pub zip: String,
}

impl Household {
    /// `7 Main St Apt 2|21209`.
    pub fn parse(text: &str) -> Self {
        let (line, zip) = text.split_once('|').expect("a ZIP behind the line");
        let (line, unit) = match line.find(" Apt ") {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, ""),
        };
        let (number, street) = line.split_once(' ').expect("a number before the street");
        let [number, street, unit, zip] = [number, street, unit, zip].map(str::to_owned);
        Self {
            number,
            street,
            unit,
            zip,
        }
    }

    pub fn delivery_line(&self) -> String {
        format!("{} {} {}", self.number, self.street, self.unit)
            .trim_end()
            .to_owned()
    }

    pub fn address_input<'a>(&'a self, address_1: &'a str) -> AddressInput<'a> {
        AddressInput {
            address_1,
            zip: &self.zip,
            ..last_line()
        }
    }
}

/// The points of a county.
#[derive(Debug, Default)]
pub struct County {
    /// Points that cover a ZIP.
    coverage_points: usize,
    households: BTreeSet<Household>,
    /// By ZIP and address.
    points: BTreeSet<(i32, u128)>,
    /// By ZIP and key, with the key of the name.
    streets: BTreeMap<(i32, i64), (i64, StandardStreet)>,
}

impl County {
    /// The points of these households, each as it is read usually.
    pub fn from_households(households: impl IntoIterator<Item = Household>) -> Self {
        Self::from_points(households.into_iter().map(|household| {
            let line = household.delivery_line();
            let parsed = parse(household.address_input(&line));
            (household, parsed)
        }))
    }

    /// The points of these households, each read so.
    pub fn from_points(points: impl IntoIterator<Item = (Household, ParsedAddress)>) -> Self {
        let mut county = Self::default();
        for (household, parsed) in points {
            if let Some(key) = parsed.point_key() {
                county
                    .points
                    .insert((key.zip, key.address_id.as_uuid().as_u128()));
                county.streets.insert(
                    (key.zip, key.street_key),
                    (key.name_key, parsed.street_parts()),
                );
            }
            county.households.insert(household);
        }
        county
    }

    /// The same points, of which so many cover a ZIP.
    pub fn covered_by(self, coverage_points: usize) -> Self {
        Self {
            coverage_points,
            ..self
        }
    }

    /// Whether there are points enough in a ZIP to know that a street is not there.
    pub fn is_covered(&self, zip: i32) -> bool {
        self.points
            .range((zip, u128::MIN)..=(zip, u128::MAX))
            .count()
            >= self.coverage_points
    }

    pub fn iter_households(&self) -> impl Iterator<Item = &Household> {
        self.households.iter()
    }

    /// The streets as they are written, each once.
    pub fn street_names(&self) -> BTreeSet<String> {
        self.households
            .iter()
            .map(|household| household.street.clone())
            .collect()
    }

    /// The verdict where this much of an address is asked for as there is of it.
    pub fn verify(&self, input: AddressInput<'_>) -> AddressVerdict {
        let reading = CheckedAddress::from_input(input);
        let key = reading.point_key();
        let evidence = self.find_evidence(key);
        let corrected = (evidence == PointEvidence::Nothing)
            .then(|| self.find_meant(input, &reading))
            .flatten();
        let (reading, evidence) = corrected.unwrap_or((reading, evidence));
        if reading.failure().is_some() {
            return reading.into_verdict();
        }
        reading
            .confirm(evidence)
            .into_verdict(VerificationStrictness::Zip)
    }

    fn find_meant(
        &self,
        input: AddressInput<'_>,
        reading: &CheckedAddress,
    ) -> Option<(CheckedAddress, PointEvidence)> {
        let key = reading.point_key();
        let is_covered = self.is_covered(key.zip);
        let is_doubtful = reading.is_misplaced() || (key.is_in_zip() && is_covered);
        let question = is_doubtful
            .then(|| reading.street_question(is_covered))
            .flatten();
        let corrections = question.map_or_else(Vec::new, |question| {
            let namesakes = self.find_similar_streets(&question);
            reading.street_candidates(input, &namesakes, is_covered)
        });
        let look_up = |all: Vec<CheckedAddress>| {
            let known = all.into_iter().map(|one| {
                let evidence = self.find_evidence(one.point_key());
                (one, evidence)
            });
            known.collect::<Vec<_>>()
        };
        find_meant_address(
            look_up(reading.other_readings(input)),
            look_up(corrections),
            |evidence| evidence,
        )
    }

    /// Whether there is such a house, or a unit in it, in the ZIP.
    pub fn knows_house(&self, input: AddressInput<'_>) -> bool {
        let key = CheckedAddress::from_input(input).point_key();
        let evidence = self.find_evidence(key);
        matches!(
            evidence,
            PointEvidence::House(_) | PointEvidence::DeliveryPoint(_)
        )
    }

    fn find_evidence(&self, key: PointKey) -> PointEvidence {
        let place = DeliveryPoint {
            latitude: 39.3,
            longitude: -76.5,
            plus4: None,
            residential: None,
        };
        let number = |id: address::AddressId| id.as_uuid().as_u128();
        let (id, house) = (key.address_id, number(key.address_id.without_unit()));
        let in_house = (key.zip, house)..=(key.zip, number(id.last_unit_id()));
        let last = self.points.range(in_house).next_back().map(|(_, id)| *id);
        match last {
            _ if self.points.contains(&(key.zip, number(id))) => {
                PointEvidence::DeliveryPoint(place)
            }
            Some(last) if last == house => PointEvidence::DeliveryPoint(place),
            Some(_) => PointEvidence::House(place),
            None if self.streets.contains_key(&(key.zip, key.street_key)) => PointEvidence::Street,
            None => PointEvidence::Nothing,
        }
    }

    fn find_similar_streets(&self, question: &StreetQuestion) -> SimilarStreets {
        let is_longer = |name_key: &i64| question.longer_name_keys.contains(name_key);
        let in_zip = self
            .streets
            .range((question.zip, i64::MIN)..=(question.zip, i64::MAX));
        let in_zip = in_zip.filter(|(_, (key, _))| *key == question.name_key || is_longer(key));
        let (first, last) = question.zips_nearby;
        let nearby = || {
            let count = if first > last { 0 } else { usize::MAX };
            self.streets
                .range((first.min(last), i64::MIN)..=(last.max(first), i64::MAX))
                .take(count)
        };
        let (city_first, city_last) = question.zips_of_city.unwrap_or((0, -1));
        let in_city = || {
            self.streets
                .iter()
                .filter(|((zip, _), _)| (city_first..=city_last).contains(zip))
        };
        let is_alike = |street: &&(i64, StandardStreet)| {
            question.name_ends.as_ref().is_some_and(|ends| {
                let name = street.1.name.to_lowercase();
                let reversed: String = name.chars().rev().collect();
                name.starts_with(&ends.beginning) || reversed.starts_with(&ends.reversed_end)
            })
        };
        let here = self
            .streets
            .range((question.zip, i64::MIN)..=(question.zip, i64::MAX));
        SimilarStreets {
            written_zips: in_city()
                .filter(|((_, street_key), _)| *street_key == question.street_key)
                .map(|((zip, _), _)| *zip)
                .collect(),
            alike_in_zip: here
                .map(|(_, street)| street)
                .filter(is_alike)
                .map(|(_, street)| street.clone())
                .collect(),
            in_zip: in_zip.map(|(_, (_, street))| street.clone()).collect(),
            is_written_nearby: nearby()
                .any(|((_, street_key), _)| *street_key == question.street_key),
            is_longer_nearby: nearby().any(|(_, (name_key, _))| is_longer(name_key)),
        }
    }
}
