//! Sources: the registry, and this clone.

use rustsec::Lockfile;

/// Packages of a Cargo.lock that come from elsewhere, and those of the registry without a checksum.
pub fn sources(lockfile: &Lockfile) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &lockfile.packages {
        let Some(source) = &package.source else {
            continue;
        };
        if !source.is_default_registry() {
            findings.push(format!(
                "{} {} comes from {source}",
                package.name, package.version
            ));
        } else if package.checksum.is_none() {
            findings.push(format!(
                "{} {} has no checksum",
                package.name, package.version
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_no_source_and_a_package_has_a_checksum() {
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let checksum = "a".repeat(64);
        let text = format!(
            "version = 4\n\
             [[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n\
             [[package]]\nname = \"fine\"\nversion = \"1.0.0\"\nsource = \"{registry}\"\nchecksum = \"{checksum}\"\n\
             [[package]]\nname = \"bare\"\nversion = \"1.0.0\"\nsource = \"{registry}\"\n\
             [[package]]\nname = \"forked\"\nversion = \"1.0.0\"\nsource = \"git+https://example.com/forked#{}\"\n",
            "b".repeat(40)
        );
        let found = sources(&text.parse().unwrap());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("bare") || found[1].starts_with("bare"),
            "{found:?}"
        );
        assert!(
            found
                .iter()
                .any(|finding| finding.starts_with("forked 1.0.0 comes from")),
            "{found:?}"
        );
    }
}
