//! The documents of card designs, and what can print.
//!
//! A design is a JSON document: a product and what is on its two surfaces. [`PrintableDesign::parse`] reads one and
//! checks every setting that could keep it from printing; a [`PrintableDesign`] that exists can print. Lengths are
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

pub use document::{DesignSide, PrintableDesign};
pub use element::{
    ArcBend, DesignElement, ElementContent, ImageElement, ImageFit, ImageSource, QrCode,
    ShapeElement, ShapeOutline, ShapeStroke, TextArc, TextBox,
};
pub use finding::{
    LayoutDecision, LayoutError, LayoutErrorReason, LayoutWarning, LayoutWarningCode,
};
pub use font::Font;
pub use geometry::{ElementFrame, PageRect};
pub use link::{HttpsLink, QrDestination};
pub use page::{Glyph, GlyphRun, ItemDrawing, LaidOutPage, PageItem};
pub use plan::LayoutPlan;
pub use problem::DesignError;
pub use product::{ParseProductError, Product, ReservedZone, Side, ZonePurpose};
pub use recipient::RecipientValues;
pub use return_address::{FilledAddress, PostalAddress, ReturnAddress};
pub use style::{Colour, HorizontalAlignment, VerticalAlignment};
pub use template::{RenderedTemplate, TemplateError, TextTemplate};
pub use text::{BlockStyle, TextBlock, Typesetter};

/// The JSON Schema of documents (draft 2020-12). It refuses no document that prints; some rules, such as those about
/// two settings at once, only [`PrintableDesign::parse`] knows.
pub const SCHEMA: &str = include_str!("../schema.json");
