//! What can go wrong with a file.

use crate::name::FileName;

/// Why a file could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// There is none of that name.
    #[error("there is no file {0}")]
    NotFound(FileName),
    /// It is larger than its reader takes.
    #[error("the file {name} has more than {most_bytes} bytes")]
    TooLarge {
        /// Which file.
        name: FileName,
        /// What its reader takes.
        most_bytes: usize,
    },
    /// The store did not do it: the disk is full, the bucket refuses or does not answer.
    #[error("the file {name} cannot be kept or read: {source}")]
    Unavailable {
        /// Which file.
        name: FileName,
        /// What the store said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The store's settings cannot be used; a sentence says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StorageSettingsError(pub(crate) String);

impl StorageError {
    /// What the store's error means for this file.
    pub(crate) fn from_object_store(name: &FileName, error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound(name.clone()),
            error => Self::Unavailable {
                name: name.clone(),
                source: Box::new(error),
            },
        }
    }
}
