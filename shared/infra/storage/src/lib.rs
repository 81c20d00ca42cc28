//! Files by name, in the store that the configuration names: a folder, or an S3-compatible bucket.
//!
//! A file is there whole or not at all: one that is being written shows under its name when its last byte has been
//! taken, and replaces an earlier one of the same name in one step. Every read has a bound.

mod error;
mod listing;
mod name;
mod settings;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};

pub use error::{StorageError, StorageSettingsError};
pub use listing::StoredFile;
pub use name::{FileName, InvalidFileName};
pub use settings::{BucketSettings, StorageKind, StorageSettings};
pub use writer::StorageWriter;

/// Time to connect to a bucket's host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for one request to a bucket.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Tries of a request to a bucket after the first, and the time that they may take together.
const RETRIES: usize = 4;
const RETRY_TIME: Duration = Duration::from_secs(90);

/// The configured store. Clones share it.
#[derive(Debug, Clone)]
pub struct Storage {
    files: Arc<dyn ObjectStore>,
    /// Where the files are, when they are in a folder.
    folder: Option<Arc<std::path::Path>>,
}

impl Storage {
    /// Opens the store; makes the folder if it is not there. A bucket is first asked when a file is. For a bucket
    /// the process must have chosen its implementation of TLS cryptography.
    ///
    /// # Errors
    /// [`StorageSettingsError`] when the folder cannot be made or the bucket's settings cannot be used.
    pub fn new(settings: &StorageSettings) -> Result<Self, StorageSettingsError> {
        let files: Arc<dyn ObjectStore> = match settings.kind {
            StorageKind::Folder => Arc::new(open_folder(&settings.folder)?),
            StorageKind::S3 => Arc::new(open_bucket(&settings.s3)?),
        };
        let folder =
            (settings.kind == StorageKind::Folder).then(|| settings.folder.as_path().into());
        Ok(Self { files, folder })
    }

    /// Keeps a file, in place of one of that name.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`].
    pub async fn put(&self, name: &FileName, content: Bytes) -> Result<(), StorageError> {
        let put = self.files.put(&object_path(name), content.into()).await;
        put.map(drop)
            .map_err(|error| StorageError::from_object_store(name, error))
    }

    /// Begins a file that is written piece by piece, in place of one of that name.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`].
    pub async fn start_write(&self, name: &FileName) -> Result<StorageWriter, StorageError> {
        let upload = self.files.put_multipart(&object_path(name)).await;
        upload
            .map(|upload| StorageWriter::new(name.clone(), upload))
            .map_err(|error| StorageError::from_object_store(name, error))
    }

    /// Reads a file of `most_bytes` at the most.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::TooLarge`] or [`StorageError::Unavailable`].
    pub async fn get(&self, name: &FileName, most_bytes: usize) -> Result<Bytes, StorageError> {
        let unreadable = |error| StorageError::from_object_store(name, error);
        let found = self
            .files
            .get(&object_path(name))
            .await
            .map_err(unreadable)?;
        let too_large = || StorageError::TooLarge {
            name: name.clone(),
            most_bytes,
        };
        let size = usize::try_from(found.meta.size)
            .ok()
            .filter(|size| *size <= most_bytes);
        let mut content = BytesMut::with_capacity(size.ok_or_else(too_large)?);
        let mut parts = found.into_stream();
        while let Some(part) = parts.try_next().await.map_err(unreadable)? {
            if content.len() + part.len() > most_bytes {
                return Err(too_large());
            }
            content.extend_from_slice(&part);
        }
        Ok(content.freeze())
    }

    /// Whether there is a file of that name.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`].
    pub async fn has(&self, name: &FileName) -> Result<bool, StorageError> {
        match self.files.head(&object_path(name)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(StorageError::from_object_store(name, error)),
        }
    }

    /// Forgets files whose names begin with this one and a `/`, at most `limit`. Returns how many.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`]; some may be forgotten then.
    pub async fn delete_under(
        &self,
        folder: &FileName,
        limit: usize,
    ) -> Result<usize, StorageError> {
        let unreadable = |error| StorageError::from_object_store(folder, error);
        let found = self
            .files
            .list(Some(&object_path(folder)))
            .take(limit)
            .map_ok(|file| file.location);
        let found: Vec<Path> = found.try_collect().await.map_err(unreadable)?;
        for file in &found {
            match self.files.delete(file).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        Ok(found.len())
    }

    /// Removes what is left of a file that a process which was killed was writing piece by piece; what is under way now
    /// goes as well, so that only who alone writes the file may ask. In a bucket nothing is left that shows.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`].
    pub async fn delete_unfinished(&self, name: &FileName) -> Result<(), StorageError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let whole = folder.join(name.as_str());
        let removed = tokio::task::spawn_blocking(move || remove_unfinished(&whole)).await;
        let removed = removed.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        removed.map_err(|error| {
            StorageError::from_object_store(
                name,
                object_store::Error::Generic {
                    store: "folder",
                    source: Box::new(error),
                },
            )
        })
    }

    /// Forgets a file. One that is not there is forgotten already.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`].
    pub async fn delete(&self, name: &FileName) -> Result<(), StorageError> {
        match self.files.delete(&object_path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(StorageError::from_object_store(name, error)),
        }
    }
}

/// A file that is written to a folder has its name, `#` and a number until it is finished.
fn remove_unfinished(whole: &std::path::Path) -> std::io::Result<()> {
    let (Some(folder), Some(name)) = (
        whole.parent(),
        whole.file_name().and_then(|name| name.to_str()),
    ) else {
        return Ok(());
    };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let found = entry.file_name();
        let number = found
            .to_str()
            .and_then(|found| found.strip_prefix(name)?.strip_prefix('#'));
        if number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn object_path(name: &FileName) -> Path {
    Path::from(name.as_str())
}

fn open_folder(folder: &std::path::Path) -> Result<LocalFileSystem, StorageSettingsError> {
    let unusable = |why: String| {
        StorageSettingsError(format!(
            "the folder {} cannot be used: {why}",
            folder.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
    let files =
        LocalFileSystem::new_with_prefix(folder).map_err(|error| unusable(error.to_string()))?;
    // What the database says was kept must be there after the power went.
    Ok(files.with_fsync(true))
}

fn open_bucket(bucket: &BucketSettings) -> Result<AmazonS3, StorageSettingsError> {
    let is_plain = bucket.endpoint.starts_with("http://");
    let client = ClientOptions::new()
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_timeout(REQUEST_TIMEOUT)
        .with_allow_http(is_plain);
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRIES,
        retry_timeout: RETRY_TIME,
    };
    let mut builder = match bucket.access_key_id.as_str() {
        "" => AmazonS3Builder::from_env(),
        key => AmazonS3Builder::new()
            .with_access_key_id(key)
            .with_secret_access_key(&bucket.secret_access_key),
    };
    if !bucket.endpoint.is_empty() {
        builder = builder
            .with_endpoint(&bucket.endpoint)
            .with_virtual_hosted_style_request(false);
    }
    builder
        .with_bucket_name(&bucket.bucket)
        .with_region(&bucket.region)
        // Not every store that speaks the protocol can delete many at a time.
        .with_disable_bulk_delete(true)
        .with_client_options(client)
        .with_retry(retry)
        .build()
        .map_err(|error| {
            StorageSettingsError(format!(
                "the bucket {:?} cannot be used: {error}",
                bucket.bucket
            ))
        })
}

#[cfg(test)]
mod tests;
