//! What happened lately.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, page};
use crate::failure::Failure;
use crate::route::{self, Access, Route};
use crate::show::dollars;

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![route::page("/", Access::Member, show)]
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    balance: String,
    campaigns: Vec<store::CampaignSummary>,
}

/// The page.
async fn show(State(console): State<Console>, person: Person) -> Result<Response, Failure> {
    let store = &console.process.store;
    let team_id = person.0.team_id;
    Ok(page(&HomePage {
        balance: dollars(store.balance_get(team_id).await?),
        campaigns: store.campaign_list(team_id).await?,
        frame: Frame::new(&person, "/"),
    }))
}
