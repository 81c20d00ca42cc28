//! Rectangles and ellipses.

use design::{PageRect, ShapeElement, ShapeOutline};
use pdf_writer::Content;

use crate::ink;
use crate::number::pdf_number;

/// How far a curve's handles lie from its ends, for a quarter of a circle of radius 1.
const QUARTER: f64 = 0.552_284_75;

/// Draws a shape that fills the area; its stroke lies inside.
pub(crate) fn draw_shape(content: &mut Content, shape: &ShapeElement, area: PageRect) {
    if let Some(colour) = shape.fill {
        ink::set_fill(content, colour);
        draw_outline(content, shape.outline, area, shape.corner_radius);
        content.fill_nonzero();
    }
    if let Some(stroke) = shape.stroke {
        let inset = stroke.width / 2.0;
        ink::set_stroke(content, stroke.colour);
        content.set_line_width(pdf_number(stroke.width));
        let radius = (shape.corner_radius - inset).max(0.0);
        draw_outline(content, shape.outline, area.expand(-inset), radius);
        content.stroke();
    }
}

fn draw_outline(content: &mut Content, outline: ShapeOutline, area: PageRect, radius: f64) {
    let (across, down) = match outline {
        ShapeOutline::Rectangle if radius == 0.0 => {
            let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(pdf_number);
            content.rect(x, y, width, height);
            return;
        }
        ShapeOutline::Rectangle => (radius, radius),
        ShapeOutline::Ellipse => (area.width / 2.0, area.height / 2.0),
    };
    draw_rounded_rectangle(content, area, across, down);
}

/// A rectangle whose corners are quarters of an ellipse with these half axes, clockwise from its upper left side.
fn draw_rounded_rectangle(content: &mut Content, area: PageRect, across: f64, down: f64) {
    let (left, top) = (area.x, area.y);
    let (right, bottom) = (left + area.width, top + area.height);
    // What of a quarter the handles leave.
    let (near_x, near_y) = (across * (1.0 - QUARTER), down * (1.0 - QUARTER));
    let curve = |content: &mut Content, points: [f64; 6]| {
        let [x1, y1, x2, y2, x3, y3] = points.map(pdf_number);
        content.cubic_to(x1, y1, x2, y2, x3, y3);
    };
    content.move_to(pdf_number(left + across), pdf_number(top));
    content.line_to(pdf_number(right - across), pdf_number(top));
    curve(
        content,
        [right - near_x, top, right, top + near_y, right, top + down],
    );
    content.line_to(pdf_number(right), pdf_number(bottom - down));
    curve(
        content,
        [
            right,
            bottom - near_y,
            right - near_x,
            bottom,
            right - across,
            bottom,
        ],
    );
    content.line_to(pdf_number(left + across), pdf_number(bottom));
    curve(
        content,
        [
            left + near_x,
            bottom,
            left,
            bottom - near_y,
            left,
            bottom - down,
        ],
    );
    content.line_to(pdf_number(left), pdf_number(top + down));
    curve(
        content,
        [left, top + near_y, left + near_x, top, left + across, top],
    );
    content.close_path();
}
