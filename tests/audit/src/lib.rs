//! What the dependencies may be, by `deny.toml`. Needs no network: licences and versions are what cargo knows of the build, sources
//! what Cargo.lock says, withdrawn versions what cargo remembers of the registry. Only advisories need a copy of their database.

mod advisories;
mod graph;
mod licences;
mod policy;
mod sources;
mod versions;
mod withdrawn;

use std::io;

pub use advisories::advisories;
pub use graph::{Graph, Package};
pub use licences::licences;
pub use policy::Policy;
pub use rustsec::Lockfile;
pub use sources::sources;
pub use versions::versions;
pub use withdrawn::{Withdrawn, withdrawn};

/// Why nothing could be said.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Cargo could not be asked.
    #[error("cargo metadata: {0}")]
    Cargo(String),
    /// What cargo said is not what it says of itself.
    #[error("cargo metadata: {0}")]
    Metadata(#[from] serde_json::Error),
    /// `deny.toml` does not say what it should.
    #[error("deny.toml: {0}")]
    Policy(#[from] toml::de::Error),
    /// A file could not be read.
    #[error("{0}")]
    File(#[from] io::Error),
    /// The advisories, or Cargo.lock, could not be read.
    #[error("{0}")]
    Advisories(#[from] rustsec::Error),
    /// The registry's index could not be found.
    #[error("the registry's index: {0}")]
    Index(#[from] crates_index::Error),
}
