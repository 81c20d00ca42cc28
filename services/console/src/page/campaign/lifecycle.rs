//! A campaign put away, taken back, or used as the beginning of another.

use super::setup::change_failure;
use super::{CampaignPath, PART};
use crate::extract::{MemberContext, PagePath};
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::PageResult;

/// Puts the campaign away. Nothing of it is deleted.
pub(crate) async fn archive_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    campaigns::archive_campaign(store, actor, context.team_id(), &campaign_id, now).await?;
    let address = format!("{PART}/{campaign_id}");
    Ok(redirect_with_notice(
        &address,
        ActionNotice::CampaignArchived,
    ))
}

/// Takes the campaign back.
pub(crate) async fn restore_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    campaigns::restore_campaign(store, actor, context.team_id(), &campaign_id, now).await?;
    let address = format!("{PART}/{campaign_id}");
    Ok(redirect_with_notice(
        &address,
        ActionNotice::CampaignRestored,
    ))
}

/// Makes a draft like the campaign, and leads to its first page.
pub(crate) async fn duplicate_campaign(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    let copy = campaigns::duplicate_campaign(store, actor, context.team_id(), &campaign_id, now);
    let copy_id = copy.await.map_err(change_failure)?;
    let address = format!("{PART}/{copy_id}/audience");
    Ok(redirect_with_notice(
        &address,
        ActionNotice::CampaignDuplicated,
    ))
}
