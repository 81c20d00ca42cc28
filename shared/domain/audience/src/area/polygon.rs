//! A polygon: its rings, and which side of them a place is on.

use robust::orient2d;

/// A place: longitude and latitude, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GeoPlace {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A piece of a border, from one place to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct BorderLine {
    pub(super) start: GeoPlace,
    pub(super) end: GeoPlace,
}

/// A polygon and the box around it, which answers most questions at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AreaPolygon {
    west: f64,
    east: f64,
    south: f64,
    north: f64,
    /// The outer one first, then its holes. Each ends where it starts.
    rings: Vec<Vec<GeoPlace>>,
}

/// Where a place is, seen from a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RingSide {
    Inside,
    Border,
    Outside,
}

impl AreaPolygon {
    /// Of rings that end where they start. None without a position.
    pub(super) fn new(rings: Vec<Vec<GeoPlace>>) -> Option<Self> {
        let outer = rings.first().filter(|ring| !ring.is_empty())?;
        let least = |of: fn(&GeoPlace) -> f64| outer.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&GeoPlace) -> f64| outer.iter().map(of).fold(-f64::INFINITY, f64::max);
        Some(Self {
            west: least(|place| place.x),
            east: most(|place| place.x),
            south: least(|place| place.y),
            north: most(|place| place.y),
            rings,
        })
    }

    pub(super) fn rings(&self) -> &[Vec<GeoPlace>] {
        &self.rings
    }

    /// The pieces of all of its borders.
    pub(super) fn border_lines(&self) -> impl Iterator<Item = BorderLine> {
        self.rings.iter().flat_map(|ring| ring_lines(ring))
    }

    /// Whether its holes leave nothing of it, or it has no inside.
    pub(super) fn is_empty(&self) -> bool {
        let mut areas = self.rings.iter().map(|ring| ring_area(ring));
        let outer = areas.next().unwrap_or(0.0);
        outer == areas.sum::<f64>()
    }

    /// Whether a place is inside or on a border. One that is not a number is nowhere.
    pub(super) fn contains(&self, place: GeoPlace) -> bool {
        let is_in_box = (self.west..=self.east).contains(&place.x)
            && (self.south..=self.north).contains(&place.y);
        let Some((outer, holes)) = self.rings.split_first().filter(|_| is_in_box) else {
            return false;
        };
        match side_of_ring(outer, place) {
            RingSide::Outside => false,
            RingSide::Border => true,
            RingSide::Inside => holes
                .iter()
                .all(|hole| side_of_ring(hole, place) != RingSide::Inside),
        }
    }
}

impl BorderLine {
    /// Above zero where the place is to the left of the line, below zero to the right, zero on it: exact, whatever rounding
    /// would say.
    pub(super) fn orientation(&self, place: GeoPlace) -> f64 {
        let exact = |place: GeoPlace| robust::Coord {
            x: place.x,
            y: place.y,
        };
        orient2d(exact(self.start), exact(self.end), exact(place))
    }

    /// Whether a place on the line through this piece is on the piece.
    fn contains_collinear(&self, place: GeoPlace) -> bool {
        let between = |one: f64, other: f64, of: f64| one.min(other) <= of && of <= one.max(other);
        between(self.start.x, self.end.x, place.x) && between(self.start.y, self.end.y, place.y)
    }
}

fn ring_lines(ring: &[GeoPlace]) -> impl Iterator<Item = BorderLine> {
    ring.windows(2).map(|pair| BorderLine {
        start: pair[0],
        end: pair[1],
    })
}

/// Which side of a ring a place is on, by how often the ring winds around it.
fn side_of_ring(ring: &[GeoPlace], place: GeoPlace) -> RingSide {
    let mut windings = 0;
    for line in ring_lines(ring) {
        let is_upward = line.start.y <= place.y && place.y <= line.end.y;
        let is_downward = line.end.y <= place.y && place.y <= line.start.y;
        if !is_upward && !is_downward {
            continue;
        }
        let turn = line.orientation(place);
        if turn == 0.0 && line.contains_collinear(place) {
            return RingSide::Border;
        }
        // The upper end is left out, so that two lines that meet at the place's height count once.
        if is_upward && place.y != line.end.y && turn > 0.0 {
            windings += 1;
        } else if is_downward && place.y != line.start.y && turn < 0.0 {
            windings -= 1;
        }
    }
    match windings {
        0 => RingSide::Outside,
        _ => RingSide::Inside,
    }
}

/// What a ring encloses, in square degrees, whichever way around it goes.
fn ring_area(ring: &[GeoPlace]) -> f64 {
    let Some(origin) = ring.first() else {
        return 0.0;
    };
    // From its first position, because differences of large numbers lose digits.
    let doubled: f64 = ring_lines(ring)
        .map(|BorderLine { start, end }| {
            (start.x - origin.x) * (end.y - origin.y) - (end.x - origin.x) * (start.y - origin.y)
        })
        .sum();
    (doubled / 2.0).abs()
}

#[cfg(test)]
mod tests {
    use geo::{Area as _, Coord, Intersects as _, LineString, Polygon};
    use proptest::prelude::*;

    use super::*;

    /// Rings over few positions, so that corners and borders are met.
    fn ring_strategy() -> impl Strategy<Value = Vec<GeoPlace>> {
        let place = (0..6_i32, 0..6_i32).prop_map(|(x, y)| GeoPlace {
            x: f64::from(x) / 3.0,
            y: f64::from(y) / 7.0,
        });
        prop::collection::vec(place, 3..8).prop_map(|mut ring| {
            ring.push(ring[0]);
            ring
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn places_are_in_the_polygons_that_geo_has_them_in(
            rings in prop::collection::vec(ring_strategy(), 1..3),
            place in (-1..13_i32, -1..13_i32),
        ) {
            let lines = |ring: &Vec<GeoPlace>| {
                LineString::new(ring.iter().map(|place| Coord { x: place.x, y: place.y }).collect())
            };
            let theirs = Polygon::new(lines(&rings[0]), rings[1..].iter().map(lines).collect());
            let ours = AreaPolygon::new(rings).unwrap();
            let (x, y) = (f64::from(place.0) / 6.0, f64::from(place.1) / 14.0);
            prop_assert_eq!(ours.contains(GeoPlace { x, y }), theirs.intersects(&Coord { x, y }));
            let has_extent = |ring: &LineString| {
                Polygon::new(ring.clone(), Vec::new()).unsigned_area() > 0.0
            };
            prop_assert_eq!(
                ring_area(&ours.rings()[0]) > 0.0,
                has_extent(theirs.exterior())
            );
        }
    }
}
