//! Numbers and texts.

use std::fmt::Write;

use super::{TokenKind, TokenScanner, is_word};

impl TokenScanner<'_> {
    /// `12`, `1.5`, `.5`, `2e3`, and CEL's `0xff` and `5u`.
    pub(super) fn number(&mut self) {
        let start = self.at;
        while let Some(next) = self.peek(0) {
            let is_sign = matches!(next, '+' | '-') && self.is_exponent(start);
            let is_point = next == '.' && self.peek(1).is_some_and(|after| after.is_ascii_digit());
            if !(is_word(next) || is_point || is_sign) {
                break;
            }
            self.at += 1;
        }
        if is_number(&self.source_from(start)) {
            return self.push(TokenKind::Number, start);
        }
        self.report(
            start,
            "This is not a number; one is written 1234.5, without commas or a unit.",
        );
    }

    /// Whether the sign at this place belongs to the exponent of the number begun at `start`.
    fn is_exponent(&self, start: usize) -> bool {
        let is_mantissa = self.chars[start..self.at - 1]
            .iter()
            .all(|one| one.is_ascii_digit() || *one == '.');
        matches!(self.chars[self.at - 1], 'e' | 'E') && is_mantissa
    }

    /// A text in quotes, behind a prefix of so many characters: `r` makes it raw, so that `\` is only a sign.
    pub(super) fn text(&mut self, prefix: usize) {
        let start = self.at - prefix;
        let quote = self.chars[self.at];
        let is_triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if is_triple { 3 } else { 1 };
        self.at += width;
        let mut literal = String::from("\"");
        loop {
            let Some(next) = self.peek(0) else {
                self.at = start + prefix + width;
                self.report(start, "The text that begins here has no closing quote.");
                self.at = self.chars.len();
                return;
            };
            if next == quote && (1..width).all(|ahead| self.peek(ahead) == Some(quote)) {
                break;
            }
            if next == '\\' && prefix == 0 {
                self.escape(&mut literal);
            } else {
                write_escaped(&mut literal, next);
                self.at += 1;
            }
        }
        self.at += width;
        literal.push('"');
        if self.peek(0) == Some(quote) && width == 1 {
            let place = self.at;
            self.at += 1;
            self.suggest(place, "A quote within a text is written \\\".", "\\\"");
        }
        self.push(TokenKind::Text(literal), start);
    }

    /// A `\` and what it stands before, which CEL reads. What it would refuse is mostly a regular expression's.
    fn escape(&mut self, literal: &mut String) {
        let start = self.at;
        let digits = |scanner: &Self, first: usize, count: usize, radix: u32| {
            (first..first + count)
                .all(|at| scanner.peek(at).is_some_and(|digit| digit.is_digit(radix)))
        };
        let length = match self.peek(1) {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`') => 2,
            Some('x' | 'X') if digits(self, 2, 2, 16) => 4,
            Some('u') if digits(self, 2, 4, 16) => 6,
            Some('U') if digits(self, 2, 8, 16) => 10,
            Some('0'..='3') if digits(self, 1, 3, 8) => 4,
            Some(other) => {
                self.at += 2;
                let message = format!(
                    "In a text a \\ is written \\\\, so \\{other} is \\\\{other}; r\"...\" takes it as it is."
                );
                return self.suggest(start, message, format!("\\\\{other}"));
            }
            None => 1,
        };
        self.at += length;
        let code: String = self.chars[start + length.min(2)..self.at].iter().collect();
        let is_code = matches!(self.chars.get(start + 1), Some('u' | 'U'));
        if is_code
            && u32::from_str_radix(&code, 16)
                .ok()
                .and_then(char::from_u32)
                .is_none()
        {
            return self.report(
                start,
                format!("There is no character {}.", self.source_from(start)),
            );
        }
        literal.extend(&self.chars[start..self.at]);
    }

    /// “A text” as word processors write it.
    pub(super) fn curly_text(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|next| !matches!(next, '“' | '”' | '‘' | '’' | '"' | '\''));
        let text: String = self.chars[start + 1..self.at].iter().collect();
        self.at = (self.at + 1).min(self.chars.len());
        self.suggest(
            start,
            "Texts stand in straight quotes.",
            format!("\"{text}\""),
        );
    }
}

/// Writes a character so that it stands for itself in a CEL text, in ASCII and on one line.
fn write_escaped(literal: &mut String, character: char) {
    match character {
        '"' | '\\' => literal.extend(['\\', character]),
        ' '..='~' => literal.push(character),
        // Writing to a String cannot fail.
        _ => write!(literal, "\\U{:08x}", u32::from(character)).unwrap_or_default(),
    }
}

fn is_number(source: &str) -> bool {
    let is_decimal = source.parse::<f64>().is_ok_and(f64::is_finite)
        && source
            .chars()
            .all(|one| one.is_ascii_digit() || matches!(one, '.' | 'e' | 'E' | '+' | '-'));
    let unsigned = source.strip_suffix(['u', 'U']).unwrap_or(source);
    let is_whole = match unsigned.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).is_ok() && !digits.starts_with('+'),
        None => unsigned.parse::<u64>().is_ok(),
    };
    is_decimal || is_whole
}
