//! The layout of the code says which way it points, and the code does what the layout says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Where crates live, from the outside in: a crate knows those of its own room and of the rooms behind it.
const ROOMS: [(&str, &[&str]); 5] = [
    (
        "services",
        &["shared/app", "shared/infra", "shared/wire", "shared/domain"],
    ),
    (
        "shared/app",
        &["shared/app", "shared/infra", "shared/wire", "shared/domain"],
    ),
    (
        "shared/infra",
        &["shared/infra", "shared/wire", "shared/domain"],
    ),
    ("shared/wire", &["shared/wire", "shared/domain"]),
    ("shared/domain", &["shared/domain"]),
];

/// Where SQL stands.
const STORE: &str = "shared/infra/store";

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The crates of each room, with the folder of each.
fn crates() -> BTreeMap<String, &'static str> {
    let mut rooms = BTreeMap::new();
    for (room, _) in ROOMS {
        for entry in fs::read_dir(top().join(room)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().join("Cargo.toml").exists() {
                rooms.insert(entry.file_name().into_string().unwrap(), room);
            }
        }
    }
    rooms
}

/// What a crate is built from, without what only its tests need.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let name = Regex::new(r"^([\w-]+)(?:\.workspace)? *=").unwrap();
    let mut section = "";
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && let Some(found) = name.captures(line)
        {
            names.insert(found[1].to_owned());
        }
    }
    names
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn crates_know_only_what_lies_behind_them() {
    let rooms = crates();
    assert!(rooms.len() > 20, "the rooms are where they are looked for");
    let mut wrong = Vec::new();
    for (name, room) in &rooms {
        let (_, behind) = ROOMS.iter().find(|(other, _)| other == room).unwrap();
        for dependency in dependencies(&top().join(room).join(name)) {
            if rooms
                .get(&dependency)
                .is_some_and(|other| !behind.contains(other))
            {
                wrong.push(format!(
                    "{name} ({room}) knows {dependency} ({})",
                    rooms[&dependency]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sql_stands_in_the_store_alone() {
    let statement = Regex::new(
        r#""\s*(?:SELECT\s[^"]*\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s)"#,
    )
    .unwrap();
    let mut outside = Vec::new();
    for (name, room) in crates() {
        let folder = Path::new(room).join(&name);
        if folder == Path::new(STORE) {
            continue;
        }
        let mut files = Vec::new();
        sources(&top().join(&folder).join("src"), &mut files);
        for file in files {
            if statement.is_match(&fs::read_to_string(&file).unwrap()) {
                outside.push(file);
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
    let send = fs::read_to_string(top().join(STORE).join("src/send.rs")).unwrap();
    assert!(statement.is_match(&send), "a statement would be seen");
}
