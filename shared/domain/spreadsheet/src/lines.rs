//! On which line a row begins.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Bytes of one row at the most, with what is read ahead: a quote that nobody closes would take the rest of the file.
pub const ROW_BYTES: u64 = 16 * 1024 * 1024;

/// Passes a text on to a reader of CSV and knows where its lines begin, as an editor counts them: one ends with a line
/// feed, a carriage return, or both. The reader's own count is of line feeds, and of where it looks for a row: before the
/// second half of a line's end, and before blank lines.
#[derive(Debug)]
pub struct LineCounter<R> {
    inner: R,
    /// Bytes passed on.
    passed: u64,
    /// The line of the next byte, from 1.
    line: u64,
    is_at_start: bool,
    follows_return: bool,
    /// Where lines begin that are not empty, with their numbers, from the last place on that was asked for.
    begun: VecDeque<(u64, u64)>,
    asked: u64,
}

impl<R: Read> LineCounter<R> {
    /// From the first line on.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            passed: 0,
            line: 1,
            is_at_start: true,
            follows_return: false,
            begun: VecDeque::new(),
            asked: 0,
        }
    }

    /// The line of the row for which the reader began to look at this byte; places are asked for in their order. Where
    /// nothing but ends of lines follows, it is the last line.
    pub fn line_of_row(&mut self, byte: u64) -> u64 {
        self.asked = byte;
        while self.begun.front().is_some_and(|(begin, _)| *begin < byte) {
            self.begun.pop_front();
        }
        self.begun.front().map_or(self.line, |(_, line)| *line)
    }

    fn count_byte(&mut self, byte: u8) {
        match byte {
            // The second half of an end.
            b'\n' if self.follows_return => {}
            b'\n' | b'\r' => {
                self.line += 1;
                self.is_at_start = true;
            }
            _ if self.is_at_start => {
                self.begun.push_back((self.passed, self.line));
                self.is_at_start = false;
            }
            _ => {}
        }
        self.follows_return = byte == b'\r';
        self.passed += 1;
    }
}

impl<R: Read> Read for LineCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.passed - self.asked > ROW_BYTES {
            let line = self.line_of_row(self.asked);
            let problem = format!(
                "the row of line {line} has no end within {ROW_BYTES} bytes: is a quote not closed?"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let read = self.inner.read(buffer)?;
        for &byte in &buffer[..read] {
            self.count_byte(byte);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use csv::{ByteRecord, Position, ReaderBuilder};
    use proptest::prelude::*;

    use super::*;

    /// The rows of a file with their lines.
    fn read_rows(file: &[u8]) -> Vec<(u64, Vec<String>)> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(4)
            .from_reader(LineCounter::new(file));
        let (mut record, mut rows) = (ByteRecord::new(), Vec::new());
        while reader.read_byte_record(&mut record).unwrap() {
            let line = reader
                .get_mut()
                .line_of_row(record.position().map_or(0, Position::byte));
            rows.push((
                line,
                record
                    .iter()
                    .map(|cell| String::from_utf8_lossy(cell).into_owned())
                    .collect(),
            ));
        }
        rows
    }

    #[test]
    fn lines_end_as_any_system_ends_them_and_blank_ones_count() {
        for end in ["\n", "\r\n", "\r"] {
            let file = ["a,b", "1,2", "", "", "3,\"x", "y\"", "5,6", ""].join(end);
            let lines: Vec<u64> = read_rows(file.as_bytes())
                .into_iter()
                .map(|(line, _)| line)
                .collect();
            assert_eq!(lines, [1, 2, 5, 7], "{end:?}");
        }
        assert_eq!(read_rows(b"\n\r\n\na")[0].0, 4);
    }

    #[test]
    fn a_quote_that_nobody_closes_does_not_take_the_rest_of_an_endless_file() {
        let file = io::Cursor::new(b"a\n\"b\n").chain(io::repeat(b'x'));
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(LineCounter::new(file));
        let mut record = ByteRecord::new();
        assert!(reader.read_byte_record(&mut record).unwrap());
        let byte = record.position().unwrap().byte();
        reader.get_mut().line_of_row(byte);
        let error = reader
            .read_byte_record(&mut record)
            .unwrap_err()
            .to_string();
        assert!(error.contains("is a quote not closed?"), "{error}");
    }

    proptest! {
        /// A file whose first cells say the line that they stand on, with blank lines and ends of lines in quotes.
        #[test]
        fn every_row_is_on_its_line(
            rows_made in proptest::collection::vec((0_usize..3, 0_usize..3, any::<bool>()), 1..20),
            end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")]
        ) {
            let (mut file, mut line) = (String::new(), 1);
            for (blank, inside, last_quoted) in rows_made {
                for _ in 0..blank {
                    file.push_str(end);
                    line += 1;
                }
                file.push_str(&format!("{line},\"x"));
                for _ in 0..inside {
                    file.push_str("\r\n");
                    line += 1;
                }
                file.push_str(if last_quoted { "\"" } else { "\",z" });
                file.push_str(end);
                line += 1;
            }
            for (line, cells) in read_rows(file.as_bytes()) {
                prop_assert_eq!(line.to_string(), cells[0].as_str(), "{:?}", file);
            }
        }
    }
}
