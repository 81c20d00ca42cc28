//! The times that a batch is decided with.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use runtime::Config;
use store::Campaign;

use crate::calendar::{mail_by_date, next_local_hour};
use crate::rules::StepRules;

/// The times that a request is decided with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionTimes {
    pub(crate) now: DateTime<Utc>,
    /// The team's day.
    pub(crate) today: NaiveDate,
    pub(crate) leased_until: DateTime<Utc>,
    /// Addresses mailed after this are duplicates.
    pub(crate) mailed_since: DateTime<Utc>,
    pub(crate) mail_by_date: NaiveDate,
    /// When recipients that wait on conditions are looked at again.
    pub(crate) recheck_at: DateTime<Utc>,
}

/// The times that a batch of this step is decided with.
pub(crate) fn decision_times(
    config: &Config,
    campaign: &Campaign,
    step: &StepRules<'_>,
    now: DateTime<Utc>,
) -> DecisionTimes {
    let (settings, zone) = (&config.mailer, campaign.time_zone);
    DecisionTimes {
        now,
        today: now.with_timezone(&zone).date_naive(),
        leased_until: now + TimeDelta::milliseconds(settings.lease_ms),
        mailed_since: mailed_since(campaign, settings.duplicate_window_days, now),
        mail_by_date: mail_by_date(
            now,
            zone,
            settings.cut_off,
            settings.production_days.with(step.step.postage),
        ),
        recheck_at: next_local_hour(now, zone, settings.recheck_hour),
    }
}

/// Addresses mailed after this are duplicates: the longer of the duplicate window and re-send protection.
fn mailed_since(campaign: &Campaign, window_days: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let days = window_days.max(campaign.resend_protection_days.unwrap_or(0));
    now - TimeDelta::days(days.into())
}
