//! What a step's cards look like.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use model::id::CampaignId;

use crate::extract::{MemberContext, PagePath};
use crate::page_error::{PageError, PageResult};
use crate::proof_renderer::{ProofRequest, find_side};

/// A surface of the step's design as it is now, with sample values.
pub(crate) async fn show_step_picture(
    context: MemberContext,
    PagePath((campaign_id, number, side)): PagePath<(CampaignId, i16, String)>,
    headers: HeaderMap,
) -> PageResult {
    let team_id = context.team_id();
    let campaign = context.store().find_campaign(team_id, &campaign_id).await?;
    let steps = campaign.ok_or(PageError::NotFound)?.steps;
    let step = steps.into_iter().find(|step| step.step == number);
    let design = step
        .and_then(|step| step.design)
        .ok_or(PageError::NotFound)?;
    let wanted = ProofRequest {
        team_id,
        design: (design.design_id, design.version),
        document: design.document,
        fields: BTreeMap::new(),
        side: find_side(&side)?,
    };
    context
        .console
        .proofs
        .picture_response(&headers, wanted, context.now())
        .await
}
