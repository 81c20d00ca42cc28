//! What the programs consist of, as a CycloneDX document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The CycloneDX document of what these packages of the workspace are linked from, as `cargo metadata` says: each crate with its
/// version, licence and package URL.
pub fn bill_of_materials(metadata: &Value, programs: &[&str], version: &str) -> Value {
    let members: Vec<&Value> = list(&metadata["workspace_members"]).iter().collect();
    let is_program = |package: &&Value| {
        members.contains(&&package["id"]) && programs.iter().any(|name| package["name"] == *name)
    };
    let mut open: Vec<&str> = list(&metadata["packages"])
        .iter()
        .filter(is_program)
        .filter_map(|package| package["id"].as_str())
        .collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = open.pop() {
        if linked.insert(id) {
            let nodes = list(&metadata["resolve"]["nodes"]);
            let node = nodes.iter().find(|node| node["id"] == id);
            open.extend(node.into_iter().flat_map(linked_from));
        }
    }
    let mut components: Vec<Value> = list(&metadata["packages"])
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| linked.contains(id)))
        .map(component)
        .collect();
    components.sort_by_key(|component| component["purl"].to_string());
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "pillarbox", "version": version}},
        "components": components,
    })
}

/// Packages that a package needs when it runs, not only to be built or tested.
fn linked_from(node: &Value) -> impl Iterator<Item = &str> {
    let is_linked = |dependency: &&Value| {
        list(&dependency["dep_kinds"])
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    let dependencies = list(&node["deps"]).iter().filter(is_linked);
    dependencies.filter_map(|dependency| dependency["pkg"].as_str())
}

fn component(package: &Value) -> Value {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
        "bom-ref": format!("{name}@{version}"),
    });
    // Older crates write "MIT/Apache-2.0" for either of the two.
    let license = text("license").replace('/', " OR ");
    if !license.is_empty() {
        component["licenses"] = json!([{"expression": license}]);
    }
    component
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, license: Value) -> Value {
        json!({"id": format!("{name}-id"), "name": name, "version": "1.0.0", "license": license})
    }

    fn node(name: &str, dependencies: &[(&str, Value)]) -> Value {
        let dependency = |(name, kind): &(&str, Value)| json!({"pkg": format!("{name}-id"), "dep_kinds": [{"kind": kind}]});
        let dependencies: Vec<Value> = dependencies.iter().map(dependency).collect();
        json!({"id": format!("{name}-id"), "deps": dependencies})
    }

    #[test]
    fn what_is_linked_is_listed_and_what_only_builds_or_tests_is_not() {
        let metadata = json!({
            "workspace_members": ["gateway-id", "tests-id"],
            "packages": [
                package("gateway", json!("MIT OR Apache-2.0")), package("tests", json!("MIT")), package("http", json!("MIT/Apache-2.0")),
                package("bytes", json!(null)), package("cc", json!("MIT")), package("wiremock", json!("MIT")),
            ],
            "resolve": {"nodes": [
                node("gateway", &[("http", json!(null)), ("cc", json!("build")), ("wiremock", json!("dev"))]),
                node("tests", &[("wiremock", json!(null))]),
                node("http", &[("bytes", json!(null))]), node("bytes", &[]),
            ]},
        });
        let bill = bill_of_materials(&metadata, &["gateway"], "1.0.0");
        let names: Vec<&Value> = list(&bill["components"])
            .iter()
            .map(|one| &one["name"])
            .collect();
        assert_eq!(names, ["bytes", "gateway", "http"]);
        assert_eq!(bill["components"][0]["licenses"], Value::Null);
        let http = &bill["components"][2];
        assert_eq!(
            http["licenses"],
            json!([{"expression": "MIT OR Apache-2.0"}])
        );
        assert_eq!(http["purl"], "pkg:cargo/http@1.0.0");
    }
}
