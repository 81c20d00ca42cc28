//! What the pages for people name is there, and none is too long to be read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Folders that hold pages, from the top of the repository, and the pages at the top.
const SHELVES: [&str; 4] = ["docs", "changes", "deploy", "clients"];

/// Folders of which a path in a page is the path of a file.
const NAMED: &str = "services|shared|tests|deploy|docs|clients";

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

/// What a link says behind `#` to lead to a heading: in lower case, blanks as hyphens, without other signs.
fn anchor_of(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The anchors of a page's headings.
fn anchors(page: &str) -> BTreeSet<String> {
    // Every other part is an example, in which a line that begins so is a comment.
    let texts = page.split("```").step_by(2);
    texts
        .flat_map(str::lines)
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor_of(line.trim_start_matches('#')))
        .collect()
}

#[test]
fn the_pages_link_to_headings_that_are_there() {
    let link = Regex::new(r"\]\(([^)#\s]*)#([^)\s]+)\)").unwrap();
    let mut missing = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for found in link.captures_iter(&text) {
            let (path, anchor) = (&found[1], &found[2]);
            let target = match path {
                "" => page.clone(),
                path if path.ends_with(".md") && !path.contains("://") => {
                    page.parent().unwrap().join(path)
                }
                _ => continue,
            };
            checked += 1;
            let has_heading = std::fs::read_to_string(&target)
                .is_ok_and(|target| anchors(&target).contains(anchor));
            if !has_heading {
                missing.push(format!("{}: {path}#{anchor}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(checked > 0, "no link to a heading was found");
}

/// Bytes of a page at the top of the repository.
fn length(page: &str) -> u64 {
    top().join(page).metadata().unwrap().len()
}

#[test]
fn the_map_is_short_enough_to_be_read() {
    const BYTES: u64 = 15 * 1024;
    let bytes = length("ARCHITECTURE.md");
    assert!(
        bytes <= BYTES,
        "{bytes} bytes: what is not the map goes to docs/internals"
    );
}

#[test]
fn the_first_page_is_short_enough_to_be_read() {
    const BYTES: u64 = 6 * 1024;
    let bytes = length("README.md");
    assert!(
        bytes <= BYTES,
        "{bytes} bytes: what not everybody needs goes to a shelf of docs"
    );
}

#[test]
fn each_page_of_the_shelves_is_short_enough_to_be_read() {
    const BYTES: u64 = 12 * 1024;
    // For people who change the code, and have time.
    let unbounded = ["docs/internals", "docs/decisions"].map(|folder| top().join(folder));
    let mut shelved = Vec::new();
    pages_below(&top().join("docs"), &mut shelved);
    shelved.retain(|page| !unbounded.iter().any(|folder| page.starts_with(folder)));
    assert!(shelved.len() > 4, "{shelved:?}");
    let long: Vec<String> = shelved
        .iter()
        .map(|page| (page, page.metadata().unwrap().len()))
        .filter(|(_, bytes)| *bytes > BYTES)
        .map(|(page, bytes)| format!("{}: {bytes} bytes", page.display()))
        .collect();
    assert!(long.is_empty(), "make two pages of {long:#?}");
}
