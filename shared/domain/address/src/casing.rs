//! The mixed case in which names are written: `McDonald`, `O'Brien`, `42nd`, `of`.

/// Words written in capitals.
static CAPITALS: &[&str] = &[
    "FDR", "FM", "HC", "II", "III", "IV", "JFK", "LBJ", "MLK", "NE", "NW", "PMB", "PO", "PSC",
    "RR", "SE", "SW", "US", "USS", "USNS", "USCGC", "CMR", "OMC", "UMR", "APO", "FPO", "DPO",
];

/// Words written small inside a name.
static SMALL: &[&str] = &["AND", "AT", "BY", "IN", "OF", "ON", "THE"];

/// Appends one word of a name in mixed case. `sent` is the word as it was sent: capitals inside it
/// that follow a small letter were meant (`LaSalle`).
pub(crate) fn push_word(out: &mut String, sent: &str, is_first: bool) {
    let mut buffer = [0_u8; 24];
    let upper = match buffer.get_mut(..sent.len()) {
        Some(bytes) => {
            bytes.copy_from_slice(sent.as_bytes());
            bytes.make_ascii_uppercase();
            std::str::from_utf8(bytes).unwrap_or(sent)
        }
        None => "",
    };
    if sent.bytes().any(|byte| byte.is_ascii_digit()) {
        push_word_with_digits(out, sent);
    } else if CAPITALS.contains(&upper) {
        out.push_str(upper);
    } else if !is_first && SMALL.contains(&upper) {
        out.extend(sent.chars().map(|c| c.to_ascii_lowercase()));
    } else if has_inner_capital(sent) {
        push_capitalised(out, sent, |c| c);
    } else {
        push_capitalised(out, sent, |c| c.to_ascii_lowercase());
    }
}

/// The least letters of a word that a hyphen parts from a number: `7-Eleven`, but `12-REV`.
const HYPHENATED_LETTERS_MIN: usize = 4;

/// A number with letters: an ordinal's are small (`42nd`), others are capitals (`A1A`).
fn push_word_with_digits(out: &mut String, sent: &str) {
    if let Some((number, word)) = sent.split_once('-')
        && word.len() >= HYPHENATED_LETTERS_MIN
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        push_word_with_digits(out, number);
        out.push('-');
        return push_capitalised(out, word, |c| c.to_ascii_lowercase());
    }
    let is_ordinal = is_ordinal(sent);
    out.extend(sent.chars().map(|c| {
        if is_ordinal {
            c.to_ascii_lowercase()
        } else {
            c.to_ascii_uppercase()
        }
    }));
}

/// True for `42nd`, in any case.
pub(crate) fn is_ordinal(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0
        && ["ST", "ND", "RD", "TH"]
            .iter()
            .any(|ending| word[digits..].eq_ignore_ascii_case(ending))
}

/// True when a capital follows a small letter and the word starts with a capital.
fn has_inner_capital(sent: &str) -> bool {
    let bytes = sent.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_uppercase)
        && bytes
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Capitals at the start, after a hyphen, after `Mc`, and after the apostrophe of `O'Brien` (but
/// not of `John's`); `rest` maps the other letters.
fn push_capitalised(out: &mut String, sent: &str, rest: impl Fn(char) -> char) {
    let bytes = sent.as_bytes();
    let is_mc = sent.len() > 3 && bytes[..2].eq_ignore_ascii_case(b"MC");
    let mut part_start = 0;
    for (index, c) in sent.char_indices() {
        let begins = index == part_start || (is_mc && index == 2);
        out.push(if begins {
            c.to_ascii_uppercase()
        } else {
            rest(c)
        });
        if c == '-' || c == '/' || (c == '\'' && index == part_start + 1) {
            part_start = index + 1;
        }
    }
}

/// A whole name in mixed case, its words separated by single spaces.
pub(crate) fn capitalise_name<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for word in words {
        let is_first = out.is_empty();
        if !is_first {
            out.push(' ');
        }
        push_word(&mut out, word, is_first);
    }
    out
}
