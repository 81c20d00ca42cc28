//! Bringing the schema up to date.

use std::convert::Infallible;
use std::error::Error;
use std::iter;
use std::time::Duration;

use refinery::Runner;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database_error::DatabaseError;
use crate::earlier_schema::{earlier_migrations, has_earlier_history, replace_earlier_history};
use crate::error::{Result, StoreError};
use crate::grant::grant_privileges;
use crate::migrations::{known_migrations, migration_runner};
use crate::pool::Store;
use crate::url::DatabaseUrl;

/// Key of the advisory lock under which the schema is changed: any number of processes may ask for it at once.
const MIGRATION_LOCK: i64 = 0x7069_6c6c_6172;

/// Time to open a connection that migrating needs.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a statement of a migration waits for a table that somebody holds. Whoever wants the table waits behind it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a migration is tried whose table is held.
const TRIES: u32 = 5;

/// Pause behind each try, in which those who waited behind it go through.
const PAUSE: Duration = Duration::from_secs(1);

/// How often is looked for what a migration waits for.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

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
    pub async fn find_schema_version(&self) -> Result<SchemaVersion> {
        let needed = known_migrations()
            .iter()
            .map(|migration| i64::from(migration.version()))
            .max();
        let row = self
            .query_row(
                "SELECT CASE WHEN to_regclass('refinery_schema_history') IS NULL THEN 0 ELSE 1 END",
                &[],
            )
            .await?;
        let mut applied = None;
        if row.is_some_and(|row| row.get::<_, i32>(0) == 1) {
            let row = self
                .query_row("SELECT max(version) FROM refinery_schema_history", &[])
                .await?;
            applied = row.and_then(|row| row.get::<_, Option<i32>>(0));
        }
        Ok(SchemaVersion {
            applied: applied.unwrap_or(0).into(),
            needed: needed.unwrap_or(0),
        })
    }
}

/// What [`migrate_database`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationResult {
    /// Migrations that were missing.
    pub applied: usize,
    /// The groups of the processes have their privileges. Without these groups only the owner of the tables can work.
    pub granted: bool,
}

/// What one try came to.
struct Tried {
    /// Migrations that it applied.
    applied: usize,
    /// The table for which the next one waited in vain; `None` when nothing is missing any more.
    held: Option<String>,
}

/// Applies the migrations that are missing, whichever earlier version made the tables, and gives the groups of the processes their privileges. Safe to run from several
/// processes at once: one works, the others wait and find nothing to do. Beside live work it holds up no table for long: a migration
/// whose table is held by others gives way, and is tried again.
///
/// # Errors
/// [`StoreError::Unavailable`] when there is no such database yet or it cannot be reached; [`StoreError::Busy`] when a table was held
/// at every try; any other [`StoreError`] when a migration fails. Nothing of a failed one stays.
pub async fn migrate_database(url: &str) -> Result<MigrationResult> {
    let DatabaseUrl {
        mut config, tls, ..
    } = DatabaseUrl::parse(url)?;
    config.connect_timeout(CONNECT_TIMEOUT);
    let (observer, observing) = open_connection(&config, tls.clone()).await?;
    let (mut client, connection) = open_connection(&config, tls).await?;
    let migrated = migrate_under_lock(&mut client, &observer).await;
    // The session's end gives the lock back.
    drop((client, observer));
    let _ = tokio::join!(connection, observing);
    migrated
}

#[expect(
    clippy::disallowed_methods,
    reason = "the connection belongs to no request"
)]
async fn open_connection(
    config: &Config,
    tls: MakeRustlsConnect,
) -> Result<(Client, JoinHandle<()>)> {
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, config.connect(tls)).await;
    let (client, connection) = connected
        .map_err(|_| StoreError::unavailable(format!("no answer within {CONNECT_TIMEOUT:?}")))?
        .map_err(|error| StoreError::Unavailable(DatabaseError::new(error, None)))?;
    // How it ends is told to whoever uses the client.
    Ok((client, tokio::spawn(async { drop(connection.await) })))
}

async fn migrate_under_lock(client: &mut Client, observer: &Client) -> Result<MigrationResult> {
    client
        .execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK])
        .await?;
    // Only now: whoever waits for another one that migrates may wait for long.
    client
        .batch_execute(&format!("SET lock_timeout = {}", LOCK_TIMEOUT.as_millis()))
        .await?;
    let (mut applied, mut held_at_last) = (0, String::new());
    for _ in 0..TRIES {
        let tried = try_apply_migrations(client, observer).await?;
        applied += tried.applied;
        let Some(held) = tried.held else {
            return Ok(MigrationResult {
                applied,
                granted: grant_privileges(client).await?,
            });
        };
        held_at_last = held;
        tokio::time::sleep(PAUSE).await;
    }
    Err(StoreError::Busy(DatabaseError::from_other(format!(
        "a migration needs {held_at_last}, which others held for {LOCK_TIMEOUT:?} at each of {TRIES} tries; nothing of it was kept"
    ))))
}

async fn try_apply_migrations(client: &mut Client, observer: &Client) -> Result<Tried> {
    let process_id = client
        .query_one("SELECT pg_backend_pid()", &[])
        .await?
        .get(0);
    let (mut applied, mut awaited) = (0, None);
    let ran = tokio::select! {
        ran = apply_missing_migrations(client, &mut applied) => ran,
        never = watch_awaited_table(observer, process_id, &mut awaited) => match never {},
    };
    match ran {
        Ok(()) => Ok(Tried {
            applied,
            held: None,
        }),
        Err(StoreError::Busy(_)) => Ok(Tried {
            applied,
            held: Some(awaited.unwrap_or_else(|| "a table".to_owned())),
        }),
        Err(error) => Err(error),
    }
}

/// Applies what is missing, and adds to `applied` what it has, also when it fails later.
async fn apply_missing_migrations(client: &mut Client, applied: &mut usize) -> Result<()> {
    if has_earlier_history(client).await? {
        run_migrations(&earlier_migrations(), client, applied).await?;
        replace_earlier_history(client, &known_migrations()).await?;
    }
    run_migrations(&migration_runner(), client, applied).await
}

/// Applies those of a runner that are missing. A database whose history is not that of the runner is left as it is.
async fn run_migrations(runner: &Runner, client: &mut Client, applied: &mut usize) -> Result<()> {
    let ran = runner.run_async(client).await;
    let report = match &ran {
        Ok(report) => Some(report),
        Err(error) => error.report(),
    };
    *applied += report.map_or(0, |report| report.applied_migrations().len());
    match ran {
        Ok(_) => Ok(()),
        Err(error) if was_held_up(&error) => {
            Err(StoreError::Busy(DatabaseError::from_other(error)))
        }
        Err(error) => Err(StoreError::Corrupt(format!("migration failed: {error}"))),
    }
}

/// Keeps in `awaited` the table for which a session waited last. It ends with whoever runs it.
async fn watch_awaited_table(
    observer: &Client,
    process_id: i32,
    awaited: &mut Option<String>,
) -> Infallible {
    let sql = "SELECT relation::regclass::text FROM pg_locks WHERE pid = $1 AND relation IS NOT NULL AND NOT granted";
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        // Without an answer it is not known what it waits for; whether it goes on does not depend on that.
        if let Ok(Some(row)) = observer.query_opt(sql, &[&process_id]).await {
            *awaited = row.get(0);
        }
    }
}

fn was_held_up(error: &refinery::Error) -> bool {
    iter::successors(error.source(), |error| (*error).source())
        .filter_map(|error| error.downcast_ref::<tokio_postgres::Error>())
        .any(|error| error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
}
