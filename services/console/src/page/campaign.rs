//! Campaigns: the list, and one with all that its owner sets.

pub(crate) mod area;
pub(crate) mod conditions;
pub(crate) mod do_not_mail;
pub(crate) mod hold;
pub(crate) mod lifecycle;
pub(crate) mod list;
pub(crate) mod overview;
pub(crate) mod picture;
pub(crate) mod setup;

use model::id::CampaignId;
use store::CampaignSummary;

use crate::extract::{MemberContext, PagePath};
use crate::format::format_dollars;
use crate::page_error::PageError;

/// The part of the navigation.
pub(crate) const PART: &str = "/campaigns";

/// A campaign's path, as its pages get it.
pub(crate) type CampaignPath = PagePath<CampaignId>;

/// The team's campaign that a path names.
pub(crate) async fn find_campaign(
    context: &MemberContext,
    campaign_id: &CampaignId,
) -> Result<CampaignSummary, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    Ok(store.find_campaign_summary(team_id, campaign_id).await?)
}

/// A campaign's status in a word.
fn status_name(status: &str) -> &'static str {
    match status {
        "active" => "Active",
        "draft" => "Draft",
        "archived" => "Archived",
        _ => "Paused",
    }
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
            budget: budget_cents.map_or_else(|| "No limit".to_owned(), format_dollars),
            spent: format_dollars(*committed_cents),
            left: budget_cents.map(|budget| format_dollars((budget - committed_cents).max(0))),
        }
    }
}
