//! What a step's cards look like.

use std::collections::BTreeMap;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use design::Side;
use model::id::CampaignId;

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::failure::PageError;
use crate::proof::ProofRequest;
use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(super) fn routes() -> Vec<ConsoleRoute> {
    vec![route::page(
        "/campaigns/{campaign_id}/steps/{step}/{side}",
        RouteAccess::Member,
        show,
    )]
}

/// A surface of the step's design as it is now, with sample values.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<(CampaignId, i16, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let Path((campaign_id, number, side)) = path?;
    let side = Side::ALL
        .into_iter()
        .find(|known| known.to_string() == side)
        .ok_or(PageError::NotFound)?;
    let team_id = person.0.team_id;
    let campaign = console
        .process
        .store
        .find_campaign(team_id, &campaign_id)
        .await?;
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
        side,
    };
    console
        .proofs
        .answer(&headers, wanted, console.process.clock.now())
        .await
}
