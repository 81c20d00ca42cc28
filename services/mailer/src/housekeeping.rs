//! What no request does: finishing what killed workers left open, making recipients findable, and forgetting what is old.

use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use service::purge::Portions;
use store::StoreError;
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use crate::Mailer;
use crate::lease::while_held;
use crate::settle::settle_send;

/// How often rows past their time are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

/// How often files of old pictures are deleted.
const FILE_PURGE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How long the process that deletes may be silent before another one does.
const PURGE_LEASE: TimeDelta = TimeDelta::minutes(3);

/// A hundred thousand rows of a kind a minute.
const PURGE: Portions = Portions { rows: 5_000, statements: 20 };

/// Rate windows are kept a little longer than they count.
const RATE_WINDOW_AGE: TimeDelta = TimeDelta::minutes(10);

/// How long a campaign's figures of a day are kept.
const FIGURE_AGE: TimeDelta = TimeDelta::days(400);

/// Statements that make recipients findable before the stop is looked at again.
const SEARCH_STATEMENTS: usize = 50;

/// Open sends that are finished in one go before the rest has its turn.
const ADOPTIONS: usize = 100;

/// Runs until the process is to stop.
pub(crate) async fn run(mailer: &Mailer) {
    let mut looks =
        tokio::time::interval(Duration::from_millis(mailer.process.config.mailer.job_interval_ms));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let (mut last_purge, mut last_file_purge) = (None, None);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = mailer.process.shutdown.cancelled() => return,
        }
        if let Err(error) = finish_open_sends(mailer).await {
            failed();
            tracing::warn!(error = &error as &dyn Error, "cannot look for open sends");
        }
        if let Err(error) = fill_search(mailer).await {
            failed();
            tracing::warn!(error = &error as &dyn Error, "cannot make recipients findable");
        }
        if last_purge.is_none_or(|at: std::time::Instant| at.elapsed() >= PURGE_INTERVAL) {
            last_purge = Some(std::time::Instant::now());
            if let Err(error) = purge(mailer).await {
                failed();
                tracing::warn!(error = &error as &dyn Error, "cannot purge");
            }
        }
        if last_file_purge.is_none_or(|at: std::time::Instant| at.elapsed() >= FILE_PURGE_INTERVAL) {
            last_file_purge = Some(std::time::Instant::now());
            if let Err(error) = mailer.pictures.purge_files().await {
                failed();
                tracing::warn!(error = &error as &dyn Error, "cannot delete old pictures");
            }
        }
    }
}

fn failed() {
    metrics::counter!("pillarbox_housekeeping_failures_total").increment(1);
}

/// Finishes sends whose worker's lease ran out after it had reserved. Their senders find the answer by
/// sending again.
async fn finish_open_sends(mailer: &Mailer) -> Result<(), StoreError> {
    let store = &mailer.process.store;
    for _ in 0..ADOPTIONS {
        // Each may wait for a payment provider that hangs.
        if mailer.process.shutdown.is_cancelled() {
            break;
        }
        let now = mailer.process.clock.now();
        let leased_until = now + TimeDelta::milliseconds(mailer.process.config.mailer.lease_ms);
        let Some(reserved) = store.send_adopt(Uuid::now_v7(), now, leased_until).await? else { break };
        let send_id = reserved.lease.send_id;
        let span = tracing::info_span!(
            "adoption", request_id = %send_id, team_id = %reserved.lease.team_id, campaign_id = %reserved.campaign_id,
            charge = Empty, amount_cents = Empty,
        );
        let campaign = store.campaign_get(reserved.lease.team_id, &reserved.campaign_id).await?;
        let settle = settle_send(mailer, &reserved, campaign.as_ref()).instrument(span.clone());
        let settled = while_held(mailer, reserved.lease, settle).await;
        span.in_scope(|| match &settled {
            Ok(_) => tracing::info!("finished a send that its worker had left open"),
            Err(error) => tracing::warn!(error = error as &dyn Error, "an open send stays open"),
        });
    }
    Ok(())
}

async fn purge(mailer: &Mailer) -> Result<(), StoreError> {
    if !mailer.process.has_duty("purge sends", PURGE_LEASE).await? {
        return Ok(());
    }
    let (store, now) = (&mailer.process.store, mailer.process.clock.now());
    let retention = TimeDelta::days(mailer.process.config.mailer.request_retention_days);
    PURGE.delete("caches", |rows| store.rate_windows_purge(now - RATE_WINDOW_AGE, rows)).await?;
    PURGE.delete("caches", |rows| store.address_answers_purge(now, rows)).await?;
    PURGE.delete("caches", |rows| store.pictures_purge(now, rows)).await?;
    PURGE.delete("caches", |rows| store.return_addresses_purge(now, rows)).await?;
    PURGE.delete("caches", |rows| store.shown_once_purge(now, rows)).await?;
    let sessions = now - TimeDelta::hours(mailer.process.config.console.session_longest_hours);
    PURGE.delete("caches", |rows| store.session_purge(sessions, rows)).await?;
    let answers = TimeDelta::days(mailer.process.config.language_model.answer_days);
    PURGE.delete("caches", |rows| store.ai_purge(now - answers, rows)).await?;
    let days = now.date_naive() - FIGURE_AGE;
    PURGE.delete("sends", |rows| store.campaign_day_purge(days, rows)).await?;
    PURGE.delete("sends", |rows| store.send_purge(now - retention, rows)).await?;
    PURGE.delete("sends", |rows| store.send_key_purge(now - retention, rows)).await
}

/// Makes recipients findable by name and address.
async fn fill_search(mailer: &Mailer) -> Result<(), StoreError> {
    for _ in 0..SEARCH_STATEMENTS {
        if mailer.process.store.recipient_search_fill().await? == 0 {
            break;
        }
    }
    Ok(())
}
