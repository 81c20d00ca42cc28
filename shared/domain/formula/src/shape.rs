//! Does every operator have its values and every bracket its other half?
//!
//! The parser would stop at the first mistake; this one goes on, and knows what was meant.

use crate::limits::{MAX_NESTING, MAX_PROBLEMS};
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::scan::{FormulaToken, TokenKind};

/// Checks the order of the tokens. `is_column` says whether there is a column of a name.
pub(crate) fn check_token_order(
    tokens: &[FormulaToken],
    is_column: &dyn Fn(&str) -> bool,
) -> Result<(), Vec<FormulaDiagnostic>> {
    let mut shape = TokenOrderChecker {
        tokens,
        is_column,
        open: Vec::new(),
        wants_value: true,
        problems: Vec::new(),
    };
    for at in 0..tokens.len() {
        shape.check_token(at);
        if shape.problems.len() >= MAX_PROBLEMS || shape.open.len() > MAX_NESTING {
            return Err(shape.problems);
        }
    }
    shape.check_end();
    if shape.problems.is_empty() {
        Ok(())
    } else {
        Err(shape.problems)
    }
}

/// Whether the word at this place is the name of a function that is called.
pub(crate) fn is_called(tokens: &[FormulaToken], at: usize) -> bool {
    tokens[at].kind == TokenKind::Word
        && !is_in(&tokens[at])
        && tokens.get(at + 1).is_some_and(|next| next.is_symbol("("))
}

/// Whether the token is the operator `in`, in any case.
pub(crate) fn is_in(token: &FormulaToken) -> bool {
    token.kind == TokenKind::Word && token.source.eq_ignore_ascii_case("in")
}

struct TokenOrderChecker<'a> {
    tokens: &'a [FormulaToken],
    is_column: &'a dyn Fn(&str) -> bool,
    /// Positions of the brackets that are open.
    open: Vec<usize>,
    /// Whether a value must come next, and not an operator.
    wants_value: bool,
    problems: Vec<FormulaDiagnostic>,
}

impl TokenOrderChecker<'_> {
    fn check_token(&mut self, at: usize) {
        let token = &self.tokens[at];
        match &token.kind {
            TokenKind::Symbol("(") => self.open_round(at),
            TokenKind::Symbol("[") => self.open_square(at),
            TokenKind::Symbol(closing @ (")" | "]")) => self.close_bracket(at, closing),
            TokenKind::Symbol(",") => self.check_comma(at),
            TokenKind::Symbol("-" | "!") if self.wants_value => {}
            TokenKind::Symbol(_) => self.check_operator(at),
            TokenKind::Word if is_in(token) => self.check_operator(at),
            TokenKind::Word if self.is_not_in(at) => {
                self.add_problem(at, "Not in a list is written !(value in [...]).")
            }
            TokenKind::Word if self.is_spelled_out(at) => self.wants_value = true,
            _ => self.check_value(at),
        }
    }

    fn check_value(&mut self, at: usize) {
        if !self.wants_value {
            self.missing_operator(at);
        }
        // The bracket behind a function's name comes next, and then its first argument.
        self.wants_value = is_called(self.tokens, at);
    }

    fn check_operator(&mut self, at: usize) {
        if self.wants_value {
            self.missing_value(at);
        }
        self.wants_value = true;
    }

    fn check_comma(&mut self, at: usize) {
        if self.wants_value {
            self.missing_value(at);
        }
        let is_within_call = self
            .open
            .last()
            .is_some_and(|open| *open > 0 && is_called(self.tokens, open - 1));
        if !is_within_call && self.is_thousands(at) {
            let (first, last) = (&self.tokens[at - 1], &self.tokens[at + 1]);
            let problem = first
                .span
                .union(last.span)
                .to_problem("A number is written without commas.");
            self.problems
                .push(problem.with_suggestion(format!("{}{}", first.source, last.source)));
        } else if self.open.is_empty() {
            self.add_problem(
                at,
                "A comma stands between the arguments of a function, within its brackets.",
            );
        }
        self.wants_value = true;
    }

    /// Whether the comma stands in a number, as in 1,000: three digits follow at once.
    fn is_thousands(&self, at: usize) -> bool {
        let (Some(before), Some(behind)) = (
            at.checked_sub(1).map(|at| &self.tokens[at]),
            self.tokens.get(at + 1),
        ) else {
            return false;
        };
        let comma = self.tokens[at].span.offset;
        let is_joined =
            before.span.offset + before.span.length == comma && behind.span.offset == comma + 1;
        let is_group =
            behind.source.len() == 3 && behind.source.bytes().all(|digit| digit.is_ascii_digit());
        before.kind == TokenKind::Number
            && behind.kind == TokenKind::Number
            && is_joined
            && is_group
    }

    fn open_round(&mut self, at: usize) {
        if !self.wants_value {
            self.missing_operator(at);
        }
        self.push_open(at);
    }

    fn open_square(&mut self, at: usize) {
        if !self.wants_value {
            self.add_problem(
                at,
                "Square brackets hold a list behind in, as in state in [\"TX\", \"OK\"].",
            );
        }
        self.push_open(at);
    }

    fn push_open(&mut self, at: usize) {
        self.open.push(at);
        self.wants_value = true;
        if self.open.len() > MAX_NESTING {
            self.add_problem(at, format!("Brackets may be nested {MAX_NESTING} deep."));
        }
    }

    fn close_bracket(&mut self, at: usize, closing: &str) {
        let Some(opening) = self.open.pop() else {
            self.wants_value = false;
            return self.add_problem(at, format!("There is no open bracket for this {closing}."));
        };
        let is_pair = self.tokens[opening].is_symbol(if closing == ")" { "(" } else { "[" });
        if !is_pair {
            self.add_problem(
                at,
                format!("This {closing} closes a {}.", self.tokens[opening].source),
            );
        }
        let is_empty_call = opening + 1 == at && opening > 0 && is_called(self.tokens, opening - 1);
        if self.wants_value && !is_empty_call {
            self.missing_value(at);
        }
        self.wants_value = false;
    }

    fn check_end(&mut self) {
        if self.tokens.is_empty() {
            return self
                .problems
                .push(SourceSpan::empty_at(0).to_problem("The formula is empty."));
        }
        if let Some(opening) = self.open.last() {
            let bracket = &self.tokens[*opening].source;
            return self.add_problem(*opening, format!("This {bracket} is not closed."));
        }
        if self.wants_value {
            let last = self.tokens.len() - 1;
            self.missing_behind(last);
        }
    }

    /// AND, OR and NOT between or before values.
    fn is_spelled_out(&mut self, at: usize) -> bool {
        let token = &self.tokens[at];
        let works = match token.source.to_ascii_uppercase().as_str() {
            "AND" if !self.wants_value => "&&",
            "OR" if !self.wants_value => "||",
            "NOT" if self.wants_value && self.is_value_next(at) => "!",
            _ => return false,
        };
        let word = token.source.to_ascii_uppercase();
        let message = format!("Write {works} here, or {word}(...) around the conditions.");
        self.problems
            .push(token.span.to_problem(message).with_suggestion(works));
        true
    }

    /// NOT before an IN.
    fn is_not_in(&self, at: usize) -> bool {
        !self.wants_value
            && self.tokens[at].source.eq_ignore_ascii_case("not")
            && self.tokens.get(at + 1).is_some_and(is_in)
    }

    fn is_value_next(&self, at: usize) -> bool {
        self.tokens
            .get(at + 1)
            .is_some_and(|next| !matches!(next.kind, TokenKind::Symbol(_)))
    }

    fn missing_operator(&mut self, at: usize) {
        let (before, token) = (&self.tokens[at.saturating_sub(1)], &self.tokens[at]);
        let both = format!("{} {}", before.source, token.source);
        let problem = match (&before.kind, &token.kind) {
            (TokenKind::Word, TokenKind::Word) if (self.is_column)(&both) => before
                .span
                .union(token.span)
                .to_problem("The name of a column with a space stands in braces.")
                .with_suggestion(format!("{{{both}}}")),
            _ => {
                let message = format!(
                    "Between {} and {} an operator or a comma is missing.",
                    before.source, token.source
                );
                token.span.to_problem(message)
            }
        };
        self.problems.push(problem);
    }

    fn missing_behind(&mut self, at: usize) {
        match at.checked_sub(1).map(|before| &self.tokens[before]) {
            Some(number) if self.tokens[at].is_symbol("%") && number.kind == TokenKind::Number => {
                let problem = number
                    .span
                    .union(self.tokens[at].span)
                    .to_problem("A percentage is divided by 100.");
                self.problems
                    .push(problem.with_suggestion(format!("{} / 100", number.source)));
            }
            _ => self.add_problem(at, "A value is missing behind this."),
        }
    }

    fn missing_value(&mut self, at: usize) {
        if at > 1
            && self.tokens[at - 1].is_symbol("%")
            && self.tokens[at - 2].kind == TokenKind::Number
        {
            return self.missing_behind(at - 1);
        }
        let token = &self.tokens[at];
        let message = match at.checked_sub(1).map(|before| &self.tokens[before].source) {
            Some(before) => {
                format!(
                    "Between {before} and {} a value is missing; blank is written \"\".",
                    token.source
                )
            }
            None => format!("Before {} a value is missing.", token.source),
        };
        self.problems.push(token.span.to_problem(message));
    }

    fn add_problem(&mut self, at: usize, message: impl Into<String>) {
        self.problems.push(self.tokens[at].span.to_problem(message));
    }
}
