//! The campaigns of a team.

use std::collections::HashSet;

use askama::Template;
use serde::Deserialize;
use serde_json::Value;
use store::CampaignSummary;

use super::conditions::conditions_problem;
use super::{CampaignBudgetView, PART, status_name};
use crate::extract::{MemberContext, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct CampaignListQuery {
    #[serde(default)]
    after: String,
    /// Shows those that are put away in place of all others.
    #[serde(default)]
    archived: bool,
}

/// A campaign of the list.
struct CampaignListRow {
    campaign: CampaignSummary,
    money: CampaignBudgetView,
    /// Whether it mails nobody since its conditions do not fit the columns any more.
    is_stuck: bool,
}

#[derive(Template)]
#[template(path = "campaign_list.html")]
struct CampaignListPage {
    frame: PageFrame,
    campaigns: Vec<CampaignListRow>,
    is_first: bool,
    is_archived: bool,
    next: Option<String>,
}

/// The list.
pub(crate) async fn list_campaigns(
    context: MemberContext,
    PageQuery(CampaignListQuery { after, archived }): PageQuery<CampaignListQuery>,
) -> PageResult {
    let mut campaigns = context
        .store()
        .list_campaign_page(context.team_id(), archived, &after, LINES + 1)
        .await?;
    let next = cut_page(&mut campaigns).map(|last| {
        let archived = if archived { "true" } else { "false" };
        url_query(&[("after", &last.name), ("archived", archived)])
    });
    let stuck = stuck_campaigns(&context, &campaigns).await?;
    let campaigns = campaigns.into_iter().map(|campaign| CampaignListRow {
        money: CampaignBudgetView::of(&campaign),
        is_stuck: stuck.contains(&campaign.campaign_id),
        campaign,
    });
    Ok(render_page(&CampaignListPage {
        frame: context.frame(PART),
        is_first: after.is_empty(),
        is_archived: archived,
        campaigns: campaigns.collect(),
        next,
    }))
}

/// The ids of those campaigns whose conditions cannot be used.
async fn stuck_campaigns(
    context: &MemberContext,
    campaigns: &[CampaignSummary],
) -> Result<HashSet<String>, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let ids: Vec<&str> = campaigns
        .iter()
        .map(|campaign| campaign.campaign_id.as_str())
        .collect();
    let filtering = store.list_campaign_conditions(team_id, &ids).await?;
    if filtering.is_empty() {
        return Ok(HashSet::new());
    }
    let columns = store.list_columns(team_id).await?;
    let is_stuck = |(_, tree): &(String, Value)| conditions_problem(tree, &columns).is_some();
    Ok(filtering
        .into_iter()
        .filter(is_stuck)
        .map(|(campaign_id, _)| campaign_id)
        .collect())
}
