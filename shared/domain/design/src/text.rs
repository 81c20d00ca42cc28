//! Setting text: shaping it into glyphs, breaking it into lines, finding its size and its place.
//!
//! A text is set in five steps, each a module of its own. It is analysed ([`analysis`]) into words, which are
//! shaped ([`typesetter`]) once per font and kept, for words repeat. A shaped word ([`word`]) is measured in ems, so
//! that trying a size ([`lines`], [`arc`]) is adding up widths. Once the size is known the glyphs get their places
//! ([`place`]).

mod analysis;
mod arc;
mod block;
mod coverage;
mod face;
mod fit;
mod lines;
mod place;
mod typesetter;
mod word;

pub(crate) use analysis::TextAnalysis;
pub use block::TextBlock;
pub(crate) use face::ShapingFace;
pub(crate) use fit::{FittedSize, LineWrapping, TextPlacement};
pub use typesetter::{BlockStyle, Typesetter};

#[cfg(test)]
mod tests;
