//! Adding and removing people, their roles, and passwords that are lost.

use accounts::{
    MemberError, MemberRoleChange, NewMember, PasswordLink, add_member_within, remove_member,
    reset_password_within, set_member_role,
};
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use chrono::{DateTime, TimeDelta, Utc};
use model::id::MemberId;
use model::limits::PEOPLE_PER_TEAM;
use model::name::{DisplayName, NormalizedEmail};
use serde::Deserialize;
use store::{Actor, MemberRole, StoreError, TeamMember, Transaction};

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
    let people = store.list_members(team_id).await?;
    Ok(TeamPage {
        frame: PageFrame::new(person, PART).with_notice(shown.notice),
        own_id: person.0.user_id,
        may_add: (people.len() as i64) < PEOPLE_PER_TEAM,
        most: PEOPLE_PER_TEAM,
        link_hours: console.process.config.console.password_link_hours,
        honours_keys: store.honors_idempotency_keys(team_id).await?,
        formula_keys_see_people: store.shows_people_unmasked(team_id).await?,
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
    let new = NewMember {
        team_id: person.0.team_id,
        email: &email,
        name: &name,
        role: typed.role,
    };
    let (actor, now) = (Actor::Member(&person.0), console.process.clock.now());
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let link = add_member_within(&transaction, actor, &new, link_end(console, now), now).await?;
    let kept = keep_link(console, &transaction, person, &link, now).await?;
    transaction.commit().await?;
    Ok(kept)
}

/// Until when a link that is made now can be used.
fn link_end(console: &ConsoleState, now: DateTime<Utc>) -> DateTime<Utc> {
    now + TimeDelta::hours(console.process.config.console.password_link_hours)
}

/// Keeps the address of a link for the page that shows it.
async fn keep_link(
    console: &ConsoleState,
    transaction: &Transaction<'_>,
    person: &CurrentMember,
    link: &PasswordLink,
    now: DateTime<Utc>,
) -> store::Result<SecretCookie> {
    let address = format!(
        "{}/password/{}",
        console.process.config.console.url.trim_end_matches('/'),
        link.token.reveal()
    );
    OneTimeSecret::Link(link.name.clone(), address)
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
    let (store, team_id, now) = (
        &console.process.store,
        person.0.team_id,
        console.process.clock.now(),
    );
    // Whose the path is comes before what the form says.
    store.find_member(team_id, user_id).await?;
    let Form(MemberRoleForm { role }) = form?;
    // Of one's own sessions the one at work stays.
    let kept = token(&console.process.config.console, &headers)
        .filter(|_| user_id == person.0.user_id)
        .map(|token| token.hash());
    let change = MemberRoleChange {
        team_id,
        user_id,
        role,
        kept_session: kept.as_ref(),
    };
    let notice = if set_member_role(store, Actor::Member(&person.0), &change, now).await? {
        ActionNotice::RoleChanged
    } else {
        ActionNotice::NothingChanged
    };
    Ok(done(PART, notice))
}

/// Removes a person from the team, with all sessions.
pub(super) async fn remove(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: MemberPath,
) -> Result<Response, PageError> {
    let Path(user_id) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    remove_member(
        store,
        Actor::Member(&person.0),
        person.0.team_id,
        user_id,
        now,
    )
    .await
    .map_err(|error| refusal(error, "Another owner can remove you from the team."))?;
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
    let (actor, now) = (Actor::Member(&person.0), console.process.clock.now());
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let of = (person.0.team_id, user_id);
    let link = reset_password_within(&transaction, actor, of, link_end(&console, now), now)
        .await
        .map_err(|error| {
            refusal(
                error,
                "Change your own password on the page of your account.",
            )
        })?;
    let kept = keep_link(&console, &transaction, &person, &link, now).await?;
    transaction.commit().await?;
    Ok(kept.with(
        Redirect::to(PART).into_response(),
        PART,
        &console.process.config.console,
    ))
}

/// What a person is told, with the sentence for who tries it on themselves.
fn refusal(error: MemberError, oneself: &str) -> PageError {
    match error {
        MemberError::Oneself => PageError::Invalid(oneself.to_owned()),
        MemberError::Store(error) => error.into(),
    }
}
