//! The walks of ARCHITECTURE.md lead from file to file as they say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{ImplItem, Item, TraitItem, Type};

/// Walks that there are.
const WALKS: usize = 5;

/// Files that one walk opens at the most.
const MOST_FILES: usize = 12;

/// Bytes of the page at the most.
const PAGE_BYTES: usize = 15_360;

/// One file of a walk, and what to read in it.
struct WalkStep {
    path: String,
    items: Vec<String>,
}

/// The names that each item of a file mentions, by the item's own name.
type ItemMentions = BTreeMap<String, BTreeSet<String>>;

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(top().join("ARCHITECTURE.md")).unwrap()
}

/// The walks by their headings: lines of a block, each `path: item, item`.
fn read_walks(page: &str) -> Vec<(String, Vec<WalkStep>)> {
    let section = page.split("\n## ").find(|section| {
        section
            .lines()
            .next()
            .is_some_and(|line| line.ends_with("walks"))
    });
    let walks = section.unwrap().split("\n### ").skip(1);
    walks
        .map(|walk| {
            let (heading, rest) = walk.split_once('\n').unwrap();
            let block = rest.split("```").nth(1).unwrap();
            let steps = block.lines().filter(|line| !line.is_empty()).map(|line| {
                let (path, items) = line.split_once(": ").unwrap();
                WalkStep {
                    path: path.to_owned(),
                    items: items.split(", ").map(str::to_owned).collect(),
                }
            });
            (heading.to_owned(), steps.collect())
        })
        .collect()
}

fn collect_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => collect_names(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn add_item(mentions: &mut ItemMentions, name: String, tokens: &impl ToTokens) {
    collect_names(tokens.to_token_stream(), mentions.entry(name).or_default());
}

fn add_items(mentions: &mut ItemMentions, items: &[Item]) {
    for item in items {
        match item {
            Item::Const(one) => add_item(mentions, one.ident.to_string(), one),
            Item::Enum(one) => add_item(mentions, one.ident.to_string(), one),
            Item::Fn(one) => add_item(mentions, one.sig.ident.to_string(), one),
            Item::Static(one) => add_item(mentions, one.ident.to_string(), one),
            Item::Struct(one) => add_item(mentions, one.ident.to_string(), one),
            Item::Type(one) => add_item(mentions, one.ident.to_string(), one),
            Item::Trait(one) => {
                add_item(mentions, one.ident.to_string(), one);
                for inner in &one.items {
                    if let TraitItem::Fn(method) = inner {
                        add_item(mentions, method.sig.ident.to_string(), method);
                    }
                }
            }
            Item::Impl(one) => {
                if let Type::Path(of) = &*one.self_ty {
                    let name = of.path.segments.last().unwrap().ident.to_string();
                    add_item(mentions, name, one);
                }
                for inner in &one.items {
                    if let ImplItem::Fn(method) = inner {
                        add_item(mentions, method.sig.ident.to_string(), method);
                    }
                }
            }
            _ => {}
        }
    }
}

fn read_mentions(path: &str) -> ItemMentions {
    let text = fs::read_to_string(top().join(path)).unwrap_or_else(|_| panic!("no file {path}"));
    let mut mentions = ItemMentions::new();
    add_items(&mut mentions, &syn::parse_file(&text).unwrap().items);
    mentions
}

/// What a reader of these items sees mentioned, helpers in the same file included.
fn reachable_names(mentions: &ItemMentions, items: &[String]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = items.iter().cloned().collect();
    let mut open: Vec<String> = items.to_vec();
    while let Some(item) = open.pop() {
        for name in mentions.get(&item).into_iter().flatten() {
            if names.insert(name.clone()) {
                open.push(name.clone());
            }
        }
    }
    names
}

/// What is wrong with a walk: items that are not there, and files that nothing read before leads to. Two processes meet in a
/// message, so a file may also mention what was read before.
fn problems(steps: &[WalkStep]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut earlier: Vec<(BTreeSet<String>, &[String])> = Vec::new();
    for step in steps {
        let mentions = read_mentions(&step.path);
        for item in &step.items {
            if !mentions.contains_key(item) {
                problems.push(format!("{} has no {item}", step.path));
            }
        }
        let names = reachable_names(&mentions, &step.items);
        let leads_here = earlier.is_empty()
            || earlier.iter().any(|(seen, items)| {
                step.items.iter().any(|item| seen.contains(item))
                    || items.iter().any(|item| names.contains(item))
            });
        if !leads_here {
            problems.push(format!("nothing read before leads to {}", step.path));
        }
        earlier.push((names, &step.items));
    }
    problems
}

#[test]
fn five_walks_of_at_most_twelve_files_lead_where_they_say() {
    let page = page();
    assert!(page.len() <= PAGE_BYTES, "{} bytes", page.len());
    let walks = read_walks(&page);
    assert_eq!(walks.len(), WALKS);
    let mut wrong = Vec::new();
    for (heading, steps) in &walks {
        let files: BTreeSet<&str> = steps.iter().map(|step| step.path.as_str()).collect();
        assert!(
            files.len() == steps.len() && (2..=MOST_FILES).contains(&steps.len()),
            "{heading}: {} lines, {} files",
            steps.len(),
            files.len()
        );
        wrong.extend(problems(steps));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_walk_that_leads_nowhere_is_seen() {
    let step = |path: &str, items: &[&str]| WalkStep {
        path: path.to_owned(),
        items: items.iter().map(|item| (*item).to_owned()).collect(),
    };
    let steps = [
        step("shared/app/accounts/src/key.rs", &["create_key"]),
        step("shared/infra/store/src/key.rs", &["insert_api_key"]),
        step(
            "shared/infra/store/src/scan.rs",
            &["record_scans", "no_such_item"],
        ),
    ];
    let found = problems(&steps);
    assert_eq!(
        found,
        [
            "shared/infra/store/src/scan.rs has no no_such_item",
            "nothing read before leads to shared/infra/store/src/scan.rs",
        ]
    );
}
