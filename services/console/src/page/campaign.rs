//! Campaigns: the list, and one with all that its owner sets.

mod area;
mod conditions;
mod do_not_mail;
mod overview;
mod picture;

use std::collections::HashSet;

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use model::id::CampaignId;
use serde::Deserialize;
use serde_json::Value;
use store::CampaignSummary;

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::failure::PageError;
use crate::page::{LINES, cut};
use crate::route::{self, ConsoleRoute, RouteAccess};
use crate::show::dollars;

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    let mut routes = vec![route::page("/campaigns", RouteAccess::Member, list)];
    routes.extend(overview::routes());
    routes.extend(picture::routes());
    routes.extend(area::routes());
    routes.extend(conditions::routes());
    routes.extend(do_not_mail::routes());
    routes
}

/// The part of the navigation.
pub(crate) const PART: &str = "/campaigns";

/// A campaign's path, as its pages get it.
pub(crate) type CampaignPath = Result<Path<CampaignId>, PathRejection>;

/// The team's campaign that a path names.
pub(crate) async fn find(
    console: &ConsoleState,
    person: &CurrentMember,
    campaign_id: &CampaignId,
) -> Result<CampaignSummary, PageError> {
    Ok(console
        .process
        .store
        .find_campaign_summary(person.0.team_id, campaign_id)
        .await?)
}

#[derive(Deserialize)]
struct CampaignListQuery {
    #[serde(default)]
    after: String,
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
    next: Option<String>,
}

/// The list.
async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    cursor: Result<Query<CampaignListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(CampaignListQuery { after }) = cursor?;
    let mut campaigns = console
        .process
        .store
        .list_campaign_page(person.0.team_id, &after, LINES + 1)
        .await?;
    let next = cut(&mut campaigns).map(|last| query(&[("after", &last.name)]));
    let stuck = stuck(&console, &person, &campaigns).await?;
    let campaigns = campaigns.into_iter().map(|campaign| CampaignListRow {
        money: CampaignBudgetView::of(&campaign),
        is_stuck: stuck.contains(&campaign.campaign_id),
        campaign,
    });
    Ok(page(&CampaignListPage {
        frame: PageFrame::new(&person, PART),
        is_first: after.is_empty(),
        campaigns: campaigns.collect(),
        next,
    }))
}

/// The ids of those campaigns whose conditions cannot be used.
async fn stuck(
    console: &ConsoleState,
    person: &CurrentMember,
    campaigns: &[CampaignSummary],
) -> Result<HashSet<String>, PageError> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let ids: Vec<&str> = campaigns
        .iter()
        .map(|campaign| campaign.campaign_id.as_str())
        .collect();
    let filtering = store.list_campaign_conditions(team_id, &ids).await?;
    if filtering.is_empty() {
        return Ok(HashSet::new());
    }
    let columns = store.list_columns(team_id).await?;
    let is_stuck = |(_, tree): &(String, Value)| conditions::problem(tree, &columns).is_some();
    Ok(filtering
        .into_iter()
        .filter(is_stuck)
        .map(|(campaign_id, _)| campaign_id)
        .collect())
}

/// The part of an address behind `?`.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

/// A campaign's money in words.
struct CampaignBudgetView {
    budget: String,
    spent: String,
    /// None without a limit.
    left: Option<String>,
}

impl CampaignBudgetView {
    fn of(campaign: &CampaignSummary) -> Self {
        let CampaignSummary {
            budget_cents,
            committed_cents,
            ..
        } = campaign;
        Self {
            budget: budget_cents.map_or_else(|| "No limit".to_owned(), dollars),
            spent: dollars(*committed_cents),
            left: budget_cents.map(|budget| dollars((budget - committed_cents).max(0))),
        }
    }
}
