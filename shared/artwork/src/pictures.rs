//! The pictures of a proof, all in memory.

use std::collections::{BTreeMap, HashMap};

use audience::fold_name;
use bytes::Bytes;
use contract::id::TeamId;
use design::{Content, Document, Image, ImageSource, Side};
use pictures::{Picture, Pictures as Fetcher, PicturesError};
use print::{PictureError, Pictures};
use storage::{FileName, InvalidFileName, Storage, StorageError};
use store::PictureUse;
use tokio::time::Instant;

/// Bytes of a picture: far more than any that is kept.
const PICTURE_BYTES: usize = 256 * 1024 * 1024;

/// A grey picture, where the design's own one is not there.
const STAND_IN: &[u8] = include_bytes!("stand_in.png");

/// Pictures by their names: links, or files in the store.
#[derive(Debug, Default)]
pub struct Loaded {
    by_name: HashMap<String, Bytes>,
}

/// Why pictures could not be looked up at all: the fault is ours, not a picture's.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The database or the store of files failed.
    #[error(transparent)]
    Pictures(#[from] PicturesError),
    /// A kept picture cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A card names a file that cannot be one.
    #[error(transparent)]
    Name(#[from] InvalidFileName),
}

impl Loaded {
    /// Pictures that are at hand, by their links.
    pub fn of(pictures: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        Self { by_name: pictures.into_iter().collect() }
    }

    /// The pictures that a card keeps: the names of their files by link.
    ///
    /// # Errors
    /// [`FetchError`] when one is not in the store.
    pub async fn kept(storage: &Storage, pictures: &BTreeMap<String, String>) -> Result<Self, FetchError> {
        let mut by_name = HashMap::new();
        for file in pictures.values() {
            let name: FileName = file.parse()?;
            by_name.insert(file.clone(), storage.get(&name, PICTURE_BYTES).await?);
        }
        Ok(Self { by_name })
    }

    /// Fetches what is not there yet: the design's own pictures and those that the values name, by folded field. One
    /// that cannot be used is left out, as on a card.
    ///
    /// # Errors
    /// [`FetchError`]; no host's or picture's fault is one.
    pub async fn fetch(
        &mut self,
        fetcher: &Fetcher,
        storage: &Storage,
        team_id: TeamId,
        document: &Document,
        fields: &BTreeMap<String, String>,
    ) -> Result<(), FetchError> {
        let until = Instant::now() + fetcher.request_time();
        let (own, sent) = links(document, fields);
        for (links, used) in [(own, PictureUse::Design), (sent, PictureUse::Recipient)] {
            let wanted = links.iter().filter(|link| !self.by_name.contains_key(**link)).copied();
            let found = fetcher.resolve(team_id, used, wanted, until).await?;
            for (link, picture) in found {
                let Picture::Kept(name) = picture else { continue };
                match storage.get(&name, PICTURE_BYTES).await {
                    Ok(content) => {
                        self.by_name.insert(link.to_owned(), content);
                    }
                    // Its file is lost. A send that needs it is told so; a proof shows that it is missing.
                    Err(StorageError::NotFound(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// What a card keeps of them: each under the name of its link.
    pub(crate) fn names(&self) -> BTreeMap<String, String> {
        self.by_name.keys().map(|link| (link.clone(), link.clone())).collect()
    }

    /// Puts a grey picture where one of the design's own is missing. Returns whether one was.
    pub(crate) fn stand_in(&mut self, document: &Document) -> bool {
        let before = self.by_name.len();
        for link in links(document, &BTreeMap::new()).0 {
            self.by_name.entry(link.to_owned()).or_insert_with(|| Bytes::from_static(STAND_IN));
        }
        self.by_name.len() > before
    }
}

impl Pictures for Loaded {
    fn read(&mut self, file: &str) -> Result<Bytes, PictureError> {
        self.by_name.get(file).cloned().ok_or(PictureError::Missing)
    }
}

/// The design's own links, and those in these values.
fn links<'a>(document: &'a Document, fields: &'a BTreeMap<String, String>) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut own, mut sent) = (Vec::new(), Vec::new());
    for source in sources(document) {
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

/// Where the pictures of a design come from.
pub fn sources(document: &Document) -> impl Iterator<Item = &ImageSource> {
    let elements = Side::ALL.into_iter().flat_map(|side| &document.surface(side).elements);
    elements.filter_map(|element| match &element.content {
        Content::Image(Image { source, .. }) => Some(source),
        _ => None,
    })
}
