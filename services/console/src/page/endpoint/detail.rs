//! One endpoint: its state, campaigns, signatures and last deliveries.

use askama::Template;
use axum::extract::rejection::{QueryRejection, RawFormRejection};
use axum::extract::{Query, RawForm, State};
use axum::response::Response;
use chrono::TimeDelta;
use contract::id::EndpointId;
use contract::limits::DELIVERIES_SHOWN;
use dispatcher::manage::SigningSecret;
use store::{DeliverySummary, Endpoint, EndpointState};

use super::scope::{Choice, ScopeForm, choices};
use super::{OfEndpoint, PART, find, manager, words};
use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct Shown {
    /// What has just been done.
    pub(super) notice: Option<Notice>,
    /// Whether the endpoint has just been made.
    pub(super) is_new: bool,
    /// A key that signs and has just been made, shown this once.
    pub(super) secret: Option<SigningSecret>,
    /// What is wrong with the campaigns that were chosen.
    pub(super) scope_problem: Option<String>,
    /// The time that was typed, and what is wrong with it.
    pub(super) replay_problem: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "endpoint.html")]
pub(super) struct DetailPage {
    frame: Frame,
    endpoint: Endpoint,
    state: &'static str,
    is_active: bool,
    choices: Vec<Choice>,
    deliveries: Vec<DeliverySummary>,
    most_deliveries: i64,
    earlier_hours: i64,
    shown: Shown,
}

/// The page.
pub(super) async fn show(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let endpoint = find(&console, &person, path).await?;
    let Query(Noticed { notice }) = noticed?;
    let shown = Shown { notice, ..Shown::default() };
    Ok(page(&detail_page(&console, &person, endpoint, shown).await?))
}

pub(super) async fn detail_page(
    console: &Console,
    person: &Person,
    endpoint: Endpoint,
    shown: Shown,
) -> Result<DetailPage, Failure> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let chosen = endpoint.campaigns.clone().unwrap_or_default();
    Ok(DetailPage {
        state: words(endpoint.state),
        is_active: endpoint.state == EndpointState::Active,
        choices: choices(console, person, &chosen).await?,
        deliveries: store.delivery_list(team_id, endpoint.endpoint_id).await?,
        most_deliveries: DELIVERIES_SHOWN,
        earlier_hours: console.process.config.dispatcher.earlier_secret_hours,
        frame: Frame::new(person, PART).with_notice(shown.notice),
        endpoint,
        shown,
    })
}

fn back(endpoint_id: EndpointId, notice: Notice) -> Response {
    done(&format!("{PART}/{endpoint_id}"), notice)
}

/// Has it hear of other campaigns.
pub(super) async fn set_scope(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
    form: Result<RawForm, RawFormRejection>,
) -> Result<Response, Failure> {
    let endpoint = find(&console, &person, path).await?;
    let RawForm(bytes) = form?;
    match ScopeForm::read(&bytes).scope() {
        Ok(scope) => {
            manager(&console, &person).set_scope(endpoint.endpoint_id, scope.as_deref()).await?;
            Ok(back(endpoint.endpoint_id, Notice::EndpointChanged))
        }
        Err(problem) => {
            let shown = Shown { scope_problem: Some(problem), ..Shown::default() };
            Ok(refused(&detail_page(&console, &person, endpoint, shown).await?))
        }
    }
}

/// Sends it nothing any more; what waits is cancelled.
pub(super) async fn pause(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
) -> Result<Response, Failure> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).pause(endpoint_id).await?;
    Ok(back(endpoint_id, Notice::EndpointPaused))
}

/// Sends it scans from now on.
pub(super) async fn resume(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
) -> Result<Response, Failure> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).resume(endpoint_id).await?;
    Ok(back(endpoint_id, Notice::EndpointResumed))
}

/// Deletes it.
pub(super) async fn delete(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
) -> Result<Response, Failure> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).delete(endpoint_id).await?;
    Ok(done(PART, Notice::EndpointDeleted))
}

/// Signs its deliveries with a new key and shows the key, once.
pub(super) async fn sign(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
) -> Result<Response, Failure> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    let earlier_for = TimeDelta::hours(console.process.config.dispatcher.earlier_secret_hours);
    let secret = manager(&console, &person).sign(endpoint_id, earlier_for).await?;
    let endpoint = console.process.store.endpoint_get(person.0.team_id, endpoint_id).await?;
    let shown = Shown { secret: Some(secret), ..Shown::default() };
    Ok(page(&detail_page(&console, &person, endpoint, shown).await?))
}

/// Signs its deliveries no more.
pub(super) async fn stop_signing(
    State(console): State<Console>,
    person: Person,
    path: OfEndpoint,
) -> Result<Response, Failure> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).stop_signing(endpoint_id).await?;
    Ok(back(endpoint_id, Notice::SigningStopped))
}
