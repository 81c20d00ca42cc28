//! `deny.toml`, as far as it is read here. The rest of its keys are cargo-deny's.

use serde::Deserialize;

use crate::AuditError;

/// What is allowed.
#[derive(Debug, Default, Deserialize)]
pub struct Policy {
    pub(crate) graph: Targets,
    pub(crate) licenses: Licenses,
    pub(crate) bans: Bans,
    pub(crate) advisories: Ignored,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Targets {
    /// For what is built.
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Licenses {
    /// SPDX names.
    pub(crate) allow: Vec<String>,
    pub(crate) exceptions: Vec<LicenseException>,
}

/// A package that may have other licences too.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct LicenseException {
    #[serde(rename = "crate")]
    pub(crate) package: String,
    pub(crate) allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Bans {
    /// Packages of which there may be several versions.
    pub(crate) skip: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Ignored {
    /// Ids of advisories that do not concern us.
    pub(crate) ignore: Vec<String>,
}

impl Policy {
    /// Reads the text of `deny.toml`.
    ///
    /// # Errors
    /// [`AuditError::Policy`].
    pub fn read(text: &str) -> Result<Self, AuditError> {
        Ok(toml::from_str(text)?)
    }
}
