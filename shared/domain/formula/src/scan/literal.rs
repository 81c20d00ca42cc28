//! Numbers and texts.

use super::{TokenKind, TokenScanner, is_word};

impl TokenScanner<'_> {
    /// `12`, `1.5`, `.5`, `2e3`, and CEL's `0xff` and `5u`.
    pub(super) fn scan_number(&mut self) {
        let start = self.at;
        while let Some(next) = self.peek_char(0) {
            let is_sign = matches!(next, '+' | '-') && self.is_exponent(start);
            let is_point = next == '.'
                && self
                    .peek_char(1)
                    .is_some_and(|after| after.is_ascii_digit());
            if !(is_word(next) || is_point || is_sign) {
                break;
            }
            self.at += 1;
        }
        if read_number(&self.source_from(start)).is_some() {
            return self.push(TokenKind::Number, start);
        }
        self.add_problem(
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
    pub(super) fn scan_text(&mut self, prefix: usize) {
        let start = self.at - prefix;
        let quote = self.chars[self.at];
        let is_triple = self.peek_char(1) == Some(quote) && self.peek_char(2) == Some(quote);
        let width = if is_triple { 3 } else { 1 };
        self.at += width;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek_char(0) else {
                self.at = start + prefix + width;
                self.add_problem(start, "The text that begins here has no closing quote.");
                self.at = self.chars.len();
                return;
            };
            if next == quote && (1..width).all(|ahead| self.peek_char(ahead) == Some(quote)) {
                break;
            }
            if next == '\\' && prefix == 0 {
                self.scan_escape(&mut text);
            } else {
                text.push(next);
                self.at += 1;
            }
        }
        self.at += width;
        if self.peek_char(0) == Some(quote) && width == 1 {
            let place = self.at;
            self.at += 1;
            self.add_suggestion(place, "A quote within a text is written \\\".", "\\\"");
        }
        self.push(TokenKind::Text(text), start);
    }

    /// A `\` and what it stands before, as CEL has it. What it has not is mostly a regular expression's.
    fn scan_escape(&mut self, text: &mut String) {
        let start = self.at;
        let digits = |scanner: &Self, first: usize, count: usize, radix: u32| {
            (first..first + count).all(|at| {
                scanner
                    .peek_char(at)
                    .is_some_and(|digit| digit.is_digit(radix))
            })
        };
        let length = match self.peek_char(1) {
            Some(letter) if plain_escape(letter).is_some() => 2,
            Some('x' | 'X') if digits(self, 2, 2, 16) => 4,
            Some('u') if digits(self, 2, 4, 16) => 6,
            Some('U') if digits(self, 2, 8, 16) => 10,
            Some('0'..='3') if digits(self, 1, 3, 8) => 4,
            Some(other) => {
                self.at += 2;
                let message = format!(
                    "In a text a \\ is written \\\\, so \\{other} is \\\\{other}; r\"...\" takes it as it is."
                );
                return self.add_suggestion(start, message, format!("\\\\{other}"));
            }
            // The last character of the formula, so that the text has no end either.
            None => 1,
        };
        self.at += length;
        match decode_escape(&self.chars[start + 1..self.at]) {
            Some(character) => text.push(character),
            None if length > 1 => self.add_problem(
                start,
                format!("There is no character {}.", self.source_from(start)),
            ),
            None => {}
        }
    }

    /// “A text” as word processors write it.
    pub(super) fn curly_text(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|next| !matches!(next, '“' | '”' | '‘' | '’' | '"' | '\''));
        let text: String = self.chars[start + 1..self.at].iter().collect();
        self.at = (self.at + 1).min(self.chars.len());
        self.add_suggestion(
            start,
            "Texts stand in straight quotes.",
            format!("\"{text}\""),
        );
    }
}

/// What a letter or sign behind a `\` stands for, when it needs nothing behind it.
fn plain_escape(letter: char) -> Option<char> {
    Some(match letter {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '"' | '\'' | '\\' | '?' | '`' => letter,
        _ => return None,
    })
}

/// The character that an escape stands for, from what is written behind its `\`; none for a number that is no
/// character's.
fn decode_escape(written: &[char]) -> Option<char> {
    let (first, digits) = written.split_first()?;
    let code = |digits: &[char], radix| {
        let digits: String = digits.iter().collect();
        u32::from_str_radix(&digits, radix)
            .ok()
            .and_then(char::from_u32)
    };
    match first {
        'x' | 'X' | 'u' | 'U' => code(digits, 16),
        '0'..='3' => code(written, 8),
        letter => plain_escape(*letter),
    }
}

/// The number that is written so. All numbers are of one kind, exact up to 2^53.
pub(crate) fn read_number(source: &str) -> Option<f64> {
    let is_decimal = source
        .chars()
        .all(|one| one.is_ascii_digit() || matches!(one, '.' | 'e' | 'E' | '+' | '-'));
    if is_decimal {
        return source
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
    }
    let unsigned = source.strip_suffix(['u', 'U']).unwrap_or(source);
    let whole = match unsigned.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
        Some(_) => return None,
        None => unsigned.parse(),
    };
    Some(whole.ok()? as f64)
}
