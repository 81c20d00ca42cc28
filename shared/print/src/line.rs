//! Single lines that are not of the design: addresses and postage. Latin letters, set from left to right without kerning,
//! as sorting machines read them best.

use design::{Colour, Font, Glyph, GlyphRun};
use unicode_normalization::UnicodeNormalization;

use crate::face::Face;

/// By how much a size shrinks at a time, in points.
const SIZE_STEP: f64 = 0.5;

/// Stands for a character that no font has.
const UNKNOWN: char = '?';

/// How a line is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineStyle {
    pub(crate) font: Font,
    /// Points, when the line fits.
    pub(crate) size: f64,
    /// Points to which it shrinks for a longer one; past that the line is cut.
    pub(crate) smallest_size: f64,
}

/// One character of a line.
#[derive(Clone, Copy)]
struct Letter {
    character: char,
    font: Font,
    glyph: u16,
}

/// The glyphs of a line from `x` on its baseline `y`, no wider than `width`.
pub(crate) fn set(text: &str, style: LineStyle, (x, y): (f64, f64), width: f64) -> Vec<GlyphRun> {
    let letters: Vec<Letter> = text.nfc().flat_map(|character| letters_of(character, style.font)).collect();
    let em = letters.iter().map(|letter| advance(*letter, 1.0)).sum::<f64>();
    let mut size = style.size;
    while size - SIZE_STEP >= style.smallest_size && em * size > width {
        size -= SIZE_STEP;
    }
    runs(&letters, size, (x, y), width)
}

/// How wide the line is at this size.
pub(crate) fn width(text: &str, font: Font, size: f64) -> f64 {
    text.nfc().flat_map(|character| letters_of(character, font)).map(|letter| advance(letter, size)).sum()
}

fn advance(letter: Letter, size: f64) -> f64 {
    f64::from(Face::of(letter.font).advance(letter.glyph)) / 1000.0 * size
}

/// A character as it prints: itself, else from a fallback font, else without its marks, else a question mark.
fn letters_of(character: char, font: Font) -> Vec<Letter> {
    if let Some(letter) = letter(character, font) {
        return vec![letter];
    }
    let base: Vec<Letter> = std::iter::once(character).nfd().filter_map(|part| letter(part, font)).collect();
    match base.is_empty() {
        false => base,
        true => letter(UNKNOWN, font).into_iter().collect(),
    }
}

fn letter(character: char, font: Font) -> Option<Letter> {
    std::iter::once(font).chain(font.fallbacks()).find_map(|font| {
        let glyph = Face::of(font).glyph(character)?;
        Some(Letter { character, font, glyph })
    })
}

fn runs(letters: &[Letter], size: f64, (x, y): (f64, f64), width: f64) -> Vec<GlyphRun> {
    let mut runs: Vec<GlyphRun> = Vec::new();
    let mut right = x;
    for letter in letters {
        let advance = advance(*letter, size);
        if right + advance > x + width {
            break;
        }
        if runs.last().is_none_or(|run| run.font != letter.font) {
            let (text, glyphs) = (String::new(), Vec::new());
            runs.push(GlyphRun { font: letter.font, size, colour: Colour::BLACK, text, glyphs });
        }
        if let Some(run) = runs.last_mut() {
            let start = run.text.len();
            run.text.push(letter.character);
            let characters = start..run.text.len();
            run.glyphs.push(Glyph { id: letter.glyph, x: right, y, rotation: 0.0, advance, characters });
        }
        right += advance;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: LineStyle = LineStyle { font: Font::Inter, size: 10.0, smallest_size: 6.0 };

    fn set_text(text: &str, width: f64) -> Vec<GlyphRun> {
        set(text, STYLE, (5.0, 20.0), width)
    }

    #[test]
    fn a_line_shrinks_to_its_width_and_then_is_cut() {
        let text = "1100 CONGRESS AVE";
        let natural = width(text, Font::Inter, 10.0);
        assert_eq!(set_text(text, natural + 0.1)[0].size, 10.0);
        let shrunk = set_text(text, natural * 0.8);
        assert!(shrunk[0].size < 10.0 && shrunk[0].text == text);
        let cut = set_text(text, natural * 0.3);
        assert!(cut[0].size >= 6.0 && text.starts_with(&cut[0].text) && cut[0].text.len() < text.len());
    }

    #[test]
    fn no_character_is_lost_without_a_trace() {
        let text = |line: &str| set_text(line, 500.0).iter().map(|run| run.text.clone()).collect::<String>();
        assert_eq!(text("JOSÉ NÚÑEZ"), "JOSÉ NÚÑEZ");
        assert_eq!(text("A日B"), "A?B");
        let glyphs = set_text("A日B", 500.0);
        assert!(glyphs.iter().flat_map(|run| &run.glyphs).all(|glyph| glyph.id != 0));
    }
}
