//! What the post office needs on a card: whom it goes to, who sent it, what was paid, the barcode.

use design::{Area, Colour, Font, GlyphRun, Product, Purpose, Zone};
use pdf_writer::Content;

use crate::barcode::Barcode;
use crate::ink;
use crate::line::{self, LineStyle};
use crate::number::number;
use crate::text;

/// Points of an inch.
const INCH: f64 = 72.0;

const WHITE: Colour = Colour { red: 255, green: 255, blue: 255 };

/// The recipient's address: at least 8 points, without serifs (Domestic Mail Manual 202).
const ADDRESS: LineStyle = LineStyle { font: Font::DejaVuSans, size: 10.0, smallest_size: 6.5 };

const RETURN_ADDRESS: LineStyle = LineStyle { font: Font::DejaVuSans, size: 7.5, smallest_size: 5.0 };

const INDICIA: LineStyle = LineStyle { font: Font::DejaVuSans, size: 7.0, smallest_size: 4.5 };

/// From line to line, as a multiple of the size.
const LINE_HEIGHT: f64 = 1.2;

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

/// Lines of a zone, set and placed.
pub(crate) struct PlacedLines {
    pub(crate) runs: Vec<GlyphRun>,
}

impl AddressSide<'_> {
    /// Sets the lines of all zones.
    pub(crate) fn set(&self, product: Product) -> PlacedLines {
        let mut runs = Vec::new();
        for zone in product.reserved_zones() {
            match zone.purpose {
                Purpose::Address => runs.extend(self.set_recipient(product, zone.area)),
                Purpose::Indicia if !self.indicia.is_empty() => {
                    runs.extend(set_indicia(self.indicia, zone.area))
                }
                Purpose::Indicia | Purpose::Barcode | Purpose::ReturnAddress => {}
            }
        }
        if !self.return_address.is_empty() {
            let area = product.return_address_zone().area;
            runs.extend(set_lines(self.return_address, RETURN_ADDRESS, (area.x, area.y), area.width));
        }
        PlacedLines { runs }
    }

    /// The last line stands near the foot of the zone, close to the barcode, whatever their number.
    fn set_recipient(&self, product: Product, area: Area) -> Vec<GlyphRun> {
        let left = if product == Product::Letter { WINDOW_LEFT } else { area.x + MARGIN };
        let height = self.recipient.len() as f64 * ADDRESS.size * LINE_HEIGHT;
        let top = match product {
            Product::Letter => area.y,
            _ => (area.y + area.height - MARGIN - height).max(area.y),
        };
        set_lines(&self.recipient, ADDRESS, (left, top), area.x + area.width - left)
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

/// Draws what was set.
pub(crate) fn draw(content: &mut Content, lines: &PlacedLines) {
    text::draw(content, &lines.runs);
}

fn set_lines(lines: &[String], style: LineStyle, (left, top): (f64, f64), width: f64) -> Vec<GlyphRun> {
    let baselines = (0..).map(|index| top + style.size + f64::from(index) * style.size * LINE_HEIGHT);
    lines.iter().zip(baselines).flat_map(|(text, y)| line::set(text, style, (left, y), width)).collect()
}

/// Centred, as a stamp is.
fn set_indicia(lines: &[String], area: Area) -> Vec<GlyphRun> {
    let mut runs = Vec::new();
    for (index, text) in lines.iter().enumerate() {
        let width = line::width(text, INDICIA.font, INDICIA.size).min(area.width);
        let left = area.x + (area.width - width) / 2.0;
        let y = area.y + MARGIN + INDICIA.size + index as f64 * INDICIA.size * LINE_HEIGHT;
        // A rounding must not cut the last letter off.
        runs.extend(line::set(text, INDICIA, (left, y), width + 0.1));
    }
    runs
}
