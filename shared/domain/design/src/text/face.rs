//! The fonts as shaping sees them, read once for the whole process.

use std::sync::LazyLock;

use crate::font::Font;

/// A font that is read.
pub(crate) struct ShapingFace {
    /// What shaping works with. It reads the tables as they are needed and keeps what it finds.
    pub(crate) shaping: harfrust::Font,
    /// Font units of an em.
    units: f64,
    /// Ems from the baseline up to the top of a line.
    pub(crate) ascent: f64,
    /// Ems from the baseline down to the bottom of a line.
    pub(crate) descent: f64,
}

static FACES: LazyLock<Vec<ShapingFace>> = LazyLock::new(|| {
    Font::ALL
        .iter()
        .map(|font| ShapingFace::parse(*font))
        .collect()
});

impl ShapingFace {
    /// The font.
    pub(crate) fn for_font(font: Font) -> &'static Self {
        &FACES[font as usize]
    }

    fn parse(font: Font) -> Self {
        let shaping = harfrust::Font::new(font.bytes(), 0).expect("the fonts that ship are fonts");
        let metrics = shaping.metrics();
        let units = f64::from(metrics.units_per_em);
        let line = metrics
            .hhea_line
            .expect("the fonts that ship have line metrics");
        let (ascent, descent) = (
            line.ascender.to_f64() / units,
            -line.descender.to_f64() / units,
        );
        Self {
            shaping,
            units,
            ascent,
            descent,
        }
    }

    /// A length in font units, in ems.
    pub(crate) fn units_to_ems(&self, units: i32) -> f64 {
        f64::from(units) / self.units
    }

    /// Ems from the top to the bottom of a line.
    pub(crate) fn line_height(&self) -> f64 {
        self.ascent + self.descent
    }
}
