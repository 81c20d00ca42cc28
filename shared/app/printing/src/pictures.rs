//! The pictures of a proof, all in memory.

use std::collections::{BTreeMap, HashMap};

use audience::fold_name;
use bytes::Bytes;
use design::{ElementContent, ImageElement, ImageSource, PrintableDesign, Side};
use model::id::TeamId;
use pictures::{PictureFetchError, PictureFetcher as Fetcher, ResolvedPicture};
use print::{PictureError, PictureStore};
use storage::{FileName, InvalidFileName, Storage, StorageError};
use store::PictureUse;
use tokio::time::Instant;

/// Bytes of a picture: far more than any that is kept.
const PICTURE_BYTES: usize = 256 * 1024 * 1024;

/// Bytes of all pictures of a proof that is made of a design, each link for itself: six of the largest that are fetched. What
/// prints has no such bound, for it holds one picture at a time.
const PROOF_BYTES: usize = 64 * 1024 * 1024;

/// A grey picture, where the design's own one is not there.
const STAND_IN: &[u8] = include_bytes!("stand_in.png");

/// Pictures by their names: links, or files in the store.
#[derive(Debug, Default)]
pub struct LoadedPictures {
    by_name: HashMap<String, Bytes>,
}

/// Why pictures could not be looked up at all: the fault is ours, not a picture's.
#[derive(Debug, thiserror::Error)]
pub enum LoadPicturesError {
    /// The database or the store of files failed.
    #[error(transparent)]
    Pictures(#[from] PictureFetchError),
    /// A kept picture cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A card names a file that cannot be one.
    #[error(transparent)]
    Name(#[from] InvalidFileName),
}

impl LoadedPictures {
    /// Pictures that are at hand, by their links.
    pub fn from_files(pictures: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        Self {
            by_name: pictures.into_iter().collect(),
        }
    }

    /// The pictures that a card keeps: the names of their files by link.
    ///
    /// # Errors
    /// [`LoadPicturesError`] when one is not in the store.
    pub async fn load_kept(
        storage: &Storage,
        pictures: &BTreeMap<String, String>,
    ) -> Result<Self, LoadPicturesError> {
        let mut by_name = HashMap::new();
        for file in pictures.values() {
            let name: FileName = file.parse()?;
            by_name.insert(file.clone(), storage.get(&name, PICTURE_BYTES).await?);
        }
        Ok(Self { by_name })
    }

    /// Looks for what is not there yet, and fetches what is not known: the design's own pictures and those that the values
    /// name, by folded field. Each link with its file, to be [loaded](Self::load); one that cannot be used is left out, as
    /// on a card.
    ///
    /// # Errors
    /// [`LoadPicturesError`]; no host's or picture's fault is one.
    pub async fn find_missing(
        &self,
        fetcher: &Fetcher,
        team_id: TeamId,
        document: &PrintableDesign,
        fields: &BTreeMap<String, String>,
    ) -> Result<Vec<(String, FileName)>, LoadPicturesError> {
        let until = Instant::now() + fetcher.request_time();
        let (own, sent) = picture_links(document, fields);
        let mut files: Vec<(String, FileName)> = Vec::new();
        for (links, used) in [(own, PictureUse::Design), (sent, PictureUse::Recipient)] {
            let is_there = |link: &str| {
                self.by_name.contains_key(link) || files.iter().any(|(known, _)| known == link)
            };
            let wanted: Vec<&str> = links.into_iter().filter(|link| !is_there(link)).collect();
            let mut found = fetcher
                .resolve_links(team_id, used, wanted.iter().copied(), until)
                .await?;
            for link in wanted {
                if let Some(ResolvedPicture::Kept(file)) = found.remove(link) {
                    files.push((link.to_owned(), file));
                }
            }
        }
        Ok(files)
    }

    /// Loads pictures that were [found](Self::find_missing), so many bytes together as a proof may have: one that is too large for
    /// what is left of them is left out, like one that cannot be used.
    ///
    /// # Errors
    /// [`LoadPicturesError`] when the store fails.
    pub async fn load(
        &mut self,
        storage: &Storage,
        found: Vec<(String, FileName)>,
    ) -> Result<(), LoadPicturesError> {
        self.load_within(PROOF_BYTES, storage, found).await
    }

    async fn load_within(
        &mut self,
        most_bytes: usize,
        storage: &Storage,
        found: Vec<(String, FileName)>,
    ) -> Result<(), LoadPicturesError> {
        let mut left = most_bytes;
        for (link, file) in found {
            match storage.get(&file, left).await {
                Ok(content) => {
                    left -= content.len();
                    self.by_name.insert(link, content);
                }
                // Its file is lost, or too large. A send that needs a lost one is told so; a proof shows that it is missing.
                Err(StorageError::NotFound(_) | StorageError::TooLarge { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What a card keeps of them: each under the name of its link.
    pub(crate) fn file_names_by_link(&self) -> BTreeMap<String, String> {
        self.by_name
            .keys()
            .map(|link| (link.clone(), link.clone()))
            .collect()
    }

    /// Puts a grey picture where one of the design's own is missing. Returns whether one was.
    pub(crate) fn fill_missing(&mut self, document: &PrintableDesign) -> bool {
        let before = self.by_name.len();
        for link in picture_links(document, &BTreeMap::new()).0 {
            self.by_name
                .entry(link.to_owned())
                .or_insert_with(|| Bytes::from_static(STAND_IN));
        }
        self.by_name.len() > before
    }
}

impl PictureStore for LoadedPictures {
    fn read_picture(&mut self, file: &str) -> Result<Bytes, PictureError> {
        self.by_name.get(file).cloned().ok_or(PictureError::Missing)
    }
}

/// The design's own links, and those in these values.
fn picture_links<'a>(
    document: &'a PrintableDesign,
    fields: &'a BTreeMap<String, String>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut own, mut sent) = (Vec::new(), Vec::new());
    for source in image_sources(document) {
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
pub fn image_sources(document: &PrintableDesign) -> impl Iterator<Item = &ImageSource> {
    let elements = Side::ALL
        .into_iter()
        .flat_map(|side| &document.side(side).elements);
    elements.filter_map(|element| match &element.content {
        ElementContent::Image(ImageElement { source, .. }) => Some(source),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use storage::{BucketSettings, StorageKind, StorageSettings};

    use super::*;

    #[tokio::test]
    async fn pictures_past_the_bytes_of_a_proof_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let s3 = BucketSettings {
            endpoint: String::new(),
            region: String::new(),
            bucket: String::new(),
            access_key_id: String::new(),
            secret_access_key: String::new(),
        };
        let settings = StorageSettings {
            kind: StorageKind::Folder,
            folder: folder.path().to_owned(),
            s3,
        };
        let storage = Storage::new(&settings).unwrap();
        let (small, large): (FileName, FileName) =
            ("small.png".parse().unwrap(), "large.png".parse().unwrap());
        storage.put(&small, Bytes::from(vec![0; 10])).await.unwrap();
        storage.put(&large, Bytes::from(vec![0; 60])).await.unwrap();
        let found = [
            ("a", &small),
            ("b", &large),
            ("c", &large),
            ("d", &small),
            ("e", &"lost.png".parse().unwrap()),
        ]
        .map(|(link, file)| (link.to_owned(), file.clone()));
        let mut loaded = LoadedPictures::default();
        loaded
            .load_within(80, &storage, found.to_vec())
            .await
            .unwrap();
        let links: Vec<String> = loaded.file_names_by_link().into_keys().collect();
        assert_eq!(
            links,
            ["a", "b", "d"],
            "the first large one fits, the second does not, and what is small still does"
        );
    }
}
