//! What the programs consist of, as a CycloneDX document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The CycloneDX document of the packages that `tree` names, each with its version, licence and package URL. `tree` is what
/// `cargo tree --prefix none --format {p}` prints, `metadata` what `cargo metadata` does: that knows licences, but takes the
/// features of the whole workspace together, tests included.
pub fn bill_of_materials(metadata: &Value, tree: &str, version: &str) -> Value {
    let linked: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let is_linked = |package: &&Value| {
        let identity = package["name"].as_str().zip(package["version"].as_str());
        identity.is_some_and(|identity| linked.contains(&identity))
    };
    let packages = list(&metadata["packages"]).iter();
    let mut components: Vec<Value> = packages.filter(is_linked).map(component).collect();
    components.sort_by_key(|component| component["purl"].to_string());
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "pillarbox", "version": version}},
        "components": components,
    })
}

/// Of a line such as `bytes v1.12.1 (*)`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.strip_prefix('v')?))
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
        json!({"name": name, "version": "1.0.0", "license": license})
    }

    #[test]
    fn what_is_linked_is_listed_and_what_only_builds_or_tests_is_not() {
        let metadata = json!({"packages": [
            package("gateway", json!("MIT OR Apache-2.0")),
            package("http", json!("MIT/Apache-2.0")),
            package("bytes", json!(null)),
            package("wiremock", json!("MIT")),
        ]});
        let tree = "gateway v1.0.0 (/clone/services/gateway)\nhttp v1.0.0\nbytes v1.0.0 (*)\n\nwiremock v2.0.0";
        let bill = bill_of_materials(&metadata, tree, "1.0.0");
        let components = list(&bill["components"]);
        let names: Vec<&Value> = components.iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["bytes", "gateway", "http"]);
        assert_eq!(components[0]["licenses"], Value::Null);
        let licenses = json!([{"expression": "MIT OR Apache-2.0"}]);
        assert_eq!(components[2]["licenses"], licenses);
        assert_eq!(components[2]["purl"], "pkg:cargo/http@1.0.0");
    }
}
