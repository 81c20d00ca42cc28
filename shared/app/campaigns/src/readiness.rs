//! What a campaign lacks before it can go live.

use audience::GeoArea;
use design::{PrintableDesign, Product};
use store::{CampaignStep, StoredCampaignSettings, TeamColumn};

use crate::conditions::{ConditionsProblem, check_conditions};

/// Something that keeps a campaign from mailing.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingPart {
    /// It has no step.
    Steps,
    /// This step has no design, or one that is gone.
    StepDesign(i16),
    /// The design of this step is a draft of a language model that no person has saved.
    StepDraft(i16),
    /// The design of this step cannot print.
    StepUnprintable(i16),
    /// Its conditions cannot be used with the team's columns.
    Conditions(ConditionsProblem),
    /// Its map area cannot be read.
    Area,
    /// Its budget pays for no mailpiece; one costs so many cents.
    Budget(i64),
}

/// What a campaign lacks, with `price_of` a mailpiece of this step, in cents; empty when it can go live.
pub fn list_missing_parts(
    settings: &StoredCampaignSettings,
    steps: &[CampaignStep],
    columns: &[TeamColumn],
    price_of: impl Fn(&CampaignStep) -> Option<i64>,
) -> Vec<MissingPart> {
    let mut missing: Vec<MissingPart> = steps.iter().filter_map(missing_of_step).collect();
    if steps.is_empty() {
        missing.push(MissingPart::Steps);
    }
    let area = settings.area.as_deref();
    if area.is_some_and(|area| GeoArea::parse(area).is_err()) {
        missing.push(MissingPart::Area);
    }
    let column = |name: &str| {
        let key = audience::fold_name(name);
        let known = columns.iter().find(|column| column.name_key == key);
        known.map(|column| column.column_type)
    };
    let conditions = settings.conditions.as_ref();
    if let Some(Err(problem)) = conditions.map(|tree| check_conditions(tree, column)) {
        missing.push(MissingPart::Conditions(problem));
    }
    let price = steps.first().and_then(price_of);
    if let (Some(budget), Some(price)) = (settings.budget_cents, price)
        && budget < price
    {
        missing.push(MissingPart::Budget(price));
    }
    missing
}

fn missing_of_step(step: &CampaignStep) -> Option<MissingPart> {
    let Some(design) = &step.design else {
        return Some(MissingPart::StepDesign(step.step));
    };
    if design.is_ai_draft {
        return Some(MissingPart::StepDraft(step.step));
    }
    product_of_step(step)
        .is_none()
        .then_some(MissingPart::StepUnprintable(step.step))
}

/// What a step's mailpieces are; `None` without a design that can print.
pub fn product_of_step(step: &CampaignStep) -> Option<Product> {
    let design = step.design.as_ref()?;
    PrintableDesign::parse(&design.document)
        .ok()
        .map(|design| design.product())
}

#[cfg(test)]
mod tests {
    use contract::send::Postage;
    use model::id::DesignId;
    use serde_json::{Value, json};
    use store::{AudienceSource, CampaignStatus, CancellationSettings, StepDesign};

    use super::*;

    fn settings() -> StoredCampaignSettings {
        StoredCampaignSettings {
            name: "Spring".to_owned(),
            status: CampaignStatus::Draft,
            is_archived: false,
            audience: AudienceSource::Api,
            neighborhood: None,
            strictness: None,
            budget_cents: None,
            resend_protection_days: None,
            area: None,
            conditions: None,
            cancellation: CancellationSettings::default(),
            steps: Vec::new(),
        }
    }

    fn step(step: i16, document: Option<Value>) -> CampaignStep {
        let design = document.map(|document| StepDesign {
            design_id: DesignId::new(),
            version: 1,
            name: "Card".to_owned(),
            is_ai_draft: false,
            document,
        });
        CampaignStep {
            step,
            delay_days: 0,
            postage: Postage::Standard,
            design,
        }
    }

    fn printable() -> Option<Value> {
        Some(json!({"product": "postcard_4x6", "front": {}, "back": {}}))
    }

    #[test]
    fn a_campaign_with_a_card_to_print_lacks_nothing() {
        let steps = [step(1, printable())];
        assert_eq!(
            list_missing_parts(&settings(), &steps, &[], |_| Some(79)),
            []
        );
    }

    #[test]
    fn all_that_is_missing_is_told_at_once() {
        let mut draft = step(2, printable());
        draft.design.as_mut().unwrap().is_ai_draft = true;
        let steps = [step(1, None), draft, step(3, Some(json!({})))];
        let lacking = StoredCampaignSettings {
            budget_cents: Some(78),
            area: Some("{}".to_owned()),
            conditions: Some(json!({"column": "pet", "operator": "is", "value": "Rex"})),
            ..settings()
        };
        assert_eq!(
            list_missing_parts(&lacking, &steps, &[], |_| Some(79)),
            [
                MissingPart::StepDesign(1),
                MissingPart::StepDraft(2),
                MissingPart::StepUnprintable(3),
                MissingPart::Area,
                MissingPart::Conditions(ConditionsProblem::UnknownColumn("pet".to_owned())),
                MissingPart::Budget(79),
            ]
        );
        assert_eq!(
            list_missing_parts(&settings(), &[], &[], |_| None),
            [MissingPart::Steps]
        );
    }
}
