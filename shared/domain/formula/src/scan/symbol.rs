//! Operators and brackets, and what spreadsheets and word processors write instead.

use super::{TokenKind, TokenScanner};

/// What formulas have, longer ones before those that they begin with.
const SYMBOLS: [&str; 22] = [
    "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "!", "?", ":", "(", ")",
    "[", "]", ",", ".",
];

/// What others write, what works instead, and why: longer ones before those that they begin with.
const OTHERS: [(&str, &str, &str); 22] = [
    ("===", "==", "Equal is written ==."),
    ("!==", "!=", "Not equal is written !=."),
    ("<>", "!=", "Not equal is written !=."),
    ("=<", "<=", "Less or equal is written <=."),
    ("=>", ">=", "Greater or equal is written >=."),
    ("**", "", "A power is written POWER(base, exponent)."),
    ("=", "==", "Equal is written ==."),
    (
        "&",
        "+",
        "Texts are joined by + or CONCAT(...); and is written && or AND(...).",
    ),
    ("|", "||", "Or is written || or OR(...)."),
    (";", ",", "Arguments are separated by commas."),
    ("^", "", "A power is written POWER(base, exponent)."),
    ("≠", "!=", "Not equal is written !=."),
    ("≤", "<=", "Less or equal is written <=."),
    ("≥", ">=", "Greater or equal is written >=."),
    ("−", "-", "Minus is written -."),
    ("–", "-", "Minus is written -."),
    ("×", "*", "Times is written *."),
    ("÷", "/", "Divided by is written /."),
    (
        "$",
        "",
        "Amounts are written without $; TEXT(amount, \"$0.00\") shows it.",
    ),
    ("€", "", "Amounts are written without €."),
    ("}", "", "There is no { before this }."),
    ("`", "", "A column stands in braces, a text in quotes."),
];

impl TokenScanner<'_> {
    pub(super) fn scan_symbol(&mut self) {
        let start = self.at;
        if self.tokens.is_empty()
            && self.peek_char(0) == Some('=')
            && self.peek_char(1) != Some('=')
        {
            self.at += 1;
            return self.add_suggestion(start, "A formula here begins without =.", "");
        }
        // Two-character strangers such as => begin with what formulas have.
        let stranger = OTHERS.iter().find(|(written, ..)| self.is_next(written));
        let own = SYMBOLS.iter().find(|symbol| self.is_next(symbol));
        match (own, stranger) {
            (Some(symbol), None) => {
                self.at += symbol.len();
                self.push(TokenKind::Symbol(symbol), start);
            }
            (Some(symbol), Some((written, ..))) if symbol.len() >= written.chars().count() => {
                self.at += symbol.len();
                self.push(TokenKind::Symbol(symbol), start);
            }
            (_, Some((written, works, message))) => {
                self.at += written.chars().count();
                if works.is_empty() {
                    self.add_problem(start, *message);
                } else {
                    self.add_suggestion(start, *message, *works);
                }
            }
            (None, None) => {
                self.at += 1;
                let message = format!("{} has no meaning in a formula.", self.source_from(start));
                self.add_problem(start, message);
            }
        }
    }

    fn is_next(&self, symbol: &str) -> bool {
        symbol
            .chars()
            .enumerate()
            .all(|(ahead, wanted)| self.peek_char(ahead) == Some(wanted))
    }
}
