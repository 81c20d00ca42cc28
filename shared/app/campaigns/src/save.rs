//! A whole campaign as a file has it.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use secret::random_campaign_id;
use serde_json::Value;
use store::{Actor, CampaignSettings, StoreError, StoredCampaignSettings, Transaction};

use crate::area::area_action;
use crate::conditions::{CONDITIONS_CHANGED, conditions_subject};
use crate::status::status_action;

/// Random campaign ids that are tried before giving up. There are two billion.
const ID_ATTEMPTS: usize = 10;

/// Why a campaign was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveCampaignError {
    /// Every id that was tried is another campaign's.
    #[error("no free campaign id was found")]
    NoFreeId,
    /// The id is another team's, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The id of the team's campaign of this name, or a new one for a campaign that is to be made.
///
/// # Errors
/// [`SaveCampaignError`] when there is none that is free.
pub async fn find_or_choose_id(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name: &str,
) -> Result<CampaignId, SaveCampaignError> {
    if let Some(id) = transaction.find_campaign_by_name(team_id, name).await? {
        return Ok(id);
    }
    for _ in 0..ID_ATTEMPTS {
        let id = random_campaign_id();
        if !transaction.campaign_exists(&id).await? {
            return Ok(id);
        }
    }
    Err(SaveCampaignError::NoFreeId)
}

/// Makes a campaign or gives the team's one of this id these settings, with an entry in the log for each thing that changes; what
/// it has spent stays. The caller has checked the conditions against the team's columns, which are locked.
///
/// # Errors
/// [`StoreError::Limit`] when the id belongs to another team.
pub async fn save_campaign_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    wanted: &CampaignSettings<'_>,
    now: DateTime<Utc>,
) -> store::Result<()> {
    let standing = transaction
        .lock_campaign_settings(team_id, wanted.campaign_id)
        .await?;
    let entries = match &standing {
        None => vec![("campaign.created", wanted.name.to_owned())],
        Some(standing) => list_changes(standing, wanted),
    };
    if entries.is_empty() {
        return Ok(());
    }
    transaction.save_campaign(team_id, wanted, now).await?;
    for (action, subject) in entries {
        transaction
            .record_activity(team_id, actor, action, &subject, now)
            .await?;
    }
    Ok(())
}

/// What changes, as the log has it: actions and what they are done to.
fn list_changes(
    standing: &StoredCampaignSettings,
    wanted: &CampaignSettings<'_>,
) -> Vec<(&'static str, String)> {
    let name = || wanted.name.to_owned();
    let mut entries = Vec::new();
    let settings = changed_settings(standing, wanted);
    if !settings.is_empty() {
        let subject = format!("{}: {}", wanted.name, settings.join(", "));
        entries.push(("campaign.changed", subject));
    }
    if !is_same_area(standing.area.as_deref(), wanted.area) {
        entries.push((area_action(wanted.area), name()));
    }
    let before = standing.conditions.as_ref();
    if before != wanted.conditions {
        let subject = conditions_subject(wanted.name, before, wanted.conditions);
        entries.push((CONDITIONS_CHANGED, subject));
    }
    if standing.is_active != wanted.is_active {
        entries.push((status_action(wanted.is_active), name()));
    }
    entries
}

/// The names of the settings that change and have no action of their own.
fn changed_settings(
    standing: &StoredCampaignSettings,
    wanted: &CampaignSettings<'_>,
) -> Vec<&'static str> {
    [
        ("name", standing.name != wanted.name),
        ("audience", standing.audience != wanted.audience),
        ("neighborhood", standing.neighborhood != wanted.neighborhood),
        ("strictness", standing.strictness != wanted.strictness),
        ("budget", standing.budget_cents != wanted.budget_cents),
        (
            "re-send protection",
            standing.resend_protection_days != wanted.resend_protection_days,
        ),
        (
            "cancel window",
            standing.cancel_minutes != wanted.cancel_minutes,
        ),
        ("steps", standing.steps != wanted.steps),
    ]
    .into_iter()
    .filter_map(|(name, is_changed)| is_changed.then_some(name))
    .collect()
}

/// Whether two texts are the same area, however they are written.
fn is_same_area(standing: Option<&str>, wanted: Option<&str>) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    standing == wanted || (standing.is_some() && standing.and_then(read) == wanted.and_then(read))
}

#[cfg(test)]
mod tests {
    use contract::send::Postage;
    use serde_json::json;
    use store::{AudienceSource, StepSettings};

    use super::*;

    fn stored_settings() -> StoredCampaignSettings {
        StoredCampaignSettings {
            name: "Spring".to_owned(),
            is_active: true,
            audience: AudienceSource::Api,
            neighborhood: None,
            strictness: None,
            budget_cents: Some(100),
            resend_protection_days: None,
            cancel_minutes: None,
            area: Some("{\"a\": [1, 2]}".to_owned()),
            conditions: None,
            steps: vec![StepSettings {
                design_id: None,
                postage: Postage::Standard,
                delay_days: 0,
            }],
        }
    }

    fn wanted_settings<'a>(
        id: &'a CampaignId,
        standing: &'a StoredCampaignSettings,
    ) -> CampaignSettings<'a> {
        CampaignSettings {
            campaign_id: id,
            name: &standing.name,
            is_active: standing.is_active,
            audience: standing.audience,
            neighborhood: standing.neighborhood,
            strictness: standing.strictness,
            budget_cents: standing.budget_cents,
            resend_protection_days: standing.resend_protection_days,
            cancel_minutes: standing.cancel_minutes,
            area: standing.area.as_deref(),
            conditions: standing.conditions.as_ref(),
            steps: &standing.steps,
        }
    }

    #[test]
    fn what_stands_already_is_no_change() {
        let (id, standing) = (random_campaign_id(), stored_settings());
        assert_eq!(
            list_changes(&standing, &wanted_settings(&id, &standing)),
            []
        );
        let written_otherwise = CampaignSettings {
            area: Some("{\"a\":[1,2]}"),
            ..wanted_settings(&id, &standing)
        };
        assert_eq!(list_changes(&standing, &written_otherwise), []);
    }

    #[test]
    fn each_thing_that_changes_is_an_entry() {
        let (id, standing) = (random_campaign_id(), stored_settings());
        let conditions = json!({ "column": "city", "operator": "is", "value": "Austin" });
        let changed = CampaignSettings {
            is_active: false,
            budget_cents: None,
            area: None,
            conditions: Some(&conditions),
            steps: &[],
            ..wanted_settings(&id, &standing)
        };
        let entries = list_changes(&standing, &changed);
        let entries: Vec<(&str, &str)> = entries
            .iter()
            .map(|(action, subject)| (*action, subject.as_str()))
            .collect();
        assert_eq!(
            entries,
            [
                ("campaign.changed", "Spring: budget, steps"),
                ("campaign_area.removed", "Spring"),
                (
                    "campaign_conditions.changed",
                    "Spring, before: everybody; now: All of these: city is Austin"
                ),
                ("campaign.paused", "Spring"),
            ]
        );
    }
}
