//! From what is written to what is run: names are found, types checked, chains of operators made flat.

mod blank;
mod call;
mod operator;

use std::collections::HashMap;

use audience::{ColumnType, fold_name};
use blank::IgnoredBlank;

use crate::function;
use crate::limits::{MAX_DEPTH, MAX_PROBLEMS};
use crate::nearest::find_nearest;
use crate::node::{ColumnUse, ExpressionNode};
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::scan::{FormulaToken, TokenKind};
use crate::syntax::{SyntaxKind, SyntaxNode};
use crate::value::ValueType;

/// An expression with its type and place.
pub(crate) struct TypedNode {
    pub(crate) node: ExpressionNode,
    pub(crate) of: ValueType,
    pub(crate) span: SourceSpan,
}

/// A tree and the folded names of its columns, in the order of their first use.
pub(crate) struct ExpressionTree {
    pub(crate) root: ExpressionNode,
    pub(crate) of: ValueType,
    pub(crate) columns: Vec<String>,
    /// What its writer is told of a formula that stands.
    pub(crate) warnings: Vec<FormulaDiagnostic>,
}

/// A column that formulas may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputColumn {
    /// Its name as people write it. Case and outer white space do not matter.
    pub name: String,
    /// How its values are read. What does not read as this counts as blank.
    pub column_type: ColumnType,
}

/// Columns by folded name.
pub(crate) type ColumnsByName<'a> = HashMap<String, &'a InputColumn>;

/// Builds the tree.
pub(crate) fn build(
    syntax: &SyntaxNode<'_>,
    source: &str,
    columns: &ColumnsByName<'_>,
) -> Result<ExpressionTree, Vec<FormulaDiagnostic>> {
    let chars: Vec<char> = source.chars().collect();
    let mut builder = TreeBuilder {
        source: &chars,
        columns,
        used: Vec::new(),
        patterns: 0,
        problems: Vec::new(),
        overlooked: Vec::new(),
        warnings: Vec::new(),
    };
    let built = builder.build_expression(syntax);
    if built.node.depth() > MAX_DEPTH {
        builder.add_problem(FormulaDiagnostic::too_deep(built.span));
    }
    if builder.problems.is_empty() {
        let warnings = builder.take_warnings();
        return Ok(ExpressionTree {
            root: built.node,
            of: built.of,
            columns: builder.used,
            warnings,
        });
    }
    Err(builder.problems)
}

struct TreeBuilder<'a> {
    source: &'a [char],
    columns: &'a ColumnsByName<'a>,
    used: Vec<String>,
    /// How many regular expressions there are.
    patterns: usize,
    problems: Vec<FormulaDiagnostic>,
    /// Blanks that are passed over so far.
    overlooked: Vec<IgnoredBlank>,
    /// What else is likely to be meant otherwise.
    warnings: Vec<FormulaDiagnostic>,
}

impl TreeBuilder<'_> {
    fn add_warning(&mut self, warning: FormulaDiagnostic) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(warning);
        }
    }

    /// An expression that is looked at only where these columns are not blank.
    fn build_with_non_blank(&mut self, known: &[String], expression: &SyntaxNode<'_>) -> TypedNode {
        let before = self.overlooked.len();
        let built = self.build_expression(expression);
        let mut inside = self.overlooked.split_off(before);
        inside.retain_mut(|overlooked| overlooked.remove_known(known));
        self.overlooked.append(&mut inside);
        built
    }

    /// All warnings in the order of their places.
    fn take_warnings(&mut self) -> Vec<FormulaDiagnostic> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.overlooked.iter().map(IgnoredBlank::to_warning));
        warnings.sort_by_key(|warning| warning.offset);
        warnings.truncate(MAX_PROBLEMS);
        warnings
    }

    fn add_problem(&mut self, problem: FormulaDiagnostic) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Reports a problem; what stands in for the expression fits everywhere, so that nothing follows from it.
    fn reject_expression(&mut self, problem: FormulaDiagnostic) -> TypedNode {
        let span = SourceSpan {
            offset: problem.offset,
            length: problem.length,
        };
        self.add_problem(problem);
        TypedNode {
            node: ExpressionNode::Blank,
            of: ValueType::Blank,
            span,
        }
    }

    /// As it stands in the formula.
    fn source_text(&self, span: SourceSpan) -> String {
        let end = (span.offset + span.length).min(self.source.len());
        self.source
            .get(span.offset..end)
            .unwrap_or_default()
            .iter()
            .collect()
    }

    fn build_expression(&mut self, expression: &SyntaxNode<'_>) -> TypedNode {
        let span = expression.span;
        let constant = |node, of| TypedNode { node, of, span };
        match &expression.kind {
            SyntaxKind::Number(number) => constant(ExpressionNode::number(*number), ValueType::Number),
            SyntaxKind::Text(text) => constant(ExpressionNode::text(text), ValueType::Text),
            SyntaxKind::YesNo(yes) => constant(ExpressionNode::yes_no(*yes), ValueType::YesNo),
            SyntaxKind::Null => constant(ExpressionNode::Blank, ValueType::Blank),
            SyntaxKind::Column(token) => self.build_column(token),
            SyntaxKind::Call(name, arguments) => self.build_function(name, arguments),
            SyntaxKind::Negate(one) => self.build_negation(one, span),
            SyntaxKind::Not(one) => self.build_not(one, span),
            SyntaxKind::Sum(first, links) => self.build_sum(first, links),
            SyntaxKind::Product(first, links) => self.build_product(first, links),
            SyntaxKind::Compare(comparison, both) => self.build_comparison(*comparison, both, span),
            SyntaxKind::OneOf(both) => self.build_in_list(both),
            SyntaxKind::All(conditions) => self.build_conditions(conditions, true),
            SyntaxKind::Any(conditions) => self.build_conditions(conditions, false),
            SyntaxKind::Choice(parts) => self.build_choice(parts),
            SyntaxKind::List(_) => self.reject_expression(
                span.to_problem("A list stands only behind in, as in state in [\"TX\", \"OK\"]."),
            ),
            SyntaxKind::Member => self.reject_expression(span.to_problem(
                "A point stands only in numbers; a column with a point in its name is written {a.b}.",
            )),
        }
    }

    fn build_column(&mut self, token: &FormulaToken) -> TypedNode {
        let (span, is_braced) = (token.span, matches!(token.kind, TokenKind::Braced(_)));
        let name = match &token.kind {
            TokenKind::Braced(name) => name.trim().to_owned(),
            _ => token.source.clone(),
        };
        let folded = fold_name(&name);
        let Some(column) = self.columns.get(&folded) else {
            let problem = self.unknown_column(&name, span, is_braced);
            return self.reject_expression(problem);
        };
        let of = column.column_type.into();
        if !self.used.contains(&folded) {
            self.used.push(folded.clone());
        }
        let column = ColumnUse {
            key: folded,
            name: column.name.trim().to_owned(),
            of,
        };
        TypedNode {
            node: ExpressionNode::Column(column.into()),
            of,
            span,
        }
    }

    fn unknown_column(&self, name: &str, span: SourceSpan, is_braced: bool) -> FormulaDiagnostic {
        if !is_braced && function::find_function(name).is_some() {
            let call = format!("{}()", name.to_uppercase());
            let message = format!(
                "The function {} is written with brackets.",
                name.to_uppercase()
            );
            return span.to_problem(message).with_suggestion(call);
        }
        let names = self.columns.values().map(|column| column.name.trim());
        let message = format!("There is no column {name}.");
        match find_nearest(name, names) {
            Some(near) => span
                .to_problem(format!(
                    "{message} Did you mean {}?",
                    format_column_name(near)
                ))
                .with_suggestion(format_column_name(near)),
            None => span.to_problem(format!("{message} A text stands in quotes.")),
        }
    }
}

/// How a column is written: bare when its name is a word, else in braces.
pub(crate) fn format_column_name(name: &str) -> String {
    const KEYWORDS: [&str; 4] = ["in", "true", "false", "null"];
    let is_word = name.chars().all(|one| one.is_alphanumeric() || one == '_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    let is_keyword = KEYWORDS
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(name));
    if is_word && !is_keyword {
        name.to_owned()
    } else {
        format!("{{{}}}", name.replace('}', "}}"))
    }
}
