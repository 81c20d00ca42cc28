//! Text along a part of a circle.

use crate::element::{ArcBend, TextArc};
use crate::geometry::PagePoint;
use crate::style::HorizontalAlignment;
use crate::text::ShapingFace;
use crate::text::analysis::TextAnalysis;
use crate::text::fit::{TOLERANCE, TextPlacement};
use crate::text::word::{InkBounds, ShapedWord, WordGlyph};

/// A circle's part that a line of text stands on: within it everything of the letters lies inside the arc of the
/// design.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaselineCurve {
    bend: ArcBend,
    middle: PagePoint,
    /// Of the baseline; above 0.
    radius: f64,
    /// Along the baseline from the curve's middle to where the text begins; negative to the left.
    start: f64,
}

/// Letters that are turned together, such as one with its accents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GlyphCluster<'a> {
    pub(crate) glyphs: &'a [WordGlyph],
    /// Ems from the word's origin.
    pub(crate) pen: f64,
    /// Ems.
    pub(crate) advance: f64,
}

/// A place on a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurvePosition {
    /// On the baseline.
    pub(crate) at: PagePoint,
    /// Degrees clockwise.
    pub(crate) rotation: f64,
}

impl BaselineCurve {
    /// The curve for a text at a size; `None` when the letters are too large for the circle.
    pub(crate) fn new(
        setting: &TextPlacement,
        arc: TextArc,
        analysis: &TextAnalysis,
        size: f64,
    ) -> Option<Self> {
        let area = setting.area;
        let line = BentLineExtent::from_analysis(analysis);
        let reach = match arc.bend {
            ArcBend::Up => ShapingFace::for_font(analysis.font).ascent + analysis.overhang.above,
            ArcBend::Down => ShapingFace::for_font(analysis.font).descent + analysis.overhang.below,
        };
        // The corners of a letter stand out more than its middle.
        let half = line.widest_half * size;
        let radius = (arc.radius * arc.radius - half * half).max(0.0).sqrt() - reach * size;
        if radius <= TOLERANCE {
            return None;
        }
        let middle_y = match arc.bend {
            ArcBend::Up => area.y + arc.radius,
            ArcBend::Down => area.y + area.height - arc.radius,
        };
        let mut curve = Self {
            bend: arc.bend,
            middle: (area.x + area.width / 2.0, middle_y),
            radius,
            start: 0.0,
        };
        let room = curve.baseline_length(setting, arc);
        let slack = room - line.width() * size;
        if slack < -TOLERANCE {
            return None;
        }
        let before = match setting.style.alignment {
            HorizontalAlignment::Left => 0.0,
            HorizontalAlignment::Center => slack / 2.0,
            HorizontalAlignment::Right => slack,
        };
        curve.start = before - room / 2.0 + line.overhang.0 * size;
        Some(curve)
    }

    /// Points along the baseline between the ends of the arc.
    fn baseline_length(&self, setting: &TextPlacement, arc: TextArc) -> f64 {
        arc.text_length(setting.area.width) / arc.radius * self.radius
    }

    /// The place so many points after the beginning of the text.
    pub(crate) fn position_at(&self, along: f64) -> CurvePosition {
        let angle = (self.start + along) / self.radius;
        let (sine, cosine) = angle.sin_cos();
        let (x, y) = self.middle;
        match self.bend {
            ArcBend::Up => CurvePosition {
                at: (x + self.radius * sine, y - self.radius * cosine),
                rotation: angle.to_degrees(),
            },
            ArcBend::Down => CurvePosition {
                at: (x + self.radius * sine, y + self.radius * cosine),
                rotation: -angle.to_degrees(),
            },
        }
    }
}

impl CurvePosition {
    /// A point given from the spot, the text's direction to the right.
    pub(crate) fn to_page_point(self, (right, down): PagePoint) -> PagePoint {
        let (sine, cosine) = self.rotation.to_radians().sin_cos();
        (
            self.at.0 + right * cosine - down * sine,
            self.at.1 + right * sine + down * cosine,
        )
    }

    /// The corners of ink given from the spot.
    pub(crate) fn to_page_corners(self, ink: InkBounds) -> [PagePoint; 4] {
        [
            (ink.left, ink.top),
            (ink.right, ink.top),
            (ink.right, ink.bottom),
            (ink.left, ink.bottom),
        ]
        .map(|corner| self.to_page_point(corner))
    }
}

impl GlyphCluster<'_> {
    /// Its ink at a size, from the middle of its part of the baseline. Points.
    pub(crate) fn ink_at_size(&self, size: f64) -> InkBounds {
        let middle = self.pen + self.advance / 2.0;
        let ink = self
            .glyphs
            .iter()
            .fold(InkBounds::NONE, |ink, glyph| ink.union(glyph.ink));
        ink.scale_and_move(size, (-middle * size, 0.0))
    }
}

/// A word's clusters from left to right.
pub(crate) fn glyph_clusters(word: &ShapedWord) -> impl Iterator<Item = GlyphCluster<'_>> {
    word.glyphs
        .chunk_by(|left, right| left.characters == right.characters)
        .map(|glyphs| GlyphCluster {
            glyphs,
            pen: glyphs.first().map_or(0.0, |glyph| glyph.pen),
            advance: glyphs.iter().map(|glyph| glyph.advance).sum(),
        })
}

/// What counts of a line that is bent. Ems.
#[derive(Debug, Clone, Copy, Default)]
struct BentLineExtent {
    advance: f64,
    overhang: (f64, f64),
    /// Of the widest letter, to one side of its middle.
    widest_half: f64,
}

impl BentLineExtent {
    fn from_analysis(analysis: &TextAnalysis) -> Self {
        let mut line = Self::default();
        for piece in &analysis.pieces {
            line.advance += piece.advance
                + if piece.ends_paragraph {
                    0.0
                } else {
                    piece.space
                };
            line.overhang = (
                line.overhang.0.max(piece.overhang.0),
                line.overhang.1.max(piece.overhang.1),
            );
        }
        for cluster in analysis
            .atoms
            .iter()
            .flat_map(|atom| glyph_clusters(&atom.word))
        {
            let ink = cluster.ink_at_size(1.0);
            line.widest_half = line
                .widest_half
                .max(cluster.advance / 2.0)
                .max(-ink.left)
                .max(ink.right);
        }
        line
    }

    fn width(&self) -> f64 {
        self.advance + self.overhang.0 + self.overhang.1
    }
}

/// Whether all letters lie in the area at a size.
pub(crate) fn fits_arc(
    setting: &TextPlacement,
    arc: TextArc,
    analysis: &TextAnalysis,
    size: f64,
) -> bool {
    let Some(curve) = BaselineCurve::new(setting, arc, analysis, size) else {
        return false;
    };
    let area = setting.area.expand(TOLERANCE);
    let mut along = 0.0;
    analysis
        .visual_order(0..analysis.pieces.len())
        .iter()
        .all(|atom| {
            let is_within = glyph_clusters(&atom.word).all(|cluster| {
                let ink = cluster.ink_at_size(size);
                let spot = curve.position_at(along + (cluster.pen + cluster.advance / 2.0) * size);
                ink.is_empty()
                    || spot
                        .to_page_corners(ink)
                        .into_iter()
                        .all(|corner| area.contains(corner))
            });
            along += atom.word.advance * size;
            is_within
        })
}
