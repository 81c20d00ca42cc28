//! What types cannot say of a document: the rules that keep it printable.

use std::collections::HashSet;

use serde_json::Value;

use crate::document::PrintableDesign;
use crate::element::{
    DesignElement, ElementContent, ImageElement, ImageSource, ShapeElement, ShapeOutline, TextBox,
};
use crate::finding::character_list;
use crate::geometry::ElementFrame;
use crate::limits::{
    FIELD_NAME_CHARS, ID_CHARS, LARGEST_LINE_HEIGHT, LARGEST_RADIUS, LARGEST_SIZE, LARGEST_STROKE,
    SMALLEST_LINE_HEIGHT, SMALLEST_QR_CODE, SMALLEST_SIZE,
};
use crate::problem::DesignError;
use crate::product::{Product, Side};
use crate::return_address::ReturnAddress;
use crate::text::{FittedSize, LineWrapping, ShapingFace, TextPlacement, Typesetter};

/// An explanation when a rule is broken.
type CheckResult = Result<(), String>;

/// Checks everything.
pub(crate) fn check_document(document: &PrintableDesign) -> Result<(), DesignError> {
    let mut ids = HashSet::new();
    let mut typesetter = Typesetter::new();
    for side in Side::ALL {
        for element in &document.side(side).elements {
            let checked = check_unique_id(&mut ids, &element.id)
                .and_then(|()| check_element(document, side, element))
                .and_then(|()| check_fixed_text(&mut typesetter, element));
            checked.map_err(|explanation| {
                DesignError::for_item(side, quote_id(&element.id), explanation)
            })?;
        }
    }
    if let Some(return_address) = document.return_address() {
        let checked = check_return_address(return_address).and_then(|()| {
            check_fixed_address(&mut typesetter, document.product(), return_address)
        });
        checked.map_err(|explanation| {
            DesignError::for_item(
                document.product().address_side(),
                "the return address".to_owned(),
                explanation,
            )
        })?;
    }
    Ok(())
}

/// What a problem calls an element that cannot be read: by its id if it has a usable one, else by its
/// position.
pub(crate) fn name_element(element: &Value, index: usize) -> String {
    match element.get("id").and_then(Value::as_str) {
        Some(id) if is_id(id) => quote_id(id),
        _ => format!("item number {}", index + 1),
    }
}

fn quote_id(id: &str) -> String {
    format!("item {:?}", id.chars().take(ID_CHARS).collect::<String>())
}

fn is_id(id: &str) -> bool {
    !id.trim().is_empty() && id.chars().nth(ID_CHARS).is_none()
}

fn check_unique_id<'a>(ids: &mut HashSet<&'a str>, id: &'a str) -> CheckResult {
    ensure(is_id(id), || {
        format!("its id must have 1 to {ID_CHARS} characters")
    })?;
    ensure(ids.insert(id), || "another item has the same id".to_owned())
}

fn check_element(document: &PrintableDesign, side: Side, element: &DesignElement) -> CheckResult {
    check_frame(document.product(), element)?;
    if side == document.product().address_side() {
        let covered = document
            .reserved_zones()
            .into_iter()
            .find(|zone| element.frame.overlaps_area(zone.area));
        if let Some(zone) = covered {
            return Err(format!(
                "it covers the zone reserved for the {}",
                zone.purpose
            ));
        }
    }
    match &element.content {
        ElementContent::Text(text) => check_text(text, element.frame),
        ElementContent::Image(image) => check_image(image),
        ElementContent::QrCode(_) => check_qr_code(element.frame),
        ElementContent::Shape(shape) => check_shape(shape, element.frame),
    }
}

fn check_frame(product: Product, element: &DesignElement) -> CheckResult {
    let frame = element.frame;
    ensure(frame.area.width > 0.0 && frame.area.height > 0.0, || {
        "its width and height must be more than 0".to_owned()
    })?;
    ensure((-360.0..=360.0).contains(&frame.rotation), || {
        "its rotation must be -360 to 360 degrees".to_owned()
    })?;
    ensure(frame.is_within(product.bleed_area()), || {
        "it reaches past the bleed".to_owned()
    })?;
    // Pictures and colour may be cut, what must be read may not.
    let is_read = matches!(
        element.content,
        ElementContent::Text(_) | ElementContent::QrCode(_)
    );
    ensure(!is_read || frame.is_within(product.safe_area()), || {
        "it reaches past the safe margin".to_owned()
    })
}

fn check_text(text: &TextBox, frame: ElementFrame) -> CheckResult {
    let smallest_size = text.smallest_size();
    for (name, size) in [("size", text.size), ("smallest_size", smallest_size)] {
        ensure((SMALLEST_SIZE..=LARGEST_SIZE).contains(&size), || {
            format!("its {name} must be {SMALLEST_SIZE} to {LARGEST_SIZE} points")
        })?;
    }
    ensure(smallest_size <= text.size, || {
        format!(
            "its smallest_size {smallest_size} is larger than its size {}",
            text.size
        )
    })?;
    ensure(
        (SMALLEST_LINE_HEIGHT..=LARGEST_LINE_HEIGHT).contains(&text.line_height),
        || {
            format!(
                "its line_height must be {SMALLEST_LINE_HEIGHT} to {LARGEST_LINE_HEIGHT} times its size"
            )
        },
    )?;
    let line = ShapingFace::for_font(text.font).line_height() * smallest_size;
    ensure(line <= frame.area.height, || {
        format!("its area is lower than one line of its smallest size {smallest_size}")
    })?;
    let Some(arc) = text.arc else { return Ok(()) };
    let width = frame.area.width;
    ensure((width / 2.0..=LARGEST_RADIUS).contains(&arc.radius), || {
        format!("its arc's radius must be half its width to {LARGEST_RADIUS} points")
    })?;
    ensure(arc.radius > line, || {
        "its arc is too small for one line of its smallest size".to_owned()
    })?;
    ensure(arc.sagitta(width) + line <= frame.area.height, || {
        "its area is too low for its arc and one line of text".to_owned()
    })
}

/// What the design itself brings must print: there is no recipient to blame for it.
fn check_fixed_text(typesetter: &mut Typesetter, element: &DesignElement) -> CheckResult {
    let ElementContent::Text(text) = &element.content else {
        return Ok(());
    };
    let setting = TextPlacement::new(text, element.frame.area);
    for own in text.text.fixed_texts() {
        let unsupported = setting.analyse_text(typesetter, own).unsupported;
        ensure(unsupported.is_empty(), || {
            format!(
                "its font {} has no {}",
                text.font.name(),
                character_list(&unsupported)
            )
        })?;
    }
    // What prints for a recipient without any values.
    let analysis = setting.analyse_text(typesetter, &text.text.render(|_| None).text);
    match setting.find_size(&analysis, LineWrapping::AtSpaces) {
        FittedSize::At(_) => Ok(()),
        FittedSize::BelowSmallest(_) => {
            Err("its text is too long for its arc at its smallest size".to_owned())
        }
        FittedSize::Nowhere => {
            Err("its text does not fit its area at its smallest size".to_owned())
        }
    }
}

fn check_image(image: &ImageElement) -> CheckResult {
    let ImageSource::Variable { field, .. } = &image.source else {
        return Ok(());
    };
    let is_name =
        !field.is_empty() && field.trim() == field && field.chars().nth(FIELD_NAME_CHARS).is_none();
    ensure(is_name, || {
        format!("its field must have 1 to {FIELD_NAME_CHARS} characters and no space around them")
    })
}

fn check_qr_code(frame: ElementFrame) -> CheckResult {
    let side = frame.area.width.min(frame.area.height);
    ensure(side >= SMALLEST_QR_CODE, || {
        format!("its width and height must be {SMALLEST_QR_CODE} points at least")
    })
}

fn check_shape(shape: &ShapeElement, frame: ElementFrame) -> CheckResult {
    let half = frame.area.width.min(frame.area.height) / 2.0;
    ensure(shape.fill.is_some() || shape.stroke.is_some(), || {
        "it has neither fill nor stroke".to_owned()
    })?;
    ensure(
        shape.corner_radius == 0.0 || shape.outline == ShapeOutline::Rectangle,
        || "only a rectangle has a corner_radius".to_owned(),
    )?;
    ensure((0.0..=half).contains(&shape.corner_radius), || {
        "its corner_radius must be 0 to half its shorter side".to_owned()
    })?;
    let stroke_fits = shape
        .stroke
        .is_none_or(|stroke| stroke.width > 0.0 && stroke.width <= half.min(LARGEST_STROKE));
    ensure(stroke_fits, || {
        format!(
            "its stroke must be more than 0, and no more than {LARGEST_STROKE} points and half its shorter side"
        )
    })
}

fn check_return_address(return_address: &ReturnAddress) -> CheckResult {
    let ReturnAddress { address, fallback } = return_address;
    let is_variable = address.field_names().next().is_some();
    ensure(is_variable == fallback.is_some(), || {
        "it must have a fallback exactly when it has fields".to_owned()
    })?;
    ensure(
        fallback
            .iter()
            .all(|fallback| fallback.field_names().next().is_none()),
        || "its fallback must have no fields".to_owned(),
    )?;
    let has_every_part = [Some(address), fallback.as_ref()]
        .into_iter()
        .flatten()
        .all(|part| !part.has_blank_part());
    ensure(has_every_part, || {
        "name, address_1, city, state and zip must not be blank".to_owned()
    })
}

/// An address without fields must print as it is.
fn check_fixed_address(
    typesetter: &mut Typesetter,
    product: Product,
    design: &ReturnAddress,
) -> CheckResult {
    let ReturnAddress { address, fallback } = design;
    let own = fallback
        .as_ref()
        .map_or(("it", address), |fallback| ("its fallback", fallback));
    let (name, lines) = (own.0, own.1.render(|_| None).lines());
    let block = product.set_return_address(typesetter, &lines);
    ensure(block.unsupported.is_empty(), || {
        format!(
            "{name} has characters that no font prints: {}",
            character_list(&block.unsupported)
        )
    })?;
    ensure(block.fits, || format!("{name} is too long for its place"))
}

fn ensure(holds: bool, explanation: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(explanation()) }
}
