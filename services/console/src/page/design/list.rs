//! The designs of a team.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use store::DesignSummary;

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::failure::PageError;
use crate::page::LINES;

#[derive(Deserialize)]
pub(super) struct DesignListQuery {
    #[serde(default)]
    after: String,
}

#[derive(Template)]
#[template(path = "designs.html")]
struct DesignsPage {
    frame: PageFrame,
    designs: Vec<DesignSummary>,
    /// Behind which name the next page begins, as it stands in an address.
    next: Option<String>,
}

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    cursor: Result<Query<DesignListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(cursor) = cursor?;
    let store = &console.process.store;
    let mut designs = store
        .list_designs(person.0.team_id, &cursor.after, LINES + 1)
        .await?;
    let is_more = designs.len() as i64 > LINES;
    designs.truncate(LINES as usize);
    let next = designs
        .last()
        .filter(|_| is_more)
        .map(|last| super::proof::encoded(&last.name));
    Ok(page(&DesignsPage {
        frame: PageFrame::new(&person, "/designs"),
        designs,
        next,
    }))
}
