//! Campaigns made, changed, duplicated and launched by people: each a transaction around [`save_campaign_within`].

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use model::limits::CAMPAIGNS_PER_TEAM;
use model::name::DisplayName;
use store::{
    Actor, AudienceSource, CampaignSettings, CampaignStatus, CampaignStep, CancellationSettings,
    NeighborhoodSettings, Store, StoreError, StoredCampaignSettings, Transaction,
};

use crate::readiness::{MissingPart, list_missing_parts};
use crate::rules::{CampaignField, CampaignNumbers, CampaignProblem, CampaignRule, check_numbers};
use crate::save::{SaveCampaignError, choose_id, save_campaign_within};

/// Metres around a recipient, and homes there, of a neighborhood that nobody has said more of.
pub const USUAL_NEIGHBORHOOD: NeighborhoodSettings = NeighborhoodSettings {
    radius_metres: 400,
    homes_per_center: 500,
};

/// Names tried for a copy.
const COPIES: usize = 100;

/// Characters of a copy's name before what says that it is one, so that both fit a name.
const COPIED_CHARS: usize = 190;

/// Why a campaign was not changed; nothing was done then.
#[derive(Debug, thiserror::Error)]
pub enum ChangeCampaignError {
    /// These settings cannot be.
    #[error("the settings cannot be used: {0:?}")]
    Problems(Vec<CampaignProblem>),
    /// Other settings stand than those that the caller has seen: these.
    #[error("the campaign was changed meanwhile")]
    Overtaken(Box<StoredCampaignSettings>),
    /// It lacks these parts.
    #[error("the campaign is not complete: {0:?}")]
    Incomplete(Vec<MissingPart>),
    /// There is no free id, or no room for another campaign.
    #[error(transparent)]
    Save(#[from] SaveCampaignError),
}

impl From<StoreError> for ChangeCampaignError {
    fn from(error: StoreError) -> Self {
        Self::Save(SaveCampaignError::Store(error))
    }
}

/// Makes a draft: a campaign that is to be set up.
///
/// # Errors
/// [`ChangeCampaignError::Problems`] when the name is taken; [`StoreError::Limit`] when the team has as many as it may.
pub async fn create_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (name, neighborhood): (&DisplayName, Option<NeighborhoodSettings>),
    now: DateTime<Utc>,
) -> Result<CampaignId, ChangeCampaignError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let campaign_id = find_room(&transaction, team_id).await?;
    check_name(&transaction, team_id, &campaign_id, name.as_str()).await?;
    let new = CampaignSettings {
        campaign_id: &campaign_id,
        name: name.as_str(),
        status: CampaignStatus::Draft,
        audience: AudienceSource::Api,
        neighborhood,
        strictness: None,
        budget_cents: None,
        resend_protection_days: None,
        area: None,
        conditions: None,
        cancellation: Some(CancellationSettings {
            minutes: None,
            cancels_unwanted: true,
        }),
        steps: &[],
    };
    save_campaign_within(&transaction, actor, team_id, &new, now).await?;
    transaction.commit().await?;
    Ok(campaign_id)
}

/// Changes a campaign's settings by `edit`, if those that stand are those that the caller means (`is_as_seen`). Whether it runs
/// stays as it is, and so do its conditions.
///
/// # Errors
/// [`ChangeCampaignError`].
pub async fn change_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    is_as_seen: impl FnOnce(&StoredCampaignSettings) -> bool,
    edit: impl FnOnce(&mut StoredCampaignSettings),
    now: DateTime<Utc>,
) -> Result<(), ChangeCampaignError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let standing = lock_settings(&transaction, team_id, campaign_id).await?;
    if !is_as_seen(&standing) {
        return Err(ChangeCampaignError::Overtaken(Box::new(standing)));
    }
    let mut edited = standing.clone();
    edit(&mut edited);
    let wanted = StoredCampaignSettings {
        status: standing.status,
        conditions: standing.conditions,
        ..edited
    };
    check_settings(&transaction, team_id, campaign_id, &wanted).await?;
    let wanted = wanted.as_wanted(campaign_id);
    save_campaign_within(&transaction, actor, team_id, &wanted, now).await?;
    transaction.commit().await?;
    Ok(())
}

/// Makes a draft with the settings, steps, conditions and area of a campaign; without its recipients and its do-not-mail list.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign, [`StoreError::Limit`] when it has as many as it may.
pub async fn duplicate_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<CampaignId, ChangeCampaignError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    // Locks the team, as whoever changes a column does: the copy's conditions fit the columns as well as the campaign's.
    let copy_id = find_room(&transaction, team_id).await?;
    let standing = lock_settings(&transaction, team_id, campaign_id).await?;
    let name = choose_copy_name(&transaction, team_id, &standing.name).await?;
    let copy = CampaignSettings {
        name: &name,
        status: CampaignStatus::Draft,
        ..standing.as_wanted(&copy_id)
    };
    save_campaign_within(&transaction, actor, team_id, &copy, now).await?;
    transaction.commit().await?;
    Ok(copy_id)
}

/// Lets a draft that lacks nothing go live. One that was launched already stays as it is.
///
/// # Errors
/// [`ChangeCampaignError::Incomplete`] with what it lacks; [`StoreError::Limit`] for one that is archived.
pub async fn launch_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    price_of: impl Fn(&CampaignStep) -> Option<i64>,
    now: DateTime<Utc>,
) -> Result<(), ChangeCampaignError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let columns = transaction.lock_columns(team_id).await?;
    let standing = lock_settings(&transaction, team_id, campaign_id).await?;
    if standing.status != CampaignStatus::Draft {
        return Ok(());
    }
    if standing.is_archived {
        let reason = "the campaign is archived: restore it first".to_owned();
        return Err(StoreError::Limit(reason).into());
    }
    let steps = transaction
        .list_campaign_steps(team_id, campaign_id)
        .await?;
    let missing = list_missing_parts(&standing, &steps, &columns, price_of);
    if !missing.is_empty() {
        return Err(ChangeCampaignError::Incomplete(missing));
    }
    let wanted = CampaignSettings {
        status: CampaignStatus::Active,
        ..standing.as_wanted(campaign_id)
    };
    save_campaign_within(&transaction, actor, team_id, &wanted, now).await?;
    transaction.commit().await?;
    Ok(())
}

async fn lock_settings(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
) -> Result<StoredCampaignSettings, StoreError> {
    transaction
        .lock_campaign_settings(team_id, campaign_id)
        .await?
        .ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))
}

/// An id for another campaign of a team that has room for it. The team stays locked.
async fn find_room(
    transaction: &Transaction<'_>,
    team_id: TeamId,
) -> Result<CampaignId, SaveCampaignError> {
    let most = CAMPAIGNS_PER_TEAM;
    if transaction.count_campaigns_locked(team_id, most).await? >= most {
        let reason = format!("the team has {most} campaigns, which is the most");
        return Err(StoreError::Limit(reason).into());
    }
    choose_id(transaction).await
}

/// What is wrong with settings that only the database tells, and with their numbers.
async fn check_settings(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    wanted: &StoredCampaignSettings,
) -> Result<(), ChangeCampaignError> {
    check_name(transaction, team_id, campaign_id, &wanted.name).await?;
    let chosen = wanted.steps.iter().map(|step| step.design_id);
    let ids: Vec<_> = chosen.clone().flatten().collect();
    let known = transaction.list_known_designs(team_id, &ids).await?;
    let mut problems = check_numbers(&CampaignNumbers::of(wanted));
    for (step, design_id) in chosen.enumerate() {
        if design_id.is_some_and(|design_id| !known.contains(&design_id)) {
            let field = CampaignField::StepDesign(step);
            let rule = CampaignRule::Unknown;
            problems.push(CampaignProblem { field, rule });
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ChangeCampaignError::Problems(problems))
    }
}

impl CampaignNumbers {
    /// The numbers of settings.
    pub fn of(settings: &StoredCampaignSettings) -> Self {
        let neighborhood = settings.neighborhood;
        Self {
            radius_metres: neighborhood.map(|neighborhood| neighborhood.radius_metres.into()),
            homes_per_center: neighborhood.map(|neighborhood| neighborhood.homes_per_center.into()),
            resend_protection_days: settings.resend_protection_days.map(Into::into),
            cancel_minutes: settings.cancellation.minutes.map(Into::into),
            delay_days: settings
                .steps
                .iter()
                .map(|step| step.delay_days.into())
                .collect(),
            is_draft: settings.status == CampaignStatus::Draft,
        }
    }
}

async fn check_name(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    name: &str,
) -> Result<(), ChangeCampaignError> {
    let found = transaction.find_campaign_by_name(team_id, name).await?;
    let Some(other) = found.filter(|found| found != campaign_id) else {
        return Ok(());
    };
    let standing = lock_settings(transaction, team_id, &other).await?;
    let problem = CampaignProblem {
        field: CampaignField::Name,
        rule: CampaignRule::Taken {
            is_archived: standing.is_archived,
        },
    };
    Err(ChangeCampaignError::Problems(vec![problem]))
}

/// A name for a copy that no campaign of the team has.
async fn choose_copy_name(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name: &str,
) -> Result<String, ChangeCampaignError> {
    for copy in 1..=COPIES {
        let wanted = copy_name(name, copy);
        let found = transaction.find_campaign_by_name(team_id, &wanted).await?;
        if found.is_none() {
            return Ok(wanted);
        }
    }
    let reason =
        format!("there are {COPIES} copies of the campaign: give some of them other names");
    Err(StoreError::Limit(reason).into())
}

fn copy_name(name: &str, copy: usize) -> String {
    let begin: String = name.chars().take(COPIED_CHARS).collect();
    let begin = begin.trim_end();
    match copy {
        1 => format!("{begin} copy"),
        _ => format!("{begin} copy {copy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_a_name_that_is_one() {
        assert_eq!(copy_name("Spring", 1), "Spring copy");
        assert_eq!(copy_name("Spring", 2), "Spring copy 2");
        let longest = copy_name(&"é".repeat(200), COPIES);
        assert!(DisplayName::try_from(longest).is_ok());
    }
}
