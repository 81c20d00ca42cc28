//! What the post office needs on a card: whom it goes to, who sent it, what was paid, the barcode.

use design::{
    Alignment, Area, BlockStyle, Colour, Font, GlyphRun, Product, Purpose, Typesetter, VerticalAlignment,
    Zone,
};
use pdf_writer::Content;

use crate::barcode::Barcode;
use crate::ink;
use crate::number::number;

/// Points of an inch.
const INCH: f64 = 72.0;

const WHITE: Colour = Colour { red: 255, green: 255, blue: 255 };

/// The recipient's address: without serifs, and 8 points at the least but for the longest lines (Domestic Mail Manual 202).
const RECIPIENT: BlockStyle =
    BlockStyle { vertical_alignment: VerticalAlignment::Bottom, ..style(Font::DejaVuSans, 10.0, 6.0) };

/// In the window of an envelope: below the barcode, whatever the number of lines.
const RECIPIENT_IN_WINDOW: BlockStyle = style(Font::DejaVuSans, 10.0, 6.0);

const RETURN_ADDRESS: BlockStyle = style(Font::DejaVuSans, 7.5, 5.0);

const INDICIA: BlockStyle = BlockStyle {
    alignment: Alignment::Center,
    vertical_alignment: VerticalAlignment::Middle,
    ..style(Font::DejaVuSans, 7.0, 5.0)
};

/// Between the edge of a zone and what is in it.
const MARGIN: f64 = 6.0;

/// From the card's right edge to the leftmost bar of the barcode on a postcard, between 3 1/2 and 4 1/4 inches
/// (Domestic Mail Manual 202).
const BARCODE_FROM_RIGHT: f64 = 3.9 * INCH;

/// From the card's lower edge to the foot of the barcode on a postcard: its bars lie between 3/16 and 3/8 inches then.
const BARCODE_FROM_BOTTOM: f64 = 0.21 * INCH;

/// From the sheet's left edge to the address on a letter: inside the window of a #10 envelope however the sheet lies
/// in it.
const WINDOW_LEFT: f64 = 1.25 * INCH;

/// What the post office needs on a card. Lines print as they stand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AddressSide<'a> {
    /// Whom it goes to.
    pub recipient: Vec<String>,
    /// Who sent it; none for a design without a return address.
    pub return_address: &'a [String],
    /// What was paid and by whom; none where the postage is put on later.
    pub indicia: &'a [String],
    /// None where the mailer has no id.
    pub barcode: Option<Barcode>,
}

const fn style(font: Font, size: f64, smallest_size: f64) -> BlockStyle {
    BlockStyle {
        font,
        size,
        smallest_size,
        line_height: 1.2,
        alignment: Alignment::Left,
        vertical_alignment: VerticalAlignment::Top,
        colour: Colour::BLACK,
    }
}

impl AddressSide<'_> {
    /// Sets the lines of all zones.
    pub(crate) fn set(&self, typesetter: &mut Typesetter, product: Product) -> Vec<GlyphRun> {
        let mut zones = product.reserved_zones();
        zones.push(product.return_address_zone());
        let set = zones.into_iter().flat_map(|Zone { purpose, area }| {
            let (lines, style, area) = match purpose {
                Purpose::Address if product == Product::Letter => {
                    let width = area.x + area.width - WINDOW_LEFT;
                    (&self.recipient[..], RECIPIENT_IN_WINDOW, Area { x: WINDOW_LEFT, width, ..area })
                }
                Purpose::Address => (&self.recipient[..], RECIPIENT, area.grown(-MARGIN)),
                Purpose::Indicia => (self.indicia, INDICIA, area.grown(-MARGIN)),
                Purpose::ReturnAddress => (self.return_address, RETURN_ADDRESS, area),
                Purpose::Barcode => (&[][..], INDICIA, area),
            };
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            if lines.is_empty() { Vec::new() } else { typesetter.block(&lines, &style, area).runs }
        });
        set.collect()
    }

    /// Draws the barcode.
    pub(crate) fn draw_barcode(&self, content: &mut Content, product: Product) {
        let Some(barcode) = &self.barcode else { return };
        let Some(zone) = product.reserved_zones().into_iter().find(|zone| zone.purpose == Purpose::Barcode)
        else {
            return;
        };
        let area = zone.area;
        let corner = match product {
            // Right above the address, at its left edge.
            Product::Letter => (WINDOW_LEFT, area.y + area.height - MARGIN - Barcode::HEIGHT),
            _ => (
                area.x + area.width - BARCODE_FROM_RIGHT,
                area.y + area.height - BARCODE_FROM_BOTTOM - Barcode::HEIGHT,
            ),
        };
        barcode.draw(content, corner);
    }
}

/// Clears the zones, to the end of the bleed where one lies at an edge.
pub(crate) fn clear(content: &mut Content, product: Product, zones: &[Zone]) {
    let (trim, bleed) = (product.trim_area(), product.bleed_area());
    ink::fill(content, WHITE);
    for Zone { area, .. } in zones {
        let (right, bottom) = (area.x + area.width, area.y + area.height);
        let left = if area.x <= trim.x { bleed.x } else { area.x };
        let top = if area.y <= trim.y { bleed.y } else { area.y };
        let right = if right >= trim.x + trim.width { bleed.x + bleed.width } else { right };
        let bottom = if bottom >= trim.y + trim.height { bleed.y + bleed.height } else { bottom };
        content.rect(number(left), number(top), number(right - left), number(bottom - top));
    }
    content.fill_nonzero();
}
