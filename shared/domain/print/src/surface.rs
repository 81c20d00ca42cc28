//! One surface of one card as the operators of a PDF page.

use design::{
    Colour, ElementFrame, GlyphRun, ImageFit, ItemDrawing, LaidOutPage, PageItem, PageRect, Product,
};
use model::scan::{MailpieceCode, SCAN_PATH, ScanTarget};
use pdf_writer::{Content, Name, Ref};

use crate::address_side;
use crate::card::{PressMailpiece, PressMailpieceError};
use crate::number::pdf_number;
use crate::picture::EmbeddedPicture;
use crate::press::PressSettings;
use crate::{code, ink, shape, text};

/// The name of the n-th object that a page uses.
pub(crate) fn object_name(index: usize) -> String {
    format!("X{index}")
}

/// A surface under way.
pub(crate) struct PageCanvas {
    pub(crate) content: Content,
    /// Pictures and shared drawings that it uses, in the order of their names.
    pub(crate) objects: Vec<Ref>,
}

impl PageCanvas {
    /// An empty one, on which lengths run as in designs: from the trimmed card's upper left corner, y down.
    pub(crate) fn new(product: Product) -> Self {
        let mut content = Content::with_settings(crate::file::COMPACT);
        let bleed = product.bleed_area();
        content.transform([1.0, 0.0, 0.0, -1.0, -bleed.x, bleed.y + bleed.height].map(pdf_number));
        Self {
            content,
            objects: Vec::new(),
        }
    }

    /// The name of an object on this surface.
    fn add_object(&mut self, object: Ref) -> String {
        let known = self.objects.iter().position(|known| *known == object);
        object_name(known.unwrap_or_else(|| {
            self.objects.push(object);
            self.objects.len() - 1
        }))
    }

    /// Fills everything.
    pub(crate) fn fill_background(&mut self, colour: Colour, product: Product) {
        ink::set_fill(&mut self.content, colour);
        let PageRect {
            x,
            y,
            width,
            height,
        } = product.bleed_area();
        self.content
            .rect(
                pdf_number(x),
                pdf_number(y),
                pdf_number(width),
                pdf_number(height),
            )
            .fill_nonzero();
    }

    /// Draws what is shared with other cards.
    pub(crate) fn draw_shared(&mut self, object: Ref) {
        let name = self.add_object(object);
        self.content.x_object(Name(name.as_bytes()));
    }

    /// Draws a picture.
    pub(crate) fn draw_picture(
        &mut self,
        placed: &EmbeddedPicture,
        item: &PageItem,
        fit: ImageFit,
    ) {
        let name = self.add_object(placed.object);
        draw_turned(&mut self.content, item.frame, |content, area| {
            placed.draw(content, Name(name.as_bytes()), area, fit);
        });
    }

    /// Draws a QR code.
    pub(crate) fn draw_code(
        &mut self,
        item: &PageItem,
        position: usize,
        colour: Colour,
        card: &MailpieceCode,
        settings: &PressSettings,
    ) -> Result<(), PressMailpieceError> {
        let url = scan_url(card, position, &settings.public_url);
        let drawn = draw_turned(&mut self.content, item.frame, |content, area| {
            code::draw_qr_code(content, area, &url, colour)
        });
        drawn.ok_or(PressMailpieceError::CodeTooLong(url))
    }

    /// What the post office needs, on the side that has it.
    pub(crate) fn draw_address_side(
        &mut self,
        card: &PressMailpiece<'_>,
        lines: &[GlyphRun],
        product: Product,
    ) {
        text::draw_text(&mut self.content, lines);
        card.address.draw_barcode(&mut self.content, product);
    }

    /// Clears the zones that belong to the post office.
    pub(crate) fn clear_zones(&mut self, card: &PressMailpiece<'_>, product: Product) {
        let mut zones = product.reserved_zones();
        if !card.address.return_address.is_empty() {
            zones.push(product.return_address_zone());
        }
        address_side::clear_zones(&mut self.content, product, &zones);
    }
}

/// What the n-th QR code of a card says.
fn scan_url(code: &MailpieceCode, position: usize, public_url: &str) -> String {
    // Designs have fewer codes than the type holds; one that has not would print an address that nobody can read.
    let element = u8::try_from(position + 1).unwrap_or(u8::MAX);
    let target = ScanTarget {
        code: code.clone(),
        element,
    };
    format!("{}{SCAN_PATH}{target}", public_url.trim_end_matches('/'))
}

/// Draws letters or a shape: what needs nothing but fonts.
pub(crate) fn draw_plain(content: &mut Content, item: &PageItem) {
    draw_turned(content, item.frame, |content, area| match &item.drawing {
        ItemDrawing::Text(runs) => text::draw_text(content, runs),
        ItemDrawing::Shape(shape) => shape::draw_shape(content, shape, area),
        ItemDrawing::Picture { .. } | ItemDrawing::Code { .. } => {}
    });
}

/// Whether the page is the one with the address.
pub(crate) fn is_address_side(page: &LaidOutPage, product: Product) -> bool {
    page.side == product.address_side()
}

/// Draws in a frame: `draw` gets its area as it is before it is turned.
fn draw_turned<T>(
    content: &mut Content,
    frame: ElementFrame,
    draw: impl FnOnce(&mut Content, PageRect) -> T,
) -> T {
    content.save_state();
    if frame.rotation != 0.0 {
        let area = frame.area;
        let (x, y) = (area.x + area.width / 2.0, area.y + area.height / 2.0);
        let (sine, cosine) = frame.rotation.to_radians().sin_cos();
        let (right, down) = (x - x * cosine + y * sine, y - x * sine - y * cosine);
        content.transform([cosine, sine, -sine, cosine, right, down].map(pdf_number));
    }
    let drawn = draw(content, frame.area);
    content.restore_state();
    drawn
}
