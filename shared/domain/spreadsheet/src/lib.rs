//! CSV between us and the programs that people open and save it with (pure but for passing a text on).
//!
//! What we write must not run as a formula ([`inert`]). What we read may be no CSV at all ([`ForeignFile`]), and its lines
//! are counted as an editor counts them ([`LineCounter`]).

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod foreign;
mod inert;
mod lines;

pub use self::foreign::ForeignFile;
pub use self::inert::escape_formula;
pub use self::lines::{LineCounter, ROW_BYTES};
