//! One endpoint: its state, campaigns, signatures and last deliveries.

use askama::Template;
use axum::extract::rejection::{QueryRejection, RawFormRejection};
use axum::extract::{Query, RawForm, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::{DateTime, TimeDelta, Utc};
use delivering::EndpointError;
use model::id::EndpointId;
use model::limits::DELIVERIES_SHOWN;
use secret::SigningSecret;
use serde::Deserialize;
use store::{DeliverySummary, Endpoint, EndpointState};

use super::scope::{CampaignChoice, ScopeForm, choices};
use super::{EndpointPath, PART, find, keep, manager, words};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::once::OneTimeSecret;
use crate::seen::fingerprint;
use crate::show::grouped;

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct EndpointPageState {
    /// What has just been done.
    pub(super) notice: Option<ActionNotice>,
    /// How many deliveries have just been sent again.
    pub(super) replayed: Option<u64>,
    /// A key that signs and was made a moment ago, shown this once.
    pub(super) secret: Option<String>,
    /// The campaigns that were chosen, and what is wrong with them.
    pub(super) scope_problem: Option<(ScopeForm, String)>,
    /// The time that was typed, and what is wrong with it.
    pub(super) replay_problem: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "endpoint.html")]
pub(super) struct EndpointPage {
    frame: PageFrame,
    endpoint: Endpoint,
    state: &'static str,
    is_active: bool,
    is_chosen: bool,
    scope_seen: String,
    choices: Vec<CampaignChoice>,
    deliveries: Vec<DeliverySummary>,
    most_deliveries: i64,
    earlier_hours: i64,
    /// Until when an earlier key signs as well; there cannot be another one meanwhile.
    earlier_until: Option<DateTime<Utc>>,
    shown: EndpointPageState,
}

impl EndpointPage {
    fn scope_problem(&self) -> Option<&str> {
        self.shown
            .scope_problem
            .as_ref()
            .map(|(_, problem)| problem.as_str())
    }
}

/// How many deliveries a replay has sent again, in the address of the page behind it.
#[derive(Deserialize)]
pub(super) struct ReplayedQuery {
    replayed: Option<u64>,
}

fn replayed_sentence(replayed: u64) -> String {
    match replayed {
        0 => "Nothing has failed since that time, so nothing is sent again.".to_owned(),
        1 => "1 delivery is on its way again.".to_owned(),
        more => format!("{} deliveries are on their way again.", grouped(more)),
    }
}

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
    headers: HeaderMap,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
    replayed: Result<Query<ReplayedQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let endpoint = find(&console, &person, path).await?;
    let Query(NoticeQuery { notice }) = noticed?;
    let secret = match OneTimeSecret::take(&console, &person, &headers).await? {
        Some(OneTimeSecret::SigningKey(secret)) => Some(secret),
        _ => None,
    };
    let Query(ReplayedQuery { replayed }) = replayed?;
    let replayed = replayed.filter(|_| notice == Some(ActionNotice::FailedReplayed));
    let shown = EndpointPageState {
        notice,
        secret,
        replayed,
        ..EndpointPageState::default()
    };
    Ok(page(
        &detail_page(&console, &person, endpoint, shown).await?,
    ))
}

pub(super) async fn detail_page(
    console: &ConsoleState,
    person: &CurrentMember,
    endpoint: Endpoint,
    shown: EndpointPageState,
) -> Result<EndpointPage, PageError> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let typed = shown.scope_problem.as_ref().map(|(form, _)| form);
    let chosen = match typed {
        Some(form) => form.campaigns.clone(),
        None => endpoint.campaigns.clone().unwrap_or_default(),
    };
    Ok(EndpointPage {
        state: words(endpoint.state),
        is_active: endpoint.state == EndpointState::Active,
        is_chosen: typed.map_or(endpoint.campaigns.is_some(), |form| form.is_chosen),
        scope_seen: typed.map_or_else(
            || fingerprint(&endpoint.campaigns),
            |form| form.seen.clone(),
        ),
        choices: choices(console, person, &chosen).await?,
        deliveries: store.list_deliveries(team_id, endpoint.endpoint_id).await?,
        most_deliveries: DELIVERIES_SHOWN,
        earlier_hours: console.process.config.dispatcher.earlier_secret_hours,
        earlier_until: endpoint
            .earlier_secret_until
            .filter(|until| *until > console.process.clock.now()),
        frame: match shown.replayed {
            Some(replayed) => {
                PageFrame::new(person, PART).with_sentence(replayed_sentence(replayed))
            }
            None => PageFrame::new(person, PART).with_notice(shown.notice),
        },
        endpoint,
        shown,
    })
}

fn back(endpoint_id: EndpointId, notice: ActionNotice) -> Response {
    done(&format!("{PART}/{endpoint_id}"), notice)
}

/// Has it hear of other campaigns.
pub(super) async fn set_scope(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
    form: Result<RawForm, RawFormRejection>,
) -> Result<Response, PageError> {
    let endpoint = find(&console, &person, path).await?;
    let RawForm(bytes) = form?;
    let form = ScopeForm::read(&bytes);
    let scope = match form.scope() {
        Ok(scope) => scope,
        Err(problem) => return scope_refused(&console, &person, endpoint, (form, problem)).await,
    };
    let is_as_seen = |endpoint: &Endpoint| fingerprint(&endpoint.campaigns) == form.seen;
    let endpoint_id = endpoint.endpoint_id;
    match manager(&console, &person)
        .set_scope(endpoint_id, scope.as_deref(), is_as_seen)
        .await
    {
        Ok(()) => Ok(back(endpoint_id, ActionNotice::EndpointChanged)),
        Err(EndpointError::Overtaken) => {
            let endpoint = console
                .process
                .store
                .find_endpoint(person.0.team_id, endpoint_id)
                .await?;
            let standing = endpoint
                .campaigns
                .as_ref()
                .map_or("all campaigns".to_owned(), |ids| ids.join(", "));
            let problem = format!(
                "Nothing was saved: somebody chose other campaigns meanwhile. It hears of {standing} now. Below is what you \
                 chose; save again to put it in the place of that."
            );
            let form = ScopeForm {
                seen: fingerprint(&endpoint.campaigns),
                ..form
            };
            scope_refused(&console, &person, endpoint, (form, problem)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn scope_refused(
    console: &ConsoleState,
    person: &CurrentMember,
    endpoint: Endpoint,
    scope_problem: (ScopeForm, String),
) -> Result<Response, PageError> {
    let shown = EndpointPageState {
        scope_problem: Some(scope_problem),
        ..EndpointPageState::default()
    };
    Ok(refused(
        &detail_page(console, person, endpoint, shown).await?,
    ))
}

/// Sends it nothing any more; what waits is cancelled.
pub(super) async fn pause(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).pause(endpoint_id).await?;
    Ok(back(endpoint_id, ActionNotice::EndpointPaused))
}

/// Sends it scans from now on.
pub(super) async fn resume(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).resume(endpoint_id).await?;
    Ok(back(endpoint_id, ActionNotice::EndpointResumed))
}

/// Deletes it.
pub(super) async fn delete(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).delete(endpoint_id).await?;
    Ok(done(PART, ActionNotice::EndpointDeleted))
}

/// Signs its deliveries with a new key and leads to the page that shows the key, once.
pub(super) async fn sign(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    let earlier_for = TimeDelta::hours(console.process.config.dispatcher.earlier_secret_hours);
    let secret = SigningSecret::random();
    let kept = keep(&console, &person, &secret).await?;
    manager(&console, &person)
        .sign(endpoint_id, &secret, earlier_for)
        .await?;
    let path = format!("{PART}/{endpoint_id}");
    Ok(kept.with(
        Redirect::to(&path).into_response(),
        &path,
        &console.process.config.console,
    ))
}

/// Signs its deliveries no more.
pub(super) async fn stop_signing(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    manager(&console, &person).stop_signing(endpoint_id).await?;
    Ok(back(endpoint_id, ActionNotice::SigningStopped))
}
