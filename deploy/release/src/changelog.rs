//! Change files become a section of the changelog.

use anyhow::{Context, Result, ensure};

/// Kinds of changes, as the names of change files begin and as the changelog calls them, in its order.
const KINDS: [(&str, &str); 5] = [
    ("added", "Added"),
    ("changed", "Changed"),
    ("fixed", "Fixed"),
    ("removed", "Removed"),
    ("security", "Security"),
];

/// What stands in the changelog before the first release.
const NO_RELEASE: &str = "No release has been tagged yet.\n";

/// The changelog with a section for this release before those of earlier ones. `changes` are names and texts of change
/// files, `date` is `YYYY-MM-DD`.
///
/// # Errors
/// When there are no changes, or the name of one has no known kind.
pub fn with_release(
    changelog: &str,
    version: &str,
    date: &str,
    changes: &[(String, String)],
) -> Result<String> {
    ensure!(
        !changes.is_empty(),
        "changes/ is empty: nobody would notice this release"
    );
    for (name, _) in changes {
        let kind = name.split('-').next().unwrap_or_default();
        ensure!(
            KINDS.iter().any(|(known, _)| *known == kind),
            "changes/{name} has no kind"
        );
    }
    let mut section = format!("## {version} ({date})\n");
    for (kind, title) in KINDS {
        let of_kind: Vec<String> = changes
            .iter()
            .filter(|(name, _)| name.starts_with(&format!("{kind}-")))
            .map(|(_, text)| list_item(text))
            .collect();
        if !of_kind.is_empty() {
            section.push_str(&format!("\n### {title}\n\n{}", of_kind.concat()));
        }
    }
    let earlier = changelog.replace(NO_RELEASE, "");
    let at = earlier.find("\n## ").map_or(earlier.len(), |at| at + 1);
    let (intro, releases) = earlier.split_at(at);
    let text = format!("{}\n\n{section}\n{releases}", intro.trim_end());
    Ok(text.trim_end().to_owned() + "\n")
}

/// A text of several lines as an item of a list.
fn list_item(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    format!("- {}\n", lines.join("\n  ").replace("\n  \n", "\n\n"))
}

/// The manifest of the workspace with this version.
///
/// # Errors
/// When the version is not three numbers, or lower than the one that is there.
pub fn with_version(manifest: &str, version: &str) -> Result<String> {
    let start = "[workspace.package]\nversion = \"";
    let (before, rest) = manifest
        .split_once(start)
        .context("Cargo.toml names no version of the workspace")?;
    let (current, after) = rest.split_once('"').context("a version without an end")?;
    ensure!(
        numbers(version)? >= numbers(current)?,
        "{version} is lower than {current}"
    );
    Ok(format!("{before}{start}{version}\"{after}"))
}

fn numbers(version: &str) -> Result<[u64; 3]> {
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .with_context(|| format!("{version} is no version like 1.2.3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTRO: &str = "# Changelog\n\nNewest first.\n";

    fn change(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn changes_stand_under_their_kinds_before_earlier_releases() {
        let changes = [
            change("fixed-b.md", "B works.\n"),
            change("added-a.md", "A is\nnew.\n\nUpgrade: nothing.\n"),
        ];
        let first = format!("{INTRO}\n{NO_RELEASE}");
        let first = with_release(&first, "0.1.0", "2026-11-23", &changes).unwrap();
        let section = "## 0.1.0 (2026-11-23)\n\n### Added\n\n- A is\n  new.\n\n  Upgrade: nothing.\n\n### Fixed\n\n- B works.\n";
        assert_eq!(first, format!("{INTRO}\n{section}"));
        let second = with_release(&first, "0.2.0", "2026-12-01", &changes[..1]).unwrap();
        let newer = "## 0.2.0 (2026-12-01)\n\n### Fixed\n\n- B works.\n";
        assert_eq!(second, format!("{INTRO}\n{newer}\n{section}"));
    }

    #[test]
    fn a_release_has_changes_and_each_has_a_kind() {
        assert!(with_release(INTRO, "0.1.0", "2026-11-23", &[]).is_err());
        let unknown = [change("better-a.md", "A.")];
        assert!(with_release(INTRO, "0.1.0", "2026-11-23", &unknown).is_err());
    }

    #[test]
    fn the_version_is_that_of_the_workspace_and_never_falls() {
        let manifest = "[workspace.package]\nversion = \"0.9.0\"\nedition = \"2024\"\n";
        let set = with_version(manifest, "0.10.0").unwrap();
        assert_eq!(set, manifest.replace("0.9.0", "0.10.0"));
        for wrong in ["0.8.9", "1.0", "v1.0.0", "1.0.0-rc"] {
            assert!(with_version(manifest, wrong).is_err(), "{wrong}");
        }
    }
}
