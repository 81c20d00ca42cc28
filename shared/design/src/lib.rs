//! The documents of card designs, and what can print.
//!
//! A design is a JSON document: a product and what is on its two surfaces. [`Document::parse`] reads one and
//! checks every setting that could keep it from printing; a [`Document`] that exists can print. Lengths are
//! in points (1/72 inch), measured from the upper left corner of the trimmed card, x to the right and y down.

mod check;
mod document;
mod element;
mod finding;
mod font;
mod geometry;
pub mod limits;
mod link;
mod outline;
mod page;
mod plan;
mod problem;
mod product;
mod recipient;
mod return_address;
mod style;
mod template;
mod text;

pub use document::{Document, Surface};
pub use element::{
    Arc, Bend, Content, Element, Fit, Image, ImageSource, Outline, QrCode, Shape, Stroke, TextBox,
};
pub use finding::{Decision, Refusal, RefusalReason, Warning, WarningCode};
pub use font::Font;
pub use geometry::{Area, Frame};
pub use link::{Destination, SecureLink};
pub use page::{Drawing, Glyph, GlyphRun, Item, Page};
pub use plan::Plan;
pub use problem::Problem;
pub use product::{Product, Purpose, Side, UnknownProduct, Zone};
pub use recipient::Recipient;
pub use return_address::{FilledAddress, PostalAddress, ReturnAddress};
pub use style::{Alignment, Colour, VerticalAlignment};
pub use template::{Rendered, Template, TemplateError};
pub use text::{Block, BlockStyle, Typesetter};

/// The JSON Schema of documents (draft 2020-12). It refuses no document that prints; some rules, such as those about
/// two settings at once, only [`Document::parse`] knows.
pub const SCHEMA: &str = include_str!("../schema.json");
