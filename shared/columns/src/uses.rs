//! What uses a column: conditions, designs and their links, within bounds.

use std::collections::BTreeSet;

use audience::{ColumnType, Conditions, fold_name};
use contract::id::TeamId;
use contract::mcp::DesignUse;
use design::{Content, Document, Element, Side};
use serde_json::Value;
use store::{CampaignConditions, Result, Transaction};

/// Campaigns or designs that are read at a time.
const PAGE: i64 = 100;

/// Pages of campaigns or designs that are read at the most: what stands beyond is not looked at.
const PAGES: usize = 20;

/// The campaigns whose conditions use a column, and whether all of the team's were looked at.
///
/// # Errors
/// When the database cannot be asked.
pub async fn filtering_campaigns(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name_key: &str,
) -> Result<(Vec<CampaignConditions>, bool)> {
    let (mut found, mut after) = (Vec::new(), String::new());
    for _ in 0..PAGES {
        let page = transaction.campaign_conditions(team_id, &after, PAGE).await?;
        let Some(last) = page.last() else { return Ok((found, true)) };
        after = last.campaign_id.to_string();
        found.extend(page.into_iter().filter(|campaign| filters_on(&campaign.conditions, name_key)));
    }
    Ok((found, false))
}

fn filters_on(conditions: &Value, name_key: &str) -> bool {
    // Which columns a tree uses does not depend on their types, but whether it can be read does.
    ColumnType::ALL.into_iter().any(|column_type| {
        let types = |name: &str| (name == name_key).then_some(column_type);
        Conditions::parse(conditions, types)
            .is_ok_and(|conditions| conditions.columns().any(|column| column == name_key))
    })
}

/// The designs that use a column, and whether all of the team's were looked at.
///
/// # Errors
/// When the database cannot be asked.
pub async fn designs(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name_key: &str,
) -> Result<(Vec<DesignUse>, bool)> {
    let (mut found, mut after, mut is_complete) = (Vec::new(), String::new(), true);
    for _ in 0..PAGES {
        let page = transaction.design_documents(team_id, &after, PAGE).await?;
        let Some(last) = page.last() else { return Ok((found, is_complete)) };
        after.clone_from(&last.name);
        for design in page {
            // One that cannot be read cannot print, and uses nothing until it is repaired.
            let Ok(document) = Document::parse(&design.document) else {
                is_complete = false;
                continue;
            };
            let uses = uses_of(&document, name_key);
            if !uses.is_empty() {
                found.push(DesignUse { name: design.name, uses });
            }
        }
    }
    Ok((found, false))
}

/// What a design uses a column for, each once.
fn uses_of(document: &Document, name_key: &str) -> Vec<&'static str> {
    let is_it = |field: &str| fold_name(field) == name_key;
    let elements = [Side::Front, Side::Back].into_iter().flat_map(|side| &document.surface(side).elements);
    let elements = elements.filter(|element| element.fields().any(is_it)).map(use_of);
    let address = document.return_address().filter(|address| address.address.fields().any(is_it));
    let uses: BTreeSet<_> = elements.chain(address.map(|_| "return_address")).collect();
    uses.into_iter().collect()
}

const fn use_of(element: &Element) -> &'static str {
    match &element.content {
        Content::QrCode(_) => "link",
        Content::Image(_) => "image",
        Content::Text(_) | Content::Shape(_) => "text",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_use_a_column_whatever_its_type() {
        let conditions = json!({"all": [{"column": "Tier", "operator": "greater", "value": 5}]});
        assert!(filters_on(&conditions, "tier"));
        assert!(!filters_on(&conditions, "other"));
        assert!(!filters_on(&json!({"all": 7}), "tier"));
    }

    #[test]
    fn a_design_uses_a_column_as_text_link_image_or_return_address() {
        let document = json!({
            "product": "postcard_4x6",
            "front": {"elements": []},
            "back": {"elements": []},
            "return_address": {
                "address": {"name": "{{Shop}}", "address_1": "1 Main St", "city": "Austin", "state": "TX", "zip": "78701"},
                "fallback": {"name": "Acme", "address_1": "1 Main St", "city": "Austin", "state": "TX", "zip": "78701"},
            },
        });
        let document = Document::parse(&document).unwrap();
        assert_eq!(uses_of(&document, "shop"), ["return_address"]);
        assert_eq!(uses_of(&document, "tier"), [""; 0]);
    }
}
