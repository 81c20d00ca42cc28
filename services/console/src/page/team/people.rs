//! Adding and removing people, their roles, and passwords that are lost.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::TimeDelta;
use contract::id::MemberId;
use contract::limits::PEOPLE_PER_TEAM;
use contract::name::{DisplayName, NormalizedEmail};
use secret::SecretToken;
use serde::Deserialize;
use store::{MemberRole, StoreError, TeamMember, Transaction};

use super::PART;
use crate::ConsoleState;
use crate::access::{CurrentMember, token};
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::once::{OneTimeSecret, SecretCookie};

/// A link that was made a moment ago, shown this once.
struct PasswordLinkView {
    /// For whom.
    name: String,
    /// The whole address.
    address: String,
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct TeamPageState {
    notice: Option<ActionNotice>,
    made: Option<PasswordLinkView>,
    /// What was typed about a new person, and what is wrong with it.
    email: String,
    name: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "team.html")]
struct TeamPage {
    frame: PageFrame,
    people: Vec<TeamMember>,
    own_id: MemberId,
    may_add: bool,
    most: i64,
    link_hours: i64,
    honours_keys: bool,
    formula_keys_see_people: bool,
    shown: TeamPageState,
}

/// A path with the id of a person.
type MemberPath = Result<Path<MemberId>, PathRejection>;

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    headers: HeaderMap,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(NoticeQuery { notice }) = noticed?;
    let made = match OneTimeSecret::take(&console, &person, &headers).await? {
        Some(OneTimeSecret::Link(name, address)) => Some(PasswordLinkView { name, address }),
        _ => None,
    };
    Ok(page(
        &team_page(
            &console,
            &person,
            TeamPageState {
                notice,
                made,
                ..TeamPageState::default()
            },
        )
        .await?,
    ))
}

async fn team_page(
    console: &ConsoleState,
    person: &CurrentMember,
    shown: TeamPageState,
) -> Result<TeamPage, PageError> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let people = store.person_list(team_id).await?;
    Ok(TeamPage {
        frame: PageFrame::new(person, PART).with_notice(shown.notice),
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
pub(super) struct NewMemberForm {
    email: String,
    name: String,
    role: MemberRole,
}

/// Adds a person and leads to the page that shows the link which sets the first password, once. Nothing is sent by mail: whoever adds somebody
/// hands the link over.
pub(super) async fn add(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<NewMemberForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(typed) = form?;
    match make(&console, &person, &typed).await {
        Ok(link) => Ok(link.with(
            Redirect::to(PART).into_response(),
            PART,
            &console.process.config.console,
        )),
        Err(StoreError::Limit(reason)) => {
            let NewMemberForm { email, name, .. } = typed;
            let problem = Some(format!("Not added: {reason}."));
            let shown = TeamPageState {
                email,
                name,
                problem,
                ..TeamPageState::default()
            };
            Ok(refused(&team_page(&console, &person, shown).await?))
        }
        Err(error) => Err(error.into()),
    }
}

async fn make(
    console: &ConsoleState,
    person: &CurrentMember,
    typed: &NewMemberForm,
) -> store::Result<SecretCookie> {
    let email: NormalizedEmail = typed.email.parse().map_err(StoreError::Limit)?;
    let name: DisplayName = typed
        .name
        .parse()
        .map_err(|reason| StoreError::Limit(format!("the name {reason}")))?;
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let (team_id, name) = (person.0.team_id, name.as_str());
    let user_id = transaction
        .person_add(team_id, email.as_str(), name, typed.role, now)
        .await?;
    let made = make_link(console, &transaction, person, (user_id, name)).await?;
    let subject = format!("{name} as {}", typed.role.as_str());
    transaction
        .activity_add(&person.0, "person.added", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(made)
}

async fn make_link(
    console: &ConsoleState,
    transaction: &Transaction<'_>,
    person: &CurrentMember,
    (user_id, name): (MemberId, &str),
) -> store::Result<SecretCookie> {
    let (token, now) = (SecretToken::random(), console.process.clock.now());
    let settings = &console.process.config.console;
    let expires_at = now + TimeDelta::hours(settings.password_link_hours);
    transaction
        .password_link_create(user_id, &token.hash(), expires_at, now)
        .await?;
    let address = format!(
        "{}/password/{}",
        settings.url.trim_end_matches('/'),
        token.reveal()
    );
    OneTimeSecret::Link(name.to_owned(), address)
        .keep(transaction, person, now)
        .await
}

#[derive(Deserialize)]
pub(super) struct MemberRoleForm {
    role: MemberRole,
}

/// Gives a person another role. The person signs in again: a session is as long as what it was begun for.
pub(super) async fn set_role(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    headers: HeaderMap,
    path: MemberPath,
    form: Result<Form<MemberRoleForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let changed = transaction.person_lock(person.0.team_id, user_id).await?;
    let Form(MemberRoleForm { role }) = form?;
    if changed.role == role {
        return Ok(done(PART, ActionNotice::NothingChanged));
    }
    transaction
        .person_set_role(person.0.team_id, &changed, role)
        .await?;
    // Of one's own sessions the one at work stays.
    let kept = token(&console.process.config.console, &headers)
        .filter(|_| user_id == person.0.user_id)
        .map(|token| token.hash());
    transaction.session_end_all(user_id, kept.as_ref()).await?;
    let subject = format!(
        "{}, {} before, {} now",
        changed.name,
        changed.role.as_str(),
        role.as_str()
    );
    let now = console.process.clock.now();
    transaction
        .activity_add(&person.0, "person.role_changed", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(done(PART, ActionNotice::RoleChanged))
}

/// Removes a person from the team, with all sessions.
pub(super) async fn remove(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: MemberPath,
) -> Result<Response, PageError> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let removed = transaction.person_lock(person.0.team_id, user_id).await?;
    refuse_oneself(
        &person,
        user_id,
        "Another owner can remove you from the team.",
    )?;
    transaction
        .person_remove(person.0.team_id, &removed)
        .await?;
    let now = console.process.clock.now();
    transaction
        .activity_add(&person.0, "person.removed", &removed.name, now)
        .await?;
    transaction.commit().await?;
    Ok(done(PART, ActionNotice::PersonRemoved))
}

/// Takes a person's password away, ends all sessions, and leads to the page that shows the link which sets another
/// one, once.
pub(super) async fn reset_password(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: MemberPath,
) -> Result<Response, PageError> {
    let Path(user_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let locked_out = transaction.person_lock(person.0.team_id, user_id).await?;
    refuse_oneself(
        &person,
        user_id,
        "Change your own password on the page of your account.",
    )?;
    transaction.password_clear(user_id).await?;
    let link = make_link(&console, &transaction, &person, (user_id, &locked_out.name)).await?;
    let now = console.process.clock.now();
    transaction
        .activity_add(&person.0, "person.password_reset", &locked_out.name, now)
        .await?;
    transaction.commit().await?;
    Ok(link.with(
        Redirect::to(PART).into_response(),
        PART,
        &console.process.config.console,
    ))
}

fn refuse_oneself(
    person: &CurrentMember,
    user_id: MemberId,
    sentence: &str,
) -> Result<(), PageError> {
    if user_id == person.0.user_id {
        Err(PageError::Invalid(sentence.to_owned()))
    } else {
        Ok(())
    }
}
