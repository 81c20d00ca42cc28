//! The members of a team: who they are, what they may do, and their passwords.

use chrono::{DateTime, Utc};
use model::id::{MemberId, TeamId};
use model::name::{DisplayName, NormalizedEmail};
use secret::SecretToken;
use store::{
    Actor, EmailOwner, MemberCredentials, MemberRole, Result, SignedInMember, Store, StoreError,
    TeamMember, Transaction,
};

/// Why a member cannot be changed so.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// Nobody does this to themselves: a team keeps somebody who can sign in.
    #[error("nobody can do this to themselves")]
    Oneself,
    /// The member does not stand any more as whoever asks saw them.
    #[error("the member was changed meanwhile")]
    Overtaken,
    /// The database says no, or cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

type MemberResult<T> = std::result::Result<T, MemberError>;

/// Somebody who is to be a member.
#[derive(Debug, Clone, Copy)]
pub struct NewMember<'a> {
    /// The team.
    pub team_id: TeamId,
    /// The address to sign in with.
    pub email: &'a NormalizedEmail,
    /// The name.
    pub name: &'a DisplayName,
    /// What the member may do.
    pub role: MemberRole,
}

/// A link that lets a member choose a password, once.
#[derive(Debug)]
pub struct PasswordLink {
    /// For whom.
    pub name: String,
    /// What opens it. It cannot be shown again.
    pub token: SecretToken,
}

/// Adds a member, who has no password yet but a link to choose one. Whether the address has an account of another team is not told.
///
/// # Errors
/// [`StoreError::Limit`] when somebody of the team has the address, or the team is full.
pub async fn add_member(
    store: &Store,
    actor: Actor<'_>,
    new: &NewMember<'_>,
    link_expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<PasswordLink> {
    let NewMember {
        team_id,
        email,
        name,
        role,
    } = *new;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let user_id = transaction
        .insert_member(team_id, email.as_str(), name.as_str(), role, now)
        .await?;
    let link =
        create_password_link(&transaction, (user_id, name.as_str()), link_expires_at, now).await?;
    let subject = added_subject(name.as_str(), role);
    transaction
        .record_activity(team_id, actor, "person.added", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(link)
}

async fn create_password_link(
    transaction: &Transaction<'_>,
    (user_id, name): (MemberId, &str),
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<PasswordLink> {
    let token = SecretToken::random();
    transaction
        .create_password_link(user_id, &token.hash(), expires_at, now)
        .await?;
    Ok(PasswordLink {
        name: name.to_owned(),
        token,
    })
}

/// What a member is to be. A member is known by the address.
#[derive(Debug, Clone, Copy)]
pub struct MemberSettings<'a> {
    /// Who and what.
    pub member: NewMember<'a>,
    /// The hash of a password, in PHC form; `None` leaves the one that there is.
    pub password_hash: Option<&'a str>,
}

/// As [`save_member_within`], without a password.
///
/// # Errors
/// As [`save_member_within`].
pub async fn save_member(
    store: &Store,
    actor: Actor<'_>,
    member: NewMember<'_>,
    now: DateTime<Utc>,
) -> Result<MemberId> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let settings = MemberSettings {
        member,
        password_hash: None,
    };
    let user_id = save_member_within(&transaction, actor, &settings, now).await?;
    transaction.commit().await?;
    Ok(user_id)
}

/// Makes the member, or changes the one with that address in the team; each change has its entry in the activity log. Another password
/// or another role ends the member's sessions.
///
/// # Errors
/// [`StoreError::Limit`] when the address belongs to a member of another team, or when the team had an owner and would have
/// none.
pub async fn save_member_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    settings: &MemberSettings<'_>,
    now: DateTime<Utc>,
) -> Result<MemberId> {
    let NewMember {
        team_id,
        email,
        name,
        role,
    } = settings.member;
    let (name, password_hash) = (name.as_str(), settings.password_hash);
    let saved = transaction
        .save_member(team_id, email.as_str(), name, role, password_hash, now)
        .await?;
    let mut changes = Vec::new();
    match &saved.before {
        None => changes.push(("person.added", added_subject(name, role))),
        Some((name_before, role_before)) => {
            if name_before != name {
                changes.push(("person.renamed", format!("{name}, {name_before} before")));
            }
            if *role_before != role {
                changes.push((
                    "person.role_changed",
                    role_change_subject(name, *role_before, role),
                ));
            }
        }
    }
    if password_hash.is_some() {
        changes.push(("person.password_set", name.to_owned()));
    }
    for (action, subject) in changes {
        transaction
            .record_activity(team_id, actor, action, &subject, now)
            .await?;
    }
    Ok(saved.user_id)
}

/// A role that a member is to have.
#[derive(Debug, Clone, Copy)]
pub struct MemberRoleChange<'a> {
    /// The team.
    pub team_id: TeamId,
    /// Who.
    pub user_id: MemberId,
    /// The role.
    pub role: MemberRole,
    /// The session of the member that stays; all others end, since a session is as long as what it was begun for.
    pub kept_session: Option<&'a [u8; 32]>,
}

/// Gives a member another role. Returns whether that is a change.
///
/// # Errors
/// [`StoreError::NotFound`] when nobody of the team has this id; [`StoreError::Limit`] when the team would be left without an
/// owner.
pub async fn set_member_role(
    store: &Store,
    actor: Actor<'_>,
    change: &MemberRoleChange<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let MemberRoleChange {
        team_id,
        user_id,
        role,
        kept_session,
    } = *change;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let member = transaction.lock_member(team_id, user_id).await?;
    if member.role == role {
        return Ok(false);
    }
    transaction.set_member_role(team_id, &member, role).await?;
    transaction
        .end_member_sessions(user_id, kept_session)
        .await?;
    let subject = role_change_subject(&member.name, member.role, role);
    transaction
        .record_activity(team_id, actor, "person.role_changed", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// Removes a member from the team, with all sessions.
///
/// # Errors
/// [`MemberError::Oneself`]; [`StoreError::NotFound`] when nobody of the team has this id; [`StoreError::Limit`] when the team would
/// be left without an owner.
pub async fn remove_member(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    user_id: MemberId,
    now: DateTime<Utc>,
) -> MemberResult<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let member = lock_other_member(&transaction, actor, team_id, user_id).await?;
    transaction.remove_member(team_id, &member).await?;
    transaction
        .record_activity(team_id, actor, "person.removed", &member.name, now)
        .await?;
    Ok(transaction.commit().await?)
}

/// Takes a member's password away and ends all sessions. From now on only the link lets the member in. `is_as_seen` says whether the
/// member stands as when whoever asks looked.
///
/// # Errors
/// [`MemberError::Oneself`]; [`MemberError::Overtaken`] when the member does not; [`StoreError::NotFound`] when nobody of the team has this id.
pub async fn reset_password(
    store: &Store,
    actor: Actor<'_>,
    (team_id, user_id): (TeamId, MemberId),
    is_as_seen: impl FnOnce(&TeamMember) -> bool,
    link_expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> MemberResult<PasswordLink> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let member = lock_other_member(&transaction, actor, team_id, user_id).await?;
    if !is_as_seen(&member) {
        return Err(MemberError::Overtaken);
    }
    transaction.clear_password(user_id).await?;
    let link =
        create_password_link(&transaction, (user_id, &member.name), link_expires_at, now).await?;
    transaction
        .record_activity(team_id, actor, "person.password_reset", &member.name, now)
        .await?;
    transaction.commit().await?;
    Ok(link)
}

/// A member of the team who is not who acts, locked.
async fn lock_other_member(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    user_id: MemberId,
) -> MemberResult<TeamMember> {
    let member = transaction.lock_member(team_id, user_id).await?;
    if actor.member_id() == Some(user_id) {
        return Err(MemberError::Oneself);
    }
    Ok(member)
}

/// Gives the member with this address another password, as its hash in PHC form. Sessions from before end, and so do links that
/// would set another one.
///
/// # Errors
/// [`StoreError::NotFound`] when nobody has the address.
pub async fn set_password(
    store: &Store,
    actor: Actor<'_>,
    email: &NormalizedEmail,
    password_hash: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    // Sessions end in a statement of their own: it sees the one of a sign-in that this waits for.
    let EmailOwner {
        team_id,
        user_id,
        name,
    } = transaction.lock_member_by_email(email.as_str()).await?;
    transaction
        .set_password(user_id, password_hash, None)
        .await?;
    transaction
        .record_activity(team_id, actor, "person.password_set", &name, now)
        .await?;
    transaction.commit().await
}

/// A password that a member has chosen, and the browser at work.
#[derive(Debug, Clone, Copy)]
pub struct NewPassword<'a> {
    /// Its hash, in PHC form.
    pub hash: &'a str,
    /// The session that the browser had: the new one takes its place.
    pub replaced_session: Option<&'a [u8; 32]>,
}

/// Puts a password in the place of the present one, which `account` was found right with. All sessions end and another begins: whoever
/// had a token with the old password has none now. `None` when the password has been changed or reset meanwhile.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn change_password(
    store: &Store,
    member: &SignedInMember,
    account: &MemberCredentials,
    new: &NewPassword<'_>,
    now: DateTime<Utc>,
) -> Result<Option<SecretToken>> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    if !transaction.lock_credentials(account).await? {
        return Ok(None);
    }
    let session = begin_session_with(&transaction, member.user_id, new, now).await?;
    let actor = Actor::Member(member);
    transaction
        .record_activity(
            member.team_id,
            actor,
            "person.password_changed",
            &member.name,
            now,
        )
        .await?;
    transaction.commit().await?;
    Ok(Some(session))
}

/// Sets the password that the holder of a link has chosen, uses the link up, however often it is sent, and begins a session. The name
/// is that of whoever the link was made for.
///
/// # Errors
/// [`StoreError::NotFound`] when the link was used, replaced or has expired; [`StoreError::Limit`] when the address is another
/// account's.
pub async fn choose_password(
    store: &Store,
    (link, name): (&SecretToken, &str),
    new: &NewPassword<'_>,
    now: DateTime<Utc>,
) -> Result<SecretToken> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let (team_id, user_id) = transaction.use_password_link(&link.hash(), now).await?;
    let session = begin_session_with(&transaction, user_id, new, now).await?;
    let actor = Actor::SignedOut { user_id, name };
    transaction
        .record_activity(team_id, actor, "person.password_chosen", name, now)
        .await?;
    transaction.commit().await?;
    Ok(session)
}

async fn begin_session_with(
    transaction: &Transaction<'_>,
    user_id: MemberId,
    new: &NewPassword<'_>,
    now: DateTime<Utc>,
) -> Result<SecretToken> {
    let session = SecretToken::random();
    transaction.set_password(user_id, new.hash, None).await?;
    transaction
        .insert_session(user_id, &session.hash(), new.replaced_session, now)
        .await?;
    Ok(session)
}

/// A member who is new, as the log tells it.
fn added_subject(name: &str, role: MemberRole) -> String {
    format!("{name} as {}", role.as_str())
}

/// A member with another role, as the log tells it.
fn role_change_subject(name: &str, before: MemberRole, now: MemberRole) -> String {
    format!("{name}, {} before, {} now", before.as_str(), now.as_str())
}
