//! Bringing the schema up to date.

use std::str::FromStr;

use tokio_postgres::{Client, Config};

use crate::error::{Result, StoreError};
use crate::grant::grant;
use crate::pool::Store;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Key of the advisory lock under which the schema is changed: any number of processes may ask for it at once.
const MIGRATION_LOCK: i64 = 0x7069_6c6c_6172;

/// The text of every migration.
pub(crate) fn migrations() -> Vec<String> {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().filter_map(|migration| Some(migration.sql()?.to_owned())).collect()
}

impl Store {
    /// Whether the schema is the one that this program was built for.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot say.
    pub async fn schema_is_current(&self) -> Result<bool> {
        let newest =
            embedded::migrations::runner().get_migrations().iter().map(refinery::Migration::version).max();
        let row = self
            .row("SELECT CASE WHEN to_regclass('refinery_schema_history') IS NULL THEN 0 ELSE 1 END", &[])
            .await?;
        if row.is_none_or(|row| row.get::<_, i32>(0) == 0) {
            return Ok(false);
        }
        let row = self.row("SELECT max(version) FROM refinery_schema_history", &[]).await?;
        let applied: Option<i32> = row.and_then(|row| row.get(0));
        Ok(applied.map(i64::from) >= newest.map(i64::from))
    }
}

/// What [`migrate`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Migrations that were missing.
    pub applied: usize,
    /// The groups of the processes have their privileges. Without these groups only the owner of the tables can work.
    pub granted: bool,
}

/// Applies the migrations that are missing, and gives the groups of the processes their privileges. Safe to run from several
/// processes at once: one works, the others wait and find nothing to do.
///
/// # Errors
/// [`StoreError`] when the database cannot be reached or a migration fails; nothing of a failed one stays.
pub async fn migrate(url: &str) -> Result<Migrated> {
    let config = Config::from_str(url).map_err(StoreError::unavailable)?;
    let (mut client, connection) = config.connect(crate::pool::tls(&config)?).await?;
    let connection = tokio::spawn(connection);
    let migrated = migrate_under_lock(&mut client).await;
    // The session's end gives the lock back.
    drop(client);
    let _ = connection.await;
    migrated
}

async fn migrate_under_lock(client: &mut Client) -> Result<Migrated> {
    client.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await?;
    let report = embedded::migrations::runner().run_async(client).await;
    let report = report.map_err(|error| StoreError::Corrupt(format!("migration failed: {error}")))?;
    let granted = grant(client).await?;
    Ok(Migrated { applied: report.applied_migrations().len(), granted })
}
