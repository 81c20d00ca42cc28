//! Advisories of RustSec, from a copy of their database.

use std::path::Path;

use rustsec::Lockfile;
use rustsec::database::{Database, Query};

use crate::{AuditError, Policy};

/// Packages with a known vulnerability, of the database in this folder.
///
/// # Errors
/// [`AuditError::Advisories`] when the folder holds no such database.
pub fn advisories(
    database: &Path,
    lockfile: &Lockfile,
    policy: &Policy,
) -> Result<Vec<String>, AuditError> {
    let database = Database::open(database)?;
    let found = database.query_vulnerabilities(lockfile, &Query::crate_scope());
    let concerning = found.iter().filter(|found| {
        !policy
            .advisories
            .ignore
            .iter()
            .any(|ignored| ignored == found.advisory.id.as_str())
    });
    Ok(concerning
        .map(|found| {
            let (package, advisory) = (&found.package, &found.advisory);
            format!(
                "{} {}: {}, {}",
                package.name, package.version, advisory.id, advisory.title
            )
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 1.0.0 has a hole, 1.0.1 has not.
    const ADVISORY: &str = "```toml
[advisory]
id = \"RUSTSEC-2026-9999\"
package = \"leaky\"
date = \"2026-01-01\"

[versions]
patched = [\">= 1.0.1\"]
```

# Leaks

What it is given.
";

    fn found(version: &str, policy: &Policy) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("crates/leaky");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("RUSTSEC-2026-9999.md"), ADVISORY).unwrap();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let text = format!(
            "version = 4\n[[package]]\nname = \"leaky\"\nversion = \"{version}\"\nsource = \"{registry}\"\n"
        );
        advisories(folder.path(), &text.parse().unwrap(), policy).unwrap()
    }

    #[test]
    fn a_vulnerable_version_is_found_unless_it_does_not_concern_us() {
        let mut policy = Policy::default();
        assert_eq!(
            found("1.0.0", &policy),
            ["leaky 1.0.0: RUSTSEC-2026-9999, Leaks"]
        );
        assert!(found("1.0.1", &policy).is_empty());
        policy
            .advisories
            .ignore
            .push("RUSTSEC-2026-9999".to_owned());
        assert!(found("1.0.0", &policy).is_empty());
    }
}
