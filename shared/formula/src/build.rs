//! From CEL's syntax tree to ours: names are found, types checked, chains of operators made flat.

mod blank;
mod call;
mod operator;

use std::collections::HashMap;

use audience::fold_name;
use blank::Overlooked;
use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};

use crate::limits::{MAX_DEPTH, MAX_PROBLEMS};
use crate::nearest::nearest;
use crate::node::{ColumnUse, Node};
use crate::parse::Syntax;
use crate::problem::{Problem, Span};
use crate::scan::Kind;
use crate::value::Type;
use crate::{Column, function};

/// An expression with its type and place.
pub(crate) struct Built {
    pub(crate) node: Node,
    pub(crate) of: Type,
    pub(crate) span: Span,
}

/// A tree and the folded names of its columns, in the order of their first use.
pub(crate) struct Tree {
    pub(crate) root: Node,
    pub(crate) of: Type,
    pub(crate) columns: Vec<String>,
    /// What its writer is told of a formula that stands.
    pub(crate) warnings: Vec<Problem>,
}

/// Columns by folded name.
pub(crate) type Columns<'a> = HashMap<String, &'a Column>;

/// Builds the tree, on a thread whose stack holds the recursion over a formula's chains.
pub(crate) fn build(syntax: &Syntax<'_>, source: &str, columns: &Columns<'_>) -> Result<Tree, Vec<Problem>> {
    let chars: Vec<char> = source.chars().collect();
    let mut builder = Builder {
        syntax,
        source: &chars,
        columns,
        used: Vec::new(),
        patterns: 0,
        problems: Vec::new(),
        overlooked: Vec::new(),
        warnings: Vec::new(),
    };
    let built = builder.expression(&syntax.root);
    if built.node.depth() > MAX_DEPTH {
        let message = format!(
            "The formula is nested more than {MAX_DEPTH} deep; IFS and SWITCH hold many cases side by side."
        );
        builder.report(built.span.problem(message));
    }
    if builder.problems.is_empty() {
        let warnings = builder.take_warnings();
        return Ok(Tree { root: built.node, of: built.of, columns: builder.used, warnings });
    }
    Err(builder.problems)
}

struct Builder<'a> {
    syntax: &'a Syntax<'a>,
    source: &'a [char],
    columns: &'a Columns<'a>,
    used: Vec<String>,
    /// How many regular expressions there are.
    patterns: usize,
    problems: Vec<Problem>,
    /// Blanks that are passed over so far.
    overlooked: Vec<Overlooked>,
    /// What else is likely to be meant otherwise.
    warnings: Vec<Problem>,
}

impl Builder<'_> {
    fn warn(&mut self, warning: Problem) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(warning);
        }
    }

    /// An expression that is looked at only where these columns are not blank.
    fn expression_where(&mut self, known: &[String], expression: &IdedExpr) -> Built {
        let before = self.overlooked.len();
        let built = self.expression(expression);
        let mut inside = self.overlooked.split_off(before);
        inside.retain_mut(|overlooked| overlooked.without(known));
        self.overlooked.append(&mut inside);
        built
    }

    /// All warnings in the order of their places.
    fn take_warnings(&mut self) -> Vec<Problem> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.overlooked.iter().map(Overlooked::warning));
        warnings.sort_by_key(|warning| warning.offset);
        warnings.truncate(MAX_PROBLEMS);
        warnings
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Reports a problem; what stands in for the expression fits everywhere, so that nothing follows from it.
    fn refuse(&mut self, problem: Problem) -> Built {
        let span = Span { offset: problem.offset, length: problem.length };
        self.report(problem);
        Built { node: Node::Blank, of: Type::Blank, span }
    }

    /// As it stands in the formula.
    fn written(&self, span: Span) -> String {
        let end = (span.offset + span.length).min(self.source.len());
        self.source.get(span.offset..end).unwrap_or_default().iter().collect()
    }

    fn expression(&mut self, expression: &IdedExpr) -> Built {
        let span = self.syntax.span(expression.id);
        match &expression.expr {
            Expr::Literal(literal) => self.literal(literal, span),
            Expr::Ident(name) => self.column(name),
            Expr::Call(call) => self.call(call, span),
            Expr::List(_) => {
                self.refuse(span.problem("A list stands only behind in, as in state in [\"TX\", \"OK\"]."))
            }
            Expr::Select(_) => self.refuse(span.problem(
                "A point stands only in numbers; a column with a point in its name is written {a.b}.",
            )),
            Expr::Unspecified | Expr::Comprehension(_) | Expr::Map(_) | Expr::Struct(_) => {
                self.refuse(span.problem("This has no meaning in a formula."))
            }
        }
    }

    fn literal(&mut self, literal: &LiteralValue, span: Span) -> Built {
        let (node, of) = match literal {
            LiteralValue::Boolean(yes) => (Node::yes_no(*yes.inner()), Type::YesNo),
            LiteralValue::Double(number) => (Node::number(*number.inner()), Type::Number),
            // All numbers are of one kind, exact up to 2^53.
            LiteralValue::Int(number) => (Node::number(*number.inner() as f64), Type::Number),
            LiteralValue::UInt(number) => (Node::number(*number.inner() as f64), Type::Number),
            LiteralValue::String(text) => (Node::text(text.inner()), Type::Text),
            LiteralValue::Null => (Node::Blank, Type::Blank),
            LiteralValue::Bytes(_) => return self.refuse(span.problem("This has no meaning in a formula.")),
        };
        Built { node, of, span }
    }

    fn column(&mut self, placeholder: &str) -> Built {
        let Some(token) = self.syntax.token(placeholder) else {
            return self.refuse(Span::at(0).problem("This has no meaning in a formula."));
        };
        let (span, is_braced) = (token.span, matches!(token.kind, Kind::Braced(_)));
        let name = match &token.kind {
            Kind::Braced(name) => name.trim().to_owned(),
            _ => token.source.clone(),
        };
        let folded = fold_name(&name);
        let Some(column) = self.columns.get(&folded) else {
            let problem = self.unknown_column(&name, span, is_braced);
            return self.refuse(problem);
        };
        let of = column.column_type.into();
        if !self.used.contains(&folded) {
            self.used.push(folded.clone());
        }
        let column = ColumnUse { key: folded, name: column.name.trim().to_owned(), of };
        Built { node: Node::Column(column.into()), of, span }
    }

    fn unknown_column(&self, name: &str, span: Span, is_braced: bool) -> Problem {
        if !is_braced && function::find(name).is_some() {
            let call = format!("{}()", name.to_uppercase());
            let message = format!("The function {} is written with brackets.", name.to_uppercase());
            return span.problem(message).suggesting(call);
        }
        let names = self.columns.values().map(|column| column.name.trim());
        let message = format!("There is no column {name}.");
        match nearest(name, names) {
            Some(near) => {
                span.problem(format!("{message} Did you mean {}?", spelling(near))).suggesting(spelling(near))
            }
            None => span.problem(format!("{message} A text stands in quotes.")),
        }
    }

    fn call(&mut self, call: &CallExpr, span: Span) -> Built {
        match call.func_name.strip_prefix('f') {
            Some(position) if position.bytes().all(|digit| digit.is_ascii_digit()) => self.function(call),
            _ => self.operator(call, span),
        }
    }
}

/// How a column is written: bare when its name is a word, else in braces.
pub(crate) fn spelling(name: &str) -> String {
    const KEYWORDS: [&str; 4] = ["in", "true", "false", "null"];
    let is_word = name.chars().all(|one| one.is_alphanumeric() || one == '_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    let is_keyword = KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(name));
    if is_word && !is_keyword { name.to_owned() } else { format!("{{{}}}", name.replace('}', "}}")) }
}
