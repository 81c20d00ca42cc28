//! Rectangles and ellipses.

use design::{PageRect, ShapeElement, ShapeOutline};
use pdf_writer::Content;

use crate::ink;
use crate::number::number;

/// How far a curve's handles lie from its ends, for a quarter of a circle of radius 1.
const QUARTER: f64 = 0.552_284_75;

/// Draws a shape that fills the area; its stroke lies inside.
pub(crate) fn draw(content: &mut Content, shape: &ShapeElement, area: PageRect) {
    if let Some(colour) = shape.fill {
        ink::fill(content, colour);
        outline(content, shape.outline, area, shape.corner_radius);
        content.fill_nonzero();
    }
    if let Some(stroke) = shape.stroke {
        let inset = stroke.width / 2.0;
        ink::stroke(content, stroke.colour);
        content.set_line_width(number(stroke.width));
        let radius = (shape.corner_radius - inset).max(0.0);
        outline(content, shape.outline, area.grown(-inset), radius);
        content.stroke();
    }
}

fn outline(content: &mut Content, outline: ShapeOutline, area: PageRect, radius: f64) {
    let (across, down) = match outline {
        ShapeOutline::Rectangle if radius == 0.0 => {
            let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(number);
            content.rect(x, y, width, height);
            return;
        }
        ShapeOutline::Rectangle => (radius, radius),
        ShapeOutline::Ellipse => (area.width / 2.0, area.height / 2.0),
    };
    rounded(content, area, across, down);
}

/// A rectangle whose corners are quarters of an ellipse with these half axes, clockwise from its upper left side.
fn rounded(content: &mut Content, area: PageRect, across: f64, down: f64) {
    let (left, top) = (area.x, area.y);
    let (right, bottom) = (left + area.width, top + area.height);
    // What of a quarter the handles leave.
    let (near_x, near_y) = (across * (1.0 - QUARTER), down * (1.0 - QUARTER));
    let curve = |content: &mut Content, points: [f64; 6]| {
        let [x1, y1, x2, y2, x3, y3] = points.map(number);
        content.cubic_to(x1, y1, x2, y2, x3, y3);
    };
    content.move_to(number(left + across), number(top));
    content.line_to(number(right - across), number(top));
    curve(
        content,
        [right - near_x, top, right, top + near_y, right, top + down],
    );
    content.line_to(number(right), number(bottom - down));
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
    content.line_to(number(left + across), number(bottom));
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
    content.line_to(number(left), number(top + down));
    curve(
        content,
        [left, top + near_y, left + near_x, top, left + across, top],
    );
    content.close_path();
}
