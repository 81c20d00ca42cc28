//! Pictures by link: fetched once, proven to be pictures, and kept for printing.
//!
//! A link that is known is not fetched: [`store`] remembers what came of it. What is fetched comes from public hosts
//! only, within bounds of number, time, bytes and pixels, and is decoded whole before it counts. A picture that cannot
//! be had is an outcome like any other: no host can make a request wait past its time, or fail.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod examine;
mod fetch;
mod jpeg;
mod name;
mod schedule;
mod undelivered;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Datelike, Months, TimeDelta, Utc};
use model::id::TeamId;
use outbound::{OutboundClient, TargetUrl};
use runtime::Clock;
use runtime::config::PictureSettings as Settings;
use storage::{FileName, Storage, StorageError};
use store::{PictureLinkHash, PictureOutcome, PictureRow, PictureUse, Store, StoreError};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Pictures decoded at a time in one process: a decoded picture takes up to nine bytes a pixel.
const DECODED_AT_A_TIME: usize = 2;

/// Months, before those that are kept, whose files are looked for, and files that are deleted of each in one go.
const PURGED_MONTHS: u32 = 6;
const PURGED_FILES: usize = 5_000;

/// What becomes of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedPicture {
    /// It is kept in this file.
    Kept(FileName),
    /// It cannot be used; the end of a sentence about the picture says why: `its host answered with status 404`.
    Unusable(String),
}

/// Why pictures could not be looked up at all: the fault is ours, not a picture's.
#[derive(Debug, thiserror::Error)]
pub enum PictureFetchError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store of files failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What fetches and keeps pictures. Clones share its limits and connections.
#[derive(Clone)]
pub struct PictureFetcher {
    client: OutboundClient,
    storage: Storage,
    store: Store,
    clock: Clock,
    settings: Settings,
    decoding: Arc<Semaphore>,
    /// Places of requests that fetch; `None` where something else bounds how many there are.
    fetching: Option<Arc<Semaphore>>,
}

/// What links are looked up with.
struct PictureLookup {
    team_id: TeamId,
    kept_for: PictureUse,
    /// Whether what is known of a link is not fetched.
    is_known_enough: bool,
    until: Instant,
}

/// A link that is to be fetched.
struct WantedPicture {
    hash: PictureLinkHash,
    target: TargetUrl,
}

impl PictureFetcher {
    /// Puts the parts together.
    pub fn new(
        client: OutboundClient,
        storage: Storage,
        store: Store,
        clock: Clock,
        settings: Settings,
    ) -> Self {
        let decoding = Arc::new(Semaphore::new(DECODED_AT_A_TIME));
        Self {
            client,
            storage,
            store,
            clock,
            settings,
            decoding,
            fetching: None,
        }
    }

    /// With so many requests at the most that fetch at a time. Another one waits, as long as its pictures may take; one whose
    /// pictures are known has nothing to wait for.
    pub fn for_requests_at_a_time(self, requests: usize) -> Self {
        Self {
            fetching: Some(Arc::new(Semaphore::new(requests))),
            ..self
        }
    }

    /// The time that all pictures of a request may take together.
    pub fn request_time(&self) -> Duration {
        Duration::from_millis(self.settings.request_timeout_ms)
    }

    /// What becomes of each link, by the link as it was given. Every distinct one that is not known is fetched, once, and
    /// what is not there by `until` counts as unusable.
    ///
    /// # Errors
    /// [`PictureFetchError`]; no host's or picture's fault is one.
    pub async fn resolve_links<'l>(
        &self,
        team_id: TeamId,
        kept_for: PictureUse,
        links: impl IntoIterator<Item = &'l str>,
        until: Instant,
    ) -> Result<HashMap<&'l str, ResolvedPicture>, PictureFetchError> {
        let lookup = PictureLookup {
            team_id,
            kept_for,
            is_known_enough: true,
            until,
        };
        self.resolve_all(&lookup, links).await
    }

    /// Fetches the pictures of a design that was saved, known or not: the owner may have put another at the same link.
    /// One that cannot be fetched now leaves what is known.
    ///
    /// # Errors
    /// As [`PictureFetcher::resolve_links`].
    pub async fn refetch_links<'l>(
        &self,
        team_id: TeamId,
        links: impl IntoIterator<Item = &'l str>,
    ) -> Result<HashMap<&'l str, ResolvedPicture>, PictureFetchError> {
        let until = Instant::now() + self.request_time();
        let lookup = PictureLookup {
            team_id,
            kept_for: PictureUse::Design,
            is_known_enough: false,
            until,
        };
        self.resolve_all(&lookup, links).await
    }

    async fn resolve_all<'l>(
        &self,
        lookup: &PictureLookup,
        links: impl IntoIterator<Item = &'l str>,
    ) -> Result<HashMap<&'l str, ResolvedPicture>, PictureFetchError> {
        let mut pictures = HashMap::new();
        let mut given: HashMap<PictureLinkHash, Vec<&'l str>> = HashMap::new();
        let mut wanted = Vec::new();
        for link in links {
            if pictures.contains_key(link) {
                continue;
            }
            let target = match TargetUrl::parse(link) {
                Ok(target) => target,
                Err(error) => {
                    pictures.insert(
                        link,
                        unusable_picture(undelivered::describe_invalid_link(&error)),
                    );
                    continue;
                }
            };
            pictures.insert(link, unusable_picture(self.too_many_message()));
            // Links that differ in spelling only are one picture.
            let hash = *blake3::hash(target.as_str().as_bytes()).as_bytes();
            let spellings = given.entry(hash).or_default();
            if spellings.is_empty() && wanted.len() < self.settings.per_request {
                wanted.push(WantedPicture { hash, target });
            }
            spellings.push(link);
        }
        for (hash, picture) in self.look_up(lookup, wanted).await? {
            for link in given.get(&hash).into_iter().flatten() {
                pictures.insert(link, picture.clone());
            }
        }
        Ok(pictures)
    }

    /// Deletes files of recipients' pictures whose months are over, a bounded number of them. Returns how many.
    ///
    /// # Errors
    /// [`PictureFetchError::Storage`].
    pub async fn purge_files(&self) -> Result<usize, PictureFetchError> {
        let today = self.clock.now().date_naive();
        let mut deleted = 0;
        for months in 1..=PURGED_MONTHS {
            let Some(month) = today.checked_sub_months(Months::new(self.settings.months + months))
            else {
                break;
            };
            let folder = name::month_folder(month.year(), month.month());
            // A year and a month make a file's name.
            if let Ok(folder) = folder.parse() {
                deleted += self.storage.delete_under(&folder, PURGED_FILES).await?;
            }
        }
        Ok(deleted)
    }

    fn too_many_message(&self) -> String {
        format!(
            "the request has more than {} different pictures",
            self.settings.per_request
        )
    }

    /// What is remembered of the targets, and for the rest what comes of fetching them.
    async fn look_up(
        &self,
        lookup: &PictureLookup,
        mut wanted: Vec<WantedPicture>,
    ) -> Result<HashMap<PictureLinkHash, ResolvedPicture>, PictureFetchError> {
        let PictureLookup {
            team_id,
            kept_for,
            is_known_enough,
            until,
        } = *lookup;
        let hashes: Vec<PictureLinkHash> = wanted.iter().map(|one| one.hash).collect();
        let now = self.clock.now();
        let known = match hashes.as_slice() {
            hashes if hashes.is_empty() || !is_known_enough => HashMap::new(),
            hashes => {
                self.store
                    .find_pictures(team_id, kept_for, hashes, now)
                    .await?
            }
        };
        let mut pictures: HashMap<PictureLinkHash, ResolvedPicture> = known
            .into_iter()
            .map(|(hash, outcome)| (hash, picture_from_outcome(outcome)))
            .collect();
        wanted.retain(|one| !pictures.contains_key(&one.hash));
        metrics::counter!("pillarbox_pictures_total", "result" => "known")
            .increment(pictures.len() as u64);
        if wanted.is_empty() {
            return Ok(pictures);
        }
        let folder = name::picture_folder(team_id, kept_for, now);
        let fetched = self.fetch_when_permitted(&folder, wanted, until).await?;
        let rows: Vec<PictureRow> = fetched
            .tried
            .iter()
            .map(|(hash, picture)| PictureRow {
                link_hash: *hash,
                outcome: picture_to_outcome(picture),
                expires_at: self.picture_expiry(picture, kept_for, now),
            })
            .collect();
        self.store
            .save_pictures(team_id, kept_for, &rows, now)
            .await?;
        pictures.extend(fetched.tried);
        pictures.extend(fetched.left);
        Ok(pictures)
    }

    fn picture_expiry(
        &self,
        picture: &ResolvedPicture,
        kept_for: PictureUse,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        match (picture, kept_for) {
            (ResolvedPicture::Unusable(_), _) => {
                Some(now + TimeDelta::minutes(self.settings.failure_minutes))
            }
            (ResolvedPicture::Kept(_), PictureUse::Recipient) => {
                Some(now + TimeDelta::hours(self.settings.hours))
            }
            (ResolvedPicture::Kept(_), PictureUse::Design) => None,
        }
    }
}

const fn unusable_picture(why: String) -> ResolvedPicture {
    ResolvedPicture::Unusable(why)
}

/// A name that cannot be read was never written by us; the picture then is as good as gone.
fn picture_from_outcome(outcome: PictureOutcome) -> ResolvedPicture {
    match outcome {
        PictureOutcome::Kept(file) => match file.parse() {
            Ok(name) => ResolvedPicture::Kept(name),
            Err(_) => unusable_picture("its file is lost".to_owned()),
        },
        PictureOutcome::Unusable(why) => unusable_picture(why),
    }
}

fn picture_to_outcome(picture: &ResolvedPicture) -> PictureOutcome {
    match picture {
        ResolvedPicture::Kept(file) => PictureOutcome::Kept(file.as_str().to_owned()),
        ResolvedPicture::Unusable(why) => PictureOutcome::Unusable(why.clone()),
    }
}
