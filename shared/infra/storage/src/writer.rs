//! A file that is written piece by piece.

use bytes::Bytes;
use object_store::{MultipartUpload, WriteMultipart};

use crate::error::StorageError;
use crate::name::FileName;

/// Bytes that go to the store together. A bucket takes 10,000 of these for one file.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// Parts on their way to the store at a time; with the one that fills up they are the writer's memory.
const PARTS_UNDER_WAY: usize = 3;

/// A file under way. It shows under its name when [`StorageWriter::finish`] returns; given up with [`StorageWriter::abandon`] it
/// leaves nothing. Dropped, it leaves nothing in a folder; a bucket keeps the parts, which nobody sees, until its
/// rule for incomplete uploads removes them.
pub struct StorageWriter {
    name: FileName,
    upload: WriteMultipart,
}

impl StorageWriter {
    pub(crate) fn new(name: FileName, upload: Box<dyn MultipartUpload>) -> Self {
        Self {
            name,
            upload: WriteMultipart::new_with_chunk_size(upload, PART_BYTES),
        }
    }

    /// Adds to the file; waits while the store is behind.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`]; the file cannot be finished then.
    pub async fn write(&mut self, content: Bytes) -> Result<(), StorageError> {
        self.wait_for_capacity().await?;
        let mut rest = content;
        while rest.len() > PART_BYTES {
            self.upload.put(rest.split_to(PART_BYTES));
            self.wait_for_capacity().await?;
        }
        self.upload.put(rest);
        Ok(())
    }

    /// Ends the file and shows it.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`]; nothing shows then.
    pub async fn finish(self) -> Result<(), StorageError> {
        self.upload
            .finish()
            .await
            .map(drop)
            .map_err(|error| StorageError::from_object_store(&self.name, error))
    }

    /// Gives the file up.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`] when its parts stay in the store, where nobody sees them.
    pub async fn abandon(self) -> Result<(), StorageError> {
        self.upload
            .abort()
            .await
            .map_err(|error| StorageError::from_object_store(&self.name, error))
    }

    async fn wait_for_capacity(&mut self) -> Result<(), StorageError> {
        let waited = self.upload.wait_for_capacity(PARTS_UNDER_WAY).await;
        waited.map_err(|error| StorageError::from_object_store(&self.name, error))
    }
}
