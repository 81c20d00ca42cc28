//! Who did what.

mod words;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use model::id::{ActivityId, MemberId};
use serde::Deserialize;
use store::{Activity, ActivityFilter, TeamMember};
use url::form_urlencoded;

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::failure::PageError;
use crate::page::{LINES, cut};
use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    vec![route::page("/activity", RouteAccess::Member, show)]
}

#[derive(Deserialize)]
struct ActivityQuery {
    /// Blank for everybody.
    #[serde(default)]
    person: String,
    /// Blank for every kind.
    #[serde(default)]
    kind: String,
    before: Option<ActivityId>,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    frame: PageFrame,
    people: Vec<TeamMember>,
    kinds: Vec<String>,
    person: Option<MemberId>,
    kind: Option<String>,
    activities: Vec<Activity>,
    is_newest: bool,
    next: Option<ActivityId>,
}

impl ActivityPage {
    fn is_filtered(&self) -> bool {
        self.person.is_some() || self.kind.is_some()
    }

    fn is_person(&self, one: &TeamMember) -> bool {
        self.person == Some(one.user_id)
    }

    /// The address of the first page.
    fn newest(&self) -> String {
        self.address(None)
    }

    /// The address of the next page.
    fn older(&self, next: &ActivityId) -> String {
        self.address(Some(next))
    }

    fn address(&self, before: Option<&ActivityId>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(person) = self.person {
            query.append_pair("person", &person.to_string());
        }
        if let Some(kind) = &self.kind {
            query.append_pair("kind", kind);
        }
        if let Some(before) = before {
            query.append_pair("before", &before.to_string());
        }
        format!("/activity?{}", query.finish())
    }
}

/// The page.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    query: Result<Query<ActivityQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(query) = query?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let user_id = match query.person.as_str() {
        "" => None,
        text => Some(text.parse::<MemberId>().map_err(|_| PageError::NotFound)?),
    };
    let filter = ActivityFilter {
        user_id,
        kind: Some(query.kind).filter(|kind| !kind.is_empty()),
    };
    let mut activities = store
        .list_activities(team_id, &filter, query.before, LINES + 1)
        .await?;
    let next = cut(&mut activities).map(|last| last.activity_id);
    Ok(page(&ActivityPage {
        frame: PageFrame::new(&person, "/activity"),
        people: store.list_members(team_id).await?,
        kinds: store.list_activity_kinds(team_id).await?,
        person: filter.user_id,
        kind: filter.kind,
        is_newest: query.before.is_none(),
        activities,
        next,
    }))
}
