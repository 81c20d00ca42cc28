//! Licences: each package must offer one that is allowed.

use spdx::{Expression, Licensee, ParseMode};

use crate::policy::LicenseException;
use crate::{Graph, Package, Policy};

/// What is wrong with licences, exceptions that nobody needs included; nothing when all is well.
pub fn licences(graph: &Graph, policy: &Policy) -> Vec<String> {
    let mut findings: Vec<String> = graph
        .packages
        .iter()
        .filter_map(|package| finding(package, policy))
        .collect();
    let needed = |exception: &LicenseException| {
        graph.packages.iter().any(|package| {
            package.name == exception.package
                && !is_allowed(package, &policy.licenses.allow).unwrap_or(true)
        })
    };
    let unneeded = policy
        .licenses
        .exceptions
        .iter()
        .filter(|exception| !needed(exception));
    findings.extend(
        unneeded.map(|exception| format!("{} needs no exception any more", exception.package)),
    );
    findings
}

fn finding(package: &Package, policy: &Policy) -> Option<String> {
    let excepted = policy
        .licenses
        .exceptions
        .iter()
        .filter(|exception| exception.package == package.name);
    let allowed: Vec<String> = policy
        .licenses
        .allow
        .iter()
        .chain(excepted.flat_map(|exception| &exception.allow))
        .cloned()
        .collect();
    let Package {
        name,
        version,
        license,
        ..
    } = package;
    match is_allowed(package, &allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} {version}: {} is not allowed",
            license.as_deref().unwrap_or("no licence")
        )),
        Err(why) => Some(format!("{name} {version}: {why}")),
    }
}

/// Whether the names allow what the package asks for. The error says which expression cannot be read.
fn is_allowed(package: &Package, allowed: &[String]) -> Result<bool, String> {
    let Some(license) = &package.license else {
        return Ok(false);
    };
    // With a stroke for OR, as manifests of long ago have it.
    let expression = Expression::parse_mode(license, ParseMode::LAX)
        .map_err(|error| format!("{license}: {}", error.reason))?;
    let allowed: Vec<Licensee> = allowed
        .iter()
        .filter_map(|name| Licensee::parse(name).ok())
        .collect();
    Ok(expression.evaluate(|asked| allowed.iter().any(|licensee| licensee.satisfies(asked))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(license: Option<&str>) -> Vec<String> {
        let text = r#"
            graph.targets = []
            bans.skip = []
            advisories.ignore = []
            [licenses]
            allow = ["MIT", "Apache-2.0"]
            exceptions = [{ crate = "driver", allow = ["MPL-2.0"] }]"#;
        let package = |name: &str, license: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            ..Package::default()
        };
        let graph = Graph {
            packages: vec![
                package("driver", Some("MPL-2.0")),
                package("other", license),
            ],
        };
        licences(&graph, &Policy::read(text).unwrap())
    }

    #[test]
    fn one_of_the_licences_that_are_offered_must_be_allowed_and_all_of_those_that_are_asked_for() {
        for fine in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "MIT AND Apache-2.0",
        ] {
            assert!(findings(Some(fine)).is_empty(), "{fine}");
        }
        for wrong in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MPL-2.0",
            "Apache-2.0 WITH LLVM-exception",
            "whatever",
        ] {
            assert_eq!(findings(Some(wrong)).len(), 1, "{wrong}");
        }
        assert_eq!(findings(None), ["other 1.0.0: no licence is not allowed"]);
    }

    #[test]
    fn an_exception_that_nobody_needs_is_found() {
        let text = r#"
            graph.targets = []
            bans.skip = []
            advisories.ignore = []
            [licenses]
            allow = ["MIT"]
            exceptions = [{ crate = "driver", allow = ["MPL-2.0"] }]"#;
        let found = licences(&Graph::default(), &Policy::read(text).unwrap());
        assert_eq!(found, ["driver needs no exception any more"]);
    }
}
