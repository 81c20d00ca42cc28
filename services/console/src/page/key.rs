//! API and webhooks: keys.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use contract::id::ApiKeyId;
use contract::key::KeyKind;
use contract::limits::ACTIVE_TEAM_KEYS;
use secret::KeyText;
use serde::Deserialize;
use store::{KeySummary, NewKey};

use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, Notice, Noticed, done, page};
use crate::failure::Failure;
use crate::route::{self, Access, Route};

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        route::page("/keys", Access::Member, show),
        route::action("/keys", Access::Manager, create),
        route::action("/keys/{key_id}/revoke", Access::Manager, revoke),
    ]
}

/// Characters of a key's name.
const NAME_CHARS: usize = 100;

#[derive(Deserialize)]
struct NewKeyForm {
    name: String,
    kind: Kind,
}

/// The kinds that a team's page makes; integration keys are made on the integration's page.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    FullAccess,
    Formulas,
}

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    frame: Frame,
    keys: Vec<KeySummary>,
    may_make: bool,
    most: i64,
    /// A key that has just been made, shown this once.
    made: Option<KeyText>,
    public_url: String,
}

/// The page.
async fn show(
    State(console): State<Console>,
    person: Person,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(noticed) = noticed?;
    key_page(&console, &person, noticed.notice, None).await
}

async fn key_page(
    console: &Console,
    person: &Person,
    notice: Option<Notice>,
    made: Option<KeyText>,
) -> Result<Response, Failure> {
    let keys = console.process.store.key_list(person.0.team_id).await?;
    let is_active = |key: &&KeySummary| key.revoked_at.is_none() && key.kind != KeyKind::Integration.as_str();
    let active = keys.iter().filter(is_active).count() as i64;
    Ok(page(&KeyPage {
        may_make: person.is_manager() && active < ACTIVE_TEAM_KEYS,
        most: ACTIVE_TEAM_KEYS,
        keys,
        made,
        public_url: console.process.config.console.public_url.clone(),
        frame: Frame::new(person, "/keys").with_notice(notice),
    }))
}

/// Makes a key and shows it, once: the answer is the page itself, and nothing keeps it.
async fn create(
    State(console): State<Console>,
    person: Person,
    form: Result<Form<NewKeyForm>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(NewKeyForm { name, kind }) = form?;
    let name = name.trim();
    if name.is_empty() || name.chars().nth(NAME_CHARS).is_some() {
        return Err(Failure::Invalid(format!("Give the key a name of 1 to {NAME_CHARS} characters.")));
    }
    let kind = match kind {
        Kind::FullAccess => KeyKind::FullAccess,
        Kind::Formulas => KeyKind::Formulas,
    };
    let (key, now) = (KeyText::random(kind), console.process.clock.now());
    let new = NewKey { team_id: person.0.team_id, kind, integration_id: None, name, key: &key.presented() };
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.key_create(&new, now).await?;
    transaction.activity_add(&person.0, "key.created", name, now).await?;
    transaction.commit().await?;
    drop(connection);
    key_page(&console, &person, None, Some(key)).await
}

/// Revokes a key.
async fn revoke(
    State(console): State<Console>,
    person: Person,
    path: Result<Path<ApiKeyId>, PathRejection>,
) -> Result<Response, Failure> {
    let Path(key_id) = path?;
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let name = transaction.key_revoke(person.0.team_id, key_id, now).await?;
    transaction.activity_add(&person.0, "key.revoked", &name, now).await?;
    transaction.commit().await?;
    Ok(done("/keys", Notice::KeyRevoked))
}
