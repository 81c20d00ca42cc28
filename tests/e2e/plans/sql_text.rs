//! What a text in the source comes to: constants, local variables, `format!` and small functions are put together, once for each
//! branch that they may take.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Expr, ImplItemFn, ItemFn, Pat, Stmt, Token};

/// What a function calls a statement that it is given to send.
pub(super) const FORWARDED: &str = "sql";

/// What stands behind a local name.
#[derive(Clone)]
pub(super) enum LocalValue<'s> {
    Written(&'s Expr),
    Known(String),
    /// An element of a list, or a part of each.
    Element(&'s Expr, Option<usize>),
}

/// The names of a file that statements may be made of.
#[derive(Default)]
pub(super) struct FileNames<'s> {
    constants: HashMap<String, &'s Expr>,
    functions: HashMap<String, &'s ItemFn>,
    /// Methods that send the statement that they are given.
    pub(super) forwarders: BTreeSet<String>,
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

/// Reads the texts of one file.
pub(super) struct TextReader<'s> {
    pub(super) module: &'s str,
    pub(super) files: &'s HashMap<String, FileNames<'s>>,
    /// Texts that were read.
    pub(super) used: RefCell<BTreeSet<String>>,
}

impl<'s> FileNames<'s> {
    pub(super) fn of_file(file: &'s syn::File) -> Self {
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

impl<'s> TextReader<'s> {
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

    /// Every text that an expression may be among these local names.
    pub(super) fn variants(
        &self,
        expression: &'s Expr,
        locals: &[(String, LocalValue<'s>)],
    ) -> Result<Vec<String>, String> {
        let (mut choices, mut all) = (BranchChoices::default(), Vec::new());
        loop {
            all.push(self.text(expression, locals, &mut choices)?);
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
}

/// Whether an expression is just this name.
pub(super) fn is_called(expression: &Expr, name: &str) -> bool {
    matches!(expression, Expr::Path(path) if path.path.is_ident(name))
}

/// The names that a `let` gives.
pub(super) fn bind<'s>(local: &'s syn::Local, locals: &mut Vec<(String, LocalValue<'s>)>) {
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
