//! A card for somebody who does not exist.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::id::{DesignId, TeamId};
use contract::scan::CardCode;
use design::Document;
use store::{PieceContent, PrintPiece};
use uuid::Uuid;

/// A code that no card has got: it leads nowhere.
const CODE: &str = "SampleCard";

/// A campaign that there may be none of.
const CAMPAIGN: &str = "PA-SAMPLE";

/// The fields of the address, which a design need not have.
pub(super) const ADDRESS_FIELDS: [&str; 7] =
    ["first_name", "last_name", "address_1", "address_2", "city", "state", "zip"];

/// A card with these values of its design's fields, by folded name, and these pictures.
pub(super) fn piece(
    document: &Document,
    (design_id, design_version): (DesignId, i32),
    fields: BTreeMap<String, String>,
    pictures: BTreeMap<String, String>,
    now: DateTime<Utc>,
) -> PrintPiece {
    let sample = |name: &str, value: &str| fields.get(name).cloned().unwrap_or_else(|| value.to_owned());
    let return_address = return_address(document, &fields);
    PrintPiece {
        position: 0,
        team_id: TeamId(Uuid::nil()),
        piece_id: Uuid::nil(),
        campaign_id: CAMPAIGN.parse().expect("an id like every campaign's"),
        first_name: sample("first_name", "Ada"),
        last_name: sample("last_name", "Miles"),
        line_1: sample("address_1", "1100 Congress Ave"),
        line_2: sample("address_2", ""),
        city: sample("city", "Austin"),
        state: sample("state", "TX"),
        zip: sample("zip", "78701"),
        plus4: None,
        postage: "first_class".to_owned(),
        mail_by_date: now.date_naive(),
        design_id,
        design_version,
        code: CardCode::parse(CODE),
        content: PieceContent { fields, return_address, pictures },
    }
}

/// The return address with these values; the fallback where one is missing, as it prints then.
fn return_address(document: &Document, fields: &BTreeMap<String, String>) -> Vec<String> {
    let Some(design) = document.return_address() else { return Vec::new() };
    let value = |field: &str| fields.get(&audience::fold_name(field)).map(String::as_str);
    let own = design.address.render(value);
    match &design.fallback {
        Some(fallback) if !own.is_whole => fallback.render(value).lines(),
        _ => own.lines(),
    }
}
