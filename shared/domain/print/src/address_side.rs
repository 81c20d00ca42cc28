//! What the post office needs on a card: whom it goes to, who sent it, what was paid, the barcode.

use design::{
    BlockStyle, Colour, Font, GlyphRun, HorizontalAlignment, PageRect, Product, ReservedZone,
    Typesetter, VerticalAlignment, ZonePurpose,
};
use pdf_writer::Content;

use crate::barcode::Barcode;
use crate::ink;
use crate::number::pdf_number;

/// Points of an inch.
const INCH: f64 = 72.0;

const WHITE: Colour = Colour {
    red: 255,
    green: 255,
    blue: 255,
};

/// The recipient's address: without serifs, and 8 points at the least (Domestic Mail Manual 202).
const RECIPIENT: BlockStyle = BlockStyle {
    vertical_alignment: VerticalAlignment::Bottom,
    ..block_style(Font::DejaVuSans, 10.0, 8.0)
};

/// In the window of an envelope: below the barcode, whatever the number of lines.
const RECIPIENT_IN_WINDOW: BlockStyle = block_style(Font::DejaVuSans, 10.0, 8.0);

/// For an address of so many long lines that it does not fit at 8 points, broken at spaces.
const RECIPIENT_SMALLEST: f64 = 6.0;

const INDICIA: BlockStyle = BlockStyle {
    alignment: HorizontalAlignment::Center,
    vertical_alignment: VerticalAlignment::Middle,
    ..block_style(Font::DejaVuSans, 7.0, 5.0)
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

const fn block_style(font: Font, size: f64, smallest_size: f64) -> BlockStyle {
    BlockStyle {
        font,
        size,
        smallest_size,
        line_height: 1.2,
        alignment: HorizontalAlignment::Left,
        vertical_alignment: VerticalAlignment::Top,
        colour: Colour::BLACK,
    }
}

impl AddressSide<'_> {
    /// Sets the lines of all zones.
    pub(crate) fn set_lines(&self, typesetter: &mut Typesetter, product: Product) -> Vec<GlyphRun> {
        let mut zones = product.reserved_zones();
        zones.push(product.return_address_zone());
        let set = zones
            .into_iter()
            .flat_map(|ReservedZone { purpose, area }| match purpose {
                ZonePurpose::Address if !self.recipient.is_empty() => {
                    self.set_recipient(typesetter, product, recipient_area(product, area))
                }
                ZonePurpose::Indicia if !self.indicia.is_empty() => {
                    typesetter
                        .set_block(self.indicia, &INDICIA, area.expand(-MARGIN))
                        .runs
                }
                ZonePurpose::ReturnAddress if !self.return_address.is_empty() => {
                    product
                        .set_return_address(typesetter, self.return_address)
                        .runs
                }
                _ => Vec::new(),
            });
        set.collect()
    }

    fn set_recipient(
        &self,
        typesetter: &mut Typesetter,
        product: Product,
        area: PageRect,
    ) -> Vec<GlyphRun> {
        let style = if product == Product::Letter {
            RECIPIENT_IN_WINDOW
        } else {
            RECIPIENT
        };
        let block = typesetter.set_block(&self.recipient, &style, area);
        if block.fits {
            return block.runs;
        }
        let smaller = BlockStyle {
            smallest_size: RECIPIENT_SMALLEST,
            ..style
        };
        typesetter.set_block(&self.recipient, &smaller, area).runs
    }

    /// Draws the barcode.
    pub(crate) fn draw_barcode(&self, content: &mut Content, product: Product) {
        let Some(barcode) = &self.barcode else { return };
        let Some(zone) = product
            .reserved_zones()
            .into_iter()
            .find(|zone| zone.purpose == ZonePurpose::Barcode)
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

/// A name as it stands in the address: one line that fits at 8 points on every product, cut off if it is longer,
/// without characters that no font prints. Empty when nothing is left of it.
pub fn fit_name_line(typesetter: &mut Typesetter, name: &str) -> String {
    let zones = Product::ALL.into_iter().flat_map(|product| {
        let address = product
            .reserved_zones()
            .into_iter()
            .filter(|zone| zone.purpose == ZonePurpose::Address);
        address.map(move |zone| recipient_area(product, zone.area).width)
    });
    let narrowest = zones.fold(f64::INFINITY, f64::min);
    typesetter.fit_line(name, RECIPIENT.font, narrowest / RECIPIENT.smallest_size)
}

/// Where the address prints in its zone.
fn recipient_area(product: Product, zone: PageRect) -> PageRect {
    match product {
        Product::Letter => {
            let width = zone.x + zone.width - WINDOW_LEFT;
            PageRect {
                x: WINDOW_LEFT,
                width,
                ..zone
            }
        }
        _ => zone.expand(-MARGIN),
    }
}

/// Clears the zones, to the end of the bleed where one lies at an edge.
pub(crate) fn clear_zones(content: &mut Content, product: Product, zones: &[ReservedZone]) {
    let (trim, bleed) = (product.trim_area(), product.bleed_area());
    ink::set_fill(content, WHITE);
    for ReservedZone { area, .. } in zones {
        let (right, bottom) = (area.x + area.width, area.y + area.height);
        let left = if area.x <= trim.x { bleed.x } else { area.x };
        let top = if area.y <= trim.y { bleed.y } else { area.y };
        let right = if right >= trim.x + trim.width {
            bleed.x + bleed.width
        } else {
            right
        };
        let bottom = if bottom >= trim.y + trim.height {
            bleed.y + bleed.height
        } else {
            bottom
        };
        content.rect(
            pdf_number(left),
            pdf_number(top),
            pdf_number(right - left),
            pdf_number(bottom - top),
        );
    }
    content.fill_nonzero();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure_lines(product: Product, recipient: &[&str]) -> (f64, f64) {
        let mut typesetter = Typesetter::new();
        let recipient: Vec<String> = recipient.iter().map(|line| (*line).to_owned()).collect();
        let side = AddressSide {
            recipient,
            ..AddressSide::default()
        };
        let runs = side.set_lines(&mut typesetter, product);
        let right = runs
            .iter()
            .flat_map(|run| &run.glyphs)
            .map(|glyph| glyph.x)
            .fold(0.0, f64::max);
        (runs[0].size, right)
    }

    #[test]
    fn a_name_of_any_length_leaves_the_address_legible_on_all_products() {
        let mut typesetter = Typesetter::new();
        for name in [
            "m".repeat(600),
            "MAXIMILIAN ".repeat(40),
            format!("ADA {}", "M".repeat(600)),
        ] {
            let name = fit_name_line(&mut typesetter, &name);
            assert!(!name.is_empty());
            for product in Product::ALL {
                let mut zones = product.reserved_zones().into_iter();
                let zone = zones
                    .rfind(|zone| zone.purpose == ZonePurpose::Address)
                    .unwrap()
                    .area;
                let (size, right) =
                    measure_lines(product, &[&name, "1100 CONGRESS AVE", "AUSTIN TX 78701"]);
                assert!(
                    size >= 8.0 && right < zone.x + zone.width,
                    "{product}: {size} {right} {name}"
                );
            }
        }
    }

    #[test]
    fn a_name_is_one_line_of_what_prints() {
        let mut typesetter = Typesetter::new();
        assert_eq!(
            fit_name_line(&mut typesetter, " ADA\n1 OTHER ST\u{2028}\tMILES "),
            "ADA 1 OTHER ST MILES"
        );
        assert_eq!(fit_name_line(&mut typesetter, "🎉ADA 🎉"), "ADA");
        assert_eq!(fit_name_line(&mut typesetter, "🎉 \u{e000}"), "");
    }
}
