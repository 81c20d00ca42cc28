//! Letters.

use design::{Font, Glyph, GlyphRun};
use pdf_writer::{Content, Name, Str};

use crate::face::PdfFace;
use crate::ink;
use crate::number::pdf_number;

/// Thousandths of an em by which a glyph may stand beside its place: less than any press can show.
const TOLERANCE: f64 = 1.0;

/// The name of a font among the file's resources.
pub(crate) fn font_name(font: Font) -> String {
    format!("F{}", font as usize)
}

/// Draws runs.
pub(crate) fn draw_text(content: &mut Content, runs: &[GlyphRun]) {
    for run in runs {
        let name = font_name(run.font);
        content.save_state();
        ink::set_letter_fill(content, run.colour);
        content.begin_text();
        content.set_font(Name(name.as_bytes()), pdf_number(run.size));
        for line in run.glyphs.chunk_by(stands_beside) {
            draw_line(content, run, line);
        }
        content.end_text();
        content.restore_state();
    }
}

/// Whether two glyphs are upright on one baseline.
fn stands_beside(left: &Glyph, right: &Glyph) -> bool {
    left.y == right.y && left.rotation == 0.0 && right.rotation == 0.0
}

/// Draws glyphs on one baseline. A glyph that does not stand where the one before it ends is moved there.
fn draw_line(content: &mut Content, run: &GlyphRun, line: &[Glyph]) {
    let Some(first) = line.first() else { return };
    let (sine, cosine) = first.rotation.to_radians().sin_cos();
    // Letters are drawn upwards, the page downwards.
    content.set_text_matrix([cosine, sine, sine, -cosine, first.x, first.y].map(pdf_number));
    let face = PdfFace::for_font(run.font);
    let mut shown = content.show_positioned();
    let mut items = shown.items();
    let mut codes = Vec::with_capacity(line.len() * 2);
    // Where the next glyph stands if it is not moved.
    let mut pen = first.x;
    for glyph in line {
        let gap = (glyph.x - pen) / run.size * 1000.0;
        if gap.abs() > TOLERANCE {
            items.show(Str(&codes)).adjust(pdf_number(-gap));
            codes.clear();
            pen = glyph.x;
        }
        codes.extend(glyph.id.to_be_bytes());
        pen += f64::from(face.glyph_advance(glyph.id)) / 1000.0 * run.size;
    }
    items.show(Str(&codes));
}
