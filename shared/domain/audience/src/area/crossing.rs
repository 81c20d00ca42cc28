//! Does the border of a polygon cross itself?

use geo::kernels::{Kernel, Orientation, RobustKernel};
use geo::{Coord, Line, Polygon};

/// A place near which two pieces of the border cross; borders that only touch do not. Pieces are taken from west to east
/// and compared with those that they lie above or below of: at the most all with all of
/// [`MAX_VERTICES`](super::MAX_VERTICES).
pub(super) fn find(polygon: &Polygon) -> Option<Coord> {
    let rings = std::iter::once(polygon.exterior()).chain(polygon.interiors());
    let mut lines: Vec<Line> = rings.flat_map(|ring| ring.lines()).collect();
    lines.sort_by(|one, other| west(one).total_cmp(&west(other)));
    lines.iter().enumerate().find_map(|(at, line)| {
        let beside = lines[at + 1..]
            .iter()
            .take_while(|other| west(other) <= line.start.x.max(line.end.x));
        beside
            .into_iter()
            .find(|other| cross(line, other))
            .map(|other| other.start)
    })
}

fn west(line: &Line) -> f64 {
    line.start.x.min(line.end.x)
}

/// Whether the ends of each lie strictly on both sides of the other.
fn cross(one: &Line, other: &Line) -> bool {
    let is_apart = one.start.y.max(one.end.y) < other.start.y.min(other.end.y)
        || other.start.y.max(other.end.y) < one.start.y.min(one.end.y);
    !is_apart && divides(one, other) && divides(other, one)
}

fn divides(line: &Line, other: &Line) -> bool {
    let side = |place: Coord| <RobustKernel as Kernel<f64>>::orient2d(line.start, line.end, place);
    matches!(
        (side(other.start), side(other.end)),
        (Orientation::Clockwise, Orientation::CounterClockwise)
            | (Orientation::CounterClockwise, Orientation::Clockwise)
    )
}
