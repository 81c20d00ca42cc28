//! Fetching: many pictures at a time, within the time that there is.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::header::{ACCEPT, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use outbound::{RequestError, Target};
use service::fail_point;
use storage::FileName;
use store::LinkHash;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::examine::{Format, examine};
use crate::host::{Host, Hosts};
use crate::name;
use crate::{Picture, Pictures, PicturesError, Wanted, unusable};

/// How we present ourselves to hosts.
const AGENT: &str = concat!("Pillarbox/", env!("CARGO_PKG_VERSION"));

/// What came of fetching pictures.
pub(crate) struct Fetched {
    /// Those that were tried to the end.
    pub(crate) tried: HashMap<LinkHash, Picture>,
    /// Those that there was no time for.
    pub(crate) left: Vec<LinkHash>,
}

impl Pictures {
    /// Fetches pictures into the folder.
    pub(crate) async fn fetch_all(
        &self,
        folder: &str,
        wanted: Vec<Wanted>,
        until: Instant,
    ) -> Result<Fetched, PicturesError> {
        // Slots are the request's own: another one's slow hosts take none of them.
        let slots = Semaphore::new(self.settings.concurrency);
        let mut hosts = Hosts::new(self.settings.concurrency_per_host);
        let mut left: Vec<LinkHash> = wanted.iter().map(|one| one.hash).collect();
        let mut under_way: FuturesUnordered<_> = wanted
            .into_iter()
            .map(|one| {
                let (host, slots) = (hosts.get(one.target.host_name()), &slots);
                async move { (one.hash, self.fetch(folder, &one.target, (&host, slots)).await) }
            })
            .collect();
        let mut tried = HashMap::new();
        while let Ok(Some((hash, picture))) = tokio::time::timeout_at(until, under_way.next()).await {
            if let Some(picture) = picture? {
                tried.insert(hash, picture);
            }
        }
        left.retain(|hash| !tried.contains_key(hash));
        metrics::counter!("pillarbox_pictures_total", "result" => "fetched").increment(tried.len() as u64);
        metrics::counter!("pillarbox_pictures_total", "result" => "left").increment(left.len() as u64);
        Ok(Fetched { tried, left })
    }

    /// Fetches a picture; `None` when its host is not asked any more.
    async fn fetch(
        &self,
        folder: &str,
        target: &Target,
        (host, slots): (&Host, &Semaphore),
    ) -> Result<Option<Picture>, PicturesError> {
        // The host's slot first: pictures that wait for a slow host must not hold what others could use.
        let (Ok(_of_host), Ok(_of_all)) = (host.slots.acquire().await, slots.acquire().await) else {
            return Ok(None);
        };
        if !host.is_answering() {
            return Ok(None);
        }
        let content = match self.download(target).await {
            Ok(content) => {
                host.answered();
                content
            }
            Err(error) => {
                match error {
                    Undelivered::Silent(_) => host.failed(),
                    Undelivered::Answered(_) => host.answered(),
                }
                let (Undelivered::Silent(why) | Undelivered::Answered(why)) = error;
                return Ok(Some(unusable(why)));
            }
        };
        match self.examined(content.clone()).await {
            Ok(format) => Ok(Some(Picture::Kept(self.keep(folder, content, format).await?))),
            Err(why) => Ok(Some(unusable(why))),
        }
    }

    async fn download(&self, target: &Target) -> Result<Bytes, Undelivered> {
        let timeout = Duration::from_millis(self.settings.timeout_ms);
        let answer = self.client.get(target, headers(), self.settings.max_bytes, timeout).await;
        match answer {
            Ok(answer) if answer.status == 200 => Ok(Bytes::from(answer.body)),
            Ok(answer) => {
                Err(Undelivered::Answered(format!("its host answered with status {}", answer.status)))
            }
            Err(error) => Err(undelivered(&error)),
        }
    }

    /// Decodes on a thread where that keeps nobody waiting.
    async fn examined(&self, content: Bytes) -> Result<Format, String> {
        let max_pixels = self.settings.max_pixels;
        let undecodable = || "it cannot be decoded".to_owned();
        let permit = self.decoding.clone().acquire_owned().await.map_err(|_| undecodable())?;
        let examined = tokio::task::spawn_blocking(move || {
            // Held to the end of the decoding, also when the request has no more time for it.
            let _permit = permit;
            examine(&content, max_pixels)
        });
        // A decoder that panicked has met what is no picture.
        examined.await.unwrap_or_else(|_| Err(undecodable()))
    }

    async fn keep(&self, folder: &str, content: Bytes, format: Format) -> Result<FileName, PicturesError> {
        let name = format!("{folder}/{}", name::file(&content, format));
        // Made of a team's id, a month and a hash, it is a file's name.
        let name: FileName = name
            .parse()
            .map_err(|error: storage::InvalidFileName| store::StoreError::Corrupt(error.to_string()))?;
        if !self.storage.has(&name).await? {
            self.storage.put(&name, content).await?;
        }
        fail_point::pass("pictures.kept");
        Ok(name)
    }
}

/// Why a picture was not delivered, as the end of a sentence.
enum Undelivered {
    /// Its host is not there.
    Silent(String),
    /// Its host is there.
    Answered(String),
}

fn undelivered(error: &RequestError) -> Undelivered {
    match error {
        RequestError::TooLarge(bytes) => Undelivered::Answered(format!("it has more than {bytes} bytes")),
        RequestError::Refused(_)
        | RequestError::Connect(_)
        | RequestError::Tls(_)
        | RequestError::Timeout(_) => Undelivered::Silent(format!("its host did not deliver it: {error}")),
        RequestError::Http(_) | RequestError::Redirects => {
            Undelivered::Answered(format!("its host did not deliver it: {error}"))
        }
    }
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("image/png, image/jpeg")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
    ])
}
