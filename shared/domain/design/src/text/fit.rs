//! The size at which a text fits its area.

use crate::element::{TextArc, TextBox};
use crate::geometry::PageRect;
use crate::limits::SIZE_STEP;
use crate::text::analysis::TextAnalysis;
use crate::text::typesetter::{BlockStyle, Typesetter};
use crate::text::{arc, lines};

/// Lengths that differ by less are the same, in points: sums of the same widths round differently.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Halvings until the size for a text that is too long for its curve is known to a thousandth of a point.
const HALVINGS: u32 = 20;

/// Where a text goes, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPlacement {
    /// How.
    pub(crate) style: BlockStyle,
    /// Where.
    pub(crate) area: PageRect,
    /// Along which curve, if any.
    pub(crate) arc: Option<TextArc>,
}

/// Whether lines may end at spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineWrapping {
    /// They may.
    AtSpaces,
    /// Only where a paragraph ends.
    Never,
}

/// The size that was found, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FittedSize {
    /// The largest at which the text lies in its area.
    At(f64),
    /// Smaller than the smallest wanted: at which a text lies on its curve that is too long for it.
    BelowSmallest(f64),
    /// Not at its smallest size.
    Nowhere,
}

impl TextPlacement {
    /// Of a text box in its area.
    pub(crate) fn new(text: &TextBox, area: PageRect) -> Self {
        Self {
            style: text.into(),
            area,
            arc: text.arc,
        }
    }

    /// Of straight lines.
    pub(crate) fn from_style(style: &BlockStyle, area: PageRect) -> Self {
        Self {
            style: *style,
            area,
            arc: None,
        }
    }

    /// Takes a text apart. Along a curve there is one line.
    pub(crate) fn analyse_text(&self, typesetter: &mut Typesetter, text: &str) -> TextAnalysis {
        match self.arc {
            Some(_) => TextAnalysis::new_single_line(typesetter, text, self.style.font),
            None => TextAnalysis::new(typesetter, text, self.style.font),
        }
    }

    /// Finds the size.
    pub(crate) fn find_size(&self, analysis: &TextAnalysis, wrapping: LineWrapping) -> FittedSize {
        let Some(arc) = self.arc else {
            let found =
                self.find_largest_size(|size| lines::fits_lines(self, analysis, size, wrapping));
            return found.map_or(FittedSize::Nowhere, FittedSize::At);
        };
        let fits = |size| arc::fits_arc(self, arc, analysis, size);
        match self.find_largest_size(fits) {
            Some(size) => FittedSize::At(size),
            None => bisect_size(self.style.smallest_size, fits)
                .map_or(FittedSize::Nowhere, FittedSize::BelowSmallest),
        }
    }

    /// The largest size that fits, of those [`SIZE_STEP`] apart from the wanted one down, and the smallest. What
    /// fits at one fits at each smaller one, so that few are tried.
    fn find_largest_size(&self, fits: impl Fn(f64) -> bool) -> Option<f64> {
        let BlockStyle {
            size,
            smallest_size,
            ..
        } = self.style;
        if fits(size) {
            return Some(size);
        }
        if !fits(smallest_size) {
            return None;
        }
        let at = |step: u32| (size - f64::from(step) * SIZE_STEP).max(smallest_size);
        // Both are limited, so that there are at most a thousand steps.
        let (mut too_few, mut enough) = (0, ((size - smallest_size) / SIZE_STEP).ceil() as u32);
        while enough - too_few > 1 {
            let middle = u32::midpoint(too_few, enough);
            if fits(at(middle)) {
                enough = middle
            } else {
                too_few = middle
            }
        }
        Some(at(enough))
    }
}

/// About the largest size below one that does not fit.
fn bisect_size(too_large: f64, fits: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut small, mut large) = (0.0, too_large);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(small, large);
        if fits(middle) {
            small = middle
        } else {
            large = middle
        }
    }
    (small > 0.0).then_some(small)
}
