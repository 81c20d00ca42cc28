//! What a campaign would do, what it lacks, and its launch.

use askama::Template;
use campaigns::{
    ChangeCampaignError, ConditionSentence, ConditionsProblem, MissingPart, list_missing_parts,
    product_of_step,
};
use chrono::{Days, NaiveDate};
use contract::send::Postage;
use design::Product;
use model::id::CampaignId;
use store::{AudienceSource, Campaign, CampaignStep, PaymentKind, StoredCampaignSettings};

use super::super::conditions::condition_problem_words;
use super::super::{CampaignBudgetView, CampaignPath, PART, find_campaign};
use super::{SetupView, change_failure, find_settings};
use crate::extract::{MemberContext, PagePath};
use crate::format::{format_dollars, format_number};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::render_form;

/// The end of the page's address.
const PAGE: &str = "review";

/// Days that the post usually takes, from and to: an estimate, as the Postal Service gives it.
const FIRST_CLASS_DAYS: (u64, u64) = (1, 5);
const STANDARD_DAYS: (u64, u64) = (3, 10);

/// A step in words.
struct ReviewedStep {
    number: i16,
    design: String,
    product: String,
    postage: &'static str,
    price: String,
    drop_date: String,
    in_home: String,
}

/// Something missing, and the page where it is put right.
struct ChecklistItem {
    page: &'static str,
    sentence: String,
}

#[derive(Template)]
#[template(path = "campaign_review.html")]
struct ReviewPage {
    frame: PageFrame,
    setup: SetupView,
    is_active: bool,
    takes_requests: bool,
    missing: Vec<ChecklistItem>,
    steps: Vec<ReviewedStep>,
    conditions: Vec<ConditionSentence>,
    has_area: bool,
    settings: StoredCampaignSettings,
    money: CampaignBudgetView,
    /// Mailpieces of the first step that what is left of the budget pays for; `None` without a limit or a price.
    budget_covers: Option<String>,
    /// The balance, and mailpieces of the first step that it pays for; `None` for a team that pays otherwise.
    balance: Option<(String, Option<String>)>,
}

/// What a mailpiece of a step costs, in cents; `None` without a design that can print.
fn price_of_step(context: &MemberContext, step: &CampaignStep) -> Option<i64> {
    let price = context
        .config()
        .prices
        .get(product_of_step(step)?.as_str())?;
    Some(match step.postage {
        Postage::Standard => price.standard,
        Postage::FirstClass => price.first_class,
    })
}

/// The page.
pub(crate) async fn show_review(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    review_page(&context, &campaign_id, false).await
}

async fn review_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    is_refused: bool,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let settings = find_settings(context, campaign_id).await?;
    let summary = find_campaign(context, campaign_id).await?;
    let campaign = store.find_campaign(team_id, campaign_id).await?;
    let campaign = campaign.ok_or(PageError::NotFound)?;
    let columns = store.list_columns(team_id).await?;
    let price_of = |step: &CampaignStep| price_of_step(context, step);
    let missing = list_missing_parts(&settings, &campaign.steps, &columns, price_of);
    let price = campaign.steps.first().and_then(price_of);
    let left = summary
        .budget_cents
        .map(|budget| (budget - summary.committed_cents).max(0));
    let pays_for =
        |cents: i64, price: i64| format_number((cents.max(0) / price.max(1)).unsigned_abs());
    let balance = match campaign.payment {
        PaymentKind::Balance => {
            let balance = store.find_balance(team_id).await?;
            let covers = price.map(|price| pays_for(balance, price));
            Some((format_dollars(balance), covers))
        }
        PaymentKind::Stripe => None,
    };
    let conditions = settings.conditions.as_ref();
    let page = ReviewPage {
        frame: context.frame(PART),
        setup: SetupView::of(campaign_id, &settings, PAGE),
        is_active: campaign.is_active,
        takes_requests: settings.audience == AudienceSource::Api,
        missing: missing.iter().map(checklist_item).collect(),
        steps: campaign
            .steps
            .iter()
            .map(|step| reviewed_step(context, &campaign, step))
            .collect(),
        conditions: conditions
            .map(ConditionSentence::from_document)
            .unwrap_or_default(),
        has_area: settings.area.is_some(),
        settings,
        money: CampaignBudgetView::of(&summary),
        budget_covers: left.zip(price).map(|(left, price)| pays_for(left, price)),
        balance,
    };
    Ok(render_form(&page, is_refused))
}

fn reviewed_step(
    context: &MemberContext,
    campaign: &Campaign,
    step: &CampaignStep,
) -> ReviewedStep {
    let settings = &context.config().mailer;
    let (production, (least, most), postage) = match step.postage {
        Postage::Standard => (settings.production_days.standard, STANDARD_DAYS, "Standard"),
        Postage::FirstClass => (
            settings.production_days.first_class,
            FIRST_CLASS_DAYS,
            "First-Class",
        ),
    };
    // As if somebody were sent now, and the step came when it is due.
    let delay = Days::new(u64::from(step.delay_days.unsigned_abs()));
    let due = context
        .now()
        .checked_add_days(delay)
        .unwrap_or_else(|| context.now());
    let drop_date = sending::mail_by_date(due, campaign.time_zone, settings.cut_off, production);
    let later = |days: u64| {
        drop_date
            .checked_add_days(Days::new(days))
            .unwrap_or(drop_date)
    };
    let product = product_of_step(step);
    let design = step.design.as_ref();
    let price = price_of_step(context, step);
    ReviewedStep {
        number: step.step,
        design: design.map_or_else(|| "None yet".to_owned(), |design| design.name.clone()),
        product: product.map(product_words).unwrap_or_default(),
        postage,
        price: price.map(format_dollars).unwrap_or_default(),
        drop_date: format_day(drop_date),
        in_home: format!(
            "{} to {}",
            format_day(later(least)),
            format_day(later(most))
        ),
    }
}

/// A product in words: `postcard_4x6` is Postcard, 4 × 6 in.
fn product_words(product: Product) -> String {
    let name = product.as_str();
    match name.strip_prefix("postcard_") {
        Some(size) => format!("Postcard, {} in", size.replace('x', " \u{d7} ")),
        None => name.replace('_', " "),
    }
}

fn format_day(day: NaiveDate) -> String {
    day.format("%b %-d, %Y").to_string()
}

fn checklist_item(part: &MissingPart) -> ChecklistItem {
    let (page, sentence) = match part {
        MissingPart::Steps => (
            "creative",
            "Add a step: what is mailed, and when.".to_owned(),
        ),
        MissingPart::StepDesign(step) => ("creative", format!("Choose a design for step {step}.")),
        MissingPart::StepDraft(step) => (
            "creative",
            format!("The design of step {step} is an AI draft: open it, look at it and save it."),
        ),
        MissingPart::StepUnprintable(step) => (
            "creative",
            format!(
                "The design of step {step} cannot print: open it, and the mistake is told when you save it."
            ),
        ),
        MissingPart::Area => (
            "area",
            "The map area cannot be read: set it again.".to_owned(),
        ),
        MissingPart::Conditions(problem) => ("conditions", condition_sentence(problem)),
        MissingPart::Budget(price) => (
            "schedule",
            format!(
                "The budget pays for no mailpiece: one costs {}.",
                format_dollars(*price)
            ),
        ),
    };
    ChecklistItem { page, sentence }
}

fn condition_sentence(problem: &ConditionsProblem) -> String {
    format!(
        "Put the filter conditions right: {}.",
        condition_problem_words(problem)
    )
}

/// Lets a draft go live.
pub(crate) async fn launch_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let launched = campaigns::launch_campaign(
        context.store(),
        context.actor(),
        context.team_id(),
        &campaign_id,
        |step| price_of_step(&context, step),
        context.now(),
    );
    match launched.await {
        Ok(()) => Ok(redirect_with_notice(
            &format!("{PART}/{campaign_id}"),
            ActionNotice::CampaignLaunched,
        )),
        // The page lists what is missing.
        Err(ChangeCampaignError::Incomplete(_)) => review_page(&context, &campaign_id, true).await,
        Err(error) => Err(change_failure(error)),
    }
}
