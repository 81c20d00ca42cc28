//! From tokens to CEL's syntax tree, with CEL's own parser.
//!
//! The parser gets the tokens in ASCII on one line, with `c7` for a column and `f7` for a function, where 7 is
//! the position of the token. So no name meets CEL's reserved words or its macros, and every node leads back to its place.

use cel::Env;
use cel::common::ast::{IdedExpr, SourceInfo};

use crate::limits::PARSER_STACK_BYTES;
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::scan::{FormulaToken, TokenKind};
use crate::shape::{is_called, is_in};

/// Tokens as the parser gets them.
pub(crate) struct CelSource<'a> {
    pub(crate) tokens: &'a [FormulaToken],
    text: String,
    /// Where each token begins in `text`.
    starts: Vec<usize>,
}

/// A syntax tree with the way back to the source.
pub(crate) struct CelSyntaxTree<'a> {
    pub(crate) root: IdedExpr,
    pub(crate) source: &'a CelSource<'a>,
    info: SourceInfo,
}

impl<'a> CelSource<'a> {
    /// Writes the tokens for CEL.
    pub(crate) fn new(tokens: &'a [FormulaToken]) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(tokens.len()));
        for at in 0..tokens.len() {
            starts.push(text.len());
            text.push_str(&written(tokens, at));
            text.push(' ');
        }
        Self {
            tokens,
            text,
            starts,
        }
    }

    /// Parses with a stack that is deep enough for any formula, calls `then` with the tree there, and drops the
    /// tree there. A panic of the parser is a problem of the formula.
    pub(crate) fn parse<T: Send>(
        &self,
        then: impl FnOnce(&CelSyntaxTree<'_>) -> Result<T, Vec<FormulaDiagnostic>> + Send,
    ) -> Result<T, Vec<FormulaDiagnostic>> {
        let unreadable = |what: &str| {
            vec![SourceSpan::at(0).problem(format!("The formula cannot be read: {what}."))]
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .name("formula".to_owned())
                .stack_size(PARSER_STACK_BYTES);
            let spawned = thread.spawn_scoped(scope, || {
                let syntax = self.syntax()?;
                then(&syntax)
            });
            match spawned.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(result)) => result,
                Ok(Err(_)) => Err(unreadable("the parser gave up")),
                Err(_) => Err(unreadable("the machine is out of threads, try again")),
            }
        })
    }

    fn syntax(&self) -> Result<CelSyntaxTree<'_>, Vec<FormulaDiagnostic>> {
        // No macros: a formula has no loops.
        let parser = Env::default().with_optional_support(false).parser();
        match parser.parse_with_source_info(&self.text) {
            Ok((root, info)) => Ok(CelSyntaxTree {
                root,
                source: self,
                info,
            }),
            Err(errors) => {
                let first = errors
                    .errors
                    .first()
                    .and_then(|error| usize::try_from(error.pos.1 - 1).ok());
                // With operators and brackets in order, what is left to go wrong is mostly half a choice.
                let choice = self
                    .tokens
                    .iter()
                    .find(|token| token.is("?") || token.is(":"));
                let token = choice
                    .or_else(|| self.token_at(first?))
                    .or(self.tokens.last());
                Err(token.map(misplaced).into_iter().collect())
            }
        }
    }

    /// The token that begins at or before an offset of the rewritten text.
    fn token_at(&self, offset: usize) -> Option<&'a FormulaToken> {
        let behind = self.starts.partition_point(|start| *start <= offset);
        self.tokens.get(behind.checked_sub(1)?)
    }
}

impl CelSyntaxTree<'_> {
    /// The place of a node: of its operator, its bracket or its literal.
    pub(crate) fn span(&self, id: u64) -> SourceSpan {
        let offset = self
            .info
            .offset_for(id)
            .map_or(0, |(start, _)| start as usize);
        self.source
            .token_at(offset)
            .map_or(SourceSpan::at(0), |token| token.span)
    }

    /// The token that a `c7` or `f7` stands for.
    pub(crate) fn token(&self, name: &str) -> Option<&FormulaToken> {
        let at: usize = name.get(1..)?.parse().ok()?;
        self.source.tokens.get(at)
    }
}

fn written(tokens: &[FormulaToken], at: usize) -> String {
    let token = &tokens[at];
    match &token.kind {
        TokenKind::Number
            if token.source.len() > 15
                && token.source.bytes().all(|digit| digit.is_ascii_digit()) =>
        {
            // Beyond the range of CEL's whole numbers, not of ours.
            format!("{}.0", token.source)
        }
        TokenKind::Number => token.source.clone(),
        TokenKind::Text(literal) => literal.clone(),
        TokenKind::Symbol(symbol) => (*symbol).to_owned(),
        TokenKind::Braced(_) => format!("c{at}"),
        TokenKind::Word if is_called(tokens, at) => format!("f{at}"),
        TokenKind::Word if is_in(token) || is_keyword(&token.source) => {
            token.source.to_ascii_lowercase()
        }
        TokenKind::Word => format!("c{at}"),
    }
}

/// Whether the word is a literal, in any case: spreadsheets write TRUE.
fn is_keyword(word: &str) -> bool {
    ["true", "false", "null"]
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(word))
}

fn misplaced(token: &FormulaToken) -> FormulaDiagnostic {
    let message = match token.source.as_str() {
        "?" | ":" => {
            "A choice is written condition ? value : other, or IF(condition, value, other)."
                .to_owned()
        }
        other => format!("{other} does not fit here."),
    };
    token.span.problem(message)
}
