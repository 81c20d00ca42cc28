//! Which address was meant when points do not know the street as it was first read. Pure: looking the others up is the
//! caller's part.

use crate::{
    input::AddressInput, points::PointEvidence, readings::parse_readings, verify::CheckedAddress,
};

impl CheckedAddress {
    /// The other ways in which the address, sent as `input`, can be read and mailed, the likeliest first. For lists it is
    /// written as it was first read.
    pub fn other_readings(&self, input: AddressInput<'_>) -> Vec<Self> {
        if !self.point_key().is_in_zip() {
            return Vec::new();
        }
        let others = parse_readings(input).into_iter().skip(1);
        let checked = others.map(|reading| Self {
            written_id: self.written_id,
            ..Self::from_reading(reading, input)
        });
        checked
            .filter(|other| other.failure.is_none() && other.point_key().is_in_zip())
            .collect()
    }
}

/// The address that was meant, if it is certain: another reading of the same words whose house is known, when it is the only
/// one; or the only correction whose house is, when no reading is on a street that stands. Each is confirmed whole.
pub fn find_meant_address<Facts>(
    readings: Vec<(CheckedAddress, Facts)>,
    corrections: Vec<(CheckedAddress, Facts)>,
    evidence: impl Fn(&Facts) -> &PointEvidence,
) -> Option<(CheckedAddress, Facts)> {
    let is_on_street = |(_, facts): &(CheckedAddress, Facts)| {
        !matches!(
            evidence(facts),
            PointEvidence::Nothing | PointEvidence::Uncovered
        )
    };
    if readings.iter().any(is_on_street) {
        find_only_confirmed(readings, evidence)
    } else {
        find_only_confirmed(corrections, evidence)
    }
}

/// The one candidate whose house is known, when no other's is and it is confirmed whole.
fn find_only_confirmed<Facts>(
    candidates: Vec<(CheckedAddress, Facts)>,
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
