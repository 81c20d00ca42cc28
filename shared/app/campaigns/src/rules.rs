//! What a campaign's settings may be, for everybody who sets them: what is wrong with each, by its field.

use std::ops::RangeInclusive;

/// Steps of a campaign that was launched.
pub const STEPS: RangeInclusive<i64> = 1..=20;

/// Days after step 1: to five years.
pub const DELAY_DAYS: RangeInclusive<i64> = 0..=1_826;

/// Days of re-send protection: to ten years.
pub const RESEND_PROTECTION_DAYS: RangeInclusive<i64> = 1..=3_653;

/// Metres of a neighborhood's radius.
pub const RADIUS_METRES: RangeInclusive<i64> = 1..=20_000;

/// Homes of one center: to those that a request may mail.
pub const HOMES_PER_CENTER: RangeInclusive<i64> = 1..=model::limits::HOMES_PER_REQUEST as i64;

/// Minutes in which a mailpiece can be cancelled: to a week.
pub const CANCEL_MINUTES: RangeInclusive<i64> = 0..=10_080;

/// A setting of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CampaignField {
    /// Its name.
    Name,
    /// How far around a recipient homes are mailed.
    Radius,
    /// To how many homes of one recipient.
    Homes,
    /// Days in which an address is mailed once.
    ResendProtection,
    /// What it may spend.
    Budget,
    /// Minutes in which a mailpiece can be cancelled.
    CancelMinutes,
    /// How many steps there are.
    Steps,
    /// When a step mails; steps are counted from 0.
    StepDelay(usize),
    /// What a step prints.
    StepDesign(usize),
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CampaignRule {
    /// It is not from the first to the second number.
    Range(i64, i64),
    /// The first step has no delay, and each other more days than the one before it, up to these.
    DelayOrder(i64),
    /// Another campaign of the team has it, put away or not.
    Taken {
        /// Whether that one is put away.
        is_archived: bool,
    },
    /// The team has none of it.
    Unknown,
    /// What was typed cannot be read, and why.
    Unreadable(String),
}

/// What is wrong with which setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignProblem {
    /// The setting.
    pub field: CampaignField,
    /// What is wrong.
    pub rule: CampaignRule,
}

/// The numbers of a campaign, whoever set them. `None` is one that is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CampaignNumbers {
    /// Metres.
    pub radius_metres: Option<i64>,
    /// Homes of one center.
    pub homes_per_center: Option<i64>,
    /// Days.
    pub resend_protection_days: Option<i64>,
    /// Minutes.
    pub cancel_minutes: Option<i64>,
    /// Days after step 1, for each step.
    pub delay_days: Vec<i64>,
    /// Whether it was never launched: then steps may be missing.
    pub is_draft: bool,
}

/// What is wrong with the numbers, in the order of the fields; empty when nothing is.
pub fn check_numbers(numbers: &CampaignNumbers) -> Vec<CampaignProblem> {
    let in_range = |field, value: Option<i64>, range: &RangeInclusive<i64>| {
        let rule = CampaignRule::Range(*range.start(), *range.end());
        value
            .filter(|value| !range.contains(value))
            .map(|_| CampaignProblem { field, rule })
    };
    let least_steps = if numbers.is_draft { 0 } else { *STEPS.start() };
    // No file and no form has more steps than fit.
    let steps = i64::try_from(numbers.delay_days.len()).unwrap_or(i64::MAX);
    let mut problems: Vec<CampaignProblem> = [
        in_range(CampaignField::Radius, numbers.radius_metres, &RADIUS_METRES),
        in_range(
            CampaignField::Homes,
            numbers.homes_per_center,
            &HOMES_PER_CENTER,
        ),
        in_range(
            CampaignField::ResendProtection,
            numbers.resend_protection_days,
            &RESEND_PROTECTION_DAYS,
        ),
        in_range(
            CampaignField::CancelMinutes,
            numbers.cancel_minutes,
            &CANCEL_MINUTES,
        ),
        in_range(
            CampaignField::Steps,
            Some(steps),
            &(least_steps..=*STEPS.end()),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    problems.extend(check_delays(&numbers.delay_days));
    problems
}

fn check_delays(delays: &[i64]) -> impl Iterator<Item = CampaignProblem> {
    let is_right = |step: usize| {
        let days = delays[step];
        let is_later = step
            .checked_sub(1)
            .map_or(days == 0, |previous| days > delays[previous]);
        is_later && DELAY_DAYS.contains(&days)
    };
    (0..delays.len())
        .filter(move |step| !is_right(*step))
        .map(|step| CampaignProblem {
            field: CampaignField::StepDelay(step),
            rule: CampaignRule::DelayOrder(*DELAY_DAYS.end()),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(numbers: &CampaignNumbers) -> Vec<CampaignField> {
        let problems = check_numbers(numbers).into_iter();
        problems.map(|problem| problem.field).collect()
    }

    #[test]
    fn each_number_has_its_bounds_and_none_is_needed() {
        let none = CampaignNumbers {
            delay_days: vec![0],
            ..CampaignNumbers::default()
        };
        assert_eq!(fields(&none), []);
        let most = CampaignNumbers {
            radius_metres: Some(20_000),
            homes_per_center: Some(10_000),
            resend_protection_days: Some(3_653),
            cancel_minutes: Some(10_080),
            delay_days: vec![0, 1_826],
            is_draft: false,
        };
        assert_eq!(fields(&most), []);
        let past = CampaignNumbers {
            radius_metres: Some(20_001),
            homes_per_center: Some(0),
            resend_protection_days: Some(0),
            cancel_minutes: Some(-1),
            delay_days: vec![0, 1_827],
            is_draft: false,
        };
        assert_eq!(
            fields(&past),
            [
                CampaignField::Radius,
                CampaignField::Homes,
                CampaignField::ResendProtection,
                CampaignField::CancelMinutes,
                CampaignField::StepDelay(1)
            ]
        );
    }

    #[test]
    fn steps_follow_each_other_and_only_a_draft_has_none() {
        let of = |delays: &[i64], is_draft| CampaignNumbers {
            delay_days: delays.to_vec(),
            is_draft,
            ..CampaignNumbers::default()
        };
        assert_eq!(fields(&of(&[], true)), []);
        assert_eq!(fields(&of(&[], false)), [CampaignField::Steps]);
        assert_eq!(
            fields(&of(&[1, 5, 5], true)),
            [CampaignField::StepDelay(0), CampaignField::StepDelay(2)]
        );
        let many: Vec<i64> = (0..21).collect();
        assert_eq!(fields(&of(&many, true)), [CampaignField::Steps]);
    }
}
