//! Where a row ends: at the end of its line, unless that stands in quotes.

/// The most lines of one row. A quote that is still open behind them is none: its line is a row for itself, so that a
/// stray quote costs one row and not the rest of the file.
const LINES_PER_RECORD: usize = 16;

/// Whether the lines passed so far end inside quotes.
pub(super) struct QuoteState {
    separator: Option<u8>,
    are_open: bool,
    /// Lines since they were opened.
    lines: usize,
}

impl QuoteState {
    /// Outside quotes. Without a separator there are none.
    pub(super) const fn new(separator: Option<u8>) -> Self {
        Self {
            separator,
            are_open: false,
            lines: 0,
        }
    }

    /// Whether the row goes on in the next line.
    pub(super) const fn are_open(&self) -> bool {
        self.are_open
    }

    /// Passes a line with its end.
    pub(super) fn consume_line(&mut self, line: &[u8]) {
        let Some(separator) = self.separator else {
            return;
        };
        if !self.are_open {
            self.lines = 0;
        }
        self.lines += 1;
        self.are_open =
            ends_in_quotes(line, separator, self.are_open) && self.lines < LINES_PER_RECORD;
    }
}

/// True when the end of the line stands in quotes. Quotes open at the beginning of a value only.
fn ends_in_quotes(line: &[u8], separator: u8, begins_in_quotes: bool) -> bool {
    if !line.contains(&b'"') {
        return begins_in_quotes;
    }
    let mut is_quoted = begins_in_quotes;
    let mut begins_value = !begins_in_quotes;
    for &byte in line {
        match byte {
            // The second of two quotes opens again what the first has closed.
            b'"' if is_quoted => (is_quoted, begins_value) = (false, true),
            b'"' if begins_value => is_quoted = true,
            _ => begins_value = byte == separator,
        }
    }
    is_quoted
}

/// The rows of a text that are not blank, without their ends.
pub(super) fn split_records(text: &[u8], separator: Option<u8>) -> Vec<&[u8]> {
    let mut records = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (record, behind) = rest.split_at(record_length(rest, separator));
        let record = record.trim_ascii_end();
        if !record.is_empty() {
            records.push(record);
        }
        rest = behind;
    }
    records
}

/// The bytes of the first row with its end.
fn record_length(text: &[u8], separator: Option<u8>) -> usize {
    let mut quotes = QuoteState::new(separator);
    let (mut first_line, mut length) = (None, 0);
    for line in text
        .split_inclusive(|byte| *byte == b'\n')
        .take(LINES_PER_RECORD)
    {
        let was_open = quotes.are_open();
        length += line.len();
        let first = *first_line.get_or_insert(length);
        quotes.consume_line(line);
        if !quotes.are_open() {
            let closes = !was_open || ends_closed(line, separator);
            return if closes { length } else { first };
        }
    }
    first_line.unwrap_or(length)
}

/// True when a line that begins in quotes ends outside them.
fn ends_closed(line: &[u8], separator: Option<u8>) -> bool {
    separator.is_none_or(|separator| !ends_in_quotes(line, separator, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_texts(text: &str) -> Vec<&str> {
        split_records(text.as_bytes(), Some(b','))
            .iter()
            .map(|record| std::str::from_utf8(record).unwrap())
            .collect()
    }

    #[test]
    fn a_line_break_in_quotes_ends_no_row() {
        for (text, expected) in [
            ("a,b\nc,d\n", &["a,b", "c,d"][..]),
            ("a,\"b\nc\"\r\nd,e", &["a,\"b\nc\"", "d,e"]),
            (
                "a,\"b \"\"x\"\"\n\nc\",f\n\nd,e\n",
                &["a,\"b \"\"x\"\"\n\nc\",f", "d,e"],
            ),
            ("5\" pipe,b\nc,d\n", &["5\" pipe,b", "c,d"]),
            ("\"\",b\nc,\"\"\nd,e", &["\"\",b", "c,\"\"", "d,e"]),
        ] {
            assert_eq!(split_texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_quote_that_nobody_closes_costs_its_own_line_only() {
        let text = format!("a,\"b\n{}", "c,d\n".repeat(LINES_PER_RECORD + 4));
        let expected: Vec<&str> = std::iter::once("a,\"b")
            .chain(["c,d"; LINES_PER_RECORD + 4])
            .collect();
        assert_eq!(split_texts(&text), expected);
        assert_eq!(
            split_texts("a,\"b\nc,d"),
            ["a,\"b", "c,d"],
            "at the end of the text"
        );
    }

    #[test]
    fn features_have_no_quotes_over_lines() {
        assert_eq!(
            split_records(b"{\"a\":\n1}\n", None),
            [&b"{\"a\":"[..], b"1}"]
        );
    }
}
