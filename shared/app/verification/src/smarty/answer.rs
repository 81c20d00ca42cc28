//! What the provider's answers mean. Pure.

use address::{
    AddressCorrection, AddressError, AddressField, AddressInput, AddressVerdict, CheckedAddress,
    ConfirmationLevel, ParsedAddress, VerificationStrictness, VerifiedAddress,
    is_one_component_apart,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An address that the provider knows, as far as we use it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SmartyCandidate {
    input_index: usize,
    #[serde(default)]
    delivery_line_1: String,
    #[serde(default)]
    delivery_line_2: String,
    #[serde(default)]
    components: SmartyComponents,
    #[serde(default)]
    metadata: SmartyMetadata,
    #[serde(default)]
    analysis: SmartyAnalysis,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct SmartyComponents {
    urbanization: String,
    secondary_designator: String,
    secondary_number: String,
    city_name: String,
    state_abbreviation: String,
    zipcode: String,
    plus4_code: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct SmartyMetadata {
    latitude: Option<f64>,
    longitude: Option<f64>,
    /// How exact the place is: `Zip9`, `Rooftop`, ...
    precision: String,
    /// `Residential` or `Commercial`.
    rdi: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct SmartyAnalysis {
    /// `Y` confirmed · `S` the house, its unit not · `D` the house, which has units and none was sent · `N` not.
    dpv_match_code: String,
}

/// The answer for each of `count` addresses of a batch: the first candidate, or null where there is none.
pub(super) fn parse_answers(body: &[u8], count: usize) -> Result<Vec<Value>, String> {
    let unreadable =
        |error: serde_json::Error| format!("the provider's answer cannot be read: {error}");
    let candidates: Vec<SmartyCandidate> = serde_json::from_slice(body).map_err(unreadable)?;
    let mut answers = vec![Value::Null; count];
    for candidate in candidates {
        let answer = answers
            .get_mut(candidate.input_index)
            .ok_or("the provider's answer is for an address that was not asked")?;
        if answer.is_null() {
            *answer = serde_json::to_value(candidate).map_err(unreadable)?;
        }
    }
    Ok(answers)
}

/// The verdict that an answer gives. Where the provider knows no such address, it is what could be read, with the
/// provider's refusal as what is lacking.
pub(super) fn judge_answer(
    reading: CheckedAddress,
    answer: &Value,
    strictness: VerificationStrictness,
) -> AddressVerdict {
    let known = serde_json::from_value::<SmartyCandidate>(answer.clone()).ok();
    match known
        .as_ref()
        .and_then(|candidate| Some((candidate, candidate.confirmation_level()?)))
    {
        Some((candidate, level)) => {
            let parsed = candidate.to_parsed(reading.parsed());
            if is_one_component_apart(reading.parsed(), &parsed) {
                return candidate
                    .to_verified(reading.parsed(), parsed, level)
                    .into_verdict(strictness);
            }
            if reading.failure().is_some() {
                return reading.into_verdict();
            }
            let only = parsed.one_line;
            let refusal = format!("the postal service knows no such address, only {only}");
            reading
                .into_unconfirmed(AddressError::Provider(refusal))
                .into_verdict(strictness)
        }
        None if reading.failure().is_some() => reading.into_verdict(),
        None => {
            let refusal = "the postal service knows no such address".to_owned();
            reading
                .into_unconfirmed(AddressError::Provider(refusal))
                .into_verdict(strictness)
        }
    }
}

impl SmartyCandidate {
    /// How much is confirmed; `None` when nothing is. A house without the unit that it needs is no delivery point.
    fn confirmation_level(&self) -> Option<ConfirmationLevel> {
        match self.analysis.dpv_match_code.as_str() {
            "Y" => Some(ConfirmationLevel::DeliveryPoint),
            "S" | "D" => Some(ConfirmationLevel::Street),
            _ => None,
        }
    }

    /// The provider's form, read as any address is, so that it has the same identity whoever verified it.
    fn to_parsed(&self, sent: &ParsedAddress) -> ParsedAddress {
        let SmartyComponents {
            secondary_designator,
            secondary_number,
            ..
        } = &self.components;
        let unit = format!("{secondary_designator} {secondary_number}");
        let unit = unit.trim();
        let house = self.delivery_line_1.strip_suffix(unit).map(str::trim_end);
        // A unit shows in a result only when address_1 had it.
        let is_unit_hidden = !sent.unit.is_empty() && !sent.one_line.starts_with(&sent.line1);
        let (address_1, mut address_2) = match house {
            Some(house) if is_unit_hidden && !unit.is_empty() => (house, unit.to_owned()),
            _ => (self.delivery_line_1.as_str(), String::new()),
        };
        let urbanization = match self.components.urbanization.as_str() {
            "" => String::new(),
            name => format!("URB {name}"),
        };
        for part in [
            urbanization.as_str(),
            self.delivery_line_2.as_str(),
            care_of(sent),
        ] {
            if !part.is_empty() {
                address_2 = if address_2.is_empty() {
                    part.to_owned()
                } else {
                    format!("{address_2}, {part}")
                };
            }
        }
        let zip = format!("{}-{}", self.components.zipcode, self.components.plus4_code);
        address::parse(AddressInput {
            address_1,
            address_2: &address_2,
            city: &self.components.city_name,
            state: &self.components.state_abbreviation,
            zip: zip.trim_end_matches('-'),
        })
    }

    fn to_verified(
        &self,
        sent: &ParsedAddress,
        parsed: ParsedAddress,
        level: ConfirmationLevel,
    ) -> Box<VerifiedAddress> {
        let corrections = list_corrections(sent, &parsed);
        let shortfall = (level == ConfirmationLevel::Street).then(|| {
            let line = parsed.line1.clone();
            if self.analysis.dpv_match_code == "D" {
                AddressError::MissingUnit(line)
            } else {
                AddressError::UnknownUnit(line)
            }
        });
        // A place that is only the ZIP's is none of the address.
        let is_located = !matches!(
            self.metadata.precision.as_str(),
            "" | "Unknown" | "None" | "Zip5"
        );
        let mut verified = VerifiedAddress {
            written_id: sent.id(),
            ..parsed.into_verified(corrections, level)
        };
        verified.shortfall = shortfall;
        if let (true, Some(latitude), Some(longitude)) =
            (is_located, self.metadata.latitude, self.metadata.longitude)
        {
            verified.latitude = Some(latitude);
            verified.longitude = Some(longitude);
        }
        verified.residential = match self.metadata.rdi.as_str() {
            "Residential" => Some(true),
            "Commercial" => Some(false),
            _ => None,
        };
        Box::new(verified)
    }
}

/// A care-of line as it was sent: a provider does not return it.
fn care_of(sent: &ParsedAddress) -> &str {
    if sent.line2.starts_with("c/o ") || sent.line2.starts_with("Attn ") {
        &sent.line2
    } else {
        ""
    }
}

fn list_corrections(sent: &ParsedAddress, now: &ParsedAddress) -> Vec<AddressCorrection> {
    [
        (AddressField::Address1, &sent.line1, &now.line1),
        (AddressField::City, &sent.city, &now.city),
        (AddressField::State, &sent.state, &now.state),
        (AddressField::Zip, &sent.zip, &now.zip),
    ]
    .into_iter()
    .filter(|(_, from, to)| from != to)
    .map(|(field, from, to)| AddressCorrection {
        field,
        from: from.clone(),
        to: to.clone(),
    })
    .collect()
}
