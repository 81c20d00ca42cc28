//! What a step's cards look like.

use std::collections::BTreeMap;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use contract::id::CampaignId;
use design::Side;

use crate::Console;
use crate::access::Person;
use crate::failure::Failure;
use crate::proof::Wanted;
use crate::route::{self, Access, Route};

/// What there is.
pub(super) fn routes() -> Vec<Route> {
    vec![route::page("/campaigns/{campaign_id}/steps/{step}/{side}", Access::Member, show)]
}

/// A surface of the step's design as it is now, with sample values.
async fn show(
    State(console): State<Console>,
    person: Person,
    path: Result<Path<(CampaignId, i16, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let Path((campaign_id, number, side)) = path?;
    let side = Side::ALL.into_iter().find(|known| known.to_string() == side).ok_or(Failure::NotFound)?;
    let team_id = person.0.team_id;
    let campaign = console.process.store.campaign_get(team_id, &campaign_id).await?;
    let steps = campaign.ok_or(Failure::NotFound)?.steps;
    let step = steps.into_iter().find(|step| step.step == number);
    let design = step.and_then(|step| step.design).ok_or(Failure::NotFound)?;
    let wanted = Wanted {
        team_id,
        design: (design.design_id, design.version),
        document: design.document,
        fields: BTreeMap::new(),
        side,
    };
    console.proofs.answer(&headers, wanted, console.process.clock.now()).await
}
