//! What an element covers of its surface.

use crate::element::{DesignElement, ElementContent, ShapeElement, ShapeOutline as Form};
use crate::geometry::{ElementFrame, PagePoint, PageRect, polygons_overlap};

/// Corners of the polygon that stands for an ellipse.
const ELLIPSE_CORNERS: usize = 32;

/// Convex polygons, by their corners on the card.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ElementOutline(Vec<Vec<PagePoint>>);

impl ElementOutline {
    /// Of an element that is no text.
    pub(crate) fn from_element(element: &DesignElement) -> Self {
        let ElementFrame { area, .. } = element.frame;
        let polygons = match &element.content {
            ElementContent::Shape(shape) => shape_polygons(shape, area),
            ElementContent::QrCode(_) => vec![area.middle_square().corners().to_vec()],
            ElementContent::Image(_) | ElementContent::Text(_) => vec![area.corners().to_vec()],
        };
        Self(polygons).rotate_with(element.frame)
    }

    /// Of a text: the corners of rectangles in its area before that is turned.
    pub(crate) fn from_text(frame: ElementFrame, rectangles: &[[PagePoint; 4]]) -> Self {
        Self(rectangles.iter().map(|corners| corners.to_vec()).collect()).rotate_with(frame)
    }

    /// Whether the two share more than an edge.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.0
            .iter()
            .any(|own| other.0.iter().any(|other| polygons_overlap(own, other)))
    }

    fn rotate_with(mut self, frame: ElementFrame) -> Self {
        self.0
            .iter_mut()
            .flatten()
            .for_each(|corner| *corner = frame.rotate_point(*corner));
        self
    }
}

/// A filled shape covers all inside, an empty one its stroke.
fn shape_polygons(shape: &ShapeElement, area: PageRect) -> Vec<Vec<PagePoint>> {
    let outer = outline_polygon(shape.outline, area);
    let Some(stroke) = shape.stroke.filter(|_| shape.fill.is_none()) else {
        return vec![outer];
    };
    let inner = outline_polygon(shape.outline, area.expand(-stroke.width));
    let next = |index: usize| (index + 1) % outer.len();
    (0..outer.len())
        .map(|index| {
            vec![
                outer[index],
                outer[next(index)],
                inner[next(index)],
                inner[index],
            ]
        })
        .collect()
}

fn outline_polygon(form: Form, area: PageRect) -> Vec<PagePoint> {
    match form {
        Form::Rectangle => area.corners().to_vec(),
        Form::Ellipse => {
            let (x, y) = area.centre();
            let corner = |index: usize| {
                let (sine, cosine) =
                    (std::f64::consts::TAU * index as f64 / ELLIPSE_CORNERS as f64).sin_cos();
                (x + area.width / 2.0 * cosine, y + area.height / 2.0 * sine)
            };
            (0..ELLIPSE_CORNERS).map(corner).collect()
        }
    }
}
