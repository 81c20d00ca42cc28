//! Where files are kept.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// Where files are kept.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageSettings {
    /// In what.
    pub kind: StorageKind,
    /// The folder, for [`StorageKind::Folder`].
    pub folder: PathBuf,
    /// The bucket, for [`StorageKind::S3`].
    pub s3: BucketSettings,
}

/// In what files are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// A folder that all processes share.
    Folder,
    /// A bucket with the API of Amazon S3.
    S3,
}

/// A bucket with the API of Amazon S3.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketSettings {
    /// Where the API is; empty for Amazon's.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// The key's id; empty for what the environment gives, as Amazon's own tools find it.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: String,
}

impl fmt::Debug for BucketSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Bucket")
            .field("endpoint", &self.endpoint)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}
