//! Files that somebody else put into the store: which there are, and reading one of any length.

use chrono::{DateTime, Utc};
use futures_util::{Stream, StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::io::AsyncWriteExt;

use crate::error::StorageError;
use crate::name::FileName;
use crate::{Storage, object_path};

/// A file as the store lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Its name.
    pub name: FileName,
    /// Its length.
    pub bytes: u64,
    /// When it was written last.
    pub changed_at: DateTime<Utc>,
}

impl Storage {
    /// Files whose names begin with this one and a `/`, in the order in which the store gives them. Those whose names are no
    /// [`FileName`] are left out, as are those that are being written.
    pub fn list_under(
        &self,
        folder: &FileName,
    ) -> impl Stream<Item = Result<StoredFile, StorageError>> + use<> {
        let folder = folder.clone();
        self.files
            .list(Some(&object_path(&folder)))
            .filter_map(move |found| {
                let listed = match found {
                    Ok(meta) => listed_file(&meta).map(Ok),
                    Err(error) => Some(Err(StorageError::from_object_store(&folder, error))),
                };
                std::future::ready(listed)
            })
    }

    /// Copies a file of `most_bytes` at the most to the end of `target`. Returns its length.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::TooLarge`] or [`StorageError::Unavailable`].
    pub async fn copy_file(
        &self,
        name: &FileName,
        target: &mut tokio::fs::File,
        most_bytes: usize,
    ) -> Result<usize, StorageError> {
        let unreadable = |error| StorageError::from_object_store(name, error);
        let found = self.files.get(&object_path(name)).await;
        let mut parts = found.map_err(unreadable)?.into_stream();
        let mut copied: usize = 0;
        while let Some(part) = parts.try_next().await.map_err(unreadable)? {
            copied = copied.saturating_add(part.len());
            if copied > most_bytes {
                return Err(StorageError::TooLarge {
                    name: name.clone(),
                    most_bytes,
                });
            }
            target
                .write_all(&part)
                .await
                .map_err(|error| unwritable(name, error))?;
        }
        target
            .flush()
            .await
            .map_err(|error| unwritable(name, error))?;
        Ok(copied)
    }
}

fn unwritable(name: &FileName, error: std::io::Error) -> StorageError {
    StorageError::Unavailable {
        name: name.clone(),
        source: Box::new(error),
    }
}

fn listed_file(meta: &ObjectMeta) -> Option<StoredFile> {
    Some(StoredFile {
        name: meta.location.as_ref().parse().ok()?,
        bytes: meta.size,
        changed_at: meta.last_modified,
    })
}
