//! From tokens to a syntax tree.
//!
//! The grammar is that of CEL's operators, without its maps, messages and macros. From the loosest to the tightest:
//! a choice, `||`, `&&`, comparisons and `in`, sums, products, signs, members and calls. Everything but a choice groups
//! from left to right.
//!
//! One function reads one level. Brackets are all that it recurses over, and [`shape`](crate::shape) has counted them
//! before; what grows without brackets is read in loops.

use crate::limits::MAX_SYNTAX_LEVELS;
use crate::node::{AdditiveOperator, ComparisonOperator, MultiplicativeOperator};
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::scan::{FormulaToken, TokenKind, read_number};
use crate::shape::{is_called, is_in};
use crate::syntax::{ChainLink, SyntaxKind, SyntaxNode};

const COMPARISONS: [(&str, ComparisonOperator); 6] = [
    ("==", ComparisonOperator::Equal),
    ("!=", ComparisonOperator::NotEqual),
    ("<", ComparisonOperator::Less),
    ("<=", ComparisonOperator::LessOrEqual),
    (">", ComparisonOperator::Greater),
    (">=", ComparisonOperator::GreaterOrEqual),
];

const ADDITIVE: [(&str, AdditiveOperator); 2] = [
    ("+", AdditiveOperator::Plus),
    ("-", AdditiveOperator::Minus),
];

const MULTIPLICATIVE: [(&str, MultiplicativeOperator); 3] = [
    ("*", MultiplicativeOperator::Times),
    ("/", MultiplicativeOperator::Over),
    ("%", MultiplicativeOperator::Modulo),
];

type Parsed<'a> = Result<SyntaxNode<'a>, FormulaDiagnostic>;

/// Reads tokens whose [`shape`](crate::shape) is in order. What can still be wrong is a choice that lacks a half, and a
/// sign, a comma or a point where it has no meaning.
pub(crate) fn parse(tokens: &[FormulaToken]) -> Parsed<'_> {
    let mut parser = FormulaParser { tokens, at: 0 };
    let root = parser.parse_choice()?;
    match parser.peek_token() {
        None => Ok(root),
        Some(rest) => Err(unexpected_token(rest)),
    }
}

struct FormulaParser<'a> {
    tokens: &'a [FormulaToken],
    at: usize,
}

impl<'a> FormulaParser<'a> {
    fn peek_token(&self) -> Option<&'a FormulaToken> {
        self.tokens.get(self.at)
    }

    /// Whether this symbol comes next.
    fn is_next(&self, symbol: &str) -> bool {
        self.peek_token()
            .is_some_and(|token| token.is_symbol(symbol))
    }

    /// The next token, when it is this symbol.
    fn take_symbol(&mut self, symbol: &str) -> Option<&'a FormulaToken> {
        let token = self.peek_token().filter(|token| token.is_symbol(symbol))?;
        self.at += 1;
        Some(token)
    }

    /// The next operator, when it is one of these.
    fn take_operator<Operator: Copy>(
        &mut self,
        operators: &[(&str, Operator)],
    ) -> Option<(Operator, SourceSpan)> {
        let token = self.peek_token()?;
        let (_, operator) = operators
            .iter()
            .find(|(symbol, _)| token.is_symbol(symbol))?;
        self.at += 1;
        Some((*operator, token.span))
    }

    /// A problem of the next token, or of the last one.
    fn unexpected_next(&self) -> FormulaDiagnostic {
        match self.peek_token().or(self.tokens.last()) {
            Some(token) => unexpected_token(token),
            None => SourceSpan::empty_at(0).to_problem("The formula is empty."),
        }
    }

    /// A node above others, of which the highest has so many levels.
    fn build_node(&self, kind: SyntaxKind<'a>, span: SourceSpan, below: usize) -> Parsed<'a> {
        if below >= MAX_SYNTAX_LEVELS {
            return Err(FormulaDiagnostic::too_deep(self.whole_span()));
        }
        Ok(SyntaxNode {
            kind,
            span,
            height: below + 1,
        })
    }

    fn whole_span(&self) -> SourceSpan {
        match self.tokens {
            [first, .., last] => first.span.union(last.span),
            [only] => only.span,
            [] => SourceSpan::empty_at(0),
        }
    }

    /// `condition ? value : other`, where the other may be a choice again; in the middle one stands in brackets.
    fn parse_choice(&mut self) -> Parsed<'a> {
        let mut chosen = Vec::new();
        let mut last = self.parse_or()?;
        while let Some(question) = self.take_symbol("?") {
            let value = self.parse_or()?;
            if self.take_symbol(":").is_none() {
                let place = self.peek_token().filter(|next| next.is_symbol("?"));
                return Err(unexpected_token(place.unwrap_or(question)));
            }
            chosen.push((question.span, last, value));
            if chosen.len() > MAX_SYNTAX_LEVELS {
                return Err(FormulaDiagnostic::too_deep(self.whole_span()));
            }
            last = self.parse_or()?;
        }
        for (question, condition, value) in chosen.into_iter().rev() {
            let below = condition.height.max(value.height).max(last.height);
            let kind = SyntaxKind::Choice(Box::new([condition, value, last]));
            last = self.build_node(kind, question, below)?;
        }
        Ok(last)
    }

    fn parse_or(&mut self) -> Parsed<'a> {
        self.parse_conditions("||", Self::parse_and, SyntaxKind::Any)
    }

    fn parse_and(&mut self) -> Parsed<'a> {
        self.parse_conditions("&&", Self::parse_comparison, SyntaxKind::All)
    }

    /// Conditions with this symbol between them, or what stands alone.
    fn parse_conditions(
        &mut self,
        symbol: &str,
        tighter: impl Fn(&mut Self) -> Parsed<'a>,
        kind: impl Fn(Vec<SyntaxNode<'a>>) -> SyntaxKind<'a>,
    ) -> Parsed<'a> {
        let first = tighter(self)?;
        let Some(sign) = self.take_symbol(symbol) else {
            return Ok(first);
        };
        let mut operands = vec![first, tighter(self)?];
        while self.take_symbol(symbol).is_some() {
            operands.push(tighter(self)?);
        }
        let below = max_height(operands.iter());
        self.build_node(kind(operands), sign.span, below)
    }

    fn parse_comparison(&mut self) -> Parsed<'a> {
        let mut left = self.parse_sum()?;
        loop {
            let (comparison, sign) = match self.peek_token() {
                Some(token) if is_in(token) => {
                    self.at += 1;
                    (None, token.span)
                }
                _ => match self.take_operator(&COMPARISONS) {
                    Some((comparison, sign)) => (Some(comparison), sign),
                    None => return Ok(left),
                },
            };
            let right = self.parse_sum()?;
            let below = left.height.max(right.height);
            let both = Box::new([left, right]);
            let kind = match comparison {
                Some(comparison) => SyntaxKind::Compare(comparison, both),
                None => SyntaxKind::OneOf(both),
            };
            left = self.build_node(kind, sign, below)?;
        }
    }

    fn parse_sum(&mut self) -> Parsed<'a> {
        self.parse_chain(&ADDITIVE, Self::parse_product, SyntaxKind::Sum)
    }

    fn parse_product(&mut self) -> Parsed<'a> {
        self.parse_chain(&MULTIPLICATIVE, Self::parse_signed, SyntaxKind::Product)
    }

    /// Operands with any of these operators between them, or what stands alone.
    fn parse_chain<Operator: Copy>(
        &mut self,
        operators: &[(&str, Operator)],
        tighter: impl Fn(&mut Self) -> Parsed<'a>,
        kind: impl Fn(Box<SyntaxNode<'a>>, Vec<ChainLink<'a, Operator>>) -> SyntaxKind<'a>,
    ) -> Parsed<'a> {
        let first = tighter(self)?;
        let mut links: Vec<ChainLink<'a, Operator>> = Vec::new();
        while let Some((operator, sign)) = self.take_operator(operators) {
            let operand = tighter(self)?;
            links.push(ChainLink {
                operator,
                sign,
                operand,
            });
        }
        let Some(sign) = links.first().map(|link| link.sign) else {
            return Ok(first);
        };
        let below = max_height(links.iter().map(|link| &link.operand)).max(first.height);
        self.build_node(kind(first.into(), links), sign, below)
    }

    /// Any number of `!`, or of `-`: two of them are none. They do not mix, as one makes conditions and one numbers.
    /// A single `-` before a number is the number's: `-5.ABS()` is 5.
    fn parse_signed(&mut self) -> Parsed<'a> {
        let Some(first) = self
            .peek_token()
            .filter(|token| token.is_symbol("!") || token.is_symbol("-"))
            .filter(|_| !self.is_negative_number())
        else {
            return self.parse_member();
        };
        let is_not = first.is_symbol("!");
        let sign = if is_not { "!" } else { "-" };
        let mut is_odd = false;
        while self.is_next(sign) {
            self.at += 1;
            is_odd = !is_odd;
        }
        let operand = self.parse_member()?;
        if !is_odd {
            return Ok(operand);
        }
        let below = operand.height;
        let operand = Box::new(operand);
        let kind = match is_not {
            true => SyntaxKind::Not(operand),
            false => SyntaxKind::Negate(operand),
        };
        self.build_node(kind, first.span, below)
    }

    /// Whether a `-` comes next that belongs to the number behind it.
    fn is_negative_number(&self) -> bool {
        let number = self.tokens.get(self.at + 1);
        self.is_next("-") && number.is_some_and(|token| token.kind == TokenKind::Number)
    }

    /// An operand with what is asked of it behind points: `first_name.trim()`.
    fn parse_member(&mut self) -> Parsed<'a> {
        let mut node = self.parse_operand()?;
        while let Some(point) = self.take_symbol(".") {
            let name = self.peek_token().ok_or_else(|| unexpected_token(point))?;
            let is_name = match name.kind {
                TokenKind::Braced(_) => true,
                TokenKind::Word => !is_in(name) && parse_literal(name).is_none(),
                _ => false,
            };
            if is_called(self.tokens, self.at) {
                node = self.parse_call(name, vec![node])?;
            } else if is_name {
                self.at += 1;
                let below = node.height;
                node = self.build_node(SyntaxKind::Member, point.span, below)?;
            } else {
                return Err(unexpected_token(name));
            }
        }
        Ok(node)
    }

    fn parse_operand(&mut self) -> Parsed<'a> {
        let token = self.peek_token().ok_or_else(|| self.unexpected_next())?;
        if is_called(self.tokens, self.at) {
            return self.parse_call(token, Vec::new());
        }
        if self.is_negative_number() {
            let number = &self.tokens[self.at + 1];
            self.at += 2;
            let value = -read_number(&number.source).ok_or_else(|| unexpected_token(number))?;
            return self.build_node(SyntaxKind::Number(value), token.span.union(number.span), 0);
        }
        let kind = match &token.kind {
            TokenKind::Symbol("(") => {
                self.at += 1;
                let inside = self.parse_choice()?;
                self.expect_closing(")")?;
                return Ok(inside);
            }
            TokenKind::Symbol("[") => {
                self.at += 1;
                let values = self.parse_values("]", Vec::new())?;
                let below = max_height(values.iter());
                return self.build_node(SyntaxKind::List(values), token.span, below);
            }
            TokenKind::Number => SyntaxKind::Number(
                read_number(&token.source).ok_or_else(|| unexpected_token(token))?,
            ),
            TokenKind::Text(text) => SyntaxKind::Text(text),
            TokenKind::Braced(_) => SyntaxKind::Column(token),
            TokenKind::Word if !is_in(token) => {
                parse_literal(token).unwrap_or(SyntaxKind::Column(token))
            }
            TokenKind::Word | TokenKind::Symbol(_) => return Err(unexpected_token(token)),
        };
        self.at += 1;
        self.build_node(kind, token.span, 0)
    }

    /// A function, whose name and bracket come next, with what is already there of its arguments.
    fn parse_call(&mut self, name: &'a FormulaToken, arguments: Vec<SyntaxNode<'a>>) -> Parsed<'a> {
        self.at += 2;
        let arguments = if self.take_symbol(")").is_some() {
            arguments
        } else {
            self.parse_values(")", arguments)?
        };
        let below = max_height(arguments.iter());
        self.build_node(SyntaxKind::Call(name, arguments), name.span, below)
    }

    /// Values with commas between them up to the closing bracket, behind those that are there.
    fn parse_values(
        &mut self,
        closing: &str,
        mut values: Vec<SyntaxNode<'a>>,
    ) -> Result<Vec<SyntaxNode<'a>>, FormulaDiagnostic> {
        values.push(self.parse_choice()?);
        while self.take_symbol(",").is_some() {
            values.push(self.parse_choice()?);
        }
        self.expect_closing(closing)?;
        Ok(values)
    }

    fn expect_closing(&mut self, closing: &str) -> Result<(), FormulaDiagnostic> {
        match self.take_symbol(closing) {
            Some(_) => Ok(()),
            None => Err(self.unexpected_next()),
        }
    }
}

/// The levels of the highest of some nodes.
fn max_height<'n, 'a: 'n>(nodes: impl Iterator<Item = &'n SyntaxNode<'a>>) -> usize {
    nodes.map(|node| node.height).max().unwrap_or(0)
}

/// The literal that a word is, in any case: spreadsheets write TRUE.
fn parse_literal<'a>(word: &FormulaToken) -> Option<SyntaxKind<'a>> {
    let is = |literal: &str| word.source.eq_ignore_ascii_case(literal);
    if is("true") {
        Some(SyntaxKind::YesNo(true))
    } else if is("false") {
        Some(SyntaxKind::YesNo(false))
    } else if is("null") {
        Some(SyntaxKind::Null)
    } else {
        None
    }
}

fn unexpected_token(token: &FormulaToken) -> FormulaDiagnostic {
    let message = match token.source.as_str() {
        "?" | ":" => {
            "A choice is written condition ? value : other, or IF(condition, value, other)."
                .to_owned()
        }
        other => format!("{other} does not fit here."),
    };
    token.span.to_problem(message)
}

#[cfg(test)]
mod oracle_tests;
