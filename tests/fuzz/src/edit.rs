//! Inputs: a sample with a few edits.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Edits of an input at the most.
const EDITS: usize = 8;

/// Bytes of an input at the most.
const BYTES: usize = 32 * 1024;

/// How often a piece is repeated at the most: deeper than any parser should follow.
const REPEATS: usize = 3_000;

/// Words of all formats: numbers at their bounds, brackets, what is no text, and characters of all lengths.
const WORDS: [&[u8]; 30] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"\"",
    b"'",
    b",",
    b":",
    b"\\",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"0",
    b"-1",
    b"1e999",
    b"9223372036854775808",
    b"18446744073709551616",
    b"null",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    "é".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{202e}".as_bytes(),
    "😀".as_bytes(),
    "İ".as_bytes(),
];

/// A change of an input. Places are parts of its length, so that they fit whatever was changed before.
#[derive(Debug, Clone)]
enum Edit {
    /// Something is put in.
    Insert(Index, Vec<u8>),
    /// A piece goes.
    Remove(Index, Index),
    /// A piece stands there several times.
    Repeat(Index, Index, usize),
    /// A byte becomes another one.
    Change(Index, u8),
    /// The rest becomes that of another sample.
    Splice(Index, Vec<u8>, Index),
}

/// Samples, each with up to [`EDITS`] edits.
pub(crate) fn edited(samples: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<Vec<u8>> = WORDS
        .iter()
        .map(|word| word.to_vec())
        .chain(words)
        .collect();
    (select(samples.clone()), vec(edit(samples, words), 0..EDITS)).prop_map(|(sample, edits)| {
        edits
            .into_iter()
            .fold(sample, |input, edit| edit.applied(input))
    })
}

fn edit(samples: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (any::<Index>(), select(words)).prop_map(|(at, word)| Edit::Insert(at, word)),
        2 => (any::<Index>(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        3 => any::<(Index, Index)>().prop_map(|(from, to)| Edit::Remove(from, to)),
        2 => (any::<(Index, Index)>(), prop_oneof![2..4_usize, 2..REPEATS])
            .prop_map(|((from, to), times)| Edit::Repeat(from, to, times)),
        3 => any::<(Index, u8)>().prop_map(|(at, byte)| Edit::Change(at, byte)),
        1 => (any::<Index>(), select(samples), any::<Index>())
            .prop_map(|(at, other, from)| Edit::Splice(at, other, from)),
    ]
}

impl Edit {
    fn applied(self, mut input: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Insert(at, bytes) => {
                let at = place(at, &input);
                input.splice(at..at, bytes);
            }
            Self::Remove(from, to) => {
                input.drain(piece(from, to, &input));
            }
            Self::Repeat(from, to, times) => {
                let piece = piece(from, to, &input);
                let repeated = input[piece.clone()].repeat(times.min(BYTES / piece.len().max(1)));
                input.splice(piece, repeated);
            }
            Self::Change(at, byte) => {
                if !input.is_empty() {
                    let at = at.index(input.len());
                    input[at] = byte;
                }
            }
            Self::Splice(at, other, from) => {
                input.truncate(place(at, &input));
                input.extend_from_slice(&other[place(from, &other)..]);
            }
        }
        input.truncate(BYTES);
        input
    }
}

/// A place between two bytes, or at an end.
fn place(at: Index, input: &[u8]) -> usize {
    at.index(input.len() + 1)
}

fn piece(from: Index, to: Index, input: &[u8]) -> Range<usize> {
    let (from, to) = (place(from, input), place(to, input));
    from.min(to)..from.max(to)
}
