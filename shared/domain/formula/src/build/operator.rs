//! Operators.

use audience::value;

use super::blank::{self, IgnoredBlank};
use super::{TreeBuilder, TypedNode};
use crate::node::{AdditiveOperator, ComparisonOperator, ExpressionNode, MultiplicativeOperator};
use crate::problem::SourceSpan;
use crate::syntax::{ChainLink, SyntaxKind, SyntaxNode};
use crate::value::ValueType;

impl TreeBuilder<'_> {
    /// `-` before a value.
    pub(super) fn negated(&mut self, one: &SyntaxNode<'_>, sign: SourceSpan) -> TypedNode {
        let one = self.expression(one);
        let span = one.span.to(sign);
        TypedNode {
            node: ExpressionNode::Negate(self.number(one).into()),
            of: ValueType::Number,
            span,
        }
    }

    /// `!` before a condition.
    pub(super) fn denied(&mut self, one: &SyntaxNode<'_>, sign: SourceSpan) -> TypedNode {
        let one = self.expression(one);
        let span = one.span.to(sign);
        TypedNode {
            node: ExpressionNode::Not(self.condition(one).into()),
            of: ValueType::YesNo,
            span,
        }
    }

    pub(super) fn sum(
        &mut self,
        first: &SyntaxNode<'_>,
        links: &[ChainLink<'_, AdditiveOperator>],
    ) -> TypedNode {
        let mut left = self.expression(first);
        for link in links {
            let right = self.expression(&link.operand);
            left = match link.operator {
                AdditiveOperator::Plus => self.add(left, right, link.sign),
                AdditiveOperator::Minus => self.subtract(left, right),
            };
        }
        left
    }

    pub(super) fn product(
        &mut self,
        first: &SyntaxNode<'_>,
        links: &[ChainLink<'_, MultiplicativeOperator>],
    ) -> TypedNode {
        let mut left = self.expression(first);
        for link in links {
            let right = self.expression(&link.operand);
            left = self.multiply(left, link.operator, right);
        }
        left
    }

    fn add(&mut self, left: TypedNode, right: TypedNode, sign: SourceSpan) -> TypedNode {
        let span = left.span.to(right.span);
        match (left.of, right.of) {
            (ValueType::Text, _) | (_, ValueType::Text) | (ValueType::Blank, ValueType::Blank) => {
                let mut parts = match left.node {
                    ExpressionNode::Join(parts) => parts,
                    node => vec![node],
                };
                parts.push(right.node);
                // The longer join takes in what was said of the shorter one.
                self.overlooked
                    .pop_if(|shorter| shorter.is_join() && shorter.span == left.span);
                self.overlooked.extend(IgnoredBlank::in_join(&parts, span));
                TypedNode {
                    node: ExpressionNode::Join(parts),
                    of: ValueType::Text,
                    span,
                }
            }
            (ValueType::Date, ValueType::Number | ValueType::Blank) => {
                shifted(left, AdditiveOperator::Plus, right)
            }
            (ValueType::Number | ValueType::Blank, ValueType::Date) => {
                shifted(right, AdditiveOperator::Plus, left)
            }
            (ValueType::Date, ValueType::Date) => self.refuse(
                sign.problem("Two dates cannot be added; the days between them are end - start."),
            ),
            _ => self.summed(left, AdditiveOperator::Plus, right),
        }
    }

    fn subtract(&mut self, left: TypedNode, right: TypedNode) -> TypedNode {
        match (left.of, right.of) {
            (ValueType::Date, ValueType::Date | ValueType::Text)
            | (ValueType::Text | ValueType::Blank, ValueType::Date) => {
                let span = left.span.to(right.span);
                let (later, earlier) = (self.date(left), self.date(right));
                TypedNode {
                    node: ExpressionNode::DaysBetween(later.into(), earlier.into()),
                    of: ValueType::Number,
                    span,
                }
            }
            (ValueType::Date, ValueType::Number | ValueType::Blank) => {
                shifted(left, AdditiveOperator::Minus, right)
            }
            _ => self.summed(left, AdditiveOperator::Minus, right),
        }
    }

    fn summed(&mut self, left: TypedNode, sign: AdditiveOperator, right: TypedNode) -> TypedNode {
        let span = left.span.to(right.span);
        let node = match self.number(left) {
            ExpressionNode::Sum(first, mut rest) => {
                rest.push((sign, self.number(right)));
                ExpressionNode::Sum(first, rest)
            }
            first => ExpressionNode::Sum(first.into(), vec![(sign, self.number(right))]),
        };
        TypedNode {
            node,
            of: ValueType::Number,
            span,
        }
    }

    fn multiply(
        &mut self,
        left: TypedNode,
        factor: MultiplicativeOperator,
        right: TypedNode,
    ) -> TypedNode {
        let span = left.span.to(right.span);
        let node = match self.number(left) {
            ExpressionNode::Product(first, mut rest) => {
                rest.push((factor, self.number(right)));
                ExpressionNode::Product(first, rest)
            }
            first => ExpressionNode::Product(first.into(), vec![(factor, self.number(right))]),
        };
        TypedNode {
            node,
            of: ValueType::Number,
            span,
        }
    }

    pub(super) fn compare(
        &mut self,
        comparison: ComparisonOperator,
        [left, right]: &[SyntaxNode<'_>; 2],
        sign: SourceSpan,
    ) -> TypedNode {
        let (mut left, mut right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        self.make_alike(&mut left, &mut right);
        let is_order = !matches!(
            comparison,
            ComparisonOperator::Equal | ComparisonOperator::NotEqual
        );
        if is_order && (left.of == ValueType::YesNo || right.of == ValueType::YesNo) {
            let message = "Yes and no have no order; compare them with == or !=.";
            return self.refuse(sign.problem(message));
        }
        let node = ExpressionNode::Compare(comparison, left.node.into(), right.node.into());
        TypedNode {
            node,
            of: ValueType::YesNo,
            span,
        }
    }

    /// Conditions that all hold, or of which any does.
    pub(super) fn conditions(&mut self, written: &[SyntaxNode<'_>], is_all: bool) -> TypedNode {
        let conditions: Vec<TypedNode> = written.iter().map(|one| self.expression(one)).collect();
        let spans = conditions.iter().map(|one| one.span);
        let span = spans.reduce(SourceSpan::to).unwrap_or(SourceSpan::at(0));
        let mut nodes = Vec::with_capacity(conditions.len());
        for one in conditions {
            // Brackets around the same operator do not matter.
            match (self.condition(one), is_all) {
                (ExpressionNode::All(own), true) | (ExpressionNode::Any(own), false) => {
                    nodes.extend(own)
                }
                (node, _) => nodes.push(node),
            }
        }
        let node = if is_all {
            ExpressionNode::All(nodes)
        } else {
            ExpressionNode::Any(nodes)
        };
        TypedNode {
            node,
            of: ValueType::YesNo,
            span,
        }
    }

    pub(super) fn choice(&mut self, [condition, yes, no]: &[SyntaxNode<'_>; 3]) -> TypedNode {
        let condition = self.expression(condition);
        let yes = self.expression_where(&blank::known(&condition.node, true), yes);
        let no = self.expression_where(&blank::known(&condition.node, false), no);
        let span = condition.span.to(no.span);
        let of = yes.of.or(no.of);
        let node = ExpressionNode::Choose(Box::new([self.condition(condition), yes.node, no.node]));
        TypedNode { node, of, span }
    }

    pub(super) fn one_of(&mut self, [needle, list]: &[SyntaxNode<'_>; 2]) -> TypedNode {
        let needle = self.expression(needle);
        let SyntaxKind::List(list) = &list.kind else {
            let span = list.span;
            let message = "Behind in stands a list, as in state in [\"TX\", \"OK\"]; CONTAINS looks into a text.";
            return self.refuse(span.problem(message));
        };
        let (span, of) = (needle.span, needle.of);
        let mut nodes = Vec::with_capacity(list.len());
        for element in list {
            let element = self.expression(element);
            nodes.push(self.element(element, of));
        }
        TypedNode {
            node: ExpressionNode::OneOf(needle.node.into(), nodes),
            of: ValueType::YesNo,
            span,
        }
    }

    /// A value of a list, or a case, in which one of this type is looked for.
    pub(super) fn element(&mut self, mut element: TypedNode, wanted: ValueType) -> ExpressionNode {
        match (element.of, wanted) {
            (one, same) if one == same => {}
            (ValueType::Blank, _) | (_, ValueType::Blank) => {}
            (ValueType::Text, _) => self.read_constant(&mut element, wanted),
            (other, ValueType::Text) => {
                let message = format!("A text is looked for, and this is {}.", other.in_words());
                let problem = element.span.problem(message);
                let written = self.written(element.span);
                let is_literal = matches!(element.node, ExpressionNode::Constant(_));
                self.report(if is_literal {
                    problem.suggesting(format!("\"{written}\""))
                } else {
                    problem
                });
            }
            (one, other) => {
                let message = format!(
                    "{} is not compared with {}.",
                    capitalised(other.in_words()),
                    one.in_words()
                );
                self.report(element.span.problem(message));
            }
        }
        element.node
    }

    /// Two values that are compared must be of one type. A text that stands in the formula is read as a date or as
    /// yes or no beside one.
    fn make_alike(&mut self, left: &mut TypedNode, right: &mut TypedNode) {
        match (left.of, right.of) {
            (one, same) if one == same => {}
            (ValueType::Blank, _) | (_, ValueType::Blank) => {}
            (ValueType::Text, other) if left.node.constant_text().is_some() => {
                self.read_constant(left, other)
            }
            (other, ValueType::Text) if right.node.constant_text().is_some() => {
                self.read_constant(right, other)
            }
            (ValueType::Text, other) => self.read_constant(left, other),
            (other, ValueType::Text) => self.read_constant(right, other),
            (ValueType::Date, ValueType::Number) if self.is_bare_date(right.span) => {
                let node = std::mem::replace(&mut right.node, ExpressionNode::Blank);
                right.node = self.fit(
                    TypedNode {
                        node,
                        of: right.of,
                        span: right.span,
                    },
                    ValueType::Date,
                );
            }
            (ValueType::Number, ValueType::Date) if self.is_bare_date(left.span) => {
                let node = std::mem::replace(&mut left.node, ExpressionNode::Blank);
                left.node = self.fit(
                    TypedNode {
                        node,
                        of: left.of,
                        span: left.span,
                    },
                    ValueType::Date,
                );
            }
            (one, other) => {
                let message = format!(
                    "{} is not compared with {}.",
                    capitalised(one.in_words()),
                    other.in_words()
                );
                let span = left.span.to(right.span);
                self.report(span.problem(message));
            }
        }
    }

    /// Whether a date stands here without its quotes: a subtraction or a division to the parser.
    fn is_bare_date(&self, span: SourceSpan) -> bool {
        value::read_date(&self.written(span)).is_some()
    }

    fn read_constant(&mut self, one: &mut TypedNode, wanted: ValueType) {
        let taken = TypedNode {
            node: std::mem::replace(&mut one.node, ExpressionNode::Blank),
            of: one.of,
            span: one.span,
        };
        // Blank compares with everything.
        if taken
            .node
            .constant_text()
            .is_some_and(|text| text.trim().is_empty())
        {
            one.of = ValueType::Blank;
            return;
        }
        one.node = self.fit(taken, wanted);
        one.of = wanted;
    }
}

fn shifted(date: TypedNode, sign: AdditiveOperator, days: TypedNode) -> TypedNode {
    let span = date.span.to(days.span);
    TypedNode {
        node: ExpressionNode::Shift(date.node.into(), sign, days.node.into()),
        of: ValueType::Date,
        span,
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
