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
    pub(super) fn build_negation(&mut self, one: &SyntaxNode<'_>, sign: SourceSpan) -> TypedNode {
        let one = self.build_expression(one);
        let span = one.span.union(sign);
        TypedNode {
            node: ExpressionNode::Negate(self.coerce_to_number(one).into()),
            of: ValueType::Number,
            span,
        }
    }

    /// `!` before a condition.
    pub(super) fn build_not(&mut self, one: &SyntaxNode<'_>, sign: SourceSpan) -> TypedNode {
        let one = self.build_expression(one);
        let span = one.span.union(sign);
        TypedNode {
            node: ExpressionNode::Not(self.coerce_to_condition(one).into()),
            of: ValueType::YesNo,
            span,
        }
    }

    pub(super) fn build_sum(
        &mut self,
        first: &SyntaxNode<'_>,
        links: &[ChainLink<'_, AdditiveOperator>],
    ) -> TypedNode {
        let mut left = self.build_expression(first);
        for link in links {
            let right = self.build_expression(&link.operand);
            left = match link.operator {
                AdditiveOperator::Plus => self.build_addition(left, right, link.sign),
                AdditiveOperator::Minus => self.build_subtraction(left, right),
            };
        }
        left
    }

    pub(super) fn build_product(
        &mut self,
        first: &SyntaxNode<'_>,
        links: &[ChainLink<'_, MultiplicativeOperator>],
    ) -> TypedNode {
        let mut left = self.build_expression(first);
        for link in links {
            let right = self.build_expression(&link.operand);
            left = self.append_factor(left, link.operator, right);
        }
        left
    }

    fn build_addition(&mut self, left: TypedNode, right: TypedNode, sign: SourceSpan) -> TypedNode {
        let span = left.span.union(right.span);
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
                self.overlooked
                    .extend(IgnoredBlank::from_join(&parts, span));
                TypedNode {
                    node: ExpressionNode::Join(parts),
                    of: ValueType::Text,
                    span,
                }
            }
            (ValueType::Date, ValueType::Number | ValueType::Blank) => {
                build_date_shift(left, AdditiveOperator::Plus, right)
            }
            (ValueType::Number | ValueType::Blank, ValueType::Date) => {
                build_date_shift(right, AdditiveOperator::Plus, left)
            }
            (ValueType::Date, ValueType::Date) => {
                self.reject_expression(sign.to_problem(
                    "Two dates cannot be added; the days between them are end - start.",
                ))
            }
            _ => self.append_summand(left, AdditiveOperator::Plus, right),
        }
    }

    fn build_subtraction(&mut self, left: TypedNode, right: TypedNode) -> TypedNode {
        match (left.of, right.of) {
            (ValueType::Date, ValueType::Date | ValueType::Text)
            | (ValueType::Text | ValueType::Blank, ValueType::Date) => {
                let span = left.span.union(right.span);
                let (later, earlier) = (self.coerce_to_date(left), self.coerce_to_date(right));
                TypedNode {
                    node: ExpressionNode::DaysBetween(later.into(), earlier.into()),
                    of: ValueType::Number,
                    span,
                }
            }
            (ValueType::Date, ValueType::Number | ValueType::Blank) => {
                build_date_shift(left, AdditiveOperator::Minus, right)
            }
            _ => self.append_summand(left, AdditiveOperator::Minus, right),
        }
    }

    fn append_summand(
        &mut self,
        left: TypedNode,
        sign: AdditiveOperator,
        right: TypedNode,
    ) -> TypedNode {
        let span = left.span.union(right.span);
        let node = match self.coerce_to_number(left) {
            ExpressionNode::Sum(first, mut rest) => {
                rest.push((sign, self.coerce_to_number(right)));
                ExpressionNode::Sum(first, rest)
            }
            first => ExpressionNode::Sum(first.into(), vec![(sign, self.coerce_to_number(right))]),
        };
        TypedNode {
            node,
            of: ValueType::Number,
            span,
        }
    }

    fn append_factor(
        &mut self,
        left: TypedNode,
        factor: MultiplicativeOperator,
        right: TypedNode,
    ) -> TypedNode {
        let span = left.span.union(right.span);
        let node = match self.coerce_to_number(left) {
            ExpressionNode::Product(first, mut rest) => {
                rest.push((factor, self.coerce_to_number(right)));
                ExpressionNode::Product(first, rest)
            }
            first => {
                ExpressionNode::Product(first.into(), vec![(factor, self.coerce_to_number(right))])
            }
        };
        TypedNode {
            node,
            of: ValueType::Number,
            span,
        }
    }

    pub(super) fn build_comparison(
        &mut self,
        comparison: ComparisonOperator,
        [left, right]: &[SyntaxNode<'_>; 2],
        sign: SourceSpan,
    ) -> TypedNode {
        let (mut left, mut right) = (self.build_expression(left), self.build_expression(right));
        let span = left.span.union(right.span);
        self.unify_types(&mut left, &mut right);
        let is_order = !matches!(
            comparison,
            ComparisonOperator::Equal | ComparisonOperator::NotEqual
        );
        if is_order && (left.of == ValueType::YesNo || right.of == ValueType::YesNo) {
            let message = "Yes and no have no order; compare them with == or !=.";
            return self.reject_expression(sign.to_problem(message));
        }
        let node = ExpressionNode::Compare(comparison, left.node.into(), right.node.into());
        TypedNode {
            node,
            of: ValueType::YesNo,
            span,
        }
    }

    /// Conditions that all hold, or of which any does.
    pub(super) fn build_conditions(
        &mut self,
        written: &[SyntaxNode<'_>],
        is_all: bool,
    ) -> TypedNode {
        let conditions: Vec<TypedNode> = written
            .iter()
            .map(|one| self.build_expression(one))
            .collect();
        let spans = conditions.iter().map(|one| one.span);
        let span = spans
            .reduce(SourceSpan::union)
            .unwrap_or(SourceSpan::empty_at(0));
        let mut nodes = Vec::with_capacity(conditions.len());
        for one in conditions {
            // Brackets around the same operator do not matter.
            match (self.coerce_to_condition(one), is_all) {
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

    pub(super) fn build_choice(&mut self, [condition, yes, no]: &[SyntaxNode<'_>; 3]) -> TypedNode {
        let condition = self.build_expression(condition);
        let yes =
            self.build_with_non_blank(&blank::find_non_blank_columns(&condition.node, true), yes);
        let no =
            self.build_with_non_blank(&blank::find_non_blank_columns(&condition.node, false), no);
        let span = condition.span.union(no.span);
        let of = yes.of.common_type(no.of);
        let node = ExpressionNode::Choose(Box::new([
            self.coerce_to_condition(condition),
            yes.node,
            no.node,
        ]));
        TypedNode { node, of, span }
    }

    pub(super) fn build_in_list(&mut self, [needle, list]: &[SyntaxNode<'_>; 2]) -> TypedNode {
        let needle = self.build_expression(needle);
        let SyntaxKind::List(list) = &list.kind else {
            let span = list.span;
            let message = "Behind in stands a list, as in state in [\"TX\", \"OK\"]; CONTAINS looks into a text.";
            return self.reject_expression(span.to_problem(message));
        };
        let (span, of) = (needle.span, needle.of);
        let mut nodes = Vec::with_capacity(list.len());
        for element in list {
            let element = self.build_expression(element);
            nodes.push(self.coerce_list_element(element, of));
        }
        TypedNode {
            node: ExpressionNode::OneOf(needle.node.into(), nodes),
            of: ValueType::YesNo,
            span,
        }
    }

    /// A value of a list, or a case, in which one of this type is looked for.
    pub(super) fn coerce_list_element(
        &mut self,
        mut element: TypedNode,
        wanted: ValueType,
    ) -> ExpressionNode {
        match (element.of, wanted) {
            (one, same) if one == same => {}
            (ValueType::Blank, _) | (_, ValueType::Blank) => {}
            (ValueType::Text, _) => self.read_constant(&mut element, wanted),
            (other, ValueType::Text) => {
                let message = format!("A text is looked for, and this is {}.", other.describe());
                let problem = element.span.to_problem(message);
                let written = self.source_text(element.span);
                let is_literal = matches!(element.node, ExpressionNode::Constant(_));
                self.add_problem(if is_literal {
                    problem.with_suggestion(format!("\"{written}\""))
                } else {
                    problem
                });
            }
            (one, other) => {
                let message = format!(
                    "{} is not compared with {}.",
                    capitalise(other.describe()),
                    one.describe()
                );
                self.add_problem(element.span.to_problem(message));
            }
        }
        element.node
    }

    /// Two values that are compared must be of one type. A text that stands in the formula is read as a date or as
    /// yes or no beside one.
    fn unify_types(&mut self, left: &mut TypedNode, right: &mut TypedNode) {
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
                right.node = self.coerce_to(
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
                left.node = self.coerce_to(
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
                    capitalise(one.describe()),
                    other.describe()
                );
                let span = left.span.union(right.span);
                self.add_problem(span.to_problem(message));
            }
        }
    }

    /// Whether a date stands here without its quotes: a subtraction or a division to the parser.
    fn is_bare_date(&self, span: SourceSpan) -> bool {
        value::read_date(&self.source_text(span)).is_some()
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
        one.node = self.coerce_to(taken, wanted);
        one.of = wanted;
    }
}

fn build_date_shift(date: TypedNode, sign: AdditiveOperator, days: TypedNode) -> TypedNode {
    let span = date.span.union(days.span);
    TypedNode {
        node: ExpressionNode::Shift(date.node.into(), sign, days.node.into()),
        of: ValueType::Date,
        span,
    }
}

fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
