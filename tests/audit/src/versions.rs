//! Versions: one of each package, except where the policy names it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Graph, Policy};

/// Packages with several versions that the policy does not name, and those that it names although they have one.
pub fn versions(graph: &Graph, policy: &Policy) -> Vec<String> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in graph
        .packages
        .iter()
        .filter(|package| package.source.is_some())
    {
        all.entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    all.retain(|_, versions| versions.len() > 1);
    let named: BTreeSet<&str> = policy.bans.skip.iter().map(String::as_str).collect();
    let new = all.iter().filter(|(name, _)| !named.contains(*name));
    let gone = named.iter().filter(|name| !all.contains_key(*name));
    new.map(|(name, versions)| {
        format!(
            "{name} has versions {}",
            versions.iter().copied().collect::<Vec<_>>().join(", ")
        )
    })
    .chain(gone.map(|name| format!("{name} has one version and need not be named")))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Package;

    #[test]
    fn a_new_second_version_is_found_and_a_named_one_that_is_gone() {
        let package = |name: &str, version: &str| Package {
            name: name.to_owned(),
            version: version.to_owned(),
            source: Some("registry".to_owned()),
            ..Package::default()
        };
        let graph = Graph {
            packages: vec![
                package("a", "1.0.0"),
                package("a", "2.0.0"),
                package("b", "1.0.0"),
                package("b", "1.1.0"),
            ],
        };
        let mut policy = Policy::default();
        policy.bans.skip = vec!["b".to_owned(), "c".to_owned()];
        assert_eq!(
            versions(&graph, &policy),
            [
                "a has versions 1.0.0, 2.0.0",
                "c has one version and need not be named"
            ]
        );
    }
}
