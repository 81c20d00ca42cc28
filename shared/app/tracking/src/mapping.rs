//! Mapping files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use postal::{MappingError, ScanMapping, ScanRules};

/// Bytes of a mapping file at the most.
const FILE_BYTES: u64 = 1024 * 1024;

/// Why settings, or a mapping file, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrackingSettingsError {
    /// It cannot be read, or is too long.
    #[error("the mapping {} cannot be read", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// It is no mapping.
    #[error("the mapping {}", .0.display())]
    Format(PathBuf, #[source] yaml_serde::Error),
    /// It says what cannot be meant.
    #[error("the mapping {}", .0.display())]
    Meaning(PathBuf, #[source] MappingError),
    /// The watched place is no folder's name.
    #[error("scans.inbox")]
    Inbox(#[source] storage::InvalidFileName),
    /// The store of files cannot be used.
    #[error(transparent)]
    Storage(storage::StorageSettingsError),
}

/// Reads a mapping, YAML or JSON, which has what differs from the defaults. Without a file, it is the defaults.
///
/// # Errors
/// [`TrackingSettingsError`].
pub fn read_mapping(path: Option<&Path>) -> Result<ScanRules, TrackingSettingsError> {
    let mapping = match path {
        Some(path) => {
            let mut text = String::new();
            File::open(path)
                .and_then(|file| file.take(FILE_BYTES).read_to_string(&mut text))
                .map_err(|error| TrackingSettingsError::Read(path.to_owned(), error))?;
            yaml_serde::from_str(&text)
                .map_err(|error| TrackingSettingsError::Format(path.to_owned(), error))?
        }
        None => ScanMapping::default(),
    };
    let named = path.unwrap_or(Path::new("")).to_owned();
    mapping
        .to_rules()
        .map_err(|error| TrackingSettingsError::Meaning(named, error))
}
