//! One campaign.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use campaigns::ConditionSentence;
use store::{CampaignStep, CampaignSummary, OutcomeCount};

use super::area::AreaPicture;
use super::conditions;
use super::{CampaignBudgetView, CampaignPath, PART, find};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page};
use crate::failure::PageError;
use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(super) fn routes() -> Vec<ConsoleRoute> {
    vec![
        route::page("/campaigns/{campaign_id}", RouteAccess::Member, show),
        route::action(
            "/campaigns/{campaign_id}/activate",
            RouteAccess::Manager,
            activate,
        ),
        route::action(
            "/campaigns/{campaign_id}/pause",
            RouteAccess::Manager,
            pause,
        ),
    ]
}

#[derive(Template)]
#[template(path = "campaign.html")]
struct CampaignPage {
    frame: PageFrame,
    campaign: CampaignSummary,
    is_active: bool,
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

/// The page.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (campaign_id, Query(noticed)) = (path?.0, noticed?);
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let campaign = find(&console, &person, &campaign_id).await?;
    let settings = store
        .find_campaign(team_id, &campaign_id)
        .await?
        .ok_or(PageError::NotFound)?;
    let counts = store
        .count_recipients_bounded(team_id, &campaign_id)
        .await?;
    let columns = store.list_columns(team_id).await?;
    let tree = settings.conditions.as_ref();
    Ok(page(&CampaignPage {
        conditions_problem: tree.and_then(|tree| conditions::problem(tree, &columns)),
        is_active: settings.is_active,
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
        public_url: console.process.config.console.public_url.clone(),
        frame: PageFrame::new(&person, PART).with_notice(noticed.notice),
    }))
}

/// From now on requests are taken and due steps mailed.
async fn activate(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
) -> Result<Response, PageError> {
    let campaign_id = path?.0;
    let (store, now) = (&console.process.store, console.process.clock.now());
    campaigns::activate_campaign(store, person.actor(), person.0.team_id, &campaign_id, now)
        .await?;
    let notice = ActionNotice::CampaignActivated;
    Ok(done(&format!("/campaigns/{campaign_id}"), notice))
}

/// From now on requests are refused, and due steps wait.
async fn pause(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
) -> Result<Response, PageError> {
    let campaign_id = path?.0;
    let (store, now) = (&console.process.store, console.process.clock.now());
    campaigns::pause_campaign(store, person.actor(), person.0.team_id, &campaign_id, now).await?;
    let notice = ActionNotice::CampaignPaused;
    Ok(done(&format!("/campaigns/{campaign_id}"), notice))
}
