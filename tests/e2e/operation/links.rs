//! What the pages for people name is there.

use std::path::{Path, PathBuf};

use regex::Regex;

/// Folders that hold pages, from the top of the repository, and the pages at the top.
const SHELVES: [&str; 2] = ["docs", "changes"];

/// Folders of which a path in a page is the path of a file.
const NAMED: &str = "services|shared|tests|deploy|docs";

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages_below(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            all.push(path);
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = top()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    for shelf in SHELVES {
        pages_below(&top().join(shelf), &mut all);
    }
    all
}

#[test]
fn the_pages_name_files_that_are_there() {
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").unwrap();
    let path = Regex::new(&format!(r"`((?:{NAMED})/[\w./-]+)`")).unwrap();
    let mut missing = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let links = link
            .captures_iter(&text)
            .map(|found| (page.parent().unwrap().to_owned(), found));
        let paths = path.captures_iter(&text).map(|found| (top(), found));
        for (base, found) in links.chain(paths) {
            let named = &found[1];
            if !named.contains("://") && !base.join(named).exists() {
                missing.push(format!("{}: {named}", page.file_name().unwrap().display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_map_is_short_enough_to_be_read() {
    const BYTES: u64 = 15 * 1024;
    let bytes = top().join("ARCHITECTURE.md").metadata().unwrap().len();
    assert!(
        bytes <= BYTES,
        "{bytes} bytes: what is not the map goes to docs/internals"
    );
}
