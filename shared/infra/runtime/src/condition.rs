//! How it stands with a process: whether clients should be sent to it, and why it does no work.
//!
//! Readiness is about the process alone. A database or broker that is away is away for all of its kind: a load balancer that heard
//! it from each of them would send nobody anywhere, and what works without (scans without the broker, pages, the errors that
//! the API documents) would be gone, too. So both are metrics, log lines and answers; only a start waits for them, and not for ever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use store::{SchemaVersion, Store, StoreError};

use crate::process::Process;
use crate::task::lock_mutex;

/// How long a start waits for database and broker. Past it the process is ready without them.
const START_PATIENCE: Duration = Duration::from_secs(10);

/// How often the database is looked at while the process starts, and later.
const START_INTERVAL: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_secs(5);

/// Time for one look.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a trouble lasts before it is told: less is a start or a blink.
const SETTLED: Duration = Duration::from_secs(2);

/// How often the same trouble is told.
const REPEATED: Duration = Duration::from_secs(60);

/// What a look at the database has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum DatabaseState {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// It answers, and its tables fit the program.
    Fits,
    /// It does not answer.
    Away(String),
    /// It refuses this process, or its tables are older than the program: another process may serve clients better.
    Unfit(String),
}

/// What load balancers are to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Its start is not complete.
    Starting,
    /// It answers clients in words of its own.
    Ready,
    /// It was not ready yet when it met a database that it has never fitted.
    Unfit,
    /// It was told to stop.
    Leaving,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    Database,
    Broker,
    Work,
}

/// Why a process is of less use than it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessTrouble {
    pub(crate) kind: TroubleKind,
    pub(crate) text: String,
}

/// What a process remembers about itself.
#[derive(Debug)]
pub(crate) struct ProcessHealth {
    begun: Instant,
    database: Mutex<DatabaseState>,
    has_fitted: AtomicBool,
    has_started: AtomicBool,
}

/// How it stands with a process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HealthSnapshot {
    pub(crate) is_leaving: bool,
    pub(crate) is_working: bool,
    pub(crate) has_broker: bool,
    pub(crate) database: DatabaseState,
    /// The database has fitted it at some time.
    has_fitted: bool,
    /// It has been ready.
    has_started: bool,
    running_for: Duration,
}

impl Default for ProcessHealth {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            database: Mutex::default(),
            has_fitted: AtomicBool::default(),
            has_started: AtomicBool::default(),
        }
    }
}

impl ProcessHealth {
    fn record_database(&self, found: DatabaseState) {
        if found == DatabaseState::Fits {
            self.has_fitted.store(true, Ordering::Relaxed);
        }
        *self.lock_database() = found;
    }

    /// With what only the process knows of itself. Notes that the start is complete when it is.
    pub(crate) fn snapshot(
        &self,
        is_working: bool,
        is_leaving: bool,
        has_broker: bool,
    ) -> HealthSnapshot {
        let mut facts = HealthSnapshot {
            is_leaving,
            is_working,
            has_broker,
            database: self.lock_database().clone(),
            has_fitted: self.has_fitted.load(Ordering::Relaxed),
            has_started: self.has_started.load(Ordering::Relaxed),
            running_for: self.begun.elapsed(),
        };
        if facts.readiness() == Readiness::Ready {
            self.has_started.store(true, Ordering::Relaxed);
            facts.has_started = true;
        }
        facts
    }

    fn lock_database(&self) -> MutexGuard<'_, DatabaseState> {
        lock_mutex(&self.database)
    }
}

impl HealthSnapshot {
    /// A start is complete once the process works and the database has fitted it, or when it has waited for long, and nothing but the
    /// stop takes that back. Tables that are too old, or a database that lets others in and not this process, keep one that has
    /// met nothing better from being ready: in a deployment the version before goes on.
    pub(crate) fn readiness(&self) -> Readiness {
        match &self.database {
            _ if self.is_leaving => Readiness::Leaving,
            _ if self.has_started => Readiness::Ready,
            DatabaseState::Unfit(_) if !self.has_fitted => Readiness::Unfit,
            _ if self.is_working && self.has_fitted => Readiness::Ready,
            _ if self.running_for >= START_PATIENCE => Readiness::Ready,
            _ => Readiness::Starting,
        }
    }

    /// What is wrong now. Only who does no work misses the broker: dispatchers and consoles do without.
    pub(crate) fn troubles(&self) -> Vec<ProcessTrouble> {
        let mut troubles = Vec::new();
        let mut add = |kind, text: &str| {
            troubles.push(ProcessTrouble {
                kind,
                text: text.to_owned(),
            })
        };
        match &self.database {
            DatabaseState::Away(why) => add(
                TroubleKind::Database,
                &format!("the database is away: {why}"),
            ),
            DatabaseState::Unfit(why) => add(TroubleKind::Database, why),
            DatabaseState::Unknown | DatabaseState::Fits => {}
        }
        match (self.is_working, self.has_broker) {
            (false, false) => add(TroubleKind::Broker, "there is no connection to RabbitMQ"),
            (false, true) => add(TroubleKind::Work, "it takes no work yet"),
            (true, _) => {}
        }
        troubles
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TroubleLogLine {
    Troubled(String),
    Recovered,
}

/// What the log has been told. A trouble is told once it has lasted, again when it changes its kind, and from time to time.
#[derive(Debug, Default)]
struct TroubleLog {
    kinds: Vec<TroubleKind>,
    since: Option<Instant>,
    last: Option<Instant>,
}

impl TroubleLog {
    fn next_line(&mut self, troubles: &[ProcessTrouble], now: Instant) -> Option<TroubleLogLine> {
        let kinds: Vec<TroubleKind> = troubles.iter().map(|trouble| trouble.kind).collect();
        if kinds.is_empty() {
            let was_told = self.last.is_some();
            *self = Self::default();
            return was_told.then_some(TroubleLogLine::Recovered);
        }
        let is_new = kinds != self.kinds;
        if is_new {
            (self.kinds, self.since) = (kinds, Some(now));
        }
        let has_settled = self
            .since
            .is_some_and(|since| now.duration_since(since) >= SETTLED);
        let is_due = self.last.is_none_or(|last| {
            now.duration_since(last) >= REPEATED || self.since.is_some_and(|since| since > last)
        });
        if !has_settled || !is_due {
            return None;
        }
        self.last = Some(now);
        let texts: Vec<&str> = troubles
            .iter()
            .map(|trouble| trouble.text.as_str())
            .collect();
        Some(TroubleLogLine::Troubled(texts.join("; ")))
    }
}

/// Looks at the database, and says in the log why the process does no work, until it is told to stop.
pub(crate) async fn watch_database(process: Process) {
    let mut told = TroubleLog::default();
    loop {
        let found = check_database(&process.store).await;
        process.condition.record_database(found);
        let facts = process.health_snapshot();
        if facts.is_leaving {
            return;
        }
        match told.next_line(&facts.troubles(), Instant::now()) {
            Some(TroubleLogLine::Troubled(why)) => {
                tracing::warn!(why, ready = ?facts.readiness(), "not working")
            }
            Some(TroubleLogLine::Recovered) => tracing::info!("working again"),
            None => {}
        }
        let interval = if facts.has_started && facts.troubles().is_empty() {
            INTERVAL
        } else {
            START_INTERVAL
        };
        tokio::select! {
            () = tokio::time::sleep(interval) => {}
            () = process.shutdown.cancelled() => return,
        }
    }
}

async fn check_database(store: &Store) -> DatabaseState {
    match tokio::time::timeout(LOOK_TIMEOUT, store.find_schema_version()).await {
        Ok(found) => classify_database(found),
        Err(_) => DatabaseState::Away(format!("no answer within {LOOK_TIMEOUT:?}")),
    }
}

fn classify_database(found: Result<SchemaVersion, StoreError>) -> DatabaseState {
    match found {
        Ok(version) if version.is_current() => DatabaseState::Fits,
        Ok(SchemaVersion { applied, needed }) => DatabaseState::Unfit(format!(
            "the tables are of version {applied} and this program needs {needed}: run `pillarbox migrate`"
        )),
        Err(error) if error.denies_access() => DatabaseState::Unfit(format!(
            "the database refuses this process: {}",
            describe_error(&error)
        )),
        Err(error) => DatabaseState::Away(describe_error(&error)),
    }
}

/// An error, and what the database says of it.
fn describe_error(error: &StoreError) -> String {
    match error.database_error().and_then(|said| said.message()) {
        Some(said) => format!("{error}: {said}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_snapshot(database: DatabaseState) -> HealthSnapshot {
        HealthSnapshot {
            is_leaving: false,
            is_working: true,
            has_broker: true,
            database,
            has_fitted: false,
            has_started: false,
            running_for: Duration::ZERO,
        }
    }

    fn away_database() -> DatabaseState {
        DatabaseState::Away("refused".to_owned())
    }

    #[test]
    fn a_start_waits_for_what_it_needs_and_not_for_ever() {
        assert_eq!(
            build_snapshot(DatabaseState::Unknown).readiness(),
            Readiness::Starting
        );
        assert_eq!(
            build_snapshot(away_database()).readiness(),
            Readiness::Starting
        );
        let waited = HealthSnapshot {
            running_for: START_PATIENCE,
            is_working: false,
            ..build_snapshot(away_database())
        };
        assert_eq!(waited.readiness(), Readiness::Ready);
    }

    #[test]
    fn nothing_but_the_stop_takes_readiness_back() {
        let unfit = DatabaseState::Unfit("old".to_owned());
        for database in [away_database(), unfit.clone()] {
            let started = HealthSnapshot {
                has_started: true,
                is_working: false,
                has_broker: false,
                ..build_snapshot(database)
            };
            assert_eq!(started.readiness(), Readiness::Ready);
            assert_eq!(
                HealthSnapshot {
                    is_leaving: true,
                    ..started
                }
                .readiness(),
                Readiness::Leaving
            );
        }
        let waited = HealthSnapshot {
            running_for: START_PATIENCE * 9,
            ..build_snapshot(unfit)
        };
        assert_eq!(waited.readiness(), Readiness::Unfit, "it has never fitted");
    }

    #[test]
    fn a_start_is_complete_when_it_works_with_a_database_that_fits() {
        let condition = ProcessHealth::default();
        condition.record_database(DatabaseState::Fits);
        assert_eq!(
            condition.snapshot(false, false, false).readiness(),
            Readiness::Starting
        );
        assert_eq!(
            condition.snapshot(true, false, true).readiness(),
            Readiness::Ready
        );
        condition.record_database(away_database());
        assert_eq!(
            condition.snapshot(false, false, false).readiness(),
            Readiness::Ready
        );
    }

    #[test]
    fn who_was_ready_without_a_look_at_the_tables_stays_so_when_they_are_too_old() {
        let begun = Instant::now().checked_sub(START_PATIENCE).unwrap();
        let condition = ProcessHealth {
            begun,
            ..ProcessHealth::default()
        };
        condition.record_database(away_database());
        assert_eq!(
            condition.snapshot(false, false, false).readiness(),
            Readiness::Ready
        );
        condition.record_database(DatabaseState::Unfit("old".to_owned()));
        assert_eq!(
            condition.snapshot(true, false, true).readiness(),
            Readiness::Ready
        );
        assert_eq!(
            condition.snapshot(true, true, true).readiness(),
            Readiness::Leaving
        );
    }

    #[test]
    fn a_database_that_has_fitted_fits_a_start_that_waits_for_the_broker_still() {
        let condition = ProcessHealth::default();
        condition.record_database(DatabaseState::Fits);
        condition.record_database(DatabaseState::Unfit("refused".to_owned()));
        assert_eq!(
            condition.snapshot(false, false, false).readiness(),
            Readiness::Starting
        );
        assert_eq!(
            condition.snapshot(true, false, true).readiness(),
            Readiness::Ready
        );
    }

    #[test]
    fn a_trouble_is_told_when_it_has_lasted_and_repeated_now_and_then() {
        let (begun, mut told) = (Instant::now(), TroubleLog::default());
        let at = |seconds| begun + Duration::from_secs(seconds);
        let gone = build_snapshot(away_database()).troubles();
        let line = || {
            Some(TroubleLogLine::Troubled(
                "the database is away: refused".to_owned(),
            ))
        };
        assert_eq!(told.next_line(&gone, at(0)), None, "a blink");
        assert_eq!(told.next_line(&gone, at(2)), line());
        assert_eq!(told.next_line(&gone, at(30)), None);
        assert_eq!(told.next_line(&gone, at(62)), line());
        let both = HealthSnapshot {
            is_working: false,
            has_broker: false,
            ..build_snapshot(away_database())
        }
        .troubles();
        assert_eq!(told.next_line(&both, at(63)), None);
        let joined = "the database is away: refused; there is no connection to RabbitMQ";
        assert_eq!(
            told.next_line(&both, at(65)),
            Some(TroubleLogLine::Troubled(joined.to_owned()))
        );
        assert_eq!(told.next_line(&[], at(66)), Some(TroubleLogLine::Recovered));
        assert_eq!(told.next_line(&[], at(67)), None);
    }
}
