//! What concerns all processes together is reported by one of them, so that no sum counts it twice: how much waits in
//! the queues and in the database. Whoever holds the duty does it; when it is gone, the next one does.

use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use store::{BACKLOG_KINDS as KINDS, BacklogRules, SerialUsage};

use crate::metric::QUEUES;
use crate::process::Process;

/// How often is counted.
const INTERVAL: Duration = Duration::from_secs(10);

/// How long a reporter may be silent before another one reports.
const LEASE: TimeDelta = TimeDelta::seconds(25);

/// Time for the broker to answer for all queues.
const BROKER_TIMEOUT: Duration = Duration::from_secs(5);

const DUTY: &str = "report";

/// Reports while the duty is this process's, until it is to stop.
pub(crate) async fn run(process: Process) {
    let mut looks = tokio::time::interval(INTERVAL);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = process.shutdown.cancelled() => break,
        }
        // Who cannot ask the database has no duty.
        let is_reporter = process.has_duty(DUTY, LEASE).await.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn Error, "cannot ask who reports");
            false
        });
        metrics::gauge!("pillarbox_reporter").set(if is_reporter { 1 } else { 0 });
        if is_reporter {
            report_queues(&process).await;
            report_backlog(&process).await;
            report_serials(&process).await;
        } else {
            show_queues(&QUEUES.map(unknown_depth));
            show_backlog(&KINDS.map(unknown_backlog));
            show_serials(f64::NAN);
        }
    }
    // The next reporter need not wait for the end of the lease.
    let _ = process.store.release_duty(DUTY, process.id).await;
}

async fn report_queues(process: &Process) {
    let asked = tokio::time::timeout(BROKER_TIMEOUT, process.broker.measure_depths(&QUEUES)).await;
    match asked {
        Ok(Ok(depths)) => show_queues(&depths.map(|depth| QueueDepthFigures {
            queue: depth.queue,
            messages: depth.messages.into(),
            consumers: depth.consumers.into(),
        })),
        // An old number would be a lie; that the broker is away is told by another metric.
        _ => show_queues(&QUEUES.map(unknown_depth)),
    }
}

async fn report_backlog(process: &Process) {
    let rules = BacklogRules {
        job_attempts: process.config.mailer.job_attempts,
        email_attempts: process.config.email.attempts,
    };
    match process
        .store
        .count_backlog(rules, process.clock.now())
        .await
    {
        Ok(backlog) => show_backlog(&backlog.map(|waiting| BacklogFigures {
            kind: waiting.kind,
            rows: waiting.rows as f64,
            overdue_seconds: waiting.overdue.as_seconds_f64(),
        })),
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "cannot report what waits");
            show_backlog(&KINDS.map(unknown_backlog));
        }
    }
}

async fn report_serials(process: &Process) {
    match process.store.count_used_serials(process.clock.now()).await {
        Ok(SerialUsage { used, serials }) => show_serials(used as f64 / serials.max(1) as f64),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn Error,
                "cannot report how many serial numbers are used"
            );
            show_serials(f64::NAN);
        }
    }
}

/// A queue as it is shown; what nobody knows is not a number.
struct QueueDepthFigures {
    queue: &'static str,
    messages: f64,
    consumers: f64,
}

struct BacklogFigures {
    kind: &'static str,
    rows: f64,
    overdue_seconds: f64,
}

fn unknown_depth(queue: &'static str) -> QueueDepthFigures {
    QueueDepthFigures {
        queue,
        messages: f64::NAN,
        consumers: f64::NAN,
    }
}

fn unknown_backlog(kind: &'static str) -> BacklogFigures {
    BacklogFigures {
        kind,
        rows: f64::NAN,
        overdue_seconds: f64::NAN,
    }
}

fn show_queues(depths: &[QueueDepthFigures]) {
    for QueueDepthFigures {
        queue,
        messages,
        consumers,
    } in depths
    {
        metrics::gauge!("pillarbox_queue_messages", "queue" => *queue).set(*messages);
        metrics::gauge!("pillarbox_queue_consumers", "queue" => *queue).set(*consumers);
    }
}

fn show_backlog(backlog: &[BacklogFigures]) {
    for BacklogFigures {
        kind,
        rows,
        overdue_seconds,
    } in backlog
    {
        metrics::gauge!("pillarbox_backlog", "kind" => *kind).set(*rows);
        metrics::gauge!("pillarbox_backlog_age_seconds", "kind" => *kind).set(*overdue_seconds);
    }
}

fn show_serials(used_ratio: f64) {
    metrics::gauge!("pillarbox_print_serials_used_ratio").set(used_ratio);
}
