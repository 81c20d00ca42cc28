//! From characters to tokens.
//!
//! This knows what people write who come from spreadsheets, says where it is, and counts before anything recurses.

mod literal;
mod symbol;

pub(crate) use literal::read_number;

use crate::limits::{MAX_PROBLEMS, MAX_SOURCE_CHARS, MAX_TOKENS};
use crate::problem::{FormulaDiagnostic, SourceSpan};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A number, which [`read_number`] reads.
    Number,
    /// A text, without its quotes and with what its escapes stand for.
    Text(String),
    /// The name of a function, or of a column without braces.
    Word,
    /// A column's name that stood in braces.
    Braced(String),
    /// An operator, a bracket or a comma.
    Symbol(&'static str),
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormulaToken {
    pub(crate) kind: TokenKind,
    pub(crate) span: SourceSpan,
    /// As it stands in the source.
    pub(crate) source: String,
}

impl FormulaToken {
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(own) if own == symbol)
    }
}

/// Cuts a source into tokens, or says what no token can be.
pub(crate) fn scan_tokens(source: &str) -> Result<Vec<FormulaToken>, Vec<FormulaDiagnostic>> {
    let chars: Vec<char> = source.chars().take(MAX_SOURCE_CHARS + 1).collect();
    if chars.len() > MAX_SOURCE_CHARS {
        let message = format!("A formula has at most {MAX_SOURCE_CHARS} characters.");
        return Err(vec![
            SourceSpan::empty_at(MAX_SOURCE_CHARS).to_problem(message),
        ]);
    }
    let mut scanner = TokenScanner {
        chars: &chars,
        at: 0,
        tokens: Vec::new(),
        problems: Vec::new(),
    };
    scanner.run();
    if scanner.problems.is_empty() {
        Ok(scanner.tokens)
    } else {
        Err(scanner.problems)
    }
}

struct TokenScanner<'a> {
    chars: &'a [char],
    at: usize,
    tokens: Vec<FormulaToken>,
    problems: Vec<FormulaDiagnostic>,
}

impl TokenScanner<'_> {
    fn run(&mut self) {
        while let Some(first) = self.peek_char(0) {
            if self.problems.len() >= MAX_PROBLEMS {
                return;
            }
            if self.tokens.len() >= MAX_TOKENS {
                let message =
                    format!("A formula has at most {MAX_TOKENS} words, numbers and signs.");
                self.problems
                    .push(SourceSpan::empty_at(self.at).to_problem(message));
                return;
            }
            match first {
                _ if first.is_whitespace() => self.at += 1,
                '/' if self.peek_char(1) == Some('/') => self.skip_while(|next| next != '\n'),
                '"' | '\'' => self.scan_text(0),
                '“' | '”' | '„' | '‘' | '’' => self.curly_text(),
                '{' => self.scan_braced(),
                _ if first.is_ascii_digit() => self.scan_number(),
                '.' if self.peek_char(1).is_some_and(|next| next.is_ascii_digit()) => {
                    self.scan_number()
                }
                _ if is_word(first) => self.scan_word(),
                _ => self.scan_symbol(),
            }
        }
    }

    fn peek_char(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek_char(0).is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn span_from(&self, start: usize) -> SourceSpan {
        SourceSpan {
            offset: start,
            length: self.at - start,
        }
    }

    fn source_from(&self, start: usize) -> String {
        self.chars[start..self.at].iter().collect()
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(FormulaToken {
            kind,
            span: self.span_from(start),
            source: self.source_from(start),
        });
    }

    fn add_problem(&mut self, start: usize, message: impl Into<String>) {
        self.problems
            .push(self.span_from(start).to_problem(message));
    }

    fn add_suggestion(
        &mut self,
        start: usize,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        self.problems.push(
            self.span_from(start)
                .to_problem(message)
                .with_suggestion(suggestion),
        );
    }

    fn scan_word(&mut self) {
        let start = self.at;
        self.skip_while(is_word);
        let word = self.source_from(start);
        let is_quote_next = matches!(self.peek_char(0), Some('"' | '\''));
        match word.as_str() {
            "r" | "R" if is_quote_next => self.scan_text(1),
            "b" | "B" | "br" | "bR" | "Br" | "BR" if is_quote_next => {
                self.add_problem(start, format!("A text has no {word} before it."));
            }
            _ => self.push(TokenKind::Word, start),
        }
    }

    /// A column in braces: `{First order}`. A brace in the name is doubled.
    fn scan_braced(&mut self) {
        let start = self.at;
        if self.peek_char(1) == Some('{') {
            return self.scan_field();
        }
        self.at += 1;
        let mut name = String::new();
        loop {
            match (self.peek_char(0), self.peek_char(1)) {
                (Some('}'), Some('}')) => {
                    name.push('}');
                    self.at += 2;
                }
                (Some('}'), _) => break,
                (Some(next), _) => {
                    name.push(next);
                    self.at += 1;
                }
                (None, _) => {
                    self.at = start + 1;
                    self.add_problem(
                        start,
                        "The { has no } behind it; a column is written {First order}.",
                    );
                    self.at = self.chars.len();
                    return;
                }
            }
        }
        self.at += 1;
        if name.trim().is_empty() {
            return self.add_problem(start, "Between { and } stands the name of a column.");
        }
        self.push(TokenKind::Braced(name), start);
    }

    /// `{{field}}` is how designs write it.
    fn scan_field(&mut self) {
        let start = self.at;
        self.at += 2;
        self.skip_while(|next| next != '}');
        let name: String = self.chars[start + 2..self.at].iter().collect();
        self.at = (self.at + 2).min(self.chars.len());
        self.add_suggestion(
            start,
            "In a formula a column stands in single braces.",
            format!("{{{}}}", name.trim()),
        );
    }
}

/// Whether the character may stand in a word. Names of functions and most columns are words.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
