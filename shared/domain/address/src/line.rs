//! Text cut into words, the first step of reading any address line.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// One word of an address line. Words are ASCII, without the punctuation that means nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddressWord<'a> {
    /// In capitals, for looking up.
    pub upper: &'a str,
    /// With the letters as they were sent, for writing.
    pub sent: &'a str,
    /// A comma, semicolon, parenthesis or line end follows.
    pub ends_segment: bool,
}

impl AddressWord<'_> {
    /// True when the word starts with a digit.
    pub fn starts_with_digit(&self) -> bool {
        self.upper.as_bytes()[0].is_ascii_digit()
    }

    /// True when there is a digit somewhere in the word.
    pub fn has_digit(&self) -> bool {
        self.upper.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// True when the word is nothing but digits.
    pub fn is_number(&self) -> bool {
        self.upper.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// True when the word is one letter.
    pub fn is_letter(&self) -> bool {
        self.upper.len() == 1 && self.upper.as_bytes()[0].is_ascii_alphabetic()
    }
}

/// A line folded to ASCII, in the letters sent and in capitals, its words separated by single
/// spaces and its segments marked by a comma glued to the word before it.
#[derive(Debug)]
pub(crate) struct FoldedLine {
    sent: String,
    upper: String,
}

impl FoldedLine {
    /// Folds `text`: accents go, punctuation that means nothing goes, abbreviations written with
    /// full stops close up (`P.O.` is `PO`), `#` and `&` stand alone.
    pub fn fold(text: &str) -> Self {
        let closed = close_hyphen(text);
        let text = closed.as_deref().unwrap_or(text);
        let mut folder = LineFolder::with_capacity(text.len());
        if text.is_ascii() {
            folder.push_all(text.chars());
        } else {
            folder.push_all(
                text.chars()
                    .flat_map(plain_letters)
                    .flat_map(space_out_fraction)
                    .nfkd()
                    .filter(|&c| !is_combining_mark(c))
                    .map(plain_punctuation),
            );
        }
        folder.finish()
    }

    /// The words, in order.
    pub fn words(&self) -> Vec<AddressWord<'_>> {
        let mut words: Vec<AddressWord<'_>> = Vec::with_capacity(12);
        let mut start = 0;
        for piece in self.upper.split(' ') {
            let end = start + piece.len();
            let ends_segment = piece.ends_with(',');
            let letters = start..end - usize::from(ends_segment);
            if letters.is_empty() {
                if let Some(before) = words.last_mut() {
                    before.ends_segment |= ends_segment;
                }
            } else {
                words.push(AddressWord {
                    upper: &self.upper[letters.clone()],
                    sent: &self.sent[letters],
                    ends_segment,
                });
            }
            start = end + 1;
        }
        words
    }
}

/// The most digits of a house number before its hyphen and behind it: `147-25` in Queens, `94-1234` in Hawaii.
const HYPHENATED_DIGITS_MAX: (usize, usize) = (3, 4);

/// The text with the hyphen of its house number closed up: `147 - 25 Sanford Ave` is number 147-25.
fn close_hyphen(text: &str) -> Option<String> {
    let text = text.trim_start();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (block, rest) = text.split_at(digits(text));
    let open = rest.trim_start_matches(' ');
    let hyphen = open.chars().next().map(plain_punctuation)?;
    if hyphen != '-' {
        return None;
    }
    let behind = open.trim_start_matches(|c| plain_punctuation(c) == '-');
    let house = behind.trim_start_matches(' ');
    let (house, street) = house.split_at(digits(house));
    let is_number = (1..=HYPHENATED_DIGITS_MAX.0).contains(&block.len())
        && (2..=HYPHENATED_DIGITS_MAX.1).contains(&house.len());
    let name = street.strip_prefix(' ')?.trim_start();
    (is_number && name.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .then(|| format!("{block}-{house}{street}"))
}

/// The first letter or digit of a text that has no form in ASCII, like those of other scripts.
pub(crate) fn find_unreadable(text: &str) -> Option<char> {
    text.chars()
        .find(|&c| c.is_alphanumeric() && !has_ascii(c, |plain| plain.is_ascii_alphanumeric()))
}

/// True when the text has a picture or another sign that is neither letter nor punctuation and is left out.
pub(crate) fn has_symbol(text: &str) -> bool {
    // Letters and punctuation of European scripts come first; arrows are the first signs behind them.
    const FIRST_SYMBOL: char = '\u{2190}';
    text.chars().any(|c| {
        c >= FIRST_SYMBOL
            && !c.is_alphanumeric()
            && !is_combining_mark(c)
            && !has_ascii(c, |plain| plain.is_ascii())
    })
}

/// True when folding a character leaves one of this kind.
fn has_ascii(c: char, is_wanted: impl Fn(char) -> bool) -> bool {
    plain_letters(c)
        .nfkd()
        .map(plain_punctuation)
        .any(is_wanted)
}

/// Letters that are no accented form of another, as they are spelled without them.
fn plain_letters(c: char) -> impl Iterator<Item = char> {
    let (spelled, same) = match c {
        'Æ' => ("Ae", None),
        'æ' => ("ae", None),
        'Œ' => ("Oe", None),
        'œ' => ("oe", None),
        'Ø' => ("O", None),
        'ø' => ("o", None),
        'Ł' => ("L", None),
        'ł' => ("l", None),
        'Đ' | 'Ð' => ("D", None),
        'đ' | 'ð' => ("d", None),
        'Þ' => ("Th", None),
        'þ' => ("th", None),
        'ß' => ("ss", None),
        'ı' => ("i", None),
        _ => ("", Some(c)),
    };
    spelled.chars().chain(same)
}

/// A vulgar fraction is a word of its own: `9½` is nine and a half, not ninety-one halves.
fn space_out_fraction(c: char) -> impl Iterator<Item = char> {
    let is_fraction = matches!(c, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215e}');
    is_fraction.then_some(' ').into_iter().chain([c])
}

/// ASCII punctuation for the typographic kind.
fn plain_punctuation(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{b4}' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2044}' => '/',
        _ => c,
    }
}

/// Builds the folded line one character at a time.
struct LineFolder {
    sent: String,
    /// Where the current word starts in `sent`.
    word_start: usize,
    /// A full stop stands before the current piece of the word, which starts here.
    piece_start: Option<usize>,
}

impl LineFolder {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            sent: String::with_capacity(capacity + 8),
            word_start: 0,
            piece_start: None,
        }
    }

    fn push_all(&mut self, characters: impl Iterator<Item = char>) {
        let mut characters = characters.peekable();
        let mut before = ' ';
        while let Some(c) = characters.next() {
            let after = characters.peek().copied().unwrap_or(' ');
            self.push(before, c, after);
            before = c;
        }
    }

    fn push(&mut self, before: char, c: char, after: char) {
        let joins = before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric();
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => self.sent.push(c),
            '\'' | '-' | '/' if joins => self.sent.push(c),
            '\'' => {}
            '.' if joins => self.push_full_stop(before, after),
            '.' => self.end_word(false),
            ',' | ';' | '(' | ')' | '\n' | '\r' => self.end_word(true),
            '-' => self.end_word(before == ' ' && after == ' '),
            '#' | '&' | '%' => {
                self.end_word(false);
                self.sent.push(c);
                self.end_word(false);
            }
            _ => self.end_word(false),
        }
    }

    /// A full stop inside a word: kept between digits (`39.2`), closed up between single letters
    /// (`P.O.`), a space elsewhere (`Ave.Apt`).
    fn push_full_stop(&mut self, before: char, after: char) {
        if before.is_ascii_digit() && after.is_ascii_digit() {
            self.sent.push('.');
            return;
        }
        let piece_start = self.piece_start.unwrap_or(self.word_start);
        if self.sent.len() - piece_start > 1 {
            self.end_word(false);
        } else {
            self.piece_start = Some(self.sent.len());
        }
    }

    fn end_word(&mut self, ends_segment: bool) {
        self.split_long_piece();
        if ends_segment && !self.sent.is_empty() && !self.sent.ends_with([' ', ',']) {
            self.sent.push(',');
        } else if ends_segment && self.sent.ends_with(' ') {
            self.sent.pop();
            if !self.sent.ends_with(',') {
                self.sent.push(',');
            }
        }
        if !self.sent.is_empty() && !self.sent.ends_with(' ') {
            self.sent.push(' ');
        }
        self.word_start = self.sent.len();
        self.piece_start = None;
    }

    /// After letters closed up over full stops, a longer piece is a word of its own:
    /// `P.O.Box` is `PO Box`, `N.Main` is `N Main`.
    fn split_long_piece(&mut self) {
        if let Some(piece_start) = self.piece_start
            && self.sent.len() - piece_start > 1
        {
            self.sent.insert(piece_start, ' ');
        }
    }

    fn finish(mut self) -> FoldedLine {
        self.end_word(false);
        let kept = self.sent.trim_end().len();
        self.sent.truncate(kept);
        let upper = self.sent.to_ascii_uppercase();
        FoldedLine {
            sent: self.sent,
            upper,
        }
    }
}
