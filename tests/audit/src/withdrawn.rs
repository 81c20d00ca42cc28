//! Versions that their authors have withdrawn ("yanked"), as far as cargo remembers the registry.

use rustsec::Lockfile;

use crate::AuditError;

/// What is known.
#[derive(Debug, Default)]
pub struct Withdrawn {
    /// Packages whose version was withdrawn.
    pub findings: Vec<String>,
    /// How many packages cargo remembers nothing of here.
    pub unknown: usize,
}

/// Looks each package of a Cargo.lock up in what cargo keeps of the registry on this machine. Asks nobody.
///
/// # Errors
/// [`AuditError::Index`] when cargo keeps nothing.
pub fn withdrawn(lockfile: &Lockfile) -> Result<Withdrawn, AuditError> {
    let index = crates_index::SparseIndex::new_cargo_default()?;
    Ok(judge(lockfile, |name, version| {
        let known = index.crate_from_cache(name).ok()?;
        let of_this_version = known
            .versions()
            .iter()
            .find(|known| known.version() == version)?;
        Some(of_this_version.is_yanked())
    }))
}

/// Judges by what somebody knows: whether this version of this package was withdrawn.
fn judge(lockfile: &Lockfile, is_withdrawn: impl Fn(&str, &str) -> Option<bool>) -> Withdrawn {
    let mut all = Withdrawn::default();
    for package in lockfile
        .packages
        .iter()
        .filter(|package| package.source.is_some())
    {
        let (name, version) = (package.name.as_str(), package.version.to_string());
        match is_withdrawn(name, &version) {
            None => all.unknown += 1,
            Some(true) => all.findings.push(format!("{name} {version} was withdrawn")),
            Some(false) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawn_version_is_found() {
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let package = |name: &str| {
            format!(
                "[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"{registry}\"\n"
            )
        };
        let text = format!(
            "version = 4\n{}{}{}",
            package("fine"),
            package("new"),
            package("gone")
        );
        let all = judge(&text.parse().unwrap(), |name, _| {
            (name != "new").then_some(name == "gone")
        });
        assert_eq!(
            (all.findings, all.unknown),
            (vec!["gone 1.0.0 was withdrawn".to_owned()], 1)
        );
    }
}
