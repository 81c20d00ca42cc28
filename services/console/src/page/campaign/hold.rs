//! Whether a campaign's queued mailpieces print.

use super::CampaignPath;
use crate::extract::{MemberContext, PagePath};
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::PageResult;

/// From now on nothing of the campaign goes to the press.
pub(crate) async fn hold_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    campaigns::hold_campaign(store, context.actor(), context.team_id(), &campaign_id, now).await?;
    let page = format!("/campaigns/{campaign_id}");
    Ok(redirect_with_notice(&page, ActionNotice::CampaignHeld))
}

/// What is held goes back to the queue.
pub(crate) async fn release_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    campaigns::release_campaign(store, context.actor(), context.team_id(), &campaign_id, now)
        .await?;
    let page = format!("/campaigns/{campaign_id}");
    Ok(redirect_with_notice(&page, ActionNotice::CampaignReleased))
}
