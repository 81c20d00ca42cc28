//! The bounds of a formula. Together they bound the time and the memory that one takes, whoever wrote it.

/// Longest formula, in characters.
pub const MAX_SOURCE_CHARS: usize = 2_000;
/// Most words, numbers, texts, signs and brackets of a formula.
pub const MAX_TOKENS: usize = 600;
/// Deepest nesting of brackets.
pub const MAX_NESTING: usize = 32;
/// Deepest tree of a compiled formula. It is walked by recursion, so this also bounds the stack: a level
/// takes about 2 KiB in a debug build, and [`MAX_CHAIN`] trees half of a test thread's 2 MiB.
pub const MAX_DEPTH: usize = 64;
/// Deepest tree of a formula as it is written. Brackets around what joins a chain anyway go when it is compiled, so that
/// no formula within [`MAX_DEPTH`] is over this.
pub const MAX_SYNTAX_LEVELS: usize = MAX_DEPTH + MAX_NESTING;
/// Most problems that are reported of one formula.
pub const MAX_PROBLEMS: usize = 10;
/// Longest name of a formula column, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Most formula columns of a team.
pub const MAX_FORMULA_COLUMNS: usize = 100;
/// Most formula columns that build on each other in a row: each is computed within the one above it.
pub const MAX_CHAIN: usize = 8;

/// Most steps of one evaluation. A node of the tree is a step, and so are [`BYTES_PER_STEP`] of text that a
/// function makes or looks through.
pub const MAX_STEPS: u32 = 10_000;
/// Bytes of text that count as a step.
pub const BYTES_PER_STEP: usize = 16;
/// Longest text within a formula, in bytes. A result is cut like any value of the address book, at
/// [`audience::column::MAX_VALUE_CHARS`].
pub const MAX_TEXT_BYTES: usize = 8_192;

/// Longest regular expression, in characters.
pub const MAX_PATTERN_CHARS: usize = 200;
/// Most regular expressions of a formula.
pub const MAX_PATTERNS: usize = 4;
/// Sizes that a regular expression may compile to, in bytes, and the steps that [`PATTERN_BYTES_PER_STEPS`] of text
/// then cost: the time of a search is bounded by the product of size and text.
pub const PATTERN_SIZES: [(usize, u32); 3] = [(4 << 10, 1), (16 << 10, 4), (64 << 10, 16)];
/// Bytes of text that a search goes through for the steps of its pattern. Replacing takes a search for every match.
pub const PATTERN_BYTES_PER_STEPS: u32 = 16;
