//! A campaign's rules, compiled once per request: may it mail now, whom, what and for how much?

use std::collections::HashMap;

use audience::{FilterConditions, GeoArea};
use chrono::NaiveDate;
use columns::RecipientProfile;
use columns::{ComputedRecipient, FormulaColumns};
use contract::send::{NotMailedReason, SendError};
use runtime::Config;
use store::{AudienceSource, Campaign, CampaignStep, StepDesign, TeamColumn};

use crate::cards::{DesignCache, MailpieceRules};

/// What one step of a campaign mails.
#[derive(Debug)]
pub(crate) struct StepRules<'c> {
    pub(crate) step: &'c CampaignStep,
    pub(crate) design: &'c StepDesign,
    pub(crate) product: &'static str,
    pub(crate) price_cents: i64,
    pub(crate) cards: MailpieceRules,
}

/// Whom a campaign mails. The default mails everybody.
#[derive(Default)]
pub(crate) struct AudienceRules {
    area: Option<GeoArea>,
    conditions: FilterConditions,
    formulas: FormulaColumns,
}

/// The contract's checks of the whole request: `campaign_not_active`, then `design_cannot_render`. Every step is
/// checked, so that a later one does not fail when its time has come. Returns the rules of all, step 1 first.
pub(crate) fn check_campaign<'c>(
    campaign: &'c Campaign,
    config: &Config,
    designs: &DesignCache,
) -> Result<Vec<StepRules<'c>>, SendError> {
    let not_active = |message: &str| Err(SendError::CampaignNotActive(message.to_owned()));
    if !campaign.is_active {
        return not_active("The campaign is not active. Activate it to mail its recipients.");
    }
    if campaign.audience != AudienceSource::Api {
        return not_active("The campaign does not take its audience from the API.");
    }
    if campaign.steps.is_empty() {
        return not_active("The campaign has no step yet.");
    }
    if let Some(step) = campaign.steps.iter().find(|step| step.design.is_none()) {
        return Err(SendError::CampaignNotActive(format!(
            "Step {} of the campaign has no design.",
            step.step
        )));
    }
    campaign
        .steps
        .iter()
        .map(|step| step_rules(step, config, designs))
        .collect()
}

/// The rules of one step. Errors: `campaign_not_active` without a design, `design_cannot_render`.
pub(crate) fn step_rules<'c>(
    step: &'c CampaignStep,
    config: &Config,
    designs: &DesignCache,
) -> Result<StepRules<'c>, SendError> {
    let design = step.design.as_ref().ok_or_else(|| {
        SendError::CampaignNotActive(format!("Step {} of the campaign has no design.", step.step))
    })?;
    if design.is_ai_draft {
        return Err(SendError::DesignCannotRender(format!(
            "The design {:?} is still an AI draft: open it in the designer and save it.",
            design.name
        )));
    }
    let ready = designs.get_or_prepare(design).map_err(|problem| {
        SendError::DesignCannotRender(format!(
            "The design {:?} cannot print: {problem}",
            design.name
        ))
    })?;
    let product = ready.product_name();
    // Every product has a price: the mailer does not start without.
    let price = config.prices.get(product).ok_or(SendError::InternalError)?;
    let cards = MailpieceRules::from_design(ready);
    Ok(StepRules {
        step,
        design,
        product,
        price_cents: price.with(step.postage),
        cards,
    })
}

impl AudienceRules {
    /// Compiles the map area and the conditions. Stored ones were checked when they were saved; if they cannot be
    /// read any more, the campaign mails nobody and says so. `columns` are the team's.
    pub(crate) fn compile(campaign: &Campaign, columns: &[TeamColumn]) -> Result<Self, SendError> {
        let unreadable = |what: &str, why: String| {
            SendError::CampaignNotActive(format!("The campaign's {what} cannot be used: {why}"))
        };
        let area = campaign
            .area
            .as_deref()
            .map(GeoArea::parse)
            .transpose()
            .map_err(|error| unreadable("map area", error.to_string()))?;
        let types: HashMap<&str, _> = columns
            .iter()
            .map(|column| (column.name_key.as_str(), column.column_type))
            .collect();
        let conditions = campaign
            .conditions
            .as_ref()
            .map(|tree| FilterConditions::parse(tree, |key| types.get(key).copied()))
            .transpose()
            .map_err(|error| unreadable("filter conditions", error.to_string()))?;
        let formulas = FormulaColumns::new(columns);
        Ok(Self {
            area,
            conditions: conditions.unwrap_or_default(),
            formulas,
        })
    }

    /// A recipient with the team's formula columns, as conditions, designs and links see it. `today` is the
    /// team's day.
    pub(crate) fn with_formulas<'a>(
        &'a self,
        recipient: &'a RecipientProfile<'a>,
        today: NaiveDate,
    ) -> ComputedRecipient<'a> {
        self.formulas.for_recipient(recipient, today)
    }

    /// Whether conditions look at anything, so that stored values are worth reading.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Why a verified recipient is not mailed, in the contract's order: location, then conditions. `is_waiting` tells that the address waits on the conditions already.
    pub(crate) fn find_refusal(
        &self,
        recipient: &RecipientProfile<'_>,
        is_waiting: bool,
        today: NaiveDate,
    ) -> Option<NotMailedReason> {
        if !self.is_in_area(recipient.place, recipient.zip) {
            return Some(NotMailedReason::FilteredLocation);
        }
        self.find_waiting_reason(recipient, is_waiting, today)
    }

    /// Why a center is not looked around: only conditions are about it, the other rules are about homes.
    pub(crate) fn find_waiting_reason(
        &self,
        recipient: &RecipientProfile<'_>,
        is_waiting: bool,
        today: NaiveDate,
    ) -> Option<NotMailedReason> {
        let waits = is_waiting
            || !self
                .conditions
                .matches(&self.with_formulas(recipient, today), today);
        waits.then_some(NotMailedReason::FilteredConditions)
    }

    /// Whether a place (degrees north and east) is in the campaign's area. One that is not known counts as the
    /// centre of its ZIP.
    pub(crate) fn is_in_area(&self, place: Option<(f64, f64)>, zip: &str) -> bool {
        let Some(area) = &self.area else { return true };
        place
            .or_else(|| address::zip_centre(zip))
            .is_some_and(|(latitude, longitude)| area.contains(latitude, longitude))
    }
}
