//! The packages of a build, as cargo resolves them.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::{AuditError, Policy};

/// A package of the build.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Package {
    /// What cargo calls it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SPDX expression of its manifest.
    pub license: Option<String>,
    /// Where it comes from; nothing for our own.
    pub source: Option<String>,
}

/// What is built.
#[derive(Debug, Default)]
pub struct Graph {
    /// All that is built for the targets of the policy, tests included.
    pub packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
}

impl Graph {
    /// Asks cargo about the workspace in this folder. Cargo.lock stays as it is.
    ///
    /// # Errors
    /// [`AuditError::Cargo`] when it has no answer, as with a Cargo.lock that is not up to date.
    pub fn of_workspace(folder: &Path, policy: &Policy) -> Result<Self, AuditError> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(folder).args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
        ]);
        for target in &policy.graph.targets {
            command.args(["--filter-platform", target]);
        }
        let output = command.output()?;
        if !output.status.success() {
            return Err(AuditError::Cargo(
                String::from_utf8_lossy(&output.stderr).into_owned(),
            ));
        }
        Self::read(&output.stdout)
    }

    /// Reads what `cargo metadata` wrote.
    ///
    /// # Errors
    /// [`AuditError::Metadata`].
    pub fn read(json: &[u8]) -> Result<Self, AuditError> {
        let Metadata {
            mut packages,
            resolve,
        } = serde_json::from_slice(json)?;
        let built: HashSet<String> = resolve.nodes.into_iter().map(|node| node.id).collect();
        packages.retain(|package| built.contains(&package.id));
        Ok(Self { packages })
    }
}
