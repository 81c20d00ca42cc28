//! QR codes, drawn as paths: sharp at every resolution.

use design::{Colour, PageRect};
use fast_qr::{ECL, QRBuilder};
use pdf_writer::Content;

use crate::ink;
use crate::number::pdf_number;

/// White modules around a code (ISO/IEC 18004), without which scanners do not find it.
const QUIET_ZONE: usize = 4;

const WHITE: Colour = Colour {
    red: 255,
    green: 255,
    blue: 255,
};

/// Draws a code of medium error correction (15 % of it may be damaged) as the largest square in the middle of the area,
/// its quiet zone included. `None` when the text is too long for any code.
pub(crate) fn draw_qr_code(
    content: &mut Content,
    area: PageRect,
    text: &str,
    colour: Colour,
) -> Option<()> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let side = area.width.min(area.height);
    let (x, y) = (
        area.x + (area.width - side) / 2.0,
        area.y + (area.height - side) / 2.0,
    );
    let modules = code.size + 2 * QUIET_ZONE;
    let module = side / modules as f64;
    content.save_state();
    // Whole modules from here on: short numbers, and edges that meet exactly.
    content.transform([module, 0.0, 0.0, module, x, y].map(pdf_number));
    ink::set_fill(content, WHITE);
    content
        .rect(0.0, 0.0, modules as f32, modules as f32)
        .fill_nonzero();
    ink::set_fill(content, ink::ensure_scannable(colour));
    for row in 0..code.size {
        let mut column = 0;
        for run in code[row].chunk_by(|left, right| left.value() == right.value()) {
            if run[0].value() {
                let (left, top) = (column + QUIET_ZONE, row + QUIET_ZONE);
                content.rect(left as f32, top as f32, run.len() as f32, 1.0);
            }
            column += run.len();
        }
    }
    content.fill_nonzero();
    content.restore_state();
    Some(())
}
