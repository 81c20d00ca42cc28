//! What fields must be to each other. Pure: neither the database nor the disk is asked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use audience::{ColumnType, fold_name};
use campaigns::ConditionsProblem;
use design::TextTemplate;
use model::key::KeyKind;
use serde_json::Value;

use super::error::ApplyError;
use super::file::{
    ApplyFile, CampaignKindSpec, CampaignSpec, ColumnSpec, IntegrationSpec, StepSpec, TeamKeySpec,
    TeamSpec,
};
use secret::KeyText;

/// Steps of a campaign.
const STEPS: std::ops::RangeInclusive<usize> = 1..=20;

/// Days after step 1 at the most: five years.
const MOST_DELAY_DAYS: u16 = 1_826;

/// Days of re-send protection at the most: ten years.
const MOST_RESEND_PROTECTION_DAYS: u16 = 3_653;

/// A week, as in the schema.
const MOST_CANCEL_MINUTES: u16 = 10_080;

/// Metres of a neighborhood's radius at the most.
const MOST_RADIUS_METRES: u32 = 20_000;

/// Homes of one center at the most: those that a request may mail.
const MOST_HOMES_PER_CENTER: u32 = model::limits::HOMES_PER_REQUEST as u32;

type Result = std::result::Result<(), ApplyError>;

/// Checks a file that was read.
pub(super) fn check_file(file: &ApplyFile) -> Result {
    if file.teams.is_empty() {
        return Err(ApplyError::refused("teams", "the list is empty"));
    }
    let teams = || iter_items("", "teams", &file.teams);
    check_distinct(teams().map(|(place, team)| (format!("{place}.name"), team.name.as_str())))?;
    // These are found by something that is unique among all teams.
    let users = teams().flat_map(|(place, team)| iter_items(&place, "users", &team.users));
    check_distinct(users.map(|(place, user)| (format!("{place}.email"), user.email.as_str())))?;
    let campaigns =
        teams().flat_map(|(place, team)| iter_items(&place, "campaigns", &team.campaigns));
    check_distinct(
        campaigns
            .filter_map(|(place, campaign)| Some((format!("{place}.id"), campaign.id.as_ref()?))),
    )?;
    check_distinct(teams().flat_map(|(place, team)| given_keys(&place, team)))?;
    teams().try_for_each(|(place, team)| check_team(&place, team))
}

/// Every key whose value the file gives, with its place.
fn given_keys<'a>(place: &str, team: &'a TeamSpec) -> Vec<(String, &'a str)> {
    let given =
        |(place, key): (String, Option<&'a KeyText>)| Some((format!("{place}.key"), key?.reveal()));
    let of_team =
        iter_items(place, "keys", &team.keys).map(|(place, key)| (place, key.key.as_ref()));
    let integrations = iter_items(place, "integrations", &team.integrations);
    let of_integrations = integrations.flat_map(|(place, integration)| {
        iter_items(&place, "keys", &integration.keys).map(|(place, key)| (place, key.key.as_ref()))
    });
    of_team.chain(of_integrations).filter_map(given).collect()
}

fn check_team(place: &str, team: &TeamSpec) -> Result {
    let has_card = team.stripe_customer.is_some() && team.stripe_payment_method.is_some();
    if team.payment == store::PaymentKind::Stripe && !has_card {
        let reason = "stripe needs stripe_customer and stripe_payment_method";
        return Err(ApplyError::refused(format!("{place}.payment"), reason));
    }
    let columns = iter_items(place, "columns", &team.columns);
    check_distinct(
        columns.map(|(place, column)| (format!("{place}.name"), fold_name(&column.name.0))),
    )?;
    iter_items(place, "columns", &team.columns)
        .try_for_each(|(place, column)| check_column(&place, column))?;
    let designs = iter_items(place, "designs", &team.designs);
    check_distinct(designs.map(|(place, design)| (format!("{place}.name"), design.name.as_str())))?;
    let campaigns = || iter_items(place, "campaigns", &team.campaigns);
    check_distinct(
        campaigns().map(|(place, campaign)| (format!("{place}.name"), campaign.name.as_str())),
    )?;
    let keys = || iter_items(place, "keys", &team.keys);
    check_distinct(keys().map(|(place, key)| (format!("{place}.name"), key.name.as_str())))?;
    let endpoints = iter_items(place, "endpoints", &team.endpoints);
    check_distinct(
        endpoints.map(|(place, endpoint)| (format!("{place}.url"), endpoint.url.0.as_str())),
    )?;
    campaigns().try_for_each(|(place, campaign)| check_campaign(&place, campaign))?;
    keys().try_for_each(|(place, key)| check_key(&place, key))?;
    let integrations = || iter_items(place, "integrations", &team.integrations);
    check_distinct(
        integrations()
            .map(|(place, integration)| (format!("{place}.name"), integration.name.as_str())),
    )?;
    integrations().try_for_each(|(place, integration)| check_integration(&place, integration))
}

/// Each item of a list with its place: `teams[0].users[2]`.
pub(super) fn iter_items<'a, T>(
    place: &str,
    name: &'static str,
    list: &'a [T],
) -> impl Iterator<Item = (String, &'a T)> + use<'a, T> {
    let dot = if place.is_empty() { "" } else { "." };
    let before = format!("{place}{dot}{name}");
    list.iter()
        .enumerate()
        .map(move |(index, item)| (format!("{before}[{index}]"), item))
}

/// A column has a type, a formula or a prompt.
fn check_column(place: &str, column: &ColumnSpec) -> Result {
    let is_computed = column.formula.is_some() || column.prompt.is_some();
    if let Some(problem) = formula::name_problem(&column.name.0).filter(|_| is_computed) {
        return Err(ApplyError::refused(format!("{place}.name"), problem));
    }
    match (&column.column_type, &column.formula, &column.prompt) {
        (Some(_), None, None) | (None, Some(_), None) => Ok(()),
        (None, None, Some(prompt)) => check_prompt(place, prompt),
        (None, None, None) => Err(ApplyError::refused(
            place,
            "a type, a formula or a prompt is missing",
        )),
        (Some(_), ..) => {
            let reason = "is known of a formula, and text of a prompt: leave it out";
            Err(ApplyError::refused(format!("{place}.type"), reason))
        }
        (None, Some(_), Some(_)) => Err(ApplyError::refused(
            place,
            "a column has a formula or a prompt, not both",
        )),
    }
}

fn check_prompt(place: &str, prompt: &str) -> Result {
    let at = format!("{place}.prompt");
    if prompt.trim().is_empty() {
        return Err(ApplyError::refused(at, "is empty"));
    }
    TextTemplate::parse(prompt)
        .map(drop)
        .map_err(|error| ApplyError::refused(at, error.to_string()))
}

fn check_campaign(place: &str, campaign: &CampaignSpec) -> Result {
    let is_out_of_range = |days| days == 0 || days > MOST_RESEND_PROTECTION_DAYS;
    if campaign.resend_protection_days.is_some_and(is_out_of_range) {
        let reason = format!(
            "must be 1 to {MOST_RESEND_PROTECTION_DAYS} days, or left out for no protection"
        );
        return Err(ApplyError::refused(
            format!("{place}.resend_protection_days"),
            reason,
        ));
    }
    if campaign
        .cancel_minutes
        .is_some_and(|minutes| minutes > MOST_CANCEL_MINUTES)
    {
        let reason = format!(
            "must be 0 to {MOST_CANCEL_MINUTES} minutes, or left out for the installation's setting"
        );
        return Err(ApplyError::refused(
            format!("{place}.cancel_minutes"),
            reason,
        ));
    }
    if !STEPS.contains(&campaign.steps.len()) {
        let reason = format!("a campaign has {} to {} steps", STEPS.start(), STEPS.end());
        return Err(ApplyError::refused(format!("{place}.steps"), reason));
    }
    check_neighborhood(place, campaign)?;
    check_delays(place, &campaign.steps)
}

/// Radius and homes belong to Neighborhood Mail, and have their bounds.
fn check_neighborhood(place: &str, campaign: &CampaignSpec) -> Result {
    for (name, value, most) in [
        ("radius_metres", campaign.radius_metres, MOST_RADIUS_METRES),
        (
            "homes_per_center",
            campaign.homes_per_center,
            MOST_HOMES_PER_CENTER,
        ),
    ] {
        let Some(value) = value else { continue };
        let reason = if campaign.kind != Some(CampaignKindSpec::Neighborhood) {
            "is for campaigns of the kind neighborhood".to_owned()
        } else if value == 0 || value > most {
            format!("must be 1 to {most}")
        } else {
            continue;
        };
        return Err(ApplyError::refused(format!("{place}.{name}"), reason));
    }
    Ok(())
}

fn check_delays(place: &str, steps: &[StepSpec]) -> Result {
    let mut previous = None;
    for (place, step) in iter_items(place, "steps", steps) {
        let days = step.delay_days;
        let is_right =
            previous.map_or(days == 0, |previous| days > previous) && days <= MOST_DELAY_DAYS;
        if !is_right {
            let reason = format!(
                "delay_days counts from the first step: 0 there, more in each later one, {MOST_DELAY_DAYS} at the most"
            );
            return Err(ApplyError::refused(format!("{place}.delay_days"), reason));
        }
        previous = Some(days);
    }
    Ok(())
}

fn check_integration(place: &str, integration: &IntegrationSpec) -> Result {
    if integration
        .removal_guard_percent
        .is_some_and(|percent| percent > 100)
    {
        let reason = "must be 0 to 100 percent; with 100 nothing is held back";
        return Err(ApplyError::refused(
            format!("{place}.removal_guard_percent"),
            reason,
        ));
    }
    let keys = || iter_items(place, "keys", &integration.keys);
    check_distinct(keys().map(|(place, key)| (format!("{place}.name"), key.name.as_str())))?;
    keys().try_for_each(|(place, key)| check_kind(&place, key.key.as_ref(), KeyKind::Integration))
}

fn check_key(place: &str, key: &TeamKeySpec) -> Result {
    check_kind(place, key.key.as_ref(), key.kind.into())
}

fn check_kind(place: &str, text: Option<&KeyText>, kind: KeyKind) -> Result {
    if text.is_some_and(|text| text.kind() != Some(kind)) {
        let reason = format!("a {} key begins with {}", kind.as_str(), kind.prefix());
        return Err(ApplyError::refused(format!("{place}.key"), reason));
    }
    Ok(())
}

/// Refuses the second of two equal values. The value is not shown: it may be a key.
fn check_distinct<T: Hash + Eq>(mut values: impl Iterator<Item = (String, T)>) -> Result {
    let mut seen = HashMap::new();
    values.try_for_each(|(place, value)| match seen.entry(value) {
        Entry::Vacant(entry) => {
            entry.insert(place);
            Ok(())
        }
        Entry::Occupied(entry) => Err(ApplyError::refused(
            place,
            format!("is the same as {}", entry.get()),
        )),
    })
}

/// Checks a campaign's conditions against the types of the team's columns, which the file or an earlier one made.
pub(super) fn check_conditions(
    campaign_place: &str,
    conditions: &Value,
    columns: impl Fn(&str) -> Option<ColumnType>,
) -> Result {
    let place = format!("{campaign_place}.conditions");
    match campaigns::check_conditions(conditions, columns) {
        Ok(_) => Ok(()),
        Err(ConditionsProblem::Condition(error)) => {
            let dot = if error.path.is_empty() { "" } else { "." };
            Err(ApplyError::refused(
                format!("{place}{dot}{}", error.path),
                error.problem.to_string(),
            ))
        }
        Err(ConditionsProblem::UnknownColumn(name)) => {
            let reason = format!("the team has no column {name:?}: declare it under `columns`");
            Err(ApplyError::refused(place, reason))
        }
    }
}
