//! Does the border of a polygon cross itself?

use super::polygon::{AreaPolygon, BorderLine, GeoPlace};

/// A place near which two pieces of the border cross; borders that only touch do not. Pieces are taken from west to east
/// and compared with those that they lie above or below of: at the most all with all of
/// [`MAX_VERTICES`](super::MAX_VERTICES).
pub(super) fn find_crossing(polygon: &AreaPolygon) -> Option<GeoPlace> {
    let mut lines: Vec<BorderLine> = polygon.border_lines().collect();
    lines.sort_by(|one, other| western_end(one).total_cmp(&western_end(other)));
    lines.iter().enumerate().find_map(|(at, line)| {
        let beside = lines[at + 1..]
            .iter()
            .take_while(|other| western_end(other) <= line.start.x.max(line.end.x));
        beside
            .into_iter()
            .find(|other| lines_cross(line, other))
            .map(|other| other.start)
    })
}

fn western_end(line: &BorderLine) -> f64 {
    line.start.x.min(line.end.x)
}

/// Whether the ends of each lie strictly on both sides of the other.
fn lines_cross(one: &BorderLine, other: &BorderLine) -> bool {
    let is_apart = one.start.y.max(one.end.y) < other.start.y.min(other.end.y)
        || other.start.y.max(other.end.y) < one.start.y.min(one.end.y);
    !is_apart && separates_ends(one, other) && separates_ends(other, one)
}

fn separates_ends(line: &BorderLine, other: &BorderLine) -> bool {
    let (one, two) = (line.orientation(other.start), line.orientation(other.end));
    (one < 0.0 && two > 0.0) || (one > 0.0 && two < 0.0)
}
