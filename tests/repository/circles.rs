//! Files of a crate that know each other in a circle can only be read together: no circle has more than three. What is
//! counted is production code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a circle at the most.
const LARGEST: usize = 3;

/// The largest circle of each crate that has a larger one. A number only ever gets smaller, and the line goes with its reason.
const LARGER: [(&str, usize); 4] = [
    ("gateway", 7),
    ("pillarbox", 4),
    ("sending", 7),
    ("address", 11),
];

const ROOMS: [&str; 5] = [
    "services",
    "shared/app",
    "shared/infra",
    "shared/wire",
    "shared/domain",
];

/// The code without comments, texts and what only tests have.
fn production_code(text: &str) -> String {
    let mut code = without_texts(text);
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = end_of_item(&code, start + "#[cfg(test)]".len());
        code.replace_range(start..end, "");
    }
    code
}

/// Behind the item that begins here: its last brace, or its semicolon.
fn end_of_item(code: &str, start: usize) -> usize {
    let mut depth = 0;
    for (at, character) in code[start..].char_indices() {
        match character {
            '{' | '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return start + at + 1;
                }
            }
            ';' if depth == 0 => return start + at + 1,
            _ => {}
        }
    }
    code.len()
}

fn without_texts(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let skipped = match character {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => length_of_text(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => length_of_raw_text(rest),
            '\'' => length_of_character(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(character);
            rest = &rest[character.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

fn length_of_text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

fn length_of_raw_text(rest: &str) -> usize {
    let marks = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let end = format!("\"{}", "#".repeat(marks));
    let start = 2 + marks;
    rest[start..]
        .find(&end)
        .map_or(rest.len(), |at| start + at + end.len())
}

/// The length of a character's literal; 0 for a lifetime.
fn length_of_character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(0, |at| at + 4),
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// Words, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(character) = rest.chars().next() {
        let length = if is_word(character) {
            rest.find(|character| !is_word(character))
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            character.len_utf8()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

/// A path of modules from the crate's root, and perhaps an item at its end.
type ModulePath = Vec<String>;

/// One file, which is one module.
#[derive(Default)]
struct SourceFile {
    modules: Vec<String>,
    definitions: BTreeSet<String>,
    /// The names that it has from elsewhere: where they come from, `None` when that is another crate.
    imports: BTreeMap<String, Option<ModulePath>>,
    /// Modules all of whose names it has.
    globs: Vec<ModulePath>,
    /// What it uses of this crate, as it is written.
    uses: BTreeSet<ModulePath>,
}

const DEFINING: [&str; 8] = [
    "fn", "struct", "enum", "trait", "type", "const", "static", "union",
];

impl SourceFile {
    fn read(module: &[String], code: &str) -> Self {
        let tokens = tokens(code);
        let mut file = Self::default();
        for pair in tokens.windows(3) {
            match pair {
                ["mod", name, ";"] => file.modules.push((*name).to_owned()),
                [word, name, _] if DEFINING.contains(word) => {
                    file.definitions.insert((*name).to_owned());
                }
                ["macro_rules", "!", name] => {
                    file.definitions.insert((*name).to_owned());
                }
                _ => {}
            }
        }
        let mut at = 0;
        while at < tokens.len() {
            let is_start = at == 0 || !["::", "."].contains(&tokens[at - 1]);
            if tokens[at] == "use" && is_start {
                let is_passed_on = at > 0 && ["pub", ")"].contains(&tokens[at - 1]);
                at = file.read_use(module, &tokens, at + 1, is_passed_on);
            } else if is_start && tokens.get(at + 1) == Some(&"::") {
                let mut end = at + 1;
                while tokens.get(end) == Some(&"::") && tokens.get(end + 1).is_some_and(is_name) {
                    end += 2;
                }
                let written: Vec<&str> = tokens[at..end].iter().step_by(2).copied().collect();
                file.uses.extend(file.inner_path(module, &written));
                at = end;
            } else {
                at += 1;
            }
        }
        file
    }

    /// Reads one `use` up to its semicolon, and says where that is.
    fn read_use(
        &mut self,
        module: &[String],
        tokens: &[&str],
        start: usize,
        is_passed_on: bool,
    ) -> usize {
        let mut prefixes: Vec<Vec<&str>> = Vec::new();
        let mut path: Vec<&str> = Vec::new();
        let mut alias = None;
        for (at, token) in tokens.iter().enumerate().skip(start) {
            match *token {
                "{" => prefixes.push(path.clone()),
                "," | "}" | ";" => {
                    let depth = prefixes.last().map_or(0, Vec::len);
                    if path.len() > depth {
                        self.note_import(module, &path, alias.take(), is_passed_on);
                    }
                    if *token == ";" {
                        return at + 1;
                    }
                    path = prefixes.last().cloned().unwrap_or_default();
                    if *token == "}" {
                        prefixes.pop();
                        path.clear();
                        path.extend(prefixes.last().into_iter().flatten());
                    }
                }
                "::" => {}
                "as" => alias = tokens.get(at + 1).copied(),
                name if tokens[at - 1] != "as" => path.push(name),
                _ => {}
            }
        }
        tokens.len()
    }

    fn note_import(
        &mut self,
        module: &[String],
        path: &[&str],
        alias: Option<&str>,
        is_passed_on: bool,
    ) {
        let Some((last, before)) = path.split_last() else {
            return;
        };
        let written = if ["self", "*"].contains(last) && !before.is_empty() {
            before
        } else {
            path
        };
        let inner = self.inner_path(module, written);
        if *last == "*" {
            self.globs.extend(inner.clone());
        } else {
            let name = alias.unwrap_or(written[written.len() - 1]);
            self.imports.insert(name.to_owned(), inner.clone());
        }
        if !is_passed_on {
            self.uses.extend(inner);
        }
    }

    /// The path from the crate's root; `None` when it leads into another crate.
    fn inner_path(&self, module: &[String], written: &[&str]) -> Option<ModulePath> {
        let mut base = match written[0] {
            "crate" => Vec::new(),
            "self" | "super" => module.to_vec(),
            name if self.modules.iter().any(|inner| inner == name) => module.to_vec(),
            _ => return None,
        };
        for part in written {
            match *part {
                "crate" | "self" => {}
                "super" => {
                    base.pop();
                }
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }
}

fn is_name(token: &&str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The files of a crate by their modules.
struct CrateFiles(BTreeMap<ModulePath, SourceFile>);

impl CrateFiles {
    fn read(folder: &Path) -> Self {
        let mut files = Self(BTreeMap::new());
        let root = ["lib.rs", "main.rs"].map(|name| folder.join("src").join(name));
        if let Some(root) = root.iter().find(|root| root.exists()) {
            files.read_file(root, &folder.join("src"), Vec::new());
        }
        files
    }

    /// Reads a file and the files of its modules, which are in this folder.
    fn read_file(&mut self, path: &Path, inner: &Path, module: ModulePath) {
        let code = production_code(&fs::read_to_string(path).unwrap());
        let file = SourceFile::read(&module, &code);
        for name in &file.modules {
            let own = inner.join(name);
            let paths: [PathBuf; 2] = [inner.join(format!("{name}.rs")), own.join("mod.rs")];
            if let Some(path) = paths.iter().find(|path| path.exists()) {
                let module = [&module[..], std::slice::from_ref(name)].concat();
                self.read_file(path, &own, module);
            }
        }
        self.0.insert(module, file);
    }

    /// The module whose file has what a path leads to, whoever passes it on.
    fn home_of(&self, path: &[String], steps: usize) -> Option<ModulePath> {
        let known = (0..=path.len())
            .rev()
            .find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(known);
        let file = &self.0[module];
        let Some(name) = rest.first().filter(|_| steps > 0) else {
            return Some(module.to_vec());
        };
        if file.definitions.contains(name) {
            return Some(module.to_vec());
        }
        if let Some(import) = file.imports.get(name) {
            return self.home_of(import.as_ref()?, steps - 1);
        }
        let passed_on = file.globs.iter().find_map(|glob| {
            let inner = [&glob[..], std::slice::from_ref(name)].concat();
            let home = self.home_of(&inner, steps - 1)?;
            self.0[&home].definitions.contains(name).then_some(home)
        });
        Some(passed_on.unwrap_or_else(|| module.to_vec()))
    }

    /// The modules that each one knows.
    fn knowledge(&self) -> BTreeMap<&ModulePath, BTreeSet<ModulePath>> {
        let known = |(module, file): (&ModulePath, &SourceFile)| -> BTreeSet<ModulePath> {
            let homes = file.uses.iter().filter_map(|path| self.home_of(path, 8));
            homes.filter(|home| home != module).collect()
        };
        self.0.iter().map(|entry| (entry.0, known(entry))).collect()
    }

    /// The modules of the largest circle.
    fn largest_circle(&self) -> Vec<String> {
        let knowledge = self.knowledge();
        let reach = |start: &ModulePath| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![start.clone()]);
            while let Some(module) = open.pop() {
                for next in &knowledge[&module] {
                    if reached.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<&ModulePath, BTreeSet<ModulePath>> = knowledge
            .keys()
            .map(|module| (*module, reach(module)))
            .collect();
        let circle = |module: &ModulePath| -> Vec<String> {
            let back = reached[module]
                .iter()
                .filter(|other| reached[other].contains(module));
            back.map(|module| format!("crate::{}", module.join("::")))
                .collect()
        };
        let circles = knowledge.keys().map(|module| circle(module));
        circles.max_by_key(Vec::len).unwrap_or_default()
    }
}

#[test]
fn no_circle_of_files_is_larger_than_three() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut wrong, mut crates) = (Vec::new(), 0);
    for room in ROOMS {
        for entry in fs::read_dir(top.join(room)).unwrap() {
            let folder = entry.unwrap().path();
            if !folder.join("Cargo.toml").exists() {
                continue;
            }
            crates += 1;
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let circle = CrateFiles::read(&folder).largest_circle();
            let listed = LARGER.iter().find(|(listed, _)| *listed == name);
            match listed.map(|(_, size)| *size) {
                None if circle.len() <= LARGEST => {}
                Some(size) if circle.len() == size => {}
                Some(size) if circle.len() < size => {
                    wrong.push(format!(
                        "{name}: {} now, so the list is to say so",
                        circle.len()
                    ));
                }
                _ => wrong.push(format!("{name}: {}: {}", circle.len(), circle.join(" "))),
            }
        }
    }
    assert!(crates > 20, "the crates are where they are looked for");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_seen_through_lists_and_whoever_passes_names_on() {
    let file = |module: &str, code: &str| {
        let module: ModulePath = module
            .split("::")
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let file = SourceFile::read(&module, &production_code(code));
        (module, file)
    };
    let files = CrateFiles(BTreeMap::from([
        file("", "mod a; mod b; mod c; mod d; pub use c::Thing;"),
        file("a", "use crate::{b::{self, Other}, d}; // use crate::a;"),
        file(
            "b",
            "pub struct Other; fn f() -> crate::Thing { todo!(\"super::d\") }",
        ),
        file(
            "c",
            "pub struct Thing; fn f(x: &'static str) { super::a::f('\"') }",
        ),
        file(
            "d",
            "#[cfg(test)] mod tests { use super::super::a; } fn f() {}",
        ),
    ]));
    assert_eq!(files.largest_circle(), ["crate::a", "crate::b", "crate::c"]);
}
