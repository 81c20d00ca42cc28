//! Straight lines at a size.

use std::ops::Range;

use crate::text::ShapingFace;
use crate::text::analysis::{LineSegment, TextAnalysis};
use crate::text::fit::{LineWrapping, TOLERANCE, TextPlacement};

/// Breaks a text into lines, of each of which `line` gets the pieces. Says whether all of them fit the width.
///
/// A line takes all the pieces that fit it, so that at a smaller size no line begins earlier: what fits at a size
/// fits at each smaller one. A piece that is too wide by itself is a line.
pub(crate) fn break_lines(
    pieces: &[LineSegment],
    width: f64,
    size: f64,
    wrapping: LineWrapping,
    mut line: impl FnMut(Range<usize>),
) -> bool {
    let is_within = |reach: LineExtent| reach.width() * size <= width + TOLERANCE;
    let (mut start, mut reach, mut fits) = (0, LineExtent::default(), true);
    for (index, piece) in pieces.iter().enumerate() {
        reach.add_segment(piece);
        if index > start && wrapping == LineWrapping::AtSpaces && !is_within(reach) {
            line(start..index);
            (start, reach) = (index, LineExtent::default());
            reach.add_segment(piece);
        }
        fits &= is_within(reach);
        if piece.ends_paragraph {
            line(start..index + 1);
            (start, reach) = (index + 1, LineExtent::default());
        }
    }
    fits
}

/// How much room the pieces of a line take, in whatever order they stand. Ems.
#[derive(Debug, Clone, Copy, Default)]
struct LineExtent {
    advance: f64,
    space: f64,
    overhang: (f64, f64),
}

impl LineExtent {
    fn add_segment(&mut self, piece: &LineSegment) {
        self.advance += self.space + piece.advance;
        self.space = piece.space;
        self.overhang = (
            self.overhang.0.max(piece.overhang.0),
            self.overhang.1.max(piece.overhang.1),
        );
    }

    fn width(self) -> f64 {
        self.advance + self.overhang.0 + self.overhang.1
    }
}

/// Points from the top of the first to the bottom of the last line, without ink that sticks out.
pub(crate) fn lines_height(setting: &TextPlacement, lines: usize, size: f64) -> f64 {
    let between = setting.style.line_height * lines.saturating_sub(1) as f64;
    (ShapingFace::for_font(setting.style.font).line_height() + between) * size
}

/// Whether all lines lie in the area at a size, with all that sticks out of them.
pub(crate) fn fits_lines(
    setting: &TextPlacement,
    analysis: &TextAnalysis,
    size: f64,
    wrapping: LineWrapping,
) -> bool {
    let mut lines = 0;
    let fits = break_lines(&analysis.pieces, setting.area.width, size, wrapping, |_| {
        lines += 1
    });
    let overhang = (analysis.overhang.above + analysis.overhang.below) * size;
    fits && lines_height(setting, lines, size) + overhang <= setting.area.height + TOLERANCE
}
