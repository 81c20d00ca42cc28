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

/// A setting of a team as a whole, and what it is to be.
#[derive(Debug, Clone, Copy)]
pub enum TeamSetting {
    /// Whether `Idempotency-Key` is honoured on the team's sends.
    IdempotencyKeys(bool),
    /// Whether Formulas only keys see people of the address book as they are; else they see them masked.
    FormulaKeysSeePeople(bool),
}

/// Sets a setting of a team. Returns whether that is a change.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn change_team_setting(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    setting: TeamSetting,
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let is_changed = change_team_setting_within(&transaction, actor, team_id, setting, now).await?;
    transaction.commit().await?;
    Ok(is_changed)
}

/// As [`change_team_setting`], in the caller's transaction.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn change_team_setting_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    setting: TeamSetting,
    now: DateTime<Utc>,
) -> Result<bool> {
    let (is_changed, action) = match setting {
        TeamSetting::IdempotencyKeys(is_on) => (
            transaction
                .set_idempotency_keys_honored(team_id, is_on)
                .await?,
            if is_on {
                "team.keys_honoured"
            } else {
                "team.keys_ignored"
            },
        ),
        TeamSetting::FormulaKeysSeePeople(is_on) => (
            transaction.set_people_unmasked(team_id, is_on).await?,
            if is_on {
                "team.people_shown"
            } else {
                "team.people_masked"
            },
        ),
    };
    if is_changed {
        transaction
            .record_activity(team_id, actor, action, "", now)
            .await?;
    }
    Ok(is_changed)
}
