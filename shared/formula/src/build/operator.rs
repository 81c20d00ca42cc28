//! Operators.

use audience::value;
use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};

use super::blank::{self, Overlooked};
use super::{Builder, Built};
use crate::node::{Comparison, Factor, Node, Sign};
use crate::problem::Span;
use crate::value::Type;

impl Builder<'_> {
    pub(super) fn operator(&mut self, call: &CallExpr, span: Span) -> Built {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::ADD, [left, right]) => self.add(left, right, span),
            (operators::SUBSTRACT, [left, right]) => self.subtract(left, right),
            (operators::MULTIPLY, [left, right]) => self.multiply(left, Factor::Times, right),
            (operators::DIVIDE, [left, right]) => self.multiply(left, Factor::Over, right),
            (operators::MODULO, [left, right]) => self.multiply(left, Factor::Modulo, right),
            (operators::EQUALS, [left, right]) => self.compare(left, Comparison::Equal, right, span),
            (operators::NOT_EQUALS, [left, right]) => self.compare(left, Comparison::NotEqual, right, span),
            (operators::LESS, [left, right]) => self.compare(left, Comparison::Less, right, span),
            (operators::LESS_EQUALS, [left, right]) => {
                self.compare(left, Comparison::LessOrEqual, right, span)
            }
            (operators::GREATER, [left, right]) => self.compare(left, Comparison::Greater, right, span),
            (operators::GREATER_EQUALS, [left, right]) => {
                self.compare(left, Comparison::GreaterOrEqual, right, span)
            }
            (operators::LOGICAL_AND, [left, right]) => self.both(left, right, true),
            (operators::LOGICAL_OR, [left, right]) => self.both(left, right, false),
            (operators::LOGICAL_NOT, [one]) => {
                let one = self.expression(one);
                let whole = one.span.to(span);
                Built { node: Node::Not(self.condition(one).into()), of: Type::YesNo, span: whole }
            }
            (operators::NEGATE, [one]) => {
                let one = self.expression(one);
                let whole = one.span.to(span);
                Built { node: Node::Negate(self.number(one).into()), of: Type::Number, span: whole }
            }
            (operators::CONDITIONAL, [condition, yes, no]) => self.choice(condition, yes, no),
            (operators::IN, [needle, list]) => self.one_of(needle, list),
            (operators::INDEX, _) => self.refuse(span.problem(
                "Square brackets hold a list behind in; a part of a text is MID(text, start, count).",
            )),
            _ => self.refuse(span.problem("This has no meaning in a formula.")),
        }
    }

    fn add(&mut self, left: &IdedExpr, right: &IdedExpr, sign: Span) -> Built {
        let (left, right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        match (left.of, right.of) {
            (Type::Text, _) | (_, Type::Text) | (Type::Blank, Type::Blank) => {
                let mut parts = match left.node {
                    Node::Join(parts) => parts,
                    node => vec![node],
                };
                parts.push(right.node);
                // The longer join takes in what was said of the shorter one.
                self.overlooked.pop_if(|shorter| shorter.is_join() && shorter.span == left.span);
                self.overlooked.extend(Overlooked::in_join(&parts, span));
                Built { node: Node::Join(parts), of: Type::Text, span }
            }
            (Type::Date, Type::Number | Type::Blank) => shifted(left, Sign::Plus, right),
            (Type::Number | Type::Blank, Type::Date) => shifted(right, Sign::Plus, left),
            (Type::Date, Type::Date) => {
                self.refuse(sign.problem("Two dates cannot be added; the days between them are end - start."))
            }
            _ => self.summed(left, Sign::Plus, right),
        }
    }

    fn subtract(&mut self, left: &IdedExpr, right: &IdedExpr) -> Built {
        let (left, right) = (self.expression(left), self.expression(right));
        match (left.of, right.of) {
            (Type::Date, Type::Date | Type::Text) | (Type::Text | Type::Blank, Type::Date) => {
                let span = left.span.to(right.span);
                let (later, earlier) = (self.date(left), self.date(right));
                Built { node: Node::DaysBetween(later.into(), earlier.into()), of: Type::Number, span }
            }
            (Type::Date, Type::Number | Type::Blank) => shifted(left, Sign::Minus, right),
            _ => self.summed(left, Sign::Minus, right),
        }
    }

    fn summed(&mut self, left: Built, sign: Sign, right: Built) -> Built {
        let span = left.span.to(right.span);
        let node = match self.number(left) {
            Node::Sum(first, mut rest) => {
                rest.push((sign, self.number(right)));
                Node::Sum(first, rest)
            }
            first => Node::Sum(first.into(), vec![(sign, self.number(right))]),
        };
        Built { node, of: Type::Number, span }
    }

    fn multiply(&mut self, left: &IdedExpr, factor: Factor, right: &IdedExpr) -> Built {
        let (left, right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        let node = match self.number(left) {
            Node::Product(first, mut rest) => {
                rest.push((factor, self.number(right)));
                Node::Product(first, rest)
            }
            first => Node::Product(first.into(), vec![(factor, self.number(right))]),
        };
        Built { node, of: Type::Number, span }
    }

    fn compare(&mut self, left: &IdedExpr, comparison: Comparison, right: &IdedExpr, sign: Span) -> Built {
        let (mut left, mut right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        self.make_alike(&mut left, &mut right);
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if is_order && (left.of == Type::YesNo || right.of == Type::YesNo) {
            let message = "Yes and no have no order; compare them with == or !=.";
            return self.refuse(sign.problem(message));
        }
        let node = Node::Compare(comparison, left.node.into(), right.node.into());
        Built { node, of: Type::YesNo, span }
    }

    fn both(&mut self, left: &IdedExpr, right: &IdedExpr, is_and: bool) -> Built {
        let (left, right) = (self.expression(left), self.expression(right));
        let span = left.span.to(right.span);
        let mut nodes = Vec::new();
        for one in [left, right] {
            // CEL parses a chain as a balanced tree; it has no brackets left that could matter.
            match (self.condition(one), is_and) {
                (Node::All(own), true) | (Node::Any(own), false) => nodes.extend(own),
                (node, _) => nodes.push(node),
            }
        }
        let node = if is_and { Node::All(nodes) } else { Node::Any(nodes) };
        Built { node, of: Type::YesNo, span }
    }

    fn choice(&mut self, condition: &IdedExpr, yes: &IdedExpr, no: &IdedExpr) -> Built {
        let condition = self.expression(condition);
        let yes = self.expression_where(&blank::known(&condition.node, true), yes);
        let no = self.expression_where(&blank::known(&condition.node, false), no);
        let span = condition.span.to(no.span);
        let of = yes.of.or(no.of);
        let node = Node::Choose(Box::new([self.condition(condition), yes.node, no.node]));
        Built { node, of, span }
    }

    fn one_of(&mut self, needle: &IdedExpr, list: &IdedExpr) -> Built {
        let needle = self.expression(needle);
        let Expr::List(list) = &list.expr else {
            let span = self.syntax.span(list.id);
            let message =
                "Behind in stands a list, as in state in [\"TX\", \"OK\"]; CONTAINS looks into a text.";
            return self.refuse(span.problem(message));
        };
        let (span, of) = (needle.span, needle.of);
        let mut nodes = Vec::with_capacity(list.elements.len());
        for element in &list.elements {
            let element = self.expression(element);
            nodes.push(self.element(element, of));
        }
        Built { node: Node::OneOf(needle.node.into(), nodes), of: Type::YesNo, span }
    }

    /// A value of a list, or a case, in which one of this type is looked for.
    pub(super) fn element(&mut self, mut element: Built, wanted: Type) -> Node {
        match (element.of, wanted) {
            (one, same) if one == same => {}
            (Type::Blank, _) | (_, Type::Blank) => {}
            (Type::Text, _) => self.read_constant(&mut element, wanted),
            (other, Type::Text) => {
                let message = format!("A text is looked for, and this is {}.", other.in_words());
                let problem = element.span.problem(message);
                let written = self.written(element.span);
                let is_literal = matches!(element.node, Node::Constant(_));
                self.report(if is_literal { problem.suggesting(format!("\"{written}\"")) } else { problem });
            }
            (one, other) => {
                let message =
                    format!("{} is not compared with {}.", capitalised(other.in_words()), one.in_words());
                self.report(element.span.problem(message));
            }
        }
        element.node
    }

    /// Two values that are compared must be of one type. A text that stands in the formula is read as a date or as
    /// yes or no beside one.
    fn make_alike(&mut self, left: &mut Built, right: &mut Built) {
        match (left.of, right.of) {
            (one, same) if one == same => {}
            (Type::Blank, _) | (_, Type::Blank) => {}
            (Type::Text, other) if left.node.constant_text().is_some() => self.read_constant(left, other),
            (other, Type::Text) if right.node.constant_text().is_some() => self.read_constant(right, other),
            (Type::Text, other) => self.read_constant(left, other),
            (other, Type::Text) => self.read_constant(right, other),
            (Type::Date, Type::Number) if self.is_bare_date(right.span) => {
                let node = std::mem::replace(&mut right.node, Node::Blank);
                right.node = self.fit(Built { node, of: right.of, span: right.span }, Type::Date);
            }
            (Type::Number, Type::Date) if self.is_bare_date(left.span) => {
                let node = std::mem::replace(&mut left.node, Node::Blank);
                left.node = self.fit(Built { node, of: left.of, span: left.span }, Type::Date);
            }
            (one, other) => {
                let message =
                    format!("{} is not compared with {}.", capitalised(one.in_words()), other.in_words());
                let span = left.span.to(right.span);
                self.report(span.problem(message));
            }
        }
    }

    /// Whether a date stands here without its quotes: a subtraction or a division to the parser.
    fn is_bare_date(&self, span: Span) -> bool {
        value::read_date(&self.written(span)).is_some()
    }

    fn read_constant(&mut self, one: &mut Built, wanted: Type) {
        let taken = Built { node: std::mem::replace(&mut one.node, Node::Blank), of: one.of, span: one.span };
        // Blank compares with everything.
        if taken.node.constant_text().is_some_and(|text| text.trim().is_empty()) {
            one.of = Type::Blank;
            return;
        }
        one.node = self.fit(taken, wanted);
        one.of = wanted;
    }
}

fn shifted(date: Built, sign: Sign, days: Built) -> Built {
    let span = date.span.to(days.span);
    Built { node: Node::Shift(date.node.into(), sign, days.node.into()), of: Type::Date, span }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
