//! Rectangles, straight and turned.

use serde::Deserialize;

/// Lengths that differ by less are the same, in points: turning a rectangle rounds its corners.
const TOLERANCE: f64 = 0.01;

/// An upright rectangle. Points from the trimmed card's upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageRect {
    /// Left edge; negative in the bleed.
    pub x: f64,
    /// Upper edge; negative in the bleed.
    pub y: f64,
    /// Width, above zero.
    pub width: f64,
    /// Height, above zero.
    pub height: f64,
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementFrame {
    /// Its rectangle before it is turned.
    pub area: PageRect,
    /// Degrees clockwise about the middle of the area.
    pub rotation: f64,
}

/// x and y.
pub(crate) type PagePoint = (f64, f64);

impl PageRect {
    /// An area by its upper left corner and its size.
    pub(crate) const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }

    /// This area with `margin` more on each side; less when it is negative.
    #[must_use]
    pub fn expand(self, margin: f64) -> Self {
        Self {
            x: self.x - margin,
            y: self.y - margin,
            width: self.width + 2.0 * margin,
            height: self.height + 2.0 * margin,
        }
    }

    /// The corners: upper left, upper right, lower right, lower left.
    pub(crate) const fn corners(self) -> [PagePoint; 4] {
        let (right, bottom) = (self.x + self.width, self.y + self.height);
        [
            (self.x, self.y),
            (right, self.y),
            (right, bottom),
            (self.x, bottom),
        ]
    }

    /// The point in its middle.
    pub(crate) const fn centre(self) -> PagePoint {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// The largest square in its middle.
    pub fn middle_square(self) -> Self {
        let (side, (x, y)) = (self.width.min(self.height), self.centre());
        Self::new(x - side / 2.0, y - side / 2.0, side, side)
    }

    fn contains_within_tolerance(self, point: PagePoint) -> bool {
        self.expand(TOLERANCE).contains(point)
    }

    /// Whether the point is in it or on its edge.
    pub(crate) fn contains(self, (x, y): PagePoint) -> bool {
        x >= self.x && x <= self.x + self.width && y >= self.y && y <= self.y + self.height
    }
}

impl ElementFrame {
    /// A point of its area, turned with it.
    pub(crate) fn rotate_point(self, (x, y): PagePoint) -> PagePoint {
        let middle = self.area.centre();
        let (sine, cosine) = self.rotation.to_radians().sin_cos();
        let (right, down) = (x - middle.0, y - middle.1);
        (
            middle.0 + right * cosine - down * sine,
            middle.1 + right * sine + down * cosine,
        )
    }

    /// The corners after turning: upper left, upper right, lower right, lower left of the area before it.
    pub fn corners(self) -> [PagePoint; 4] {
        self.area.corners().map(|corner| self.rotate_point(corner))
    }

    /// Whether no corner lies outside the area.
    pub fn is_within(self, area: PageRect) -> bool {
        self.corners()
            .into_iter()
            .all(|corner| area.contains_within_tolerance(corner))
    }

    /// Whether the two share more than an edge.
    pub fn overlaps_area(self, area: PageRect) -> bool {
        polygons_overlap(&self.corners(), &area.corners())
    }

    /// Whether the two share more than an edge.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        polygons_overlap(&self.corners(), &other.corners())
    }

    /// Whether no corner of the other lies outside.
    pub(crate) fn contains(self, other: Self) -> bool {
        let back = Self {
            rotation: -self.rotation,
            ..self
        };
        other.corners().into_iter().all(|corner| {
            self.area
                .contains_within_tolerance(back.rotate_point(corner))
        })
    }
}

/// Whether two convex shapes share more than an edge. They are apart when they are along the normal of one of their
/// edges.
pub(crate) fn polygons_overlap(first: &[PagePoint], second: &[PagePoint]) -> bool {
    edge_normals(first)
        .chain(edge_normals(second))
        .all(|direction| {
            let (first, second) = (
                project_corners(first, direction),
                project_corners(second, direction),
            );
            first.0 + TOLERANCE < second.1 && second.0 + TOLERANCE < first.1
        })
}

/// The directions across the edges of a shape, of length 1.
fn edge_normals(corners: &[PagePoint]) -> impl Iterator<Item = PagePoint> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).filter_map(|(from, to)| {
        let (right, down) = (to.0 - from.0, to.1 - from.1);
        let length = right.hypot(down);
        (length > 0.0).then(|| (-down / length, right / length))
    })
}

/// From where to where the corners reach along a direction.
fn project_corners(corners: &[PagePoint], (x, y): PagePoint) -> PagePoint {
    corners
        .iter()
        .map(|corner| corner.0 * x + corner.1 * y)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: PageRect = PageRect::new(0.0, 0.0, 100.0, 60.0);

    fn rotated_frame(x: f64, y: f64, width: f64, height: f64, rotation: f64) -> ElementFrame {
        ElementFrame {
            area: PageRect::new(x, y, width, height),
            rotation,
        }
    }

    #[test]
    fn a_quarter_turn_swaps_width_and_height() {
        // 20 wide and 60 high in the middle of the page fits; turned it is 60 wide and 20 high.
        assert!(rotated_frame(40.0, 0.0, 20.0, 60.0, 0.0).is_within(PAGE));
        assert!(rotated_frame(40.0, 0.0, 20.0, 60.0, 90.0).is_within(PAGE));
        assert!(!rotated_frame(0.0, 0.0, 20.0, 60.0, 90.0).is_within(PAGE));
    }

    #[test]
    fn edges_may_touch() {
        assert!(!rotated_frame(100.0, 0.0, 10.0, 10.0, 0.0).overlaps_area(PAGE));
        assert!(rotated_frame(99.0, 0.0, 10.0, 10.0, 0.0).overlaps_area(PAGE));
    }

    #[test]
    fn a_turned_corner_is_not_its_bounding_box() {
        // A diamond beside the corner: its bounding box reaches into the page, the diamond does not.
        let diamond = rotated_frame(98.0, 58.0, 20.0, 20.0, 45.0);
        assert!(diamond.corners().iter().any(|corner| corner.0 < 100.0));
        assert!(!diamond.overlaps_area(PAGE));
        assert!(rotated_frame(90.0, 50.0, 20.0, 20.0, 45.0).overlaps_area(PAGE));
    }

    proptest! {
        #[test]
        fn what_is_within_the_page_covers_it(
            x in -20.0..120.0, y in -20.0..80.0, width in 1.0..50.0, height in 1.0..50.0, rotation in -360.0..360.0,
        ) {
            let frame = rotated_frame(x, y, width, height, rotation);
            prop_assert!(!frame.is_within(PAGE) || frame.overlaps_area(PAGE));
        }

        #[test]
        fn a_whole_turn_changes_nothing(
            x in -20.0..120.0, y in -20.0..80.0, width in 1.0..50.0, height in 1.0..50.0, rotation in -360.0..0.0,
        ) {
            let once = rotated_frame(x, y, width, height, rotation).corners();
            let again = rotated_frame(x, y, width, height, rotation + 360.0).corners();
            for (first, second) in once.iter().zip(again) {
                prop_assert!((first.0 - second.0).abs() < 1e-6 && (first.1 - second.1).abs() < 1e-6);
            }
        }
    }
}
