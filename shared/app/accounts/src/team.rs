//! Teams: that there is one, how it pays, and the settings of it as a whole.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use store::{Actor, Result, SavedTeam, Store, StoreError, Team, Transaction};

/// Why a team is not made.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// There is one of this name, with this id.
    #[error("there is a team of this name already, with the id {0}")]
    Taken(TeamId),
    /// The database says no, or cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a team.
///
/// # Errors
/// [`TeamError::Taken`] when there is one of this name, which stays as it is.
pub async fn create_team(
    store: &Store,
    actor: Actor<'_>,
    new: &Team,
    now: DateTime<Utc>,
) -> std::result::Result<TeamId, TeamError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let saved = save_team_within(&transaction, actor, new, now).await?;
    if !saved.is_new {
        // Without a commit nothing of it was changed.
        return Err(TeamError::Taken(saved.team_id));
    }
    transaction.commit().await?;
    Ok(saved.team_id)
}

/// Makes a team, or changes the time zone and the payment of the one of that name, which keeps its id. Its row is locked until
/// the transaction ends.
///
/// # Errors
/// [`StoreError::Refused`] when a way to pay lacks what it needs.
pub async fn save_team_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    wanted: &Team,
    now: DateTime<Utc>,
) -> Result<SavedTeam> {
    let saved = transaction.save_team(wanted, now).await?;
    let (action, subject) = if saved.is_new {
        ("team.created", wanted.name.clone())
    } else if saved.is_changed {
        let subject = format!(
            "time zone {}, pays by {}",
            wanted.time_zone,
            wanted.payment.as_str()
        );
        ("team.changed", subject)
    } else {
        return Ok(saved);
    };
    transaction
        .record_activity(saved.team_id, actor, action, &subject, now)
        .await?;
    Ok(saved)
}

/// Has `Idempotency-Key` honoured on the team's sends, or not. Returns whether that is a change.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn set_idempotency_keys(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    is_honoured: bool,
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let is_changed =
        set_idempotency_keys_within(&transaction, actor, team_id, is_honoured, now).await?;
    transaction.commit().await?;
    Ok(is_changed)
}

/// As [`set_idempotency_keys`], in the caller's transaction.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn set_idempotency_keys_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    is_honoured: bool,
    now: DateTime<Utc>,
) -> Result<bool> {
    let is_changed = transaction
        .set_idempotency_keys_honored(team_id, is_honoured)
        .await?;
    if is_changed {
        let action = if is_honoured {
            "team.keys_honoured"
        } else {
            "team.keys_ignored"
        };
        transaction
            .record_activity(team_id, actor, action, "", now)
            .await?;
    }
    Ok(is_changed)
}

/// Lets Formulas only keys see people of the address book as they are, or masked. Returns whether that is a change.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn set_formula_keys(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    see_people: bool,
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let is_changed = set_formula_keys_within(&transaction, actor, team_id, see_people, now).await?;
    transaction.commit().await?;
    Ok(is_changed)
}

/// As [`set_formula_keys`], in the caller's transaction.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn set_formula_keys_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    see_people: bool,
    now: DateTime<Utc>,
) -> Result<bool> {
    let is_changed = transaction.set_people_unmasked(team_id, see_people).await?;
    if is_changed {
        let action = if see_people {
            "team.people_shown"
        } else {
            "team.people_masked"
        };
        transaction
            .record_activity(team_id, actor, action, "", now)
            .await?;
    }
    Ok(is_changed)
}
