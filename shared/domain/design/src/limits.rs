//! The bounds of a document. They keep the work of checking and printing one card small and known.

/// Elements of one surface.
pub const ELEMENTS_PER_SURFACE: usize = 100;

/// Characters of an element's id.
pub const ID_CHARS: usize = 64;

/// Characters of a template as written.
pub const TEMPLATE_CHARS: usize = 2_000;

/// Fields in one template, repeats counted.
pub const FIELDS_PER_TEMPLATE: usize = 50;

/// Characters of a field's name; as many as a recipient's field name may have.
pub const FIELD_NAME_CHARS: usize = 200;

/// Characters of a link.
pub const LINK_CHARS: usize = 2_000;

/// The smallest type that prints legibly, in points.
pub const SMALLEST_SIZE: f64 = 4.0;

/// The largest type, in points.
pub const LARGEST_SIZE: f64 = 500.0;

/// The closest lines, as a multiple of the type's size.
pub const SMALLEST_LINE_HEIGHT: f64 = 0.5;

/// The widest apart lines, as a multiple of the type's size.
pub const LARGEST_LINE_HEIGHT: f64 = 5.0;

/// The smallest QR code that phones read reliably, in points (half an inch).
pub const SMALLEST_QR_CODE: f64 = 36.0;

/// The thickest line around a shape, in points.
pub const LARGEST_STROKE: f64 = 72.0;

/// The flattest arc, in points; past it an arc is a straight line.
pub const LARGEST_RADIUS: f64 = 10_000.0;

/// From one size that is tried to the next smaller one, in points.
pub const SIZE_STEP: f64 = 0.5;

/// Characters of all of a card's texts with fields, filled in. More than both its sides hold that anybody could read, and
/// few enough that the cards of the largest request are decided well within its time.
pub const CARD_CHARS: usize = 10_000;

/// Characters that are looked at of a text that is to be one line, such as a name in an address.
pub const LINE_CHARS: usize = 500;

/// Shaped words that a [`Typesetter`](crate::Typesetter) keeps: some 10 MB.
pub const WORDS_KEPT: usize = 20_000;

/// Characters that a message names; it counts further ones.
pub const LISTED_CHARACTERS: usize = 5;
