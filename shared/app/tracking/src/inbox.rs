//! The place where the post's files come: each is taken in once, and left where it is.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::TryStreamExt;
use postal::ScanRules;
use runtime::Process;
use runtime::housekeeping::record_failure;
use storage::{FileName, Storage, StorageError, StoredFile};
use store::StoreError;

use crate::import::{ImportError, import_scans};
use crate::mapping::{TrackingSettingsError, read_mapping};

/// Bytes of a file at the most; a larger one is left to the command line.
const FILE_BYTES: usize = 16 * 1024 * 1024 * 1024;

/// Files that are looked up at a time.
const LOOKED_UP: usize = 500;

/// How long the process that watches may be silent before another one does, and how often it says that it is there.
const LEASE: TimeDelta = TimeDelta::minutes(3);
const RENEWAL: Duration = Duration::from_secs(60);

/// The duty of watching.
const DUTY: &str = "postal inbox";

/// Why the place could not be looked at.
#[derive(Debug, thiserror::Error)]
enum InboxError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a file cannot be copied")]
    Copy(#[from] std::io::Error),
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// What the settings say of the place.
pub(crate) struct PostalInbox<'p> {
    process: &'p Process,
    rules: ScanRules,
    /// Where; `None` when nothing is watched.
    place: Option<(Storage, FileName)>,
}

impl<'p> PostalInbox<'p> {
    pub(crate) fn new(process: &'p Process) -> Result<Self, TrackingSettingsError> {
        let settings = &process.config.scans;
        let file = settings.mapping_file.as_path();
        let rules = read_mapping((!file.as_os_str().is_empty()).then_some(file))?;
        let place = match settings.inbox.as_str() {
            "" => None,
            folder => {
                let folder = folder.parse().map_err(TrackingSettingsError::Inbox)?;
                let storage = Storage::new(&process.config.storage)
                    .map_err(TrackingSettingsError::Storage)?;
                Some((storage, folder))
            }
        };
        Ok(Self {
            process,
            rules,
            place,
        })
    }

    /// Watches until the process is to stop.
    pub(crate) async fn keep_watching(&self) {
        let Some((storage, folder)) = &self.place else {
            return;
        };
        let interval = Duration::from_millis(self.process.config.scans.inbox_interval_ms);
        let mut rounds = self.process.rounds(interval);
        while rounds.next().await {
            match self.process.has_duty(DUTY, LEASE).await {
                Ok(true) => {
                    let looked = tokio::select! {
                        looked = self.look_through(storage, folder) => looked,
                        // What is under way goes on where it is when it is somebody's again.
                        () = self.lose_duty() => Ok(()),
                        () = self.process.shutdown.cancelled() => Ok(()),
                    };
                    record_failure("look for files of the post", looked);
                }
                Ok(false) => {}
                Err(error) => record_failure::<(), _>("watch for files of the post", Err(error)),
            }
        }
    }

    /// Keeps the duty; returns when it is another's.
    async fn lose_duty(&self) {
        let mut rounds = self.process.rounds(RENEWAL);
        while rounds.next().await {
            if let Ok(false) = self.process.has_duty(DUTY, LEASE).await {
                return;
            }
        }
    }

    async fn look_through(&self, storage: &Storage, folder: &FileName) -> Result<(), InboxError> {
        let mut files = std::pin::pin!(storage.list_under(folder));
        let mut listed = Vec::with_capacity(LOOKED_UP);
        while let Some(file) = files.try_next().await? {
            listed.push(file);
            if listed.len() == LOOKED_UP {
                self.take_new_files(storage, std::mem::take(&mut listed))
                    .await?;
            }
        }
        self.take_new_files(storage, listed).await
    }

    async fn take_new_files(
        &self,
        storage: &Storage,
        listed: Vec<StoredFile>,
    ) -> Result<(), InboxError> {
        let versions: HashMap<String, (StoredFile, String)> = listed
            .into_iter()
            .map(|file| {
                let version = format!("{} bytes, {}", file.bytes, file.changed_at.to_rfc3339());
                (file.name.as_str().to_owned(), (file, version))
            })
            .collect();
        let names: Vec<&str> = versions.keys().map(String::as_str).collect();
        let of_names: Vec<&str> = versions
            .values()
            .map(|(_, version)| version.as_str())
            .collect();
        let store = &self.process.store;
        for name in store.find_new_inbox_files(&names, &of_names).await? {
            let Some((file, version)) = versions.get(&name) else {
                continue;
            };
            let problem = self.take_file(storage, &file.name).await?;
            let now = self.process.clock.now();
            store
                .save_inbox_file(&name, version, problem.as_deref(), now)
                .await?;
        }
        Ok(())
    }

    /// Takes a file in. Returns why not, when looking again does not help.
    async fn take_file(
        &self,
        storage: &Storage,
        name: &FileName,
    ) -> Result<Option<String>, InboxError> {
        let copy = tempfile::NamedTempFile::new()?;
        let mut target = tokio::fs::File::create(copy.path()).await?;
        match storage.copy_file(name, &mut target, FILE_BYTES).await {
            Ok(_) => {}
            Err(error @ StorageError::TooLarge { .. }) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error.into()),
        }
        let (store, now) = (&self.process.store, self.process.clock.now());
        let rules = self.rules.clone();
        match import_scans(store, copy.path(), name.as_str(), rules, false, now).await {
            Ok(imported) => {
                let counts = &imported.counts;
                tracing::info!(
                    file = %name, rows = counts.rows, new = counts.new, doubled = counts.doubled, foreign = counts.foreign,
                    unmatched = counts.unmatched, unknown = counts.unknown, broken = counts.broken, "took scans of the post in"
                );
                Ok(None)
            }
            Err(ImportError::File(error)) => {
                tracing::warn!(file = %name, error = &error as &dyn Error, "a file of the post cannot be read");
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
