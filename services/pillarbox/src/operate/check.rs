//! `check`: the proof that everything about money and cards agrees.

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::Config;
use serde_json::json;
use store::Store;

use crate::report::{CommandReport, build_table};

/// A charge that is reserved for longer is stuck: every worker's lease on it ended long ago.
const STUCK_AFTER: TimeDelta = TimeDelta::minutes(10);

/// Checks every rule; the report is a failure when one does not hold.
pub(crate) async fn check_rules(
    store: &Store,
    config: &Config,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let rules: Vec<&str> = Store::check_rule_names().collect();
    let bar = create_progress_bar();
    let window_days = config.mailer.duplicate_window_days;
    let found = store.check_consistency(now - STUCK_AFTER, window_days, |progress| {
        bar.set_position(progress.rows.unsigned_abs());
        bar.set_message(format!(
            "{} of {}: {}",
            progress.number,
            rules.len(),
            progress.rule
        ));
    });
    let found = found.await?;
    bar.finish_and_clear();
    let text = if found.is_empty() {
        format!("{} rules hold.", rules.len())
    } else {
        let mut rows = build_table(["Rule that does not hold", "Where", "Figures"]);
        for discrepancy in &found {
            rows.add_row([&discrepancy.rule, &discrepancy.subject, &discrepancy.detail]);
        }
        rows.trim_fmt()
    };
    let report = CommandReport::new(&json!({ "rules": rules, "discrepancies": found }), text)?;
    Ok(report.failed_when(!found.is_empty()))
}

/// Shown on a terminal only.
fn create_progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{elapsed} {msg}, {human_pos} rows");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}
