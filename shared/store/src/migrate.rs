//! Bringing the schema up to date.

use std::time::Duration;

use tokio_postgres::Client;

use crate::database_error::DatabaseError;
use crate::error::{Result, StoreError};
use crate::grant::grant;
use crate::pool::Store;
use crate::url::DatabaseUrl;

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

/// Time to open the one connection that migrating needs.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Which schema the database has, and which one this program was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersion {
    /// The newest migration that was applied; 0 when there is none.
    pub applied: i64,
    /// The newest migration that this program knows.
    pub needed: i64,
}

impl SchemaVersion {
    /// Whether this program can work with it. A newer schema is no obstacle.
    pub const fn is_current(self) -> bool {
        self.applied >= self.needed
    }
}

impl Store {
    /// Which schema the database has.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot say.
    pub async fn schema_version(&self) -> Result<SchemaVersion> {
        let known = embedded::migrations::runner();
        let needed = known.get_migrations().iter().map(|migration| i64::from(migration.version())).max();
        let row = self
            .row("SELECT CASE WHEN to_regclass('refinery_schema_history') IS NULL THEN 0 ELSE 1 END", &[])
            .await?;
        let mut applied = None;
        if row.is_some_and(|row| row.get::<_, i32>(0) == 1) {
            let row = self.row("SELECT max(version) FROM refinery_schema_history", &[]).await?;
            applied = row.and_then(|row| row.get::<_, Option<i32>>(0));
        }
        Ok(SchemaVersion { applied: applied.unwrap_or(0).into(), needed: needed.unwrap_or(0) })
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
/// [`StoreError::Unavailable`] when there is no such database yet or it cannot be reached; any other [`StoreError`] when a
/// migration fails: nothing of a failed one stays.
pub async fn migrate(url: &str) -> Result<Migrated> {
    let DatabaseUrl { mut config, tls, .. } = DatabaseUrl::parse(url)?;
    config.connect_timeout(CONNECT_TIMEOUT);
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, config.connect(tls)).await;
    let (mut client, connection) = connected
        .map_err(|_| StoreError::unavailable(format!("no answer within {CONNECT_TIMEOUT:?}")))?
        .map_err(|error| StoreError::Unavailable(DatabaseError::new(error, None)))?;
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
