//! API keys: those of the team, made and revoked here, and those of its integrations, made on their pages.

use std::collections::HashMap;

use accounts::{NewTeamKey, create_key_within, revoke_key};
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use model::id::{ApiKeyId, IntegrationId};
use model::key::KeyKind;
use model::limits::ACTIVE_TEAM_KEYS;
use model::name::DisplayName;
use serde::Deserialize;
use store::{Actor, ApiKeySummary, Integration, StoreError};

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::once::{OneTimeSecret, SecretCookie};
use crate::route::{self, ConsoleRoute, RouteAccess};

/// Where the page is.
const PART: &str = "/keys";

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    vec![
        route::page("/keys", RouteAccess::Member, show),
        route::action("/keys", RouteAccess::Manager, create),
        route::action("/keys/{key_id}/revoke", RouteAccess::Manager, revoke),
    ]
}

#[derive(Deserialize)]
struct NewTeamKeyForm {
    name: String,
    kind: NewTeamKeyKind,
}

/// The kinds that a team's page makes; integration keys are made on the integration's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NewTeamKeyKind {
    FullAccess,
    Formulas,
}

/// A key of the list.
struct ApiKeyRow {
    key: ApiKeySummary,
    /// The name of the integration that it opens.
    integration: Option<String>,
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct KeyPageState {
    notice: Option<ActionNotice>,
    /// A key that was made a moment ago, shown this once.
    made: Option<String>,
    /// What was typed, and what is wrong with it.
    name: String,
    kind: Option<NewTeamKeyKind>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    frame: PageFrame,
    lines: Vec<ApiKeyRow>,
    active: i64,
    may_make: bool,
    most: i64,
    shown: KeyPageState,
    public_url: String,
}

/// The page.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    headers: HeaderMap,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(NoticeQuery { notice }) = noticed?;
    let made = made_key(&console, &person, &headers).await?;
    Ok(page(
        &key_page(
            &console,
            &person,
            KeyPageState {
                notice,
                made,
                ..KeyPageState::default()
            },
        )
        .await?,
    ))
}

/// The key that was made a moment ago, for the page that a browser asks for now.
pub(crate) async fn made_key(
    console: &ConsoleState,
    person: &CurrentMember,
    headers: &HeaderMap,
) -> Result<Option<String>, PageError> {
    match OneTimeSecret::take(console, person, headers).await? {
        Some(OneTimeSecret::Key(key)) => Ok(Some(key)),
        _ => Ok(None),
    }
}

async fn key_page(
    console: &ConsoleState,
    person: &CurrentMember,
    shown: KeyPageState,
) -> Result<KeyPage, PageError> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let keys = store.list_api_keys(team_id).await?;
    let integrations = store.list_integrations(team_id).await?.into_iter();
    let names: HashMap<IntegrationId, String> = integrations
        .map(|integration| (integration.integration_id, integration.name))
        .collect();
    let is_active = |key: &&ApiKeySummary| key.revoked_at.is_none() && key.integration_id.is_none();
    let active = keys.iter().filter(is_active).count() as i64;
    let line = |key: ApiKeySummary| ApiKeyRow {
        integration: key.integration_id.and_then(|id| names.get(&id).cloned()),
        key,
    };
    Ok(KeyPage {
        may_make: person.is_manager() && active < ACTIVE_TEAM_KEYS,
        active,
        most: ACTIVE_TEAM_KEYS,
        lines: keys.into_iter().map(line).collect(),
        public_url: console.process.config.console.public_url.clone(),
        frame: PageFrame::new(person, "/keys").with_notice(shown.notice),
        shown,
    })
}

/// Makes a key and leads to the page that shows it, once.
async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<NewTeamKeyForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(NewTeamKeyForm { name: typed, kind }) = form?;
    let key_kind = match kind {
        NewTeamKeyKind::FullAccess => KeyKind::FullAccess,
        NewTeamKeyKind::Formulas => KeyKind::Formulas,
    };
    match make(&console, &person, key_kind, None, &typed).await {
        Ok(key) => Ok(key.with(
            Redirect::to(PART).into_response(),
            PART,
            &console.process.config.console,
        )),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not made: {reason}."));
            let shown = KeyPageState {
                name: typed,
                kind: Some(kind),
                problem,
                ..KeyPageState::default()
            };
            Ok(refused(&key_page(&console, &person, shown).await?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes a key of the team, or of one of its integrations.
///
/// # Errors
/// [`StoreError::Limit`] for a name that is none, and past the keys that there may be.
pub(crate) async fn make(
    console: &ConsoleState,
    person: &CurrentMember,
    kind: KeyKind,
    integration: Option<&Integration>,
    typed: &str,
) -> store::Result<SecretCookie> {
    let name: DisplayName = typed
        .parse()
        .map_err(|reason| StoreError::Limit(format!("the name {reason}")))?;
    let now = console.process.clock.now();
    let new = NewTeamKey {
        team_id: person.0.team_id,
        kind,
        integration,
        name: &name,
        chosen: None,
    };
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let created = create_key_within(&transaction, Actor::Member(&person.0), &new, now).await?;
    let key = OneTimeSecret::Key(created.text.reveal().to_owned())
        .keep(&transaction, person, now)
        .await?;
    transaction.commit().await?;
    Ok(key)
}

/// Revokes a key.
async fn revoke(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<ApiKeyId>, PathRejection>,
) -> Result<Response, PageError> {
    let Path(key_id) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let actor = Actor::Member(&person.0);
    revoke_key(store, actor, person.0.team_id, key_id, now).await?;
    Ok(done("/keys", ActionNotice::KeyRevoked))
}
