//! What drawing and embedding need to know of a font.

use std::sync::OnceLock;

use design::Font;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider};

/// What drawing and embedding need to know of a font. Lengths in thousandths of its em.
pub(crate) struct PdfFace {
    /// By glyph.
    advances: Vec<f32>,
    pub(crate) ascent: f32,
    pub(crate) descent: f32,
    pub(crate) cap_height: f32,
    /// Degrees counter-clockwise from upright.
    pub(crate) italic_angle: f32,
    /// Left, lower, right and upper edge of all glyphs.
    pub(crate) bounds: [f32; 4],
}

/// Each font's, read once.
static FACES: [OnceLock<PdfFace>; Font::ALL.len()] = [const { OnceLock::new() }; Font::ALL.len()];

impl PdfFace {
    /// Of a font that ships with the program.
    pub(crate) fn for_font(font: Font) -> &'static Self {
        FACES[font as usize].get_or_init(|| Self::parse(font))
    }

    fn parse(font: Font) -> Self {
        let font =
            FontRef::new(font.bytes()).expect("a font that ships with the program can be read");
        let metrics = font.metrics(Size::unscaled(), LocationRef::default());
        let scale = 1000.0 / f32::from(metrics.units_per_em);
        let glyphs = font.glyph_metrics(Size::unscaled(), LocationRef::default());
        let advances = (0..metrics.glyph_count)
            .map(|glyph| glyphs.advance_width(GlyphId::new(glyph)).unwrap_or(0.0) * scale)
            .collect();
        let bounds = metrics.bounds.map_or([0.0; 4], |bounds| {
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|edge| edge * scale)
        });
        Self {
            advances,
            ascent: metrics.ascent * scale,
            descent: metrics.descent * scale,
            cap_height: metrics.cap_height.unwrap_or(metrics.ascent) * scale,
            italic_angle: metrics.italic_angle,
            bounds,
        }
    }

    /// The number of its glyphs.
    pub(crate) fn glyph_count(&self) -> usize {
        self.advances.len()
    }

    /// From a glyph's origin to that of the next; 0 for a glyph that it has not.
    pub(crate) fn glyph_advance(&self, glyph: u16) -> f32 {
        self.advances
            .get(usize::from(glyph))
            .copied()
            .unwrap_or(0.0)
    }
}
