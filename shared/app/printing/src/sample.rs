//! A card for somebody who does not exist.

use std::collections::{BTreeMap, HashSet};

use address::AddressInput;
use audience::fold_name;
use chrono::{DateTime, Utc};
use design::{ImageSource, PrintableDesign};
use model::id::{DesignId, TeamId};
use model::scan::MailpieceCode;
use store::{MailpieceContent, PrintMailpiece};
use uuid::Uuid;

use crate::pictures::image_sources;

/// A code that no card has got: it leads nowhere.
const CODE: &str = "SampleCard";

/// A campaign that there may be none of.
const CAMPAIGN: &str = "PA-SAMPLE";

/// The fields of the address, which a design need not have.
pub(crate) const ADDRESS_FIELDS: [&str; 7] = [
    "first_name",
    "last_name",
    "address_1",
    "address_2",
    "city",
    "state",
    "zip",
];

/// What the person on a proof is called and where that person lives, by built-in column.
const PERSON: [(&str, &str); 10] = [
    ("first_name", "Ada"),
    ("last_name", "Miles"),
    ("address_1", "1100 Congress Ave"),
    ("city", "Austin"),
    ("state", "TX"),
    ("zip", "78701"),
    ("email", "ada@example.com"),
    ("phone", "(512) 555-0142"),
    ("organization", "Bluebonnet Books"),
    ("birthday", "4/12"),
];

/// Values for all fields of a design that print as text, by folded name: those of the sample person for built-in
/// columns, the field's own name for others.
pub fn sample_values(document: &PrintableDesign) -> BTreeMap<String, String> {
    let pictures: HashSet<String> = image_sources(document)
        .filter_map(|source| match source {
            ImageSource::Variable { field, .. } => Some(fold_name(field)),
            ImageSource::Fixed { .. } => None,
        })
        .collect();
    let fields = document
        .field_names()
        .into_iter()
        .map(|field| (fold_name(field), field));
    fields
        .filter(|(folded, _)| !pictures.contains(folded))
        .map(|(folded, field)| {
            let value = sample_value(&folded).unwrap_or(field).to_owned();
            (folded, value)
        })
        .collect()
}

fn sample_value(column: &str) -> Option<&'static str> {
    PERSON
        .iter()
        .find(|(name, _)| *name == column)
        .map(|(_, value)| *value)
}

/// A card with these values of its design's fields, by folded name, and these pictures.
pub(crate) fn sample_mailpiece(
    document: &PrintableDesign,
    (design_id, design_version): (DesignId, i32),
    fields: BTreeMap<String, String>,
    pictures: BTreeMap<String, String>,
    now: DateTime<Utc>,
) -> PrintMailpiece {
    let sample = |name: &str| {
        let given = fields.get(name).map(String::as_str);
        given
            .or_else(|| sample_value(name))
            .unwrap_or_default()
            .to_owned()
    };
    let return_address = sample_return_address(document, &fields);
    let [line_1, line_2] = sample_address_lines(sample("address_1"), sample("address_2"));
    PrintMailpiece {
        position: 0,
        team_id: TeamId(Uuid::nil()),
        mailpiece_id: Uuid::nil(),
        campaign_id: CAMPAIGN.parse().expect("an id like every campaign's"),
        first_name: sample("first_name"),
        last_name: sample("last_name"),
        line_1,
        line_2,
        city: sample("city"),
        state: sample("state"),
        zip: sample("zip"),
        plus4: None,
        postage: "first_class".to_owned(),
        mail_by_date: now.date_naive(),
        design_id,
        design_version,
        code: MailpieceCode::parse(CODE),
        content: MailpieceContent {
            fields,
            return_address,
            pictures,
        },
    }
}

/// The address block's lines, with the unit on the delivery line; as they are given when they cannot be read.
fn sample_address_lines(address_1: String, address_2: String) -> [String; 2] {
    let read = address::parse(AddressInput {
        address_1: &address_1,
        address_2: &address_2,
        ..AddressInput::default()
    });
    if read.line1.is_empty() {
        [address_1, address_2]
    } else {
        [read.line1, read.line2]
    }
}

/// The return address with these values; the fallback where one is missing, as it prints then.
fn sample_return_address(
    document: &PrintableDesign,
    fields: &BTreeMap<String, String>,
) -> Vec<String> {
    let Some(design) = document.return_address() else {
        return Vec::new();
    };
    let value = |field: &str| fields.get(&fold_name(field)).map(String::as_str);
    let own = design.address.render(value);
    match &design.fallback {
        Some(fallback) if !own.is_whole => fallback.render(value).lines(),
        _ => own.lines(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_field_gets_a_value_and_a_picture_s_field_none() {
        let document = json!({
            "product": "postcard_4x6",
            "front": { "elements": [
                { "id": "hello", "kind": "text", "area": { "x": 20, "y": 20, "width": 200, "height": 30 },
                  "text": "Dear {{First_Name|neighbor}}, your {{Loyalty Level}}", "font": "Inter", "size": 12 },
                { "id": "photo", "kind": "image", "area": { "x": 20, "y": 80, "width": 50, "height": 50 },
                  "source": { "variable": { "field": "photo" } } },
            ] },
            "back": {},
        });
        let values = sample_values(&PrintableDesign::parse(&document).unwrap());
        let expected = [("first_name", "Ada"), ("loyalty level", "Loyalty Level")];
        assert_eq!(
            values,
            expected
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into()
        );
    }
}
