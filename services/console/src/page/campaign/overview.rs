//! One campaign.

use askama::Template;
use campaigns::ConditionSentence;
use chrono::{DateTime, Utc};
use store::{CampaignStep, CampaignSummary, OutcomeCount};

use super::area::AreaPicture;
use super::conditions::conditions_problem;
use super::{CampaignBudgetView, CampaignPath, PART, find_campaign, status_name};
use crate::extract::{MemberContext, PagePath};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::render_page;

#[derive(Template)]
#[template(path = "campaign.html")]
struct CampaignPage {
    frame: PageFrame,
    campaign: CampaignSummary,
    is_active: bool,
    held_at: Option<DateTime<Utc>>,
    is_draft: bool,
    is_archived: bool,
    takes_requests: bool,
    money: CampaignBudgetView,
    counts: Vec<OutcomeCount>,
    steps: Vec<CampaignStep>,
    area: Option<AreaPicture>,
    conditions: Vec<ConditionSentence>,
    /// Why the conditions cannot be used, so that nobody is mailed.
    conditions_problem: Option<String>,
    public_url: String,
}

/// Width and height of the places of a step's pictures, in points of a screen; nothing of a design that cannot print.
fn picture_size(step: &CampaignStep) -> Option<(f64, f64)> {
    let area = campaigns::product_of_step(step)?.trim_area();
    Some((area.width, area.height))
}

/// The page.
pub(crate) async fn show_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let campaign = find_campaign(&context, &campaign_id).await?;
    let settings = store
        .find_campaign(team_id, &campaign_id)
        .await?
        .ok_or(PageError::NotFound)?;
    let counts = store
        .count_recipients_bounded(team_id, &campaign_id)
        .await?;
    let columns = store.list_columns(team_id).await?;
    let tree = settings.conditions.as_ref();
    Ok(render_page(&CampaignPage {
        conditions_problem: tree.and_then(|tree| conditions_problem(tree, &columns)),
        is_active: settings.is_active,
        held_at: settings.held_at,
        is_draft: campaign.status == "draft",
        is_archived: campaign.status == "archived",
        takes_requests: settings.audience == store::AudienceSource::Api,
        money: CampaignBudgetView::of(&campaign),
        counts,
        area: settings.area.as_deref().map(AreaPicture::of).transpose()?,
        conditions: settings
            .conditions
            .as_ref()
            .map(ConditionSentence::from_document)
            .unwrap_or_default(),
        steps: settings.steps,
        campaign,
        public_url: context.public_url(),
        frame: context.frame(PART),
    }))
}

/// From now on requests are taken and due steps mailed.
pub(crate) async fn activate_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    campaigns::activate_campaign(store, context.actor(), context.team_id(), &campaign_id, now)
        .await?;
    let notice = ActionNotice::CampaignActivated;
    Ok(redirect_with_notice(
        &format!("/campaigns/{campaign_id}"),
        notice,
    ))
}

/// From now on requests are refused, and due steps wait.
pub(crate) async fn pause_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    campaigns::pause_campaign(store, context.actor(), context.team_id(), &campaign_id, now).await?;
    let notice = ActionNotice::CampaignPaused;
    Ok(redirect_with_notice(
        &format!("/campaigns/{campaign_id}"),
        notice,
    ))
}
