//! The pictures of a proof, all in memory.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use ::pictures::{Picture, Pictures as Fetcher};
use ::print::{PictureError, Pictures};
use anyhow::Context;
use audience::fold_name;
use bytes::Bytes;
use contract::id::TeamId;
use design::{Content, Document, Image, ImageSource, Side};
use outbound::{Client, Policy};
use service::{Clock, Config};
use storage::{FileName, Storage};
use store::{PictureUse, Store};
use tokio::time::Instant;

/// Bytes of a picture.
const PICTURE_BYTES: usize = 256 * 1024 * 1024;

/// A grey picture, where the design's own one is not there.
const STAND_IN: &[u8] = include_bytes!("stand_in.png");

/// Pictures by their links.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    by_link: HashMap<String, Bytes>,
}

/// Pictures in files that were named.
///
/// # Errors
/// When one cannot be read.
pub(super) fn local(named: &[(String, String)]) -> anyhow::Result<Loaded> {
    let read = |(link, file): &(String, String)| {
        let bytes = std::fs::read(Path::new(file)).with_context(|| format!("{file} cannot be read"))?;
        anyhow::Ok((link.clone(), Bytes::from(bytes)))
    };
    Ok(Loaded { by_link: named.iter().map(read).collect::<Result<_, _>>()? })
}

/// The pictures that a card keeps.
///
/// # Errors
/// When one is not in the store.
pub(super) async fn kept(storage: &Storage, pictures: &BTreeMap<String, String>) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::default();
    for (link, file) in pictures {
        let name: FileName = file.parse()?;
        loaded.by_link.insert(file.clone(), storage.get(&name, PICTURE_BYTES).await.context(link.clone())?);
    }
    Ok(loaded)
}

impl Loaded {
    /// What a card keeps of them: each under the name of its link.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        self.by_link.keys().map(|link| (link.clone(), link.clone())).collect()
    }

    /// Fetches what is not there yet: the design's own pictures and those that the values name. One that cannot be
    /// used is left out, as on a card.
    ///
    /// # Errors
    /// When the database or the store of files fails.
    pub(super) async fn fetch(
        &mut self,
        config: &Config,
        store: &Store,
        storage: &Storage,
        team_id: TeamId,
        document: &Document,
        fields: &BTreeMap<String, String>,
    ) -> anyhow::Result<()> {
        service::install_crypto();
        let client = Client::new(Policy::new(&config.outbound.allowed_networks))?;
        let (clock, settings) = (Clock::system(), config.pictures.clone());
        let fetcher = Fetcher::new(client, storage.clone(), store.clone(), clock, settings);
        let until = Instant::now() + fetcher.request_time();
        let (own, sent) = links(document, fields);
        for (links, used) in [(own, PictureUse::Design), (sent, PictureUse::Recipient)] {
            let wanted = links.iter().filter(|link| !self.by_link.contains_key(**link)).copied();
            let found = fetcher.resolve(team_id, used, wanted, until).await?;
            for (link, picture) in found {
                if let Picture::Kept(name) = picture {
                    self.by_link.insert(link.to_owned(), storage.get(&name, PICTURE_BYTES).await?);
                }
            }
        }
        Ok(())
    }

    /// Puts a grey picture where one of the design's own is missing.
    pub(super) fn stand_in(&mut self, document: &Document) {
        for link in links(document, &BTreeMap::new()).0 {
            self.by_link.entry(link.to_owned()).or_insert_with(|| Bytes::from_static(STAND_IN));
        }
    }
}

impl Pictures for Loaded {
    fn read(&mut self, file: &str) -> Result<Bytes, PictureError> {
        self.by_link.get(file).cloned().ok_or(PictureError::Missing)
    }
}

/// The design's own links, and those in these values.
fn links<'a>(document: &'a Document, fields: &'a BTreeMap<String, String>) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut own, mut sent) = (Vec::new(), Vec::new());
    let elements = Side::ALL.into_iter().flat_map(|side| &document.surface(side).elements);
    for element in elements {
        let Content::Image(Image { source, .. }) = &element.content else { continue };
        match source {
            ImageSource::Fixed { link } => own.push(link.as_str()),
            ImageSource::Variable { field, default } => {
                own.extend(default.as_ref().map(|link| link.as_str()));
                sent.extend(fields.get(&fold_name(field)).map(String::as_str));
            }
        }
    }
    (own, sent)
}
