//! Numbers in a PDF.

/// A length or share as it is written: to a ten-thousandth, which is finer than any press and shorter than the rest of
/// its digits.
pub(crate) fn pdf_number(value: f64) -> f32 {
    // Lengths of a card are far within what the shorter type holds.
    ((value * 10_000.0).round() / 10_000.0) as f32
}
