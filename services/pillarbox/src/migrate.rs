//! `migrate`: the tables, and who may do what with them.

use std::time::Duration;

use serde_json::json;
use store::{MigrationResult, StoreError};
use tokio::time::Instant;

use crate::report::CommandReport;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Migrates the database of this URL. A database that is not there yet, and groups that are not, are waited for as long as
/// `patience` lasts: whoever makes them may be starting at the same time.
pub(crate) async fn migrate_database(
    url: &str,
    patience: Duration,
    without_groups: bool,
) -> anyhow::Result<CommandReport> {
    let deadline = Instant::now() + patience;
    let (mut told, mut applied) = (None, 0);
    loop {
        let tried = store::migrate_database(url).await;
        // With what earlier tries did.
        let tried = tried.map(|now| MigrationResult {
            applied: applied + now.applied,
            ..now
        });
        let (migrated, missing) = match tried {
            Ok(migrated) if migrated.granted || without_groups => {
                return build_report(migrated, without_groups);
            }
            Ok(migrated) => {
                applied = migrated.applied;
                (
                    Ok(migrated),
                    "the groups of the processes are not there yet".to_owned(),
                )
            }
            Err(error @ StoreError::Unavailable(_)) => {
                let error = anyhow::Error::from(error);
                let missing = format!("{error:#}");
                (Err(error), missing)
            }
            Err(error) => return Err(error.into()),
        };
        if Instant::now() + PAUSE > deadline {
            return build_report(migrated?, without_groups);
        }
        if told.as_ref() != Some(&missing) {
            eprintln!("pillarbox: waiting: {missing}");
            told = Some(missing);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn build_report(migrated: MigrationResult, without_groups: bool) -> anyhow::Result<CommandReport> {
    let MigrationResult { applied, granted } = migrated;
    let tables = match applied {
        0 => "The database is up to date.".to_owned(),
        1 => "Applied 1 migration.".to_owned(),
        more => format!("Applied {more} migrations."),
    };
    let privileges = match (granted, without_groups) {
        (true, _) => "The processes have their privileges.",
        (false, true) => {
            "The processes have no users of their own: they must connect as the owner of the tables."
        }
        (false, false) => {
            "The processes have no users of their own, so none of them can work: run deploy/postgres/users.sql as a superuser, then \
             this again. Where they are to connect as the owner of the tables, run it with --without-groups."
        }
    };
    let report = CommandReport::new(
        &json!({ "applied": applied, "granted": granted }),
        format!("{tables}\n{privileges}"),
    )?;
    Ok(report.failed_when(!granted && !without_groups))
}
