//! Charges: what each send, re-check or later step cost.

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use model::id::ChargeId;
use serde::Deserialize;
use store::{ChargeKind, ChargeState, ChargeSummary, ChargedMailpieces};

use super::{PART, product_name};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::failure::PageError;
use crate::page::{LINES, cut};

#[derive(Deserialize)]
pub(super) struct ChargeListQuery {
    before: Option<ChargeId>,
}

#[derive(Template)]
#[template(path = "billing_charges.html")]
struct ChargesPage {
    frame: PageFrame,
    charges: Vec<ChargeSummary>,
    is_newest: bool,
    next: Option<ChargeId>,
    public_url: String,
}

/// The charges, the newest first.
pub(super) async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    cursor: Result<Query<ChargeListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(ChargeListQuery { before }) = cursor?;
    let mut charges = console
        .process
        .store
        .list_charges(person.0.team_id, before, LINES + 1)
        .await?;
    let next = cut(&mut charges).map(|last| last.charge_id);
    let public_url = console.process.config.console.public_url.clone();
    let (frame, is_newest) = (PageFrame::new(&person, PART), before.is_none());
    Ok(page(&ChargesPage {
        frame,
        charges,
        is_newest,
        next,
        public_url,
    }))
}

#[derive(Template)]
#[template(path = "billing_charge.html")]
struct ChargePage {
    frame: PageFrame,
    charge: ChargeSummary,
    cards: Vec<ChargedMailpieces>,
}

/// One charge, with what its cards are.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<ChargeId>, PathRejection>,
) -> Result<Response, PageError> {
    let Path(charge_id) = path?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let charge = store.find_charge_summary(team_id, charge_id).await?;
    let cards = store.list_charge_mailpieces(team_id, charge_id).await?;
    Ok(page(&ChargePage {
        frame: PageFrame::new(&person, PART),
        charge,
        cards,
    }))
}

/// What caused a charge, for people.
fn cause(charge: &ChargeSummary) -> String {
    match charge.kind {
        ChargeKind::Send => "Send".to_owned(),
        ChargeKind::Recheck => "Daily re-check".to_owned(),
        ChargeKind::Step => format!("Step {}", charge.step),
    }
}

/// How far a charge is, for people.
fn state(charge: &ChargeSummary) -> &'static str {
    match charge.state {
        ChargeState::Reserved => "Payment under way",
        ChargeState::Settled => "Paid",
        ChargeState::Declined => "Declined, nothing mailed",
    }
}
