//! Who did what.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use contract::id::ActivityId;
use serde::Deserialize;
use store::Activity;

use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, page};
use crate::failure::Failure;
use crate::page::LINES;
use crate::route::{self, Access, Route};

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![route::page("/activity", Access::Member, show)]
}

#[derive(Deserialize)]
struct Cursor {
    before: Option<ActivityId>,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    frame: Frame,
    activities: Vec<Activity>,
    next: Option<ActivityId>,
}

/// The page.
async fn show(
    State(console): State<Console>,
    person: Person,
    cursor: Result<Query<Cursor>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(cursor) = cursor?;
    let mut activities =
        console.process.store.activity_list(person.0.team_id, &store::ActivityFilter::default(), cursor.before, LINES + 1).await?;
    // The line past the page only says that there are more.
    let is_more = activities.len() as i64 > LINES;
    activities.truncate(LINES as usize);
    let next = activities.last().filter(|_| is_more).map(|last| last.activity_id);
    Ok(page(&ActivityPage { frame: Frame::new(&person, "/activity"), activities, next }))
}
