//! An integration as a file has it.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use store::{Actor, Integration, IntegrationAvailability, Result, StoreError, Transaction};

use crate::guard::{guard_action, guard_subject};
use crate::standing::availability_action;

/// What an owner sets of an integration.
#[derive(Debug, Clone, Copy)]
pub struct IntegrationSettings<'a> {
    /// Its name, by which the team's integration is found.
    pub name: &'a str,
    /// Whether it takes requests.
    pub availability: IntegrationAvailability,
    /// The removal guard; `None` leaves the one that stands, and gives a new integration the usual one.
    pub removal_guard_percent: Option<i16>,
}

/// Makes an integration or gives the team's one of this name these settings, with an entry in the log for each thing that changes.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn save_integration_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    wanted: IntegrationSettings<'_>,
    now: DateTime<Utc>,
) -> Result<Integration> {
    let IntegrationSettings {
        name,
        availability,
        removal_guard_percent,
    } = wanted;
    let standing = match transaction.find_integration_by_name(team_id, name).await {
        Ok(standing) => Some(standing),
        Err(StoreError::NotFound(_)) => None,
        Err(error) => return Err(error),
    };
    let entries = match &standing {
        None => vec![("integration.created", name.to_owned())],
        Some(standing) => list_changes(standing, wanted),
    };
    if let Some(standing) = standing.filter(|_| entries.is_empty()) {
        return Ok(standing);
    }
    transaction
        .save_integration(team_id, name, availability, removal_guard_percent, now)
        .await?;
    for (action, subject) in entries {
        transaction
            .record_activity(team_id, actor, action, &subject, now)
            .await?;
    }
    transaction.find_integration_by_name(team_id, name).await
}

/// What changes, as the log has it: actions and what they are done to.
fn list_changes(
    standing: &Integration,
    wanted: IntegrationSettings<'_>,
) -> Vec<(&'static str, String)> {
    let name = wanted.name;
    let mut entries = Vec::new();
    if standing.availability != wanted.availability {
        entries.push((availability_action(wanted.availability), name.to_owned()));
    }
    // A guard that somebody sets asks however few contacts there are.
    let before = (
        standing.removal_guard_percent,
        standing.removal_guard_minimum,
    );
    let guard = wanted.removal_guard_percent;
    if guard.is_some() && before != (guard, 0) {
        let subject = guard_subject(name, before.0, guard);
        entries.push((guard_action(guard), subject));
    }
    entries
}

#[cfg(test)]
mod tests {
    use model::id::IntegrationId;

    use super::*;

    #[test]
    fn only_what_changes_is_an_entry() {
        let standing = Integration {
            integration_id: IntegrationId::new(),
            team_id: TeamId::new(),
            name: "CRM".to_owned(),
            availability: IntegrationAvailability::Active,
            removal_guard_percent: Some(50),
            removal_guard_minimum: 100,
            has_completed: false,
        };
        let wanted = IntegrationSettings {
            name: "CRM",
            availability: IntegrationAvailability::Active,
            removal_guard_percent: None,
        };
        assert_eq!(list_changes(&standing, wanted), []);
        let guarded = IntegrationSettings {
            availability: IntegrationAvailability::Paused,
            removal_guard_percent: Some(50),
            ..wanted
        };
        let entries = [
            ("integration.paused", "CRM".to_owned()),
            (
                "integration.guarded",
                "CRM, before: 50 %; now: 50 %".to_owned(),
            ),
        ];
        assert_eq!(list_changes(&standing, guarded), entries);
        let as_set = Integration {
            availability: IntegrationAvailability::Paused,
            removal_guard_minimum: 0,
            ..standing
        };
        assert_eq!(list_changes(&as_set, guarded), []);
    }
}
