//! Every statement of the store, read from its source: what is handed to the functions that send statements.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, ImplItemFn, ItemFn, Pat, Token};

use super::sql_text::{FORWARDED, FileNames, LocalValue, TextReader, bind, is_called};

/// Files that send statements of others, or those that make the schema itself.
const MACHINERY: [&str; 8] = [
    "pool",
    "statement",
    "statement_name",
    "migrate",
    "earlier_schema",
    "grant",
    "check",
    "lib",
];

/// Functions that send the statement that is their first argument.
const SENDERS: [&str; 5] = [
    "query_rows",
    "query_row",
    "execute",
    "execute_batch",
    "copy_in",
];

/// Words that statements begin with.
const FIRST_WORDS: [&str; 6] = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"];

/// A statement as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoreStatement {
    /// The file, without its ending.
    pub(super) module: String,
    /// The function that sends it.
    pub(super) function: String,
    pub(super) sql: String,
}

/// What was found, and what could not be read.
#[derive(Default)]
pub(super) struct FoundStatements {
    pub(super) statements: Vec<StoreStatement>,
    pub(super) problems: Vec<String>,
}

/// Reads one file.
struct FileReader<'s> {
    texts: TextReader<'s>,
    function: String,
    locals: Vec<(String, LocalValue<'s>)>,
    found: FoundStatements,
}

/// The statements of all files below this folder.
pub(super) fn read_statements(folder: &Path) -> FoundStatements {
    let mut parsed: Vec<(String, syn::File)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| {
            let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let mut file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            file.items.retain(|item| !is_test(item));
            (module, file)
        })
        .filter(|(module, _)| !MACHINERY.contains(&module.as_str()))
        .collect();
    parsed.sort_by(|one, other| one.0.cmp(&other.0));
    let files = parsed
        .iter()
        .map(|(module, file)| (module.clone(), FileNames::of_file(file)))
        .collect();
    let (mut found, mut used) = (FoundStatements::default(), BTreeSet::new());
    for (module, file) in &parsed {
        let mut reader = FileReader {
            texts: TextReader {
                module,
                files: &files,
                used: RefCell::default(),
            },
            function: String::new(),
            locals: Vec::new(),
            found: FoundStatements::default(),
        };
        reader.visit_file(file);
        used.append(&mut reader.texts.used.borrow_mut());
        found.statements.append(&mut reader.found.statements);
        found.problems.append(&mut reader.found.problems);
    }
    for (module, file) in &parsed {
        let mut texts = TextCollector(Vec::new());
        texts.visit_file(file);
        let lost = texts
            .0
            .into_iter()
            .filter(|text| begins_statement(text) && !used.contains(text));
        let problems = lost.map(|text| format!("{module}: nobody is seen to send {text:?}"));
        found.problems.extend(problems);
    }
    found
}

fn is_test(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Mod(module) if module.ident == "tests")
}

/// Whether a text begins as a statement does.
pub(super) fn begins_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    FIRST_WORDS.contains(&first.trim_start_matches('(')) && text.split_whitespace().count() > 1
}

impl<'s> FileReader<'s> {
    fn is_forwarder(&self, name: &str) -> bool {
        self.texts.files[self.texts.module]
            .forwarders
            .contains(name)
    }

    /// Notes what is sent here. What a method was given to send is noted where it is given.
    fn note(&mut self, expression: &'s Expr) {
        if is_called(expression, FORWARDED) && self.is_forwarder(&self.function) {
            return;
        }
        let (module, function) = (self.texts.module, &self.function);
        match self.texts.variants(expression, &self.locals) {
            Ok(all) => {
                let sent = all.into_iter().map(|sql| StoreStatement {
                    module: module.to_owned(),
                    function: function.clone(),
                    sql,
                });
                self.found.statements.extend(sent);
            }
            Err(why) => {
                let problem = format!("{module}: a statement of {function} cannot be read: {why}");
                self.found.problems.push(problem);
            }
        }
    }

    fn enter(&mut self, name: &syn::Ident) {
        self.function = name.to_string();
        self.locals.clear();
    }
}

impl<'s> Visit<'s> for FileReader<'s> {
    fn visit_impl_item_fn(&mut self, function: &'s ImplItemFn) {
        self.enter(&function.sig.ident);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_fn(&mut self, function: &'s ItemFn) {
        self.enter(&function.sig.ident);
        visit::visit_item_fn(self, function);
    }

    fn visit_local(&mut self, local: &'s syn::Local) {
        visit::visit_local(self, local);
        bind(local, &mut self.locals);
    }

    fn visit_expr_for_loop(&mut self, looped: &'s syn::ExprForLoop) {
        let names: Vec<(&Pat, Option<usize>)> = match &*looped.pat {
            Pat::Tuple(tuple) => tuple.elems.iter().zip((0..).map(Some)).collect(),
            one => vec![(one, None)],
        };
        for (name, part) in names {
            if let Pat::Ident(name) = name {
                let value = LocalValue::Element(&looped.expr, part);
                self.locals.push((name.ident.to_string(), value));
            }
        }
        visit::visit_expr_for_loop(self, looped);
    }

    fn visit_expr_call(&mut self, call: &'s syn::ExprCall) {
        let is_here = matches!(&*call.func, Expr::Path(path)
            if path.path.segments.iter().map(|part| part.ident.to_string()).eq(["SqlStatement", "at_caller"]));
        if is_here {
            self.note(&call.args[0]);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'s ExprMethodCall) {
        let method = call.method.to_string();
        // A session is handed what was noted where it was made ready.
        let is_session = ["session", "statement_session"]
            .iter()
            .any(|name| is_called(&call.receiver, name));
        let is_sender = SENDERS.contains(&method.as_str()) || self.is_forwarder(&method);
        if is_sender && !call.args.is_empty() && !is_session {
            self.note(&call.args[0]);
        }
        if method == "query_row_each" {
            for argument in &call.args {
                if let Expr::Tuple(pair) = argument {
                    self.note(&pair.elems[0]);
                }
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'s syn::Macro) {
        let name = called.path.segments.last().unwrap().ident.to_string();
        if !["try_join", "join", "select"].contains(&name.as_str()) {
            return;
        }
        let parser = |input: syn::parse::ParseStream<'_>| {
            if input.peek(syn::Ident) && input.peek2(Token![;]) {
                input.parse::<syn::Ident>()?;
                input.parse::<Token![;]>()?;
            }
            Punctuated::<Expr, Token![,]>::parse_terminated(input)
        };
        match parser.parse2(called.tokens.clone()) {
            Ok(arguments) => {
                let arguments: &'s [Expr] =
                    Box::leak(arguments.into_iter().collect::<Box<[Expr]>>());
                arguments
                    .iter()
                    .for_each(|argument| self.visit_expr(argument));
            }
            Err(error) => {
                let problem = format!("{}: {name}! cannot be read: {error}", self.texts.module);
                self.found.problems.push(problem);
            }
        }
    }
}

/// All texts of a file.
struct TextCollector(Vec<String>);

impl<'s> Visit<'s> for TextCollector {
    fn visit_lit_str(&mut self, text: &'s syn::LitStr) {
        self.0.push(text.value());
    }

    fn visit_macro(&mut self, called: &'s syn::Macro) {
        self.collect(called.tokens.clone());
    }
}

impl TextCollector {
    fn collect(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.collect(group.stream()),
                proc_macro2::TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.0.push(text.value());
                    }
                }
                _ => {}
            }
        }
    }
}
