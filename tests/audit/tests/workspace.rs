//! The dependencies of this workspace are what `deny.toml` says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use audit::{Graph, Lockfile, Policy, advisories, licences, sources, versions, withdrawn};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn policy() -> Policy {
    Policy::read(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap()
}

fn lockfile() -> Lockfile {
    Lockfile::load(root().join("Cargo.lock")).unwrap()
}

#[track_caller]
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn every_licence_is_allowed() {
    let policy = policy();
    let graph = Graph::of_workspace(&root(), &policy).unwrap();
    assert!(graph.packages.len() > 100, "the packages of the build");
    assert_none(&licences(&graph, &policy));
}

#[test]
fn there_is_one_version_of_each_package_but_for_those_that_are_named() {
    let policy = policy();
    assert_none(&versions(
        &Graph::of_workspace(&root(), &policy).unwrap(),
        &policy,
    ));
}

#[test]
fn everything_comes_from_the_registry_or_this_clone() {
    assert_none(&sources(&lockfile()));
}

#[test]
fn no_version_was_withdrawn_as_far_as_this_machine_knows() {
    match withdrawn(&lockfile()) {
        Ok(all) => {
            println!("{} packages are not known here", all.unknown);
            assert_none(&all.findings);
        }
        // As with a registry's mirror, or a folder of packages.
        Err(error) => println!("not looked at: {error}"),
    }
}

#[test]
fn no_package_has_a_known_vulnerability_when_there_is_a_database_of_them() {
    match std::env::var_os("ADVISORY_DB") {
        Some(database) => {
            assert_none(&advisories(Path::new(&database), &lockfile(), &policy()).unwrap())
        }
        None => println!("not looked at: ADVISORY_DB names no copy of RustSec's database"),
    }
}
