//! Fetching: many pictures at a time, within the time that there is.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::header::{ACCEPT, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use outbound::TargetUrl;
use runtime::fail_point;
use storage::FileName;
use store::PictureLinkHash;
use tokio::time::Instant;

use crate::examine::{PictureFormat, decode_picture};
use crate::name;
use crate::schedule::{FAILURES, FetchLimits, FetchSchedule, HostSignal};
use crate::undelivered::DownloadError;
use crate::{PictureFetchError, PictureFetcher, ResolvedPicture, WantedPicture, unusable_picture};

/// How we present ourselves to hosts.
const AGENT: &str = concat!("Pillarbox/", env!("CARGO_PKG_VERSION"));

/// Of the time that there is for all pictures, one gets this part at the most: a host that hangs is found out while
/// there is time left for others.
const PICTURE_SHARE: u32 = 2;

/// What came of fetching pictures.
pub(crate) struct FetchedPictures {
    /// Those that were tried to the end.
    pub(crate) tried: HashMap<PictureLinkHash, ResolvedPicture>,
    /// Those that were not, and why.
    pub(crate) left: Vec<(PictureLinkHash, ResolvedPicture)>,
}

/// A try that has ended.
struct FetchAttempt {
    host: usize,
    hash: PictureLinkHash,
    /// What it says of the host.
    sign: HostSignal,
    /// `None` when it had too little time.
    picture: Option<ResolvedPicture>,
}

impl PictureFetcher {
    /// Fetches pictures into the folder when there is a place for it.
    pub(crate) async fn fetch_when_permitted(
        &self,
        folder: &str,
        wanted: Vec<WantedPicture>,
        until: Instant,
    ) -> Result<FetchedPictures, PictureFetchError> {
        let Some(places) = &self.fetching else {
            return self.fetch_all(folder, wanted, until).await;
        };
        match tokio::time::timeout_at(until, places.acquire()).await {
            // Held to the end of the fetching.
            Ok(_place) => self.fetch_all(folder, wanted, until).await,
            Err(_) => {
                let left = wanted
                    .into_iter()
                    .map(|one| (one.hash, not_tried_picture(false)))
                    .collect();
                Ok(FetchedPictures {
                    tried: HashMap::new(),
                    left,
                })
            }
        }
    }

    /// Fetches pictures into the folder.
    async fn fetch_all(
        &self,
        folder: &str,
        wanted: Vec<WantedPicture>,
        until: Instant,
    ) -> Result<FetchedPictures, PictureFetchError> {
        // The bounds are the request's own: another one's slow hosts take nothing of them.
        let (in_all, per_host) = (
            self.settings.concurrency,
            self.settings.concurrency_per_host,
        );
        let mut schedule = FetchSchedule::new(FetchLimits { in_all, per_host });
        let mut left: Vec<(PictureLinkHash, usize)> = Vec::with_capacity(wanted.len());
        for one in wanted {
            left.push((one.hash, schedule.add(one.target.host_and_port(), one)));
        }
        let time = until.saturating_duration_since(Instant::now()) / PICTURE_SHARE;
        let mut tried = HashMap::new();
        let mut under_way = FuturesUnordered::new();
        loop {
            while let Some((host, one)) = schedule.start_next() {
                under_way.push(self.fetch_picture(folder, host, one, time));
            }
            let Ok(Some(ended)) = tokio::time::timeout_at(until, under_way.next()).await else {
                break;
            };
            let FetchAttempt {
                host,
                hash,
                sign,
                picture,
            } = ended?;
            schedule.finish(host, sign);
            tried.extend(picture.map(|picture| (hash, picture)));
        }
        left.retain(|(hash, _)| !tried.contains_key(hash));
        metrics::counter!("pillarbox_pictures_total", "result" => "fetched")
            .increment(tried.len() as u64);
        metrics::counter!("pillarbox_pictures_total", "result" => "left")
            .increment(left.len() as u64);
        let left = left
            .into_iter()
            .map(|(hash, host)| (hash, not_tried_picture(schedule.is_given_up(host))));
        Ok(FetchedPictures {
            tried,
            left: left.collect(),
        })
    }

    async fn fetch_picture(
        &self,
        folder: &str,
        host: usize,
        wanted: WantedPicture,
        time: Duration,
    ) -> Result<FetchAttempt, PictureFetchError> {
        let WantedPicture { hash, target } = wanted;
        let timeout = Duration::from_millis(self.settings.timeout_ms);
        let content = match self.download_picture(&target, time.min(timeout)).await {
            Ok(content) => content,
            Err(DownloadError {
                sign,
                is_timeout,
                why,
            }) => {
                // With all the time that a picture may take it could have come.
                let picture = (!is_timeout || time >= timeout).then(|| unusable_picture(why));
                return Ok(FetchAttempt {
                    host,
                    hash,
                    sign,
                    picture,
                });
            }
        };
        let picture = match self.decode_in_background(content.clone()).await {
            Ok(format) => ResolvedPicture::Kept(self.store_file(folder, content, format).await?),
            Err(why) => unusable_picture(why),
        };
        Ok(FetchAttempt {
            host,
            hash,
            sign: HostSignal::Answered,
            picture: Some(picture),
        })
    }

    async fn download_picture(
        &self,
        target: &TargetUrl,
        timeout: Duration,
    ) -> Result<Bytes, DownloadError> {
        let answer = self
            .client
            .get(target, request_headers(), self.settings.max_bytes, timeout)
            .await;
        match answer {
            Ok(answer) if answer.status == 200 => Ok(Bytes::from(answer.body)),
            Ok(answer) => Err(DownloadError::from_status(answer.status)),
            Err(error) => Err(DownloadError::from_request_error(&error)),
        }
    }

    /// Decodes on a thread where that keeps nobody waiting.
    async fn decode_in_background(&self, content: Bytes) -> Result<PictureFormat, String> {
        let max_pixels = self.settings.max_pixels;
        let undecodable = || "its file is damaged".to_owned();
        let permit = self
            .decoding
            .clone()
            .acquire_owned()
            .await
            .map_err(|_| undecodable())?;
        let examined = tokio::task::spawn_blocking(move || {
            // Held to the end of the decoding, also when the request has no more time for it.
            let _permit = permit;
            decode_picture(&content, max_pixels)
        });
        // A decoder that panicked has met what is no picture.
        examined.await.unwrap_or_else(|_| Err(undecodable()))
    }

    async fn store_file(
        &self,
        folder: &str,
        content: Bytes,
        format: PictureFormat,
    ) -> Result<FileName, PictureFetchError> {
        let name = format!("{folder}/{}", name::picture_file_name(&content, format));
        // Made of a team's id, a month and a hash, it is a file's name.
        let name: FileName = name.parse().map_err(|error: storage::InvalidFileName| {
            store::StoreError::Corrupt(error.to_string())
        })?;
        if !self.storage.has(&name).await? {
            self.storage.put(&name, content).await?;
        }
        fail_point::fail_if_chosen("pictures.kept");
        Ok(name)
    }
}

/// Why a picture was not tried to the end.
fn not_tried_picture(is_host_given_up: bool) -> ResolvedPicture {
    unusable_picture(if is_host_given_up {
        format!("its host did not deliver {FAILURES} other pictures")
    } else {
        "the pictures of the request took too long to fetch".to_owned()
    })
}

fn request_headers() -> HeaderMap {
    HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("image/png, image/jpeg")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
    ])
}
