//! Webhook endpoints: where a team wants its events.

mod delivery;
mod detail;
mod scope;

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection, RawFormRejection};
use axum::extract::{Path, Query, RawForm, State};
use axum::response::Response;
use delivering::{EndpointError, EndpointManager};
use model::id::EndpointId;
use model::limits::ENDPOINTS_PER_TEAM;
use outbound::TargetPolicy;
use secret::SigningSecret;
use store::{Actor, Endpoint, EndpointState, StoreError};

use self::scope::{CampaignChoice, ScopeForm};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::once::{OneTimeSecret, SecretCookie};
use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    use RouteAccess::{Manager, Member};
    vec![
        route::page("/endpoints", Member, list),
        route::action("/endpoints", Manager, create),
        route::page("/endpoints/{endpoint_id}", Member, detail::show),
        route::action("/endpoints/{endpoint_id}/scope", Manager, detail::set_scope),
        route::action("/endpoints/{endpoint_id}/pause", Manager, detail::pause),
        route::action("/endpoints/{endpoint_id}/resume", Manager, detail::resume),
        route::action("/endpoints/{endpoint_id}/delete", Manager, detail::delete),
        route::action("/endpoints/{endpoint_id}/sign", Manager, detail::sign),
        route::action(
            "/endpoints/{endpoint_id}/stop-signing",
            Manager,
            detail::stop_signing,
        ),
        route::action(
            "/endpoints/{endpoint_id}/test",
            Manager,
            delivery::send_test,
        ),
        route::action("/endpoints/{endpoint_id}/replay", Manager, delivery::replay),
        route::page(
            "/endpoints/{endpoint_id}/deliveries/{delivery_id}",
            Member,
            delivery::show,
        ),
        route::action(
            "/endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver",
            Manager,
            delivery::redeliver,
        ),
    ]
}

/// The part of the navigation.
const PART: &str = "/endpoints";

/// A path with the id of an endpoint.
type EndpointPath = Result<Path<EndpointId>, PathRejection>;

/// The team's endpoint that a path names.
async fn find(
    console: &ConsoleState,
    person: &CurrentMember,
    path: EndpointPath,
) -> Result<Endpoint, PageError> {
    let Path(endpoint_id) = path?;
    Ok(console
        .process
        .store
        .find_endpoint(person.0.team_id, endpoint_id)
        .await?)
}

/// Whoever manages the team's endpoints now.
fn manager<'a>(console: &'a ConsoleState, person: &'a CurrentMember) -> EndpointManager<'a> {
    EndpointManager::new(
        &console.process.store,
        person.0.team_id,
        Actor::Member(&person.0),
        console.process.clock.now(),
    )
}

impl From<EndpointError> for PageError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Store(error) => error.into(),
            EndpointError::Event(error) => Self::Internal(error.into()),
            other => Self::Invalid(format!("Not done: {other}.")),
        }
    }
}

/// A state, for people.
fn words(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Active => "Active",
        EndpointState::Paused => "Paused",
        EndpointState::Disabled => "Disabled after too many failures",
        EndpointState::Deleted => "Deleted",
    }
}

#[derive(Template)]
#[template(path = "endpoint_list.html")]
struct EndpointListPage {
    frame: PageFrame,
    endpoints: Vec<Endpoint>,
    may_make: bool,
    most: i64,
    form: ScopeForm,
    choices: Vec<CampaignChoice>,
    /// What is wrong with what was typed.
    problem: Option<String>,
}

async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(NoticeQuery { notice }) = noticed?;
    Ok(page(
        &list_page(&console, &person, ScopeForm::default(), (notice, None)).await?,
    ))
}

async fn list_page(
    console: &ConsoleState,
    person: &CurrentMember,
    form: ScopeForm,
    (notice, problem): (Option<ActionNotice>, Option<String>),
) -> Result<EndpointListPage, PageError> {
    let endpoints = console
        .process
        .store
        .list_endpoints(person.0.team_id)
        .await?;
    Ok(EndpointListPage {
        may_make: person.is_manager() && (endpoints.len() as i64) < ENDPOINTS_PER_TEAM,
        most: ENDPOINTS_PER_TEAM,
        choices: scope::choices(console, person, &form.campaigns).await?,
        frame: PageFrame::new(person, PART).with_notice(notice),
        endpoints,
        form,
        problem,
    })
}

/// Makes an endpoint and leads to its page, which shows the key that signs, if one was asked for: only this once.
async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<RawForm, RawFormRejection>,
) -> Result<Response, PageError> {
    let RawForm(bytes) = form?;
    let form = ScopeForm::read(&bytes);
    match make(&console, &person, &form).await {
        Ok((endpoint_id, secret)) => {
            let path = format!("{PART}/{endpoint_id}");
            let answer = done(&path, ActionNotice::EndpointAdded);
            match secret {
                Some(secret) => Ok(secret.with(answer, &path, &console.process.config.console)),
                None => Ok(answer),
            }
        }
        Err(EndpointCreateError::Sentence(problem)) => Ok(refused(
            &list_page(&console, &person, form, (None, Some(problem))).await?,
        )),
        Err(EndpointCreateError::Failure(failure)) => Err(failure),
    }
}

/// Why an endpoint is not made: a sentence for beside the form, or what else went wrong.
enum EndpointCreateError {
    Sentence(String),
    Failure(PageError),
}

impl From<EndpointError> for EndpointCreateError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Url(_) | EndpointError::Host(_) | EndpointError::Taken => {
                Self::Sentence(format!("Not added: {error}."))
            }
            EndpointError::Store(StoreError::Limit(reason)) => {
                Self::Sentence(format!("Not added: {reason}."))
            }
            other => Self::Failure(other.into()),
        }
    }
}

async fn make(
    console: &ConsoleState,
    person: &CurrentMember,
    form: &ScopeForm,
) -> Result<(EndpointId, Option<SecretCookie>), EndpointCreateError> {
    let scope = form.scope().map_err(EndpointCreateError::Sentence)?;
    let policy = TargetPolicy::new(&console.process.config.outbound.allowed_networks);
    let secret = form.is_signed.then(SigningSecret::random);
    let kept = match &secret {
        Some(secret) => Some(
            keep(console, person, secret)
                .await
                .map_err(PageError::from)
                .map_err(EndpointCreateError::Failure)?,
        ),
        None => None,
    };
    let made = manager(console, person)
        .create(&policy, &form.url, scope.as_deref(), secret)
        .await?;
    Ok((made.endpoint_id, kept))
}

/// Keeps a key that is to sign for the page that shows it. When the endpoint does not get it after all, it was nothing.
async fn keep(
    console: &ConsoleState,
    person: &CurrentMember,
    secret: &SigningSecret,
) -> store::Result<SecretCookie> {
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let now = console.process.clock.now();
    let kept = OneTimeSecret::SigningKey(secret.reveal())
        .keep(&transaction, person, now)
        .await?;
    transaction.commit().await?;
    Ok(kept)
}
