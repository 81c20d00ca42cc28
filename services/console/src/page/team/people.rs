//! Adding and removing people, their roles, and passwords that are lost.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::TimeDelta;
use contract::id::UserId;
use contract::limits::PEOPLE_PER_TEAM;
use contract::name::{Email, Name};
use secret::Token;
use serde::Deserialize;
use store::{Role, StoreError, TeamPerson, Transaction};

use super::PART;
use crate::Console;
use crate::access::{Person, token};
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;
use crate::once::{OnItsWay, Secret};

/// A link that was made a moment ago, shown this once.
struct MadeLink {
    /// For whom.
    name: String,
    /// The whole address.
    address: String,
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct Shown {
    notice: Option<Notice>,
    made: Option<MadeLink>,
    /// What was typed about a new person, and what is wrong with it.
    email: String,
    name: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "team.html")]
struct TeamPage {
    frame: Frame,
    people: Vec<TeamPerson>,
    own_id: UserId,
    may_add: bool,
    most: i64,
    link_hours: i64,
    honours_keys: bool,
    formula_keys_see_people: bool,
    shown: Shown,
}

/// A path with the id of a person.
type OfPerson = Result<Path<UserId>, PathRejection>;

/// The page.
pub(super) async fn show(
    State(console): State<Console>,
    person: Person,
    headers: HeaderMap,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(Noticed { notice }) = noticed?;
    let made = match Secret::take(&console, &person, &headers).await? {
        Some(Secret::Link(name, address)) => Some(MadeLink { name, address }),
        _ => None,
    };
    Ok(page(&team_page(&console, &person, Shown { notice, made, ..Shown::default() }).await?))
}

async fn team_page(console: &Console, person: &Person, shown: Shown) -> Result<TeamPage, Failure> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let people = store.person_list(team_id).await?;
    Ok(TeamPage {
        frame: Frame::new(person, PART).with_notice(shown.notice),
        own_id: person.0.user_id,
        may_add: (people.len() as i64) < PEOPLE_PER_TEAM,
        most: PEOPLE_PER_TEAM,
        link_hours: console.process.config.console.password_link_hours,
        honours_keys: store.team_honours_keys(team_id).await?,
        formula_keys_see_people: store.formula_keys_see_people(team_id).await?,
        people,
        shown,
    })
}

#[derive(Deserialize)]
pub(super) struct NewPerson {
    email: String,
    name: String,
    role: Role,
}

/// Adds a person and leads to the page that shows the link which sets the first password, once. Nothing is sent by mail: whoever adds somebody
/// hands the link over.
pub(super) async fn add(
    State(console): State<Console>,
    person: Person,
    form: Result<Form<NewPerson>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(typed) = form?;
    match make(&console, &person, &typed).await {
        Ok(link) => Ok(link.with(Redirect::to(PART).into_response(), PART, &console.process.config.console)),
        Err(StoreError::Limit(reason)) => {
            let NewPerson { email, name, .. } = typed;
            let problem = Some(format!("Not added: {reason}."));
            let shown = Shown { email, name, problem, ..Shown::default() };
            Ok(refused(&team_page(&console, &person, shown).await?))
        }
        Err(error) => Err(error.into()),
    }
}

async fn make(console: &Console, person: &Person, typed: &NewPerson) -> store::Result<OnItsWay> {
    let email: Email = typed.email.parse().map_err(StoreError::Limit)?;
    let name: Name = typed.name.parse().map_err(|reason| StoreError::Limit(format!("the name {reason}")))?;
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let (team_id, name) = (person.0.team_id, name.as_str());
    let user_id = transaction.person_add(team_id, email.as_str(), name, typed.role, now).await?;
    let made = make_link(console, &transaction, person, (user_id, name)).await?;
    let subject = format!("{name} as {}", typed.role.as_str());
    transaction.activity_add(&person.0, "person.added", &subject, now).await?;
    transaction.commit().await?;
    Ok(made)
}

async fn make_link(
    console: &Console,
    transaction: &Transaction<'_>,
    person: &Person,
    (user_id, name): (UserId, &str),
) -> store::Result<OnItsWay> {
    let (token, now) = (Token::random(), console.process.clock.now());
    let settings = &console.process.config.console;
    let expires_at = now + TimeDelta::hours(settings.password_link_hours);
    transaction.password_link_create(user_id, &token.hash(), expires_at, now).await?;
    let address = format!("{}/password/{}", settings.url.trim_end_matches('/'), token.reveal());
    Secret::Link(name.to_owned(), address).keep(transaction, person, now).await
}

#[derive(Deserialize)]
pub(super) struct RoleForm {
    role: Role,
}

/// Gives a person another role. The person signs in again: a session is as long as what it was begun for.
pub(super) async fn set_role(
    State(console): State<Console>,
    person: Person,
    headers: HeaderMap,
    path: OfPerson,
    form: Result<Form<RoleForm>, FormRejection>,
) -> Result<Response, Failure> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let changed = transaction.person_lock(person.0.team_id, user_id).await?;
    let Form(RoleForm { role }) = form?;
    if changed.role == role {
        return Ok(done(PART, Notice::NothingChanged));
    }
    transaction.person_set_role(person.0.team_id, &changed, role).await?;
    // Of one's own sessions the one at work stays.
    let kept = token(&console.process.config.console, &headers)
        .filter(|_| user_id == person.0.user_id)
        .map(|token| token.hash());
    transaction.session_end_all(user_id, kept.as_ref()).await?;
    let subject = format!("{}, {} before, {} now", changed.name, changed.role.as_str(), role.as_str());
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, "person.role_changed", &subject, now).await?;
    transaction.commit().await?;
    Ok(done(PART, Notice::RoleChanged))
}

/// Removes a person from the team, with all sessions.
pub(super) async fn remove(
    State(console): State<Console>,
    person: Person,
    path: OfPerson,
) -> Result<Response, Failure> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let removed = transaction.person_lock(person.0.team_id, user_id).await?;
    refuse_oneself(&person, user_id, "Another owner can remove you from the team.")?;
    transaction.person_remove(person.0.team_id, &removed).await?;
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, "person.removed", &removed.name, now).await?;
    transaction.commit().await?;
    Ok(done(PART, Notice::PersonRemoved))
}

/// Takes a person's password away, ends all sessions, and leads to the page that shows the link which sets another
/// one, once.
pub(super) async fn reset_password(
    State(console): State<Console>,
    person: Person,
    path: OfPerson,
) -> Result<Response, Failure> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let locked_out = transaction.person_lock(person.0.team_id, user_id).await?;
    refuse_oneself(&person, user_id, "Change your own password on the page of your account.")?;
    transaction.password_clear(user_id).await?;
    let link = make_link(&console, &transaction, &person, (user_id, &locked_out.name)).await?;
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, "person.password_reset", &locked_out.name, now).await?;
    transaction.commit().await?;
    Ok(link.with(Redirect::to(PART).into_response(), PART, &console.process.config.console))
}

fn refuse_oneself(person: &Person, user_id: UserId, sentence: &str) -> Result<(), Failure> {
    if user_id == person.0.user_id { Err(Failure::Invalid(sentence.to_owned())) } else { Ok(()) }
}
