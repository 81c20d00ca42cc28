//! Charges: what each send, re-check or later step cost.

use askama::Template;
use model::id::ChargeId;
use serde::Deserialize;
use store::{ChargeKind, ChargeState, ChargeSummary, ChargedMailpieces};

use super::PART;
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::paging::{LINES, cut_page};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct ChargeListQuery {
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
pub(crate) async fn list_charges(
    context: MemberContext,
    PageQuery(ChargeListQuery { before }): PageQuery<ChargeListQuery>,
) -> PageResult {
    let mut charges = context
        .store()
        .list_charges(context.team_id(), before, LINES + 1)
        .await?;
    let next = cut_page(&mut charges).map(|last| last.charge_id);
    let public_url = context.public_url();
    let (frame, is_newest) = (context.frame(PART), before.is_none());
    Ok(render_page(&ChargesPage {
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
pub(crate) async fn show_charge(
    context: MemberContext,
    PagePath(charge_id): PagePath<ChargeId>,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let charge = store.find_charge_summary(team_id, charge_id).await?;
    let cards = store.list_charge_mailpieces(team_id, charge_id).await?;
    Ok(render_page(&ChargePage {
        frame: context.frame(PART),
        charge,
        cards,
    }))
}

/// What caused a charge, for people.
fn charge_cause(charge: &ChargeSummary) -> String {
    match charge.kind {
        ChargeKind::Send => "Send".to_owned(),
        ChargeKind::Recheck => "Daily re-check".to_owned(),
        ChargeKind::Step => format!("Step {}", charge.step),
    }
}

/// How far a charge is, for people.
fn charge_state(charge: &ChargeSummary) -> &'static str {
    match charge.state {
        ChargeState::Reserved => "Payment under way",
        ChargeState::Settled => "Paid",
        ChargeState::Declined => "Declined, nothing mailed",
    }
}
