//! Objects of a JSON text, one by one: those of an array, of the array in an object around it, or one behind the other.
//!
//! Only where objects begin and end is found here, so that one which is broken costs no other: a text has no end of line in it,
//! and an object begins behind a colon or where one may begin.

use std::io::{self, BufRead};

use crate::lines::LINE_BYTES;

/// Objects and arrays within each other, at the most.
const DEPTH: usize = 32;

/// Finds objects.
#[derive(Debug)]
pub(crate) struct JsonRows<R> {
    input: R,
    line: u64,
    /// What is open, each as its first character.
    open: Vec<u8>,
    in_text: bool,
    is_escaped: bool,
    /// The last character that is neither space nor in a text.
    before: u8,
    row: Option<OpenRow>,
    /// The last line on which something stood that belongs to no object.
    stray_line: u64,
    /// What was found and not yet told.
    pending: Option<JsonRow>,
}

/// An object that has begun.
#[derive(Debug)]
struct OpenRow {
    bytes: Vec<u8>,
    line: u64,
    /// What was open before it.
    base: usize,
    is_broken: bool,
}

/// An object of the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonRow {
    /// Where it begins, from 1.
    pub(crate) line: u64,
    /// It, from brace to brace; `None` for one that has no end or is too long, and for what is no object.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl<R: BufRead> JsonRows<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            open: Vec::new(),
            in_text: false,
            is_escaped: false,
            before: 0,
            row: None,
            stray_line: 0,
            pending: None,
        }
    }

    /// The next object; `None` at the end.
    pub(crate) fn next_row(&mut self) -> io::Result<Option<JsonRow>> {
        loop {
            if let Some(row) = self.pending.take() {
                return Ok(Some(row));
            }
            let available = self.input.fill_buf()?;
            let Some(&byte) = available.first() else {
                let row = self.row.take();
                return Ok(row.map(|row| JsonRow {
                    line: row.line,
                    bytes: None,
                }));
            };
            // Inside of an object most bytes are of no interest: they are taken together.
            let plain = if self.in_text && !self.is_escaped && self.row.is_some() {
                let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
                available
                    .iter()
                    .position(is_special)
                    .unwrap_or(available.len())
            } else {
                0
            };
            if plain > 0 {
                let row = self.row.as_mut();
                if let Some(row) = row {
                    row.extend(&available[..plain]);
                }
                self.input.consume(plain);
                continue;
            }
            self.input.consume(1);
            self.take_byte(byte);
        }
    }

    fn take_byte(&mut self, byte: u8) {
        if self.in_text {
            self.take_text_byte(byte);
        } else {
            self.take_structure_byte(byte);
        }
        if byte == b'\n' {
            self.line += 1;
        }
    }

    fn take_text_byte(&mut self, byte: u8) {
        if byte == b'\n' {
            // A quote is missing: what follows is read as if this object had ended here.
            self.in_text = false;
            self.is_escaped = false;
            self.break_row();
            return;
        }
        if let Some(row) = &mut self.row {
            row.extend(&[byte]);
        }
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => {
                self.in_text = false;
                self.before = b'"';
            }
            _ => {}
        }
    }

    fn take_structure_byte(&mut self, byte: u8) {
        if byte == b'{' {
            self.open_object();
        }
        if let Some(row) = &mut self.row {
            row.extend(&[byte]);
        } else {
            self.note_stray(byte);
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' if self.open.len() >= DEPTH => self.break_row(),
            b'{' | b'[' => self.open.push(byte),
            b'}' => self.close(b'{'),
            b']' => self.close(b'['),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.before = byte;
        }
    }

    /// Begins an object where rows stand.
    fn open_object(&mut self) {
        let is_inside = self.open.last() == Some(&b'{');
        if self.row.is_some() && is_inside && self.before != b':' {
            // No object begins here but a next row: the one before has no end.
            self.break_row();
        }
        let holds_rows = matches!(self.open.as_slice(), [] | [b'['] | [b'{', b'[']);
        if holds_rows {
            // What was taken for a row is what stands around the rows.
            self.row = Some(OpenRow {
                bytes: Vec::new(),
                line: self.line,
                base: self.open.len(),
                is_broken: false,
            });
        }
    }

    fn close(&mut self, kind: u8) {
        if self.open.last() != Some(&kind) {
            return;
        }
        self.open.pop();
        if let Some(row) = self.row.take_if(|row| row.base == self.open.len()) {
            self.pending = Some(JsonRow {
                line: row.line,
                bytes: (!row.is_broken).then_some(row.bytes),
            });
        }
    }

    fn break_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.open.truncate(row.base);
            self.pending = Some(JsonRow {
                line: row.line,
                bytes: None,
            });
        }
    }

    /// Tells of what stands where rows stand and is none, once a line.
    fn note_stray(&mut self, byte: u8) {
        let is_structure = matches!(byte, b'[' | b']' | b'{' | b'}' | b',' | b':' | b'"');
        let holds_rows = matches!(self.open.as_slice(), [] | [b'['] | [b'{', b'[']);
        let is_stray = holds_rows && !is_structure && !byte.is_ascii_whitespace();
        if is_stray && self.stray_line != self.line {
            self.stray_line = self.line;
            self.pending = Some(JsonRow {
                line: self.line,
                bytes: None,
            });
        }
    }
}

impl OpenRow {
    fn extend(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > LINE_BYTES {
            self.is_broken = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_rows(text: &str) -> Vec<(u64, Option<String>)> {
        let mut rows = JsonRows::new(io::BufReader::with_capacity(3, text.as_bytes()));
        let mut all = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            let bytes = row.bytes.map(|bytes| String::from_utf8(bytes).unwrap());
            all.push((row.line, bytes));
        }
        all
    }

    fn row(line: u64, text: &str) -> (u64, Option<String>) {
        (line, Some(text.to_owned()))
    }

    #[test]
    fn rows_stand_in_an_array_in_an_object_or_by_themselves() {
        let expected = [row(1, r#"{"a":"{1"}"#), row(2, r#"{"b":{"c":[2]}}"#)];
        for text in [
            "[{\"a\":\"{1\"},\n{\"b\":{\"c\":[2]}}]",
            "{\"data\":[{\"a\":\"{1\"},\n{\"b\":{\"c\":[2]}}],\"count\":2}",
            "{\"a\":\"{1\"}\n{\"b\":{\"c\":[2]}}\n",
        ] {
            assert_eq!(read_rows(text), expected, "{text}");
        }
    }

    #[test]
    fn a_broken_row_costs_no_other() {
        let text =
            "{\"a\":1}\n{\"b\":\"x\n{\"c\":3}\n{\"d\":4\n{\"e\":5}\nnonsense\n{\"f\":6}\n{\"g\":";
        let expected = [
            row(1, "{\"a\":1}"),
            (2, None),
            row(3, "{\"c\":3}"),
            (4, None),
            row(5, "{\"e\":5}"),
            (6, None),
            row(7, "{\"f\":6}"),
            (8, None),
        ];
        assert_eq!(read_rows(text), expected);
    }

    #[test]
    fn a_row_that_is_too_long_is_broken_and_the_next_is_read() {
        let text = format!("[{{\"a\":\"{}\"}},\n{{\"b\":2}}]", "x".repeat(LINE_BYTES));
        assert_eq!(read_rows(&text), [(1, None), row(2, "{\"b\":2}")]);
    }
}
