//! What no request does and nobody waits for: making recipients findable, and forgetting what is old. Each is done beside
//! the others and beside due work, so that what hangs or fails holds up nothing else.

use std::time::Duration;

use chrono::TimeDelta;
use runtime::fail_point;
use runtime::housekeeping::record_failure;
use runtime::purge::PurgePortions;
use store::{StoreError, retry_conflicts};

use crate::MailerState;

/// How often rows past their time are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

/// How often files of old pictures are deleted.
const FILE_PURGE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How long the process that deletes may be silent before another one does.
const PURGE_LEASE: TimeDelta = TimeDelta::minutes(3);

/// A hundred thousand rows of a kind a minute.
const PURGE: PurgePortions = PurgePortions {
    rows: 5_000,
    statements: 20,
};

/// Rate windows are kept a little longer than they count.
const RATE_WINDOW_AGE: TimeDelta = TimeDelta::minutes(10);

/// How long a campaign's figures of a day are kept.
const FIGURE_AGE: TimeDelta = TimeDelta::days(400);

/// Statements that make recipients findable before the stop is looked at again.
const SEARCH_STATEMENTS: usize = 50;

/// Mailpieces of a campaign that one transaction holds, releases or cancels, under the campaign's lock.
const HELD_MAILPIECES: i64 = 2_000;

/// Campaigns whose mailpieces are changed in turn.
const HELD_CAMPAIGNS: i64 = 50;

/// Portions of each before the stop is looked at again.
const HOLD_PORTIONS: usize = 20;

/// Runs until the process is to stop.
pub(crate) async fn run(mailer: &MailerState) {
    tokio::join!(
        keep_filling_search(mailer),
        keep_applying_holds(mailer),
        keep_purging(mailer),
        keep_deleting_files(mailer)
    );
}

async fn keep_filling_search(mailer: &MailerState) {
    let interval = Duration::from_millis(mailer.process.config.mailer.job_interval_ms);
    let mut rounds = mailer.process.rounds(interval);
    while rounds.next().await {
        record_failure("make recipients findable", fill_search(mailer).await);
    }
}

async fn keep_applying_holds(mailer: &MailerState) {
    let interval = Duration::from_millis(mailer.process.config.mailer.job_interval_ms);
    let mut rounds = mailer.process.rounds(interval);
    while rounds.next().await {
        record_failure("apply holds", apply_holds(mailer).await);
        record_failure("cancel unwanted", cancel_unwanted(mailer).await);
    }
}

/// Takes the mailpieces of held campaigns out of the queue and gives those of released ones back to it: a portion of each campaign in turn,
/// so that a large one holds up no other.
async fn apply_holds(mailer: &MailerState) -> Result<(), StoreError> {
    let (store, now) = (&mailer.process.store, mailer.process.clock.now());
    for _ in 0..HOLD_PORTIONS {
        let mut is_any_left = false;
        for (team_id, campaign_id) in store.list_changing_holds(HELD_CAMPAIGNS).await? {
            let portion = || store.apply_hold_portion(team_id, &campaign_id, HELD_MAILPIECES, now);
            // What fails for one campaign holds up no other.
            match retry_conflicts(portion).await {
                Ok(is_left) => is_any_left |= is_left,
                Err(error) => record_failure("apply a hold", Err::<(), _>(error)),
            }
            fail_point::fail_if_chosen("hold.portion");
        }
        if !is_any_left || mailer.process.shutdown.is_cancelled() {
            break;
        }
    }
    Ok(())
}

/// Cancels what nobody wants any more: a portion of each campaign in turn, as holds.
async fn cancel_unwanted(mailer: &MailerState) -> Result<(), StoreError> {
    let (store, now) = (&mailer.process.store, mailer.process.clock.now());
    for _ in 0..HOLD_PORTIONS {
        let mut is_any_left = false;
        for (team_id, campaign_id) in store.list_unwanted_campaigns(HELD_CAMPAIGNS).await? {
            let portion =
                || store.cancel_unwanted_portion(team_id, &campaign_id, HELD_MAILPIECES, now);
            // What fails for one campaign holds up no other.
            match retry_conflicts(portion).await {
                Ok(is_left) => is_any_left |= is_left,
                Err(error) => record_failure("cancel what is unwanted", Err::<(), _>(error)),
            }
        }
        if !is_any_left || mailer.process.shutdown.is_cancelled() {
            break;
        }
    }
    Ok(())
}

async fn keep_purging(mailer: &MailerState) {
    let mut rounds = mailer.process.rounds(PURGE_INTERVAL);
    while rounds.next().await {
        record_failure("purge", purge_expired(mailer).await);
    }
}

async fn keep_deleting_files(mailer: &MailerState) {
    let mut rounds = mailer.process.rounds(FILE_PURGE_INTERVAL);
    while rounds.next().await {
        record_failure("delete old pictures", mailer.pictures.purge_files().await);
    }
}

async fn purge_expired(mailer: &MailerState) -> Result<(), StoreError> {
    if !mailer.process.has_duty("purge sends", PURGE_LEASE).await? {
        return Ok(());
    }
    let (store, now) = (&mailer.process.store, mailer.process.clock.now());
    let retention = TimeDelta::days(mailer.process.config.mailer.request_retention_days);
    PURGE
        .delete("caches", |rows| {
            store.purge_rate_windows(now - RATE_WINDOW_AGE, rows)
        })
        .await;
    PURGE
        .delete("caches", |rows| store.purge_address_answers(now, rows))
        .await;
    PURGE
        .delete("caches", |rows| store.purge_pictures(now, rows))
        .await;
    PURGE
        .delete("caches", |rows| store.purge_return_addresses(now, rows))
        .await;
    let sessions = now - TimeDelta::hours(mailer.process.config.console.session_longest_hours);
    PURGE
        .delete("caches", |rows| store.purge_sessions(sessions, rows))
        .await;
    let answers = TimeDelta::days(mailer.process.config.language_model.answer_days);
    PURGE
        .delete("caches", |rows| store.purge_ai_answers(now - answers, rows))
        .await;
    let days = now.date_naive() - FIGURE_AGE;
    PURGE
        .delete("sends", |rows| store.purge_campaign_days(days, rows))
        .await;
    let facts = TimeDelta::days(mailer.process.config.mailer.mailpiece_event_days);
    PURGE
        .delete("mailpiece_events", |rows| {
            store.purge_mailpiece_events(now - facts, rows)
        })
        .await;
    PURGE
        .delete("sends", |rows| store.purge_sends(now - retention, rows))
        .await;
    PURGE
        .delete("sends", |rows| store.purge_send_keys(now - retention, rows))
        .await;
    Ok(())
}

/// Makes recipients findable by name and address.
async fn fill_search(mailer: &MailerState) -> Result<(), StoreError> {
    for _ in 0..SEARCH_STATEMENTS {
        if mailer.process.store.fill_recipient_search().await? == 0 {
            break;
        }
    }
    Ok(())
}
