//! Operators.

use audience::value;
use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};

use super::blank::{self, IgnoredBlank};
use super::{TreeBuilder, TypedNode};
use crate::node::{AdditiveOperator, ComparisonOperator, ExpressionNode, MultiplicativeOperator};
use crate::problem::SourceSpan;
use crate::value::ValueType;

impl TreeBuilder<'_> {
    pub(super) fn operator(&mut self, call: &CallExpr, span: SourceSpan) -> TypedNode {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::ADD, [left, right]) => self.add(left, right, span),
            (operators::SUBSTRACT, [left, right]) => self.subtract(left, right),
            (operators::MULTIPLY, [left, right]) => self.multiply(left, MultiplicativeOperator::Times, right),
            (operators::DIVIDE, [left, right]) => self.multiply(left, MultiplicativeOperator::Over, right),
            (operators::MODULO, [left, right]) => self.multiply(left, MultiplicativeOperator::Modulo, right),
            (operators::EQUALS, [left, right]) => self.compare(left, ComparisonOperator::Equal, right, span),
            (operators::NOT_EQUALS, [left, right]) => {
                self.compare(left, ComparisonOperator::NotEqual, right, span)
            }
            (operators::LESS, [left, right]) => self.compare(left, ComparisonOperator::Less, right, span),
            (operators::LESS_EQUALS, [left, right]) => {
                self.compare(left, ComparisonOperator::LessOrEqual, right, span)
            }
            (operators::GREATER, [left, right]) => {
                self.compare(left, ComparisonOperator::Greater, right, span)
            }
            (operators::GREATER_EQUALS, [left, right]) => {
                self.compare(left, ComparisonOperator::GreaterOrEqual, right, span)
            }
            (operators::LOGICAL_AND, [left, right]) => self.both(left, right, true),
            (operators::LOGICAL_OR, [left, right]) => self.both(left, right, false),
            (operators::LOGICAL_NOT, [one]) => {
                let one = self.expression(one);
                let whole = one.span.to(span);
                TypedNode {
                    node: ExpressionNode::Not(self.condition(one).into()),
                    of: ValueType::YesNo,
                    span: whole,
                }
            }
            (operators::NEGATE, [one]) => {
                let one = self.expression(one);
                let whole = one.span.to(span);
                TypedNode {
                    node: ExpressionNode::Negate(self.number(one).into()),
                    of: ValueType::Number,
                    span: whole,
                }
            }
            (operators::CONDITIONAL, [condition, yes, no]) => self.choice(condition, yes, no),
            (operators::IN, [needle, list]) => self.one_of(needle, list),
            (operators::INDEX, _) => self.refuse(span.problem(
                "Square brackets hold a list behind in; a part of a text is MID(text, start, count).",
            )),
            _ => self.refuse(span.problem("This has no meaning in a formula.")),
        }
    }

    fn add(&mut self, left: &IdedExpr, right: &IdedExpr, sign: SourceSpan) -> TypedNode {
        let (left, right) = (self.expression(left), self.expression(right));
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

    fn subtract(&mut self, left: &IdedExpr, right: &IdedExpr) -> TypedNode {
        let (left, right) = (self.expression(left), self.expression(right));
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
        left: &IdedExpr,
        factor: MultiplicativeOperator,
        right: &IdedExpr,
    ) -> TypedNode {
        let (left, right) = (self.expression(left), self.expression(right));
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

    fn compare(
        &mut self,
        left: &IdedExpr,
        comparison: ComparisonOperator,
        right: &IdedExpr,
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

    fn both(&mut self, left: &IdedExpr, right: &IdedExpr, is_and: bool) -> TypedNode {
        let (left, right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        let mut nodes = Vec::new();
        for one in [left, right] {
            // CEL parses a chain as a balanced tree; it has no brackets left that could matter.
            match (self.condition(one), is_and) {
                (ExpressionNode::All(own), true) | (ExpressionNode::Any(own), false) => {
                    nodes.extend(own)
                }
                (node, _) => nodes.push(node),
            }
        }
        let node = if is_and {
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

    fn choice(&mut self, condition: &IdedExpr, yes: &IdedExpr, no: &IdedExpr) -> TypedNode {
        let condition = self.expression(condition);
        let yes = self.expression_where(&blank::known(&condition.node, true), yes);
        let no = self.expression_where(&blank::known(&condition.node, false), no);
        let span = condition.span.to(no.span);
        let of = yes.of.or(no.of);
        let node = ExpressionNode::Choose(Box::new([self.condition(condition), yes.node, no.node]));
        TypedNode { node, of, span }
    }

    fn one_of(&mut self, needle: &IdedExpr, list: &IdedExpr) -> TypedNode {
        let needle = self.expression(needle);
        let Expr::List(list) = &list.expr else {
            let span = self.syntax.span(list.id);
            let message = "Behind in stands a list, as in state in [\"TX\", \"OK\"]; CONTAINS looks into a text.";
            return self.refuse(span.problem(message));
        };
        let (span, of) = (needle.span, needle.of);
        let mut nodes = Vec::with_capacity(list.elements.len());
        for element in &list.elements {
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
