//! What uses a column: conditions, designs and their links, within bounds.

use std::collections::{BTreeSet, HashMap};

use crate::profile::{list_formula_columns, list_input_columns};
use audience::{ColumnType, FilterConditions, fold_name};
use contract::mcp::DesignUse;
use contract::push::TypeLockReason;
use design::{DesignElement, ElementContent, PrintableDesign, Side};
use formula::FormulaSheet;
use model::id::TeamId;
use serde_json::Value;
use store::{NamedCampaignConditions, Result, TeamColumn, Transaction};

/// Campaigns or designs that are read at a time.
const PAGE: i64 = 100;

/// Pages of campaigns or designs that are read at the most: what stands beyond is not looked at.
const PAGES: usize = 20;

/// The campaigns whose conditions use a column, and whether all of the team's were looked at.
///
/// # Errors
/// When the database cannot be asked.
pub async fn find_filtering_campaigns(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name_key: &str,
) -> Result<(Vec<NamedCampaignConditions>, bool)> {
    let (mut found, mut after) = (Vec::new(), String::new());
    for _ in 0..PAGES {
        let page = transaction
            .list_filtering_campaigns(team_id, &after, PAGE)
            .await?;
        let Some(last) = page.last() else {
            return Ok((found, true));
        };
        after = last.campaign_id.to_string();
        found.extend(
            page.into_iter()
                .filter(|campaign| filters_on(&campaign.conditions, name_key)),
        );
    }
    Ok((found, false))
}

/// What uses a team's columns with the types that they have, so that nobody but the owner may give them others. Whoever
/// changes a type or saves conditions holds the team's columns locked.
pub struct TypeUses {
    /// The name of a campaign whose conditions look at a column, by the column's folded name.
    filtering: HashMap<String, String>,
    /// The types with which formulas use a column, by its folded name.
    computing: HashMap<String, Vec<ColumnType>>,
}

impl TypeUses {
    /// What uses these columns, which are all of the team's. Reads every campaign that filters, a page at a time.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn load(
        transaction: &Transaction<'_>,
        team_id: TeamId,
        columns: &[TeamColumn],
    ) -> Result<Self> {
        let (mut filtering, mut after) = (HashMap::new(), String::new());
        loop {
            let campaigns = transaction
                .list_filtering_campaigns(team_id, &after, PAGE)
                .await?;
            let Some(last) = campaigns.last() else { break };
            after = last.campaign_id.to_string();
            for campaign in &campaigns {
                // Only the names matter here, which are read whatever the types are.
                let read = FilterConditions::parse(&campaign.conditions, |_| None);
                let names = read.iter().flat_map(FilterConditions::columns);
                filtering.extend(names.map(|name| (name.to_owned(), campaign.name.clone())));
            }
        }
        Ok(Self {
            filtering,
            computing: collect_formula_types(columns),
        })
    }

    /// The name of a campaign whose conditions look at the column of this folded name.
    pub fn filtering_campaign(&self, name_key: &str) -> Option<&str> {
        self.filtering.get(name_key).map(String::as_str)
    }

    /// Whether a formula uses the column of this folded name.
    pub fn is_computed_with(&self, name_key: &str) -> bool {
        self.computing.contains_key(name_key)
    }

    /// Why a column of this folded name may not get another type, this one; `None` when nothing stands against it.
    pub fn type_lock_reason(&self, name_key: &str, wanted: ColumnType) -> Option<TypeLockReason> {
        if self.filtering.contains_key(name_key) {
            return Some(TypeLockReason::Conditions);
        }
        let types = self.computing.get(name_key).map_or(&[][..], Vec::as_slice);
        types
            .iter()
            .any(|used| *used != wanted)
            .then_some(TypeLockReason::Formula)
    }
}

/// The types with which formulas use columns, by folded name.
fn collect_formula_types(columns: &[TeamColumn]) -> HashMap<String, Vec<ColumnType>> {
    let stored: HashMap<&str, ColumnType> = columns
        .iter()
        .map(|column| (column.name_key.as_str(), column.column_type))
        .collect();
    let sheet = FormulaSheet::new(list_input_columns(columns), list_formula_columns(columns));
    // Where it is not known with which types a formula was saved, they are those of today.
    let of_today = |column: &TeamColumn| {
        let formula = sheet.formula(sheet.position(&column.name_key)?)?.ok()?;
        let used = formula.columns().iter();
        Some(
            used.filter_map(|name| Some((name.clone(), *stored.get(name.as_str())?)))
                .collect(),
        )
    };
    let mut computing: HashMap<String, Vec<ColumnType>> = HashMap::new();
    for column in columns.iter().filter(|column| column.formula.is_some()) {
        let uses = column
            .formula_uses
            .clone()
            .or_else(|| of_today(column))
            .unwrap_or_default();
        for (name, column_type) in uses {
            computing.entry(name).or_default().push(column_type);
        }
    }
    computing
}

fn filters_on(conditions: &Value, name_key: &str) -> bool {
    // Which columns a tree uses does not depend on their types, but whether it can be read does.
    ColumnType::ALL.into_iter().any(|column_type| {
        let types = |name: &str| (name == name_key).then_some(column_type);
        FilterConditions::parse(conditions, types)
            .is_ok_and(|conditions| conditions.columns().any(|column| column == name_key))
    })
}

/// The designs that use a column, and whether all of the team's were looked at.
///
/// # Errors
/// When the database cannot be asked.
pub async fn find_design_uses(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name_key: &str,
) -> Result<(Vec<DesignUse>, bool)> {
    let (mut found, mut after, mut is_complete) = (Vec::new(), String::new(), true);
    for _ in 0..PAGES {
        let page = transaction
            .list_design_documents(team_id, &after, PAGE)
            .await?;
        let Some(last) = page.last() else {
            return Ok((found, is_complete));
        };
        after.clone_from(&last.name);
        for design in page {
            // One that cannot be read cannot print, and uses nothing until it is repaired.
            let Ok(document) = PrintableDesign::parse(&design.document) else {
                is_complete = false;
                continue;
            };
            let uses = list_column_uses(&document, name_key);
            if !uses.is_empty() {
                found.push(DesignUse {
                    name: design.name,
                    uses,
                });
            }
        }
    }
    Ok((found, false))
}

/// What a design uses a column for, each once.
fn list_column_uses(document: &PrintableDesign, name_key: &str) -> Vec<&'static str> {
    let is_it = |field: &str| fold_name(field) == name_key;
    let elements = [Side::Front, Side::Back]
        .into_iter()
        .flat_map(|side| &document.side(side).elements);
    let elements = elements
        .filter(|element| element.field_names().any(is_it))
        .map(element_use);
    let address = document
        .return_address()
        .filter(|address| address.address.field_names().any(is_it));
    let uses: BTreeSet<_> = elements.chain(address.map(|_| "return_address")).collect();
    uses.into_iter().collect()
}

const fn element_use(element: &DesignElement) -> &'static str {
    match &element.content {
        ElementContent::QrCode(_) => "link",
        ElementContent::Image(_) => "image",
        ElementContent::Text(_) | ElementContent::Shape(_) => "text",
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
    fn formulas_keep_the_types_with_which_they_were_saved() {
        let saved = TeamColumn {
            formula_uses: Some([("x".to_owned(), ColumnType::Number)].into()),
            ..TeamColumn::new_formula("Saved", ColumnType::Number, "x + 1")
        };
        let custom = |name| {
            TeamColumn::new(
                name,
                ColumnType::Number,
                store::ColumnKind::Custom,
                store::ColumnSource::Api,
            )
        };
        let unknown = TeamColumn::new_formula("Unknown", ColumnType::Number, "y + 1");
        let columns = [custom("x"), custom("y"), custom("z"), saved, unknown];
        let uses = TypeUses {
            filtering: HashMap::new(),
            computing: collect_formula_types(&columns),
        };
        for used in ["x", "y"] {
            assert_eq!(
                uses.type_lock_reason(used, ColumnType::Text),
                Some(TypeLockReason::Formula),
                "{used}"
            );
            assert_eq!(
                uses.type_lock_reason(used, ColumnType::Number),
                None,
                "{used}"
            );
        }
        assert_eq!(uses.type_lock_reason("z", ColumnType::Text), None);
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
        let document = PrintableDesign::parse(&document).unwrap();
        assert_eq!(list_column_uses(&document, "shop"), ["return_address"]);
        assert_eq!(list_column_uses(&document, "tier"), [""; 0]);
    }
}
