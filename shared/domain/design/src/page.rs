//! What prints on one surface of one card, with every decision taken: sizes are final, words are glyphs and links
//! are resolved. A renderer draws it as it stands.
//!
//! Positions are points from the trimmed card's upper left corner, x to the right and y down. An item's are those
//! before it is turned: its rotation is about the middle of its area ([`ElementFrame`]).

use std::ops::Range;
use std::sync::Arc;

use crate::element::{ImageFit, ShapeElement};
use crate::font::Font;
use crate::geometry::ElementFrame;
use crate::product::Side;
use crate::style::Colour;

/// One surface of one card.
#[derive(Debug, Clone, PartialEq)]
pub struct LaidOutPage {
    /// Which one.
    pub side: Side,
    /// Behind everything, to the end of the bleed but not in reserved zones; `None` is the paper.
    pub background: Option<Colour>,
    /// From the lowest to the topmost. An element that prints nothing for this recipient is not among them.
    pub items: Vec<PageItem>,
}

/// What an element prints.
#[derive(Debug, Clone, PartialEq)]
pub struct PageItem {
    /// The element's id.
    pub element: Arc<str>,
    /// Its area, and how it is turned.
    pub frame: ElementFrame,
    /// Whether another recipient's can differ. What does not differ can be drawn once and shared by all cards.
    pub varies: bool,
    /// What is drawn.
    pub drawing: ItemDrawing,
}

/// What is drawn in an item's area.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemDrawing {
    /// Letters.
    Text(Arc<[GlyphRun]>),
    /// A picture.
    Picture {
        /// Under which it was fetched: the recipient's as it was sent, or the design's.
        link: Arc<str>,
        /// How it fills the area.
        fit: ImageFit,
    },
    /// A QR code, the largest square in the middle of the area.
    Code {
        /// Its position among the document's codes, front before back, from 0.
        position: usize,
        /// Of its modules.
        colour: Colour,
    },
    /// A shape that fills the area.
    Shape(ShapeElement),
}

/// Letters of one font, size and colour, in the order in which they stand on the line from left to right.
#[derive(Debug, Clone, PartialEq)]
pub struct GlyphRun {
    /// The font; [`Font::bytes`] is its file, for embedding.
    pub font: Font,
    /// Points of its em.
    pub size: f64,
    /// Of the letters.
    pub colour: Colour,
    /// The characters that the glyphs stand for, in the order in which they are read.
    pub text: String,
    /// At least one.
    pub glyphs: Vec<Glyph>,
}

/// One glyph.
#[derive(Debug, Clone, PartialEq)]
pub struct Glyph {
    /// Its number in the font; never 0, the glyph of a missing character.
    pub id: u16,
    /// Of its origin, on the baseline as a rule.
    pub x: f64,
    /// Of its origin.
    pub y: f64,
    /// Degrees clockwise about its origin; 0 but for text along an arc.
    pub rotation: f64,
    /// Points from its origin to that of the next, before it is turned.
    pub advance: f64,
    /// The bytes of the run's text that it stands for. Glyphs of one cluster have the same.
    pub characters: Range<usize>,
}
