//! Every statement of the store, read from its source: what is handed to the functions that send statements, with the constants,
//! local variables and small functions that it is put together from, once for each branch that it may take.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, ImplItemFn, ItemFn, Pat, Stmt, Token};

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
const SENDERS: [&str; 5] = ["rows", "row", "execute", "batch", "copy_in"];

/// What a function calls a statement that it is given to send.
const FORWARDED: &str = "sql";

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

/// What stands behind a local name.
#[derive(Clone)]
enum LocalValue<'s> {
    Written(&'s Expr),
    Known(String),
    /// An element of a list, or a part of each.
    Element(&'s Expr, Option<usize>),
}

/// The names of a file that statements may be made of.
#[derive(Default)]
struct FileNames<'s> {
    constants: HashMap<String, &'s Expr>,
    functions: HashMap<String, &'s ItemFn>,
    /// Methods that send the statement that they are given.
    forwarders: BTreeSet<String>,
}

/// The branches that one reading of an expression takes. Each reading takes others, until there are none.
#[derive(Default)]
struct BranchChoices {
    /// What is taken of how many, in the order of asking.
    path: Vec<(usize, usize)>,
    asked: Vec<*const Expr>,
}

impl BranchChoices {
    /// The same branch for the same place within a reading.
    fn take(&mut self, place: *const Expr, count: usize) -> usize {
        let known = self.asked.iter().position(|asked| *asked == place);
        let at = known.unwrap_or(self.asked.len());
        if known.is_none() {
            self.asked.push(place);
        }
        if at == self.path.len() {
            self.path.push((0, count));
        }
        self.path[at].0
    }

    /// On to the next reading; false when all were done.
    fn advance(&mut self) -> bool {
        self.asked.clear();
        while let Some((taken, count)) = self.path.pop() {
            if taken + 1 < count {
                self.path.push((taken + 1, count));
                return true;
            }
        }
        false
    }
}

/// Reads one file.
struct FileReader<'s> {
    module: &'s str,
    files: &'s HashMap<String, FileNames<'s>>,
    function: String,
    locals: Vec<(String, LocalValue<'s>)>,
    /// Texts that a statement was made of.
    used: RefCell<BTreeSet<String>>,
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
            module,
            files: &files,
            function: String::new(),
            locals: Vec::new(),
            used: RefCell::default(),
            found: FoundStatements::default(),
        };
        reader.visit_file(file);
        used.append(&mut reader.used.borrow_mut());
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

impl<'s> FileNames<'s> {
    fn of_file(file: &'s syn::File) -> Self {
        let mut forwarders = ForwarderCollector::default();
        forwarders.visit_file(file);
        let mut names = Self {
            forwarders: forwarders.0,
            ..Self::default()
        };
        for item in &file.items {
            match item {
                syn::Item::Const(constant) => {
                    names
                        .constants
                        .insert(constant.ident.to_string(), &constant.expr);
                }
                syn::Item::Fn(function) => {
                    names
                        .functions
                        .insert(function.sig.ident.to_string(), function);
                }
                _ => {}
            }
        }
        names
    }
}

impl<'s> FileReader<'s> {
    /// What a name of this file, or else of another one, stands for.
    fn name_in_files<T: Copy>(
        &self,
        name: &str,
        names: impl Fn(&FileNames<'s>) -> Option<T>,
    ) -> Result<T, String> {
        if let Some(found) = self.files.get(self.module).and_then(&names) {
            return Ok(found);
        }
        let all: Vec<T> = self.files.values().filter_map(names).collect();
        match all.as_slice() {
            [one] => Ok(*one),
            _ => Err(format!("{} things are called {name}", all.len())),
        }
    }

    /// Every text that an expression may be.
    fn variants(&self, expression: &'s Expr) -> Result<Vec<String>, String> {
        let (mut choices, mut all) = (BranchChoices::default(), Vec::new());
        loop {
            all.push(self.text(expression, &self.locals, &mut choices)?);
            if !choices.advance() {
                return Ok(all);
            }
        }
    }

    fn text(
        &self,
        expression: &'s Expr,
        locals: &[(String, LocalValue<'s>)],
        choices: &mut BranchChoices,
    ) -> Result<String, String> {
        match expression {
            Expr::Lit(literal) => self.literal(&literal.lit),
            Expr::Reference(inner) => self.text(&inner.expr, locals, choices),
            Expr::Paren(inner) => self.text(&inner.expr, locals, choices),
            Expr::Path(path) => {
                let name = path.path.segments.last().unwrap().ident.to_string();
                self.named(&name, locals, choices)
            }
            Expr::If(branches) => {
                let (_, other) = branches.else_branch.as_ref().ok_or("an if without else")?;
                match choices.take(expression, 2) {
                    0 => self.block(&branches.then_branch.stmts, locals, choices),
                    _ => self.text(other, locals, choices),
                }
            }
            Expr::Match(arms) => {
                let taken = choices.take(expression, arms.arms.len());
                self.text(&arms.arms[taken].body, locals, choices)
            }
            Expr::Block(block) => self.block(&block.block.stmts, locals, choices),
            Expr::Macro(called) if called.mac.path.is_ident("format") => {
                self.formatted(&called.mac.tokens, locals, choices)
            }
            Expr::MethodCall(call)
                if ["as_str", "clone", "to_owned", "to_string"]
                    .contains(&call.method.to_string().as_str()) =>
            {
                self.text(&call.receiver, locals, choices)
            }
            Expr::Call(call) => self.called(call, locals, choices),
            _ => Err("an expression of another kind".to_owned()),
        }
    }

    fn literal(&self, literal: &syn::Lit) -> Result<String, String> {
        match literal {
            syn::Lit::Str(text) => {
                self.used.borrow_mut().insert(text.value());
                Ok(text.value())
            }
            syn::Lit::Int(number) => Ok(number.base10_digits().to_owned()),
            _ => Err("a literal of another kind".to_owned()),
        }
    }

    fn named(
        &self,
        name: &str,
        locals: &[(String, LocalValue<'s>)],
        choices: &mut BranchChoices,
    ) -> Result<String, String> {
        let local = locals.iter().rposition(|(local, _)| local == name);
        let Some(at) = local else {
            let constant = self.name_in_files(name, |names| names.constants.get(name).copied())?;
            return self.text(constant, &[], choices);
        };
        match &locals[at].1 {
            LocalValue::Known(text) => Ok(text.clone()),
            // What it is made of was there before it.
            LocalValue::Written(expression) => self.text(expression, &locals[..at], choices),
            LocalValue::Element(list, part) => {
                let element = self.element(list, choices)?;
                let expression = match (element, part) {
                    (Expr::Tuple(tuple), Some(part)) => &tuple.elems[*part],
                    (element, _) => element,
                };
                self.text(expression, &[], choices)
            }
        }
    }

    /// One of a list that is a constant or stands here.
    fn element(&self, list: &'s Expr, choices: &mut BranchChoices) -> Result<&'s Expr, String> {
        match list {
            Expr::Array(array) => Ok(&array.elems[choices.take(list, array.elems.len())]),
            Expr::Reference(inner) => self.element(&inner.expr, choices),
            Expr::Path(path) => {
                let name = path.path.segments.last().unwrap().ident.to_string();
                let constant =
                    self.name_in_files(&name, |names| names.constants.get(&name).copied())?;
                self.element(constant, choices)
            }
            _ => Err("a list of another kind".to_owned()),
        }
    }

    /// The last expression of a block.
    fn block(
        &self,
        statements: &'s [Stmt],
        locals: &[(String, LocalValue<'s>)],
        choices: &mut BranchChoices,
    ) -> Result<String, String> {
        let mut locals = locals.to_vec();
        for statement in statements {
            match statement {
                Stmt::Local(local) => bind(local, &mut locals),
                Stmt::Expr(last, None) => return self.text(last, &locals, choices),
                Stmt::Macro(last) if last.mac.path.is_ident("format") => {
                    return self.formatted(&last.mac.tokens, &locals, choices);
                }
                _ => {}
            }
        }
        Err("a block without a value".to_owned())
    }

    fn formatted(
        &self,
        tokens: &'s proc_macro2::TokenStream,
        locals: &[(String, LocalValue<'s>)],
        choices: &mut BranchChoices,
    ) -> Result<String, String> {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let arguments = parser
            .parse2(tokens.clone())
            .map_err(|error| error.to_string())?;
        // Kept for good: what is read refers to it, and it is little.
        let arguments: &'s [Expr] = Box::leak(arguments.into_iter().collect::<Box<[Expr]>>());
        let (template, arguments) = arguments.split_first().ok_or("an empty format")?;
        let template = self.text(template, locals, choices)?;
        let (mut rest, mut text, mut position) = (template.as_str(), String::new(), 0);
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            if rest[at..].starts_with("{{") || rest[at..].starts_with("}}") {
                text.push_str(&rest[at..=at]);
                rest = &rest[at + 2..];
                continue;
            }
            let (name, after) = rest[at + 1..].split_once('}').ok_or("an open format")?;
            rest = after;
            let named = arguments.iter().find_map(|argument| match argument {
                Expr::Assign(assigned) if is_called(&assigned.left, name) => Some(&*assigned.right),
                _ => None,
            });
            text.push_str(&match named {
                Some(value) => self.text(value, locals, choices)?,
                None if name.is_empty() => {
                    position += 1;
                    let argument = arguments.get(position - 1).ok_or("too few arguments")?;
                    self.text(argument, locals, choices)?
                }
                None => self.named(name, locals, choices)?,
            });
        }
        text.push_str(rest);
        Ok(text)
    }

    /// What one of our own functions makes of these arguments.
    fn called(
        &self,
        call: &'s syn::ExprCall,
        locals: &[(String, LocalValue<'s>)],
        choices: &mut BranchChoices,
    ) -> Result<String, String> {
        let Expr::Path(path) = &*call.func else {
            return Err("a call of another kind".to_owned());
        };
        let name = path.path.segments.last().unwrap().ident.to_string();
        let function = self.name_in_files(&name, |names| names.functions.get(&name).copied())?;
        let mut known = Vec::new();
        for (input, argument) in function.sig.inputs.iter().zip(&call.args) {
            if let syn::FnArg::Typed(typed) = input
                && let Pat::Ident(name) = &*typed.pat
                && let Ok(text) = self.text(argument, locals, choices)
            {
                known.push((name.ident.to_string(), LocalValue::Known(text)));
            }
        }
        self.block(&function.block.stmts, &known, choices)
    }

    fn is_forwarder(&self, name: &str) -> bool {
        self.files[self.module].forwarders.contains(name)
    }

    /// Notes what is sent here. What a method was given to send is noted where it is given.
    fn note(&mut self, expression: &'s Expr) {
        if is_called(expression, FORWARDED) && self.is_forwarder(&self.function) {
            return;
        }
        let Self {
            module, function, ..
        } = self;
        let (module, function) = ((*module).to_owned(), function.clone());
        match self.variants(expression) {
            Ok(all) => self
                .found
                .statements
                .extend(all.into_iter().map(|sql| StoreStatement {
                    module: module.clone(),
                    function: function.clone(),
                    sql,
                })),
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

fn is_called(expression: &Expr, name: &str) -> bool {
    matches!(expression, Expr::Path(path) if path.path.is_ident(name))
}

/// The names that a `let` gives.
fn bind<'s>(local: &'s syn::Local, locals: &mut Vec<(String, LocalValue<'s>)>) {
    let Some(init) = &local.init else {
        return;
    };
    match (&local.pat, &*init.expr) {
        (Pat::Ident(name), value) => {
            locals.push((name.ident.to_string(), LocalValue::Written(value)));
        }
        (Pat::Tuple(names), Expr::Tuple(values)) => {
            for (name, value) in names.elems.iter().zip(&values.elems) {
                if let Pat::Ident(name) = name {
                    locals.push((name.ident.to_string(), LocalValue::Written(value)));
                }
            }
        }
        _ => {}
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
            if path.path.segments.iter().map(|part| part.ident.to_string()).eq(["SqlStatement", "here"]));
        if is_here {
            self.note(&call.args[0]);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'s ExprMethodCall) {
        let method = call.method.to_string();
        // A session is handed what was noted where it was made ready.
        let is_session = is_called(&call.receiver, "session");
        let is_sender = SENDERS.contains(&method.as_str()) || self.is_forwarder(&method);
        if is_sender && !call.args.is_empty() && !is_session {
            self.note(&call.args[0]);
        }
        if method == "row_each" {
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
                let problem = format!("{}: {name}! cannot be read: {error}", self.module);
                self.found.problems.push(problem);
            }
        }
    }
}

/// The methods of a file whose first argument is a statement.
#[derive(Default)]
struct ForwarderCollector(BTreeSet<String>);

impl<'s> Visit<'s> for ForwarderCollector {
    fn visit_impl_item_fn(&mut self, function: &'s ImplItemFn) {
        let is_forwarder = matches!(function.sig.inputs.get(1), Some(syn::FnArg::Typed(typed))
            if matches!(&*typed.pat, Pat::Ident(name) if name.ident == FORWARDED));
        if is_forwarder {
            self.0.insert(function.sig.ident.to_string());
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
