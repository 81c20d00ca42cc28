//! Lines of bounded length.

use std::io::{self, BufRead};

/// Bytes of a row at the most; a longer one is broken.
pub const LINE_BYTES: usize = 64 * 1024;

/// Lines of a text with their numbers.
#[derive(Debug)]
pub(crate) struct BoundedLines<R> {
    input: R,
    /// The number of the line that was read last.
    pub(crate) number: u64,
}

impl<R: BufRead> BoundedLines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    /// Reads the next line, without its end. `Some(false)` for one that is too long, of which nothing is kept; `None` at the end.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
        line.clear();
        let (mut is_whole, mut has_begun) = (true, false);
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                break;
            }
            has_begun = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            is_whole &= line.len() + part.len() <= LINE_BYTES;
            if is_whole {
                line.extend_from_slice(part);
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !has_begun {
            return Ok(None);
        }
        self.number += 1;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(is_whole))
    }
}
