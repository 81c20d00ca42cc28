//! What a campaign may spend, and how long its mailpieces can be called back.

use askama::Template;
use axum::Form;
use campaigns::{CampaignField, CampaignNumbers, check_numbers};
use model::id::CampaignId;
use model::money::DollarAmount;
use serde::Deserialize;
use store::StoredCampaignSettings;

use super::super::{CampaignBudgetView, CampaignPath, PART, find_campaign};
use super::input::{FieldProblems, InputReader, clamp_number};
use super::{SetupRefusal, SetupView, find_settings, saved_response};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::render::render_form;

/// The end of the page's address.
const PAGE: &str = "schedule";

/// What the form has, as it is typed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ScheduleForm {
    seen: String,
    #[serde(rename = "do")]
    pressed: String,
    budget: String,
    cancel_minutes: String,
}

#[derive(Template)]
#[template(path = "campaign_schedule.html")]
struct SchedulePage {
    frame: PageFrame,
    setup: SetupView,
    form: ScheduleForm,
    refusal: SetupRefusal,
    money: CampaignBudgetView,
    /// The delays of its steps, in days.
    delays: Vec<i32>,
    /// When a day's mail is closed, such as `3:00 PM`.
    cut_off: String,
}

impl ScheduleForm {
    fn of(settings: &StoredCampaignSettings) -> Self {
        let budget = settings.budget_cents;
        let minutes = settings.cancellation.minutes;
        Self {
            seen: fingerprint_of_schedule(settings),
            pressed: String::new(),
            budget: budget
                .map(|cents| DollarAmount(cents).to_string())
                .unwrap_or_default(),
            cancel_minutes: minutes
                .map(|minutes| minutes.to_string())
                .unwrap_or_default(),
        }
    }
}

/// What the form was made from.
fn fingerprint_of_schedule(settings: &StoredCampaignSettings) -> String {
    fingerprint_of(&(settings.budget_cents, settings.cancellation.minutes))
}

/// The page.
pub(crate) async fn show_schedule(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let settings = find_settings(&context, &campaign_id).await?;
    let form = ScheduleForm::of(&settings);
    schedule_page(&context, &campaign_id, form, None).await
}

async fn schedule_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    form: ScheduleForm,
    refusal: Option<SetupRefusal>,
) -> PageResult {
    let settings = find_settings(context, campaign_id).await?;
    let campaign = find_campaign(context, campaign_id).await?;
    let is_refused = refusal.is_some();
    let page = SchedulePage {
        frame: context.frame(PART),
        setup: SetupView::of(campaign_id, &settings, PAGE),
        form: ScheduleForm {
            seen: fingerprint_of_schedule(&settings),
            ..form
        },
        refusal: refusal.unwrap_or_default(),
        money: CampaignBudgetView::of(&campaign),
        delays: settings.steps.iter().map(|step| step.delay_days).collect(),
        cut_off: context
            .config()
            .mailer
            .cut_off
            .format("%-I:%M %p")
            .to_string(),
    };
    Ok(render_form(&page, is_refused))
}

/// Saves the form.
pub(crate) async fn save_schedule(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<ScheduleForm>,
) -> PageResult {
    find_settings(&context, &campaign_id).await?;
    let Form(form) = form?;
    let mut reader = InputReader::default();
    let budget = reader.read_money(CampaignField::Budget, &form.budget);
    let minutes = reader.read_number(CampaignField::CancelMinutes, &form.cancel_minutes);
    reader.problems.extend(check_numbers(&CampaignNumbers {
        cancel_minutes: minutes,
        is_draft: true,
        ..CampaignNumbers::default()
    }));
    let refusal = if reader.problems.is_empty() {
        let saved = campaigns::change_campaign(
            context.store(),
            context.actor(),
            context.team_id(),
            &campaign_id,
            |standing| fingerprint_of_schedule(standing) == form.seen,
            |settings| {
                settings.budget_cents = budget;
                settings.cancellation.minutes = minutes.map(clamp_number);
            },
            context.now(),
        );
        match saved.await {
            Ok(()) => return Ok(saved_response(&campaign_id, PAGE, &form.pressed)),
            Err(error) => SetupRefusal::of(error)?,
        }
    } else {
        SetupRefusal {
            problems: FieldProblems::of(&reader.problems),
            is_overtaken: false,
        }
    };
    schedule_page(&context, &campaign_id, form, Some(refusal)).await
}
