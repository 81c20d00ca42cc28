//! Characters that are shaped together: a word or a part of one, or the space between two.

use std::ops::Range;

use harfrust::{Buffer, ShaperFont};

use crate::font::Font;
use crate::text::ShapingFace;

/// A shaped word. Lengths are ems; y is down.
#[derive(Debug)]
pub(crate) struct ShapedWord {
    /// The font.
    pub(crate) font: Font,
    /// What it says.
    pub(crate) text: Box<str>,
    /// From left to right.
    pub(crate) glyphs: Box<[WordGlyph]>,
    /// From its origin to that of the next word.
    pub(crate) advance: f64,
    /// What is black.
    pub(crate) ink: InkBounds,
    /// Whether every character has a glyph.
    pub(crate) is_complete: bool,
}

/// A glyph of a word.
#[derive(Debug, Clone)]
pub(crate) struct WordGlyph {
    /// Its number in the font.
    pub(crate) id: u16,
    /// From the word's origin to where the glyph would stand without its offset.
    pub(crate) pen: f64,
    /// By how much it is off that.
    pub(crate) offset: (f64, f64),
    /// To the next.
    pub(crate) advance: f64,
    /// The bytes of the word it stands for.
    pub(crate) characters: Range<u32>,
    /// What of it is black, from the word's origin.
    pub(crate) ink: InkBounds,
}

/// The smallest upright rectangle around what is black. Without any it is [`InkBounds::NONE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct InkBounds {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl InkBounds {
    pub(crate) const NONE: Self = Self {
        left: f64::INFINITY,
        top: f64::INFINITY,
        right: f64::NEG_INFINITY,
        bottom: f64::NEG_INFINITY,
    };

    /// Around both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.left > self.right
    }

    /// Scaled about the origin, then moved.
    pub(crate) fn scale_and_move(self, scale: f64, (x, y): (f64, f64)) -> Self {
        Self {
            left: x + self.left * scale,
            top: y + self.top * scale,
            right: x + self.right * scale,
            bottom: y + self.bottom * scale,
        }
    }
}

impl ShapedWord {
    /// Reads what shaping left in the buffer.
    pub(crate) fn from_buffer(
        font: Font,
        text: &str,
        shaper: &ShaperFont<'_, '_>,
        buffer: &Buffer,
    ) -> Self {
        let face = ShapingFace::for_font(font);
        let clusters: Vec<u32> = buffer
            .glyph_infos()
            .iter()
            .map(|info| info.cluster)
            .collect();
        let mut glyphs = Vec::with_capacity(clusters.len());
        let (mut pen, mut ink, mut is_complete) = (0.0, InkBounds::NONE, true);
        for (index, (info, position)) in buffer
            .glyph_infos()
            .iter()
            .zip(buffer.glyph_positions())
            .enumerate()
        {
            let offset = (
                face.units_to_ems(position.x_offset),
                -face.units_to_ems(position.y_offset),
            );
            let advance = face.units_to_ems(position.x_advance);
            match u16::try_from(info.glyph_id) {
                Ok(id) if id != 0 => {
                    let glyph_ink = glyph_ink(face, shaper, info.glyph_id)
                        .scale_and_move(1.0, (pen + offset.0, offset.1));
                    ink = ink.union(glyph_ink);
                    let characters = clusters[index]..cluster_end(&clusters, index, text.len());
                    glyphs.push(WordGlyph {
                        id,
                        pen,
                        offset,
                        advance,
                        characters,
                        ink: glyph_ink,
                    });
                }
                _ => is_complete = false,
            }
            pen += advance;
        }
        Self {
            font,
            text: text.into(),
            glyphs: glyphs.into(),
            advance: pen.max(0.0),
            ink,
            is_complete,
        }
    }

    /// By how much ink sticks out beyond the origin on the left and the advance on the right.
    pub(crate) fn overhang(&self) -> (f64, f64) {
        if self.ink.is_empty() {
            return (0.0, 0.0);
        }
        (
            (-self.ink.left).max(0.0),
            (self.ink.right - self.advance).max(0.0),
        )
    }
}

fn glyph_ink(face: &ShapingFace, shaper: &ShaperFont<'_, '_>, id: u32) -> InkBounds {
    let Some(extents) = shaper.glyph_extents(harfrust::GlyphId::new(id)) else {
        return InkBounds::NONE;
    };
    if extents.width == 0 || extents.height == 0 {
        return InkBounds::NONE;
    }
    let (left, top) = (
        face.units_to_ems(extents.x_bearing),
        -face.units_to_ems(extents.y_bearing),
    );
    let (width, height) = (
        face.units_to_ems(extents.width),
        -face.units_to_ems(extents.height),
    );
    InkBounds {
        left,
        top,
        right: left + width,
        bottom: top + height,
    }
}

/// Where the cluster of a glyph ends: at the next one in the text, which is to its right when text runs from left
/// to right, and to its left otherwise.
fn cluster_end(clusters: &[u32], index: usize, length: usize) -> u32 {
    let own = clusters[index];
    let differs = |cluster: &&u32| **cluster != own;
    let is_rising = clusters.first() <= clusters.last();
    let next = if is_rising {
        clusters[index..].iter().find(differs)
    } else {
        clusters[..index].iter().rev().find(differs)
    };
    // A text is far shorter than 4 GB.
    next.copied()
        .filter(|next| *next > own)
        .unwrap_or(u32::try_from(length).unwrap_or(u32::MAX))
}
