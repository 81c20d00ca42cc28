//! Adding and removing people, their roles, and passwords that are lost.

use accounts::{
    MemberError, MemberRoleChange, NewMember, PasswordLink, add_member, remove_member,
    set_member_role,
};
use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use chrono::{DateTime, TimeDelta, Utc};
use model::id::MemberId;
use model::limits::PEOPLE_PER_TEAM;
use model::name::{DisplayName, NormalizedEmail};
use serde::Deserialize;
use store::{MemberRole, StoreError, TeamMember};

use super::PART;
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult, limit_problem};
use crate::render::{render_page, render_refusal};
use crate::session::session_hash;

/// A link that has just been made, shown this once.
struct PasswordLinkView {
    /// For whom.
    name: String,
    /// The whole address.
    address: String,
}

impl PasswordLinkView {
    fn new(context: &MemberContext, link: PasswordLink) -> Self {
        let url = context.config().console.url.trim_end_matches('/');
        Self {
            address: format!("{url}/password/{}", link.token.reveal()),
            name: link.name,
        }
    }
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct TeamPageState {
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
type MemberPath = PagePath<MemberId>;

/// The page.
pub(crate) async fn show_team(context: MemberContext) -> PageResult {
    let page = team_page(&context, TeamPageState::default()).await?;
    Ok(render_page(&page))
}

async fn team_page(context: &MemberContext, shown: TeamPageState) -> Result<TeamPage, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let people = store.list_members(team_id).await?;
    Ok(TeamPage {
        frame: context.frame(PART),
        own_id: context.member.user_id,
        may_add: (people.len() as i64) < PEOPLE_PER_TEAM,
        most: PEOPLE_PER_TEAM,
        link_hours: context.config().console.password_link_hours,
        honours_keys: store.honors_idempotency_keys(team_id).await?,
        formula_keys_see_people: store.shows_people_unmasked(team_id).await?,
        people,
        shown,
    })
}

/// The page with a link that has just been made.
async fn show_link(context: &MemberContext, link: PasswordLink) -> PageResult {
    let made = Some(PasswordLinkView::new(context, link));
    let shown = TeamPageState {
        made,
        ..TeamPageState::default()
    };
    let page = team_page(context, shown).await;
    Ok(render_page(&page.map_err(PageError::after_commit)?))
}

#[derive(Deserialize)]
pub(crate) struct NewMemberForm {
    email: String,
    name: String,
    role: MemberRole,
}

/// Adds a person. The answer shows the link which sets the first password, once. Nothing is sent by mail: whoever adds somebody
/// hands the link over.
pub(crate) async fn invite_member(
    context: MemberContext,
    form: FormResult<NewMemberForm>,
) -> PageResult {
    let Form(typed) = form?;
    match create_member(&context, &typed).await {
        Ok(link) => show_link(&context, link).await,
        Err(error) => {
            let shown = TeamPageState {
                problem: Some(limit_problem("Not added", error)?),
                email: typed.email,
                name: typed.name,
                made: None,
            };
            Ok(render_refusal(&team_page(&context, shown).await?))
        }
    }
}

async fn create_member(
    context: &MemberContext,
    typed: &NewMemberForm,
) -> store::Result<PasswordLink> {
    let email: NormalizedEmail = typed.email.parse().map_err(StoreError::Limit)?;
    let name: DisplayName = typed
        .name
        .parse()
        .map_err(|reason| StoreError::Limit(format!("the name {reason}")))?;
    let new = NewMember {
        team_id: context.team_id(),
        email: &email,
        name: &name,
        role: typed.role,
    };
    let (store, now) = (context.store(), context.now());
    add_member(store, context.actor(), &new, link_end(context, now), now).await
}

/// Until when a link that is made now can be used.
fn link_end(context: &MemberContext, now: DateTime<Utc>) -> DateTime<Utc> {
    now + TimeDelta::hours(context.config().console.password_link_hours)
}

#[derive(Deserialize)]
pub(crate) struct MemberRoleForm {
    role: MemberRole,
}

/// Gives a person another role. The person signs in again: a session is as long as what it was begun for.
pub(crate) async fn set_role(
    context: MemberContext,
    headers: HeaderMap,
    PagePath(user_id): MemberPath,
    form: FormResult<MemberRoleForm>,
) -> PageResult {
    let (store, team_id, now) = (context.store(), context.team_id(), context.now());
    // Whose the path is comes before what the form says.
    store.find_member(team_id, user_id).await?;
    let Form(MemberRoleForm { role }) = form?;
    // Of one's own sessions the one at work stays.
    let kept =
        session_hash(&context.console, &headers).filter(|_| user_id == context.member.user_id);
    let change = MemberRoleChange {
        team_id,
        user_id,
        role,
        kept_session: kept.as_ref(),
    };
    let notice = if set_member_role(store, context.actor(), &change, now).await? {
        ActionNotice::RoleChanged
    } else {
        ActionNotice::NothingChanged
    };
    Ok(redirect_with_notice(PART, notice))
}

/// Removes a person from the team, with all sessions.
pub(crate) async fn remove_team_member(
    context: MemberContext,
    PagePath(user_id): MemberPath,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    remove_member(store, context.actor(), context.team_id(), user_id, now)
        .await
        .map_err(|error| refusal_of(error, "Another owner can remove you from the team."))?;
    Ok(redirect_with_notice(PART, ActionNotice::PersonRemoved))
}

#[derive(Deserialize)]
pub(crate) struct ResetPasswordForm {
    /// A fingerprint of the person's password and link when the form was made.
    password_state: Option<String>,
}

/// Changes whenever a person gets or loses a password, or gets a link.
fn password_state(member: &TeamMember) -> String {
    fingerprint_of(&(member.has_password, member.link_expires_at))
}

/// Takes a person's password away and ends all sessions. The answer shows the link which sets another one, once; the same form sent
/// again makes no other.
pub(crate) async fn reset_password(
    context: MemberContext,
    PagePath(user_id): MemberPath,
    form: FormResult<ResetPasswordForm>,
) -> PageResult {
    let (store, team_id, now) = (context.store(), context.team_id(), context.now());
    // Whose the path is comes before what the form says.
    store.find_member(team_id, user_id).await?;
    let Form(ResetPasswordForm {
        password_state: seen,
    }) = form?;
    let is_as_seen = |member: &TeamMember| seen.is_none_or(|seen| seen == password_state(member));
    let (whose, end) = ((team_id, user_id), link_end(&context, now));
    let link = accounts::reset_password(store, context.actor(), whose, is_as_seen, end, now)
        .await
        .map_err(|error| {
            refusal_of(
                error,
                "Change your own password on the page of your account.",
            )
        })?;
    show_link(&context, link).await
}

/// What whoever sends the form of a link again is told.
const RESET_BEFORE: &str = "Nothing was changed: this form was sent before and its link was shown then, or the person's password or \
                            link has changed since you opened the page. If you did not see the link, reload the page and make another.";

/// What a person is told, with the sentence for who tries it on themselves.
fn refusal_of(error: MemberError, oneself: &str) -> PageError {
    match error {
        MemberError::Oneself => PageError::Invalid(oneself.to_owned()),
        MemberError::Overtaken => PageError::Invalid(RESET_BEFORE.to_owned()),
        MemberError::Store(error) => error.into(),
    }
}
