//! The times that a batch is decided with: business days, postal holidays, and hours of a team's day.

use chrono::{
    DateTime, Datelike, Days, Duration, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone,
    Utc, Weekday,
};
use chrono_tz::Tz;
use runtime::Config;
use store::Campaign;

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
    /// The start of the day that the sender wants, when that is to come.
    pub(crate) scheduled_for: Option<DateTime<Utc>>,
    /// Until when cards can be cancelled and do not print; `None` is not at all.
    pub(crate) print_after: Option<DateTime<Utc>>,
}

/// The times that a batch of this step is decided with. `scheduled_for` is the start of the day that its sender wants.
pub(crate) fn decision_times(
    config: &Config,
    campaign: &Campaign,
    step: &StepRules<'_>,
    scheduled_for: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> DecisionTimes {
    let (settings, zone) = (&config.mailer, campaign.time_zone);
    let cancel_window = TimeDelta::minutes(
        campaign
            .cancel_minutes
            .unwrap_or(config.print.cancel_minutes)
            .into(),
    );
    let window_end = (cancel_window > TimeDelta::zero()).then_some(now + cancel_window);
    DecisionTimes {
        now,
        today: now.with_timezone(&zone).date_naive(),
        leased_until: now + TimeDelta::milliseconds(settings.lease_ms),
        mailed_since: mailed_since(campaign, settings.duplicate_window_days, now),
        mail_by_date: mail_by_date(
            production_start(now, cancel_window, scheduled_for),
            zone,
            settings.cut_off,
            settings.production_days.with(step.step.postage),
        ),
        recheck_at: next_local_hour(now, zone, settings.recheck_hour),
        scheduled_for,
        print_after: scheduled_for.max(window_end),
    }
}

/// From when the days of production are counted: the day that the sender wants, or now. Whole days in which a card can be cancelled
/// are none of production; a few minutes are, so that the cut-off stays the cut-off.
fn production_start(
    now: DateTime<Utc>,
    cancel_window: TimeDelta,
    scheduled_for: Option<DateTime<Utc>>,
) -> DateTime<Utc> {
    let waited = now + TimeDelta::days(cancel_window.num_days());
    scheduled_for.map_or(waited, |start| start.max(waited))
}

/// Days ahead that a sender may name.
pub const SCHEDULED_DAYS: i64 = 180;

/// When the day begins that a sender wants, by the zone's clock; `None` for today. Errors: a sentence that names `send_on`.
pub(crate) fn schedule_start(
    send_on: NaiveDate,
    zone: Tz,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, String> {
    let today = now.with_timezone(&zone).date_naive();
    let days = (send_on - today).num_days();
    if !(0..=SCHEDULED_DAYS).contains(&days) {
        let last = today + TimeDelta::days(SCHEDULED_DAYS);
        return Err(format!(
            "send_on is {send_on}: it must be a day from {today} to {last}, by your team's time zone."
        ));
    }
    if days == 0 {
        return Ok(None);
    }
    Ok(local_to_utc(send_on.and_time(NaiveTime::MIN), zone))
}

/// Addresses mailed after this are duplicates: the longer of the duplicate window and re-send protection.
fn mailed_since(campaign: &Campaign, window_days: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let days = window_days.max(campaign.resend_protection_days.unwrap_or(0));
    now - TimeDelta::days(days.into())
}

/// The most business days of production; more are taken as so many.
const MAX_PRODUCTION_DAYS: u32 = 365;

/// Days looked through for the next business day. No more than three in a row are closed.
const DAYS_TO_A_BUSINESS_DAY: usize = 7;

/// Days looked through for the next full hour. Clocks have skipped a whole day, never two in a row.
const DAYS_TO_AN_HOUR: u64 = 4;

/// The day by which a card is mailed: so many business days after today in the team's zone, or after tomorrow
/// from the cut-off on. Saturdays, Sundays and postal holidays are no business days.
pub fn mail_by_date(
    now: DateTime<Utc>,
    zone: Tz,
    cut_off: NaiveTime,
    production_days: u32,
) -> NaiveDate {
    let local = now.with_timezone(&zone).naive_local();
    let today = local.date();
    let start = if local.time() < cut_off {
        today
    } else {
        today.succ_opt().unwrap_or(today)
    };
    (0..production_days.min(MAX_PRODUCTION_DAYS)).fold(start, |day, _| next_business_day(day))
}

/// Whether the Postal Service keeps a holiday on this day. One that falls on a Sunday is kept on the Monday;
/// one that falls on a Saturday closes only that day.
pub fn is_postal_holiday(day: NaiveDate) -> bool {
    let is_kept_for_sunday =
        day.weekday() == Weekday::Mon && day.pred_opt().is_some_and(is_named_holiday);
    is_named_holiday(day) || is_kept_for_sunday
}

/// The next time after `now` at which the zone's clock comes to this full hour (0 to 23; a larger one is
/// taken as 23), once a day: where the clock goes back it is the first of the two; where it skips the hour it
/// is the hour as the clock would have shown it had it not jumped.
pub fn next_local_hour(now: DateTime<Utc>, zone: Tz, hour: u32) -> DateTime<Utc> {
    let today = now.with_timezone(&zone).date_naive();
    let time = NaiveTime::from_hms_opt(hour.min(23), 0, 0).unwrap_or(NaiveTime::MIN);
    (0..DAYS_TO_AN_HOUR)
        .filter_map(|days| {
            local_to_utc(
                today.checked_add_days(Days::new(days))?.and_time(time),
                zone,
            )
        })
        .find(|instant| *instant > now)
        // Only the end of the calendar, 260,000 years away, has no next hour.
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// When the zone's clock shows a time; one that it skips is counted from the same time of the day before.
fn local_to_utc(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    let shown = zone.from_local_datetime(&local).earliest();
    let day = Duration::days(1);
    let skipped = || {
        Some(
            zone.from_local_datetime(&local.checked_sub_signed(day)?)
                .earliest()?
                + day,
        )
    };
    shown.or_else(skipped).map(|instant| instant.to_utc())
}

fn next_business_day(day: NaiveDate) -> NaiveDate {
    let is_business_day = |day: &NaiveDate| {
        !matches!(day.weekday(), Weekday::Sat | Weekday::Sun) && !is_postal_holiday(*day)
    };
    day.iter_days()
        .skip(1)
        .take(DAYS_TO_A_BUSINESS_DAY)
        .find(is_business_day)
        .unwrap_or(day)
}

/// Whether one of the Postal Service's eleven holidays has this date.
fn is_named_holiday(day: NaiveDate) -> bool {
    // Which of its weekday in the month: 1 for the first seven days.
    let nth = day.day().div_ceil(7);
    match (day.month(), day.day(), day.weekday()) {
        // New Year's Day, Juneteenth, Independence Day, Veterans Day, Christmas Day.
        (1, 1, _) | (6, 19, _) | (7, 4, _) | (11, 11, _) | (12, 25, _) => true,
        // Martin Luther King Jr. Day and Presidents Day.
        (1 | 2, _, Weekday::Mon) => nth == 3,
        // Memorial Day, the last Monday.
        (5, date, Weekday::Mon) => date > 24,
        // Labor Day.
        (9, _, Weekday::Mon) => nth == 1,
        // Columbus Day.
        (10, _, Weekday::Mon) => nth == 2,
        // Thanksgiving.
        (11, _, Weekday::Thu) => nth == 4,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
