//! The functions, by name.
//!
//! A function evaluates its own arguments, so IF never looks at the branch that it does not take.

mod date;
pub(crate) mod definition;
mod format;
mod logic;
mod number;
mod regular;
mod text;

use std::collections::HashMap;
use std::sync::LazyLock;

use self::definition::{FunctionDefinition, FunctionHelp};

pub(crate) use format::check_format;
pub(crate) use regular::{compile_pattern, group_warning};

/// Other names under which CEL or spreadsheets know a function.
const ALIASES: [(&str, &str); 9] = [
    ("MATCHES", "REGEXMATCH"),
    ("SIZE", "LEN"),
    ("STRING", "TEXT"),
    ("DOUBLE", "VALUE"),
    ("LOWERASCII", "LOWER"),
    ("UPPERASCII", "UPPER"),
    ("CONCATENATE", "CONCAT"),
    ("LENGTH", "LEN"),
    ("COALESCE", "IFBLANK"),
];

static SORTED: LazyLock<Vec<&'static FunctionDefinition>> = LazyLock::new(|| {
    let mut all: Vec<_> = [
        &logic::FUNCTIONS[..],
        &text::FUNCTIONS,
        &regular::FUNCTIONS,
        &number::FUNCTIONS,
        &date::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by_key(|function| function.help.name);
    all
});

static HELP: LazyLock<Vec<FunctionHelp>> =
    LazyLock::new(|| SORTED.iter().map(|function| function.help).collect());

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionDefinition>> =
    LazyLock::new(|| {
        let mut by_name: HashMap<_, _> = SORTED
            .iter()
            .map(|function| (function.help.name, *function))
            .collect();
        for (alias, name) in ALIASES {
            if let Some(function) = by_name.get(name).copied() {
                by_name.insert(alias, function);
            }
        }
        by_name
    });

/// The function of this name, in any case.
pub(crate) fn find_function(name: &str) -> Option<&'static FunctionDefinition> {
    BY_NAME.get(name.to_uppercase().as_str()).copied()
}

/// What people read about all of them, in alphabetical order.
pub(crate) fn list_help() -> &'static [FunctionHelp] {
    &HELP
}
