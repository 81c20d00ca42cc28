//! Pictures of designs, for pages: drawn from the very PDF that would print, a few at a time, and kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use anyhow::Context;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use design::{PrintableDesign, Side};
use model::id::{DesignId, TeamId};
use outbound::{OutboundClient, TargetPolicy};
use pictures::PictureFetcher;
use print::ProofCrop;
use printing::{LoadPicturesError, LoadedPictures, PaperSettings, Proof};
use runtime::Process;
use serde_json::Value;
use storage::Storage;
use tokio::sync::Semaphore;

use crate::blocking::run_blocking;
use crate::page_error::PageError;

/// Dots per inch: a card as wide as a phone's screen.
const RESOLUTION: u32 = 96;

/// Proofs drawn at a time by one process: each takes a processor, and memory for its pictures.
const DRAWN_AT_A_TIME: usize = 2;

/// Proofs whose pictures are fetched at a time by one process, and pictures fetched at a time for each: until it is kept, a
/// picture takes memory, `pictures.max_bytes` at the most. Proofs whose pictures are known do not wait for these.
const PROOFS_FETCHED_FOR: usize = 4;
const FETCHED_AT_A_TIME: usize = 8;

/// Pictures kept by one process, a few hundred kilobytes each.
const PICTURES_KEPT: usize = 64;

/// Bytes of the values that a proof is asked with, all together.
const VALUES_BYTES: usize = 64 * 1024;

/// The side of a card that a path names.
///
/// # Errors
/// [`PageError::NotFound`] when it names none.
pub(crate) fn find_side(name: &str) -> Result<Side, PageError> {
    let mut sides = Side::ALL.into_iter();
    sides
        .find(|side| side.to_string() == name)
        .ok_or(PageError::NotFound)
}

/// What a picture shows.
#[derive(Debug)]
pub(crate) struct ProofRequest {
    /// Whose.
    pub(crate) team_id: TeamId,
    /// A design and one of its versions: that of the document.
    pub(crate) design: (DesignId, i32),
    /// The document of the version.
    pub(crate) document: Value,
    /// Values of fields, by folded name; those of the sample person stand in for the fields that are not named.
    pub(crate) fields: BTreeMap<String, String>,
    /// The surface.
    pub(crate) side: Side,
}

/// Draws proofs.
pub(crate) struct ProofRenderer {
    paper: PaperSettings,
    storage: Storage,
    fetcher: PictureFetcher,
    drawing: Arc<Semaphore>,
    /// By their tags; the one used last at the back.
    kept: Mutex<VecDeque<(String, Bytes)>>,
}

/// A picture, and whether it will always be the same.
struct RenderedProof {
    png: Bytes,
    is_final: bool,
}

impl ProofRenderer {
    /// # Errors
    /// When the settings of printing, pictures or storage cannot be used.
    pub(crate) fn new(process: &Process) -> anyhow::Result<Self> {
        let config = &process.config;
        let client = OutboundClient::new(TargetPolicy::new(&config.outbound.allowed_networks))?;
        let storage = Storage::new(&config.storage).context("storage")?;
        let (store, clock) = (process.store.clone(), process.clock.clone());
        let mut settings = config.pictures.clone();
        settings.concurrency = settings.concurrency.min(FETCHED_AT_A_TIME);
        let fetcher = PictureFetcher::new(client, storage.clone(), store, clock, settings);
        Ok(Self {
            paper: PaperSettings::for_proofs(&config.print)?,
            fetcher: fetcher.for_requests_at_a_time(PROOFS_FETCHED_FOR),
            storage,
            drawing: Arc::new(Semaphore::new(DRAWN_AT_A_TIME)),
            kept: Mutex::default(),
        })
    }

    /// The answer with a picture: PNG, or 304 when the browser has it. A version never changes, so its tag says all.
    ///
    /// # Errors
    /// [`PageError::Invalid`] with a sentence when the design cannot print.
    pub(crate) async fn picture_response(
        &self,
        headers: &HeaderMap,
        wanted: ProofRequest,
        now: DateTime<Utc>,
    ) -> Result<Response, PageError> {
        refuse_long(&wanted)?;
        let tag = entity_tag(&wanted);
        let is_known = headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .any(|known| known.as_bytes() == tag.as_bytes());
        if is_known {
            return Ok((
                StatusCode::NOT_MODIFIED,
                [(ETAG, tag), (CACHE_CONTROL, CHECKED.to_owned())],
            )
                .into_response());
        }
        if let Some(png) = self.known_picture(&tag) {
            return Ok(kept_response(&tag, png));
        }
        let drawn = self.draw_proof(wanted, now).await?;
        if !drawn.is_final {
            return Ok(([(CONTENT_TYPE, PNG)], drawn.png).into_response());
        }
        self.keep_picture(tag.clone(), drawn.png.clone());
        Ok(kept_response(&tag, drawn.png))
    }

    /// What a send would say of a card, a sentence for each; nothing of a design that cannot print.
    ///
    /// # Errors
    /// [`PageError`] when the values are too long, or pictures cannot be read.
    pub(crate) async fn card_findings(
        &self,
        wanted: ProofRequest,
        now: DateTime<Utc>,
    ) -> Result<Vec<String>, PageError> {
        refuse_long(&wanted)?;
        if PrintableDesign::parse(&wanted.document).is_err() {
            return Ok(Vec::new());
        }
        self.with_proof(wanted, now, |proof| proof.findings(&[]).sentences())
            .await
    }

    async fn draw_proof(
        &self,
        wanted: ProofRequest,
        now: DateTime<Utc>,
    ) -> Result<RenderedProof, PageError> {
        let (side, paper) = (wanted.side, self.paper.clone());
        let drawing = self.with_proof(wanted, now, move |proof| {
            let is_final = !proof.has_stand_ins();
            Ok(RenderedProof {
                png: render_png(proof, &paper, side, now)?,
                is_final,
            })
        });
        drawing.await?
    }

    /// Does work with a card when it is its turn. Pictures are looked for before, so that a slow host holds up nobody else, and
    /// loaded after, so that those of a few cards are in memory at a time.
    async fn with_proof<T: Send + 'static>(
        &self,
        wanted: ProofRequest,
        now: DateTime<Utc>,
        work: impl FnOnce(Proof) -> T + Send + 'static,
    ) -> Result<T, PageError> {
        let ProofRequest {
            team_id,
            design,
            document,
            fields,
            ..
        } = wanted;
        let document = PrintableDesign::parse(&document).map_err(|problem| {
            PageError::Invalid(format!("The design cannot print: {problem}."))
        })?;
        let mut values = printing::sample_values(&document);
        values.extend(fields);
        let failed = |error: LoadPicturesError| PageError::Internal(error.into());
        let mut pictures = LoadedPictures::default();
        let found = pictures
            .find_missing(&self.fetcher, team_id, &document, &values)
            .await
            .map_err(failed)?;
        // Never closed.
        let turn = self.drawing.clone().acquire_owned().await;
        pictures.load(&self.storage, found).await.map_err(failed)?;
        run_blocking(turn, move || {
            work(Proof::from_sample(document, design, values, pictures, now))
        })
        .await
    }

    fn known_picture(&self, tag: &str) -> Option<Bytes> {
        let mut kept = runtime::task::lock_mutex(&self.kept);
        let at = kept.iter().position(|(known, _)| known == tag)?;
        let found = kept.remove(at)?;
        let png = found.1.clone();
        kept.push_back(found);
        Some(png)
    }

    fn keep_picture(&self, tag: String, png: Bytes) {
        let mut kept = runtime::task::lock_mutex(&self.kept);
        if kept.len() >= PICTURES_KEPT {
            kept.pop_front();
        }
        kept.push_back((tag, png));
    }
}

fn refuse_long(wanted: &ProofRequest) -> Result<(), PageError> {
    let bytes: usize = wanted
        .fields
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if bytes <= VALUES_BYTES {
        return Ok(());
    }
    Err(PageError::Invalid(format!(
        "The values are longer than {} KB.",
        VALUES_BYTES / 1024
    )))
}

const PNG: &str = "image/png";

/// Browsers keep it and ask whether it is still the same: which version a page shows may change at any time.
const CHECKED: &str = "private, no-cache";

fn kept_response(tag: &str, png: Bytes) -> Response {
    let headers = [(CONTENT_TYPE, PNG), (CACHE_CONTROL, CHECKED), (ETAG, tag)];
    (headers, png).into_response()
}

/// Follows from all that the picture follows from.
fn entity_tag(wanted: &ProofRequest) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        // With its length before it no part runs into the next.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(wanted.team_id.0.as_bytes());
    part(wanted.design.0.0.as_bytes());
    part(&wanted.design.1.to_le_bytes());
    part(wanted.side.to_string().as_bytes());
    for (name, value) in &wanted.fields {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    let digest = hasher.finalize().to_hex();
    format!("\"{}\"", &digest[..32])
}

fn render_png(
    proof: Proof,
    paper: &PaperSettings,
    side: Side,
    now: DateTime<Utc>,
) -> Result<Bytes, PageError> {
    let product = proof.product();
    let page = match side {
        Side::Front => 1,
        Side::Back => 2,
    };
    let pdf = proof
        .render_pdf(paper, now)
        .map_err(|problem| PageError::Invalid(format!("The card cannot print: {problem}.")))?;
    let pages = print::render_proof(pdf, product, [page], RESOLUTION, ProofCrop::Trim);
    let page = pages
        .map_err(|error| PageError::Internal(error.into()))?
        .pop();
    Ok(page.unwrap_or_default().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(version: i32, side: Side, fields: &[(&str, &str)]) -> ProofRequest {
        let fields = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let (team_id, design_id) = (TeamId(uuid::Uuid::nil()), DesignId(uuid::Uuid::nil()));
        ProofRequest {
            team_id,
            design: (design_id, version),
            document: Value::Null,
            fields,
            side,
        }
    }

    #[test]
    fn a_tag_changes_with_version_side_and_values() {
        let first = entity_tag(&wanted(1, Side::Front, &[("a", "bc")]));
        assert_eq!(first, entity_tag(&wanted(1, Side::Front, &[("a", "bc")])));
        for other in [
            wanted(2, Side::Front, &[("a", "bc")]),
            wanted(1, Side::Back, &[("a", "bc")]),
            wanted(1, Side::Front, &[("ab", "c")]),
            wanted(1, Side::Front, &[]),
        ] {
            assert_ne!(first, entity_tag(&other));
        }
    }
}
