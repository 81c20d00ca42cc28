//! The area drawn on a campaign's map.

mod crossing;
mod polygon;

use geojson::{Feature, GeoJson, Geometry, GeometryValue, PolygonType, Position};
use polygon::{AreaPolygon, GeoPlace};

/// The longest GeoJSON text that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The most positions of all rings of an area together.
pub const MAX_VERTICES: usize = 10_000;
/// The fewest positions of a ring: a triangle whose last position repeats the first (RFC 7946 §3.1.6).
const MIN_RING_POSITIONS: usize = 4;
/// The widest step between neighbours in a ring, in degrees of longitude. A wider one is taken to
/// go the other way around, over the 180th meridian.
const MAX_STEP_DEGREES: f64 = 180.0;

/// One or more polygons, each with holes if it has any. Borders belong to the area.
///
/// Lines between positions are straight in longitude and latitude, as GeoJSON defines them
/// (RFC 7946 §3.1.1). An area over the 180th meridian, such as the whole of Alaska, is drawn as a
/// MultiPolygon cut there (RFC 7946 §3.1.9).
#[derive(Clone, Debug, PartialEq)]
pub struct GeoArea {
    parts: Vec<AreaPolygon>,
}

/// Why a text is no area.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AreaError {
    /// Longer than [`MAX_BYTES`].
    #[error("the map area is longer than {} MB", MAX_BYTES / 1024 / 1024)]
    TooLong,
    /// More than [`MAX_VERTICES`] positions.
    #[error("the map area has more than {MAX_VERTICES} positions")]
    TooManyVertices,
    /// Not JSON, or not GeoJSON.
    #[error("the map area is not GeoJSON: {0}")]
    NotGeoJson(String),
    /// A geometry that has no inside.
    #[error("the map area must be a Polygon or MultiPolygon, not a {0}")]
    NotAPolygon(&'static str),
    /// No polygon at all.
    #[error("the map area has no polygon")]
    Empty,
    /// A position outside of longitude -180 to 180 and latitude -90 to 90.
    #[error("the map area has a position that is not [longitude, latitude] in degrees")]
    Position,
    /// A ring of fewer than four positions, or whose last position is not its first.
    #[error(
        "a ring of the map area must have at least {MIN_RING_POSITIONS} positions and end where it starts"
    )]
    Ring,
    /// A ring over the 180th meridian.
    #[error("a ring of the map area crosses the 180th meridian; cut it there into two polygons")]
    Antimeridian,
    /// A polygon that encloses nothing.
    #[error("a polygon of the map area encloses nothing: all of its positions lie on one line")]
    NoExtent,
    /// A border that crosses itself, so that nobody knows what is inside.
    #[error("the border of the map area crosses itself near longitude {0}, latitude {1}")]
    Crossing(String, String),
}

impl GeoArea {
    /// Reads GeoJSON text (RFC 7946): a Polygon or MultiPolygon, or a Feature, FeatureCollection or
    /// GeometryCollection of nothing else. Altitudes and properties are ignored.
    pub fn parse(text: &str) -> Result<Self, AreaError> {
        if text.len() > MAX_BYTES {
            return Err(AreaError::TooLong);
        }
        // The JSON reader stops at 128 levels, so that neither it nor what follows goes too deep.
        let document: GeoJson = text.parse().map_err(|error: geojson::Error| {
            AreaError::NotGeoJson(describe_geojson_error(&error))
        })?;
        let mut collector = PolygonCollector::default();
        collector.add_document(&document)?;
        if collector.parts.is_empty() {
            return Err(AreaError::Empty);
        }
        Ok(Self {
            parts: collector.parts,
        })
    }

    /// Whether it can be meant: what [`GeoArea::parse`] reads but nobody draws on purpose is refused when an area is set, and
    /// not in those that stand.
    ///
    /// # Errors
    /// [`AreaError::Crossing`] and [`AreaError::NoExtent`].
    pub fn validate(&self) -> Result<(), AreaError> {
        for polygon in &self.parts {
            if let Some(GeoPlace { x, y }) = crossing::find_crossing(polygon) {
                return Err(AreaError::Crossing(format!("{x:.4}"), format!("{y:.4}")));
            }
            if polygon.is_empty() {
                return Err(AreaError::NoExtent);
            }
        }
        Ok(())
    }

    /// Its polygons: each the positions (longitude and latitude, in degrees) of its rings, the outer one first, then its
    /// holes.
    pub fn polygons(&self) -> impl Iterator<Item = Vec<Vec<(f64, f64)>>> {
        self.parts.iter().map(|part| {
            let rings = part.rings().iter();
            rings
                .map(|ring| ring.iter().map(|place| (place.x, place.y)).collect())
                .collect()
        })
    }

    /// Whether a place, in degrees, is inside or on the border. A place that is not a number is
    /// nowhere.
    pub fn contains(&self, latitude: f64, longitude: f64) -> bool {
        let place = GeoPlace {
            x: longitude,
            y: latitude,
        };
        self.parts.iter().any(|part| part.contains(place))
    }
}

/// What is wrong with a text that is no GeoJSON, for people.
fn describe_geojson_error(error: &geojson::Error) -> String {
    match error {
        geojson::Error::MalformedGeoJson(error) if error.is_syntax() || error.is_eof() => format!(
            "it cannot be read from line {}, column {} on, where a bracket, a quotation mark or a comma may be missing",
            error.line(),
            error.column()
        ),
        _ => "it has no \"type\" and \"coordinates\" as GeoJSON has them; save it as GeoJSON in the program that drew it"
            .to_owned(),
    }
}

/// The polygons met so far.
#[derive(Default)]
struct PolygonCollector {
    parts: Vec<AreaPolygon>,
    vertices: usize,
}

impl PolygonCollector {
    fn add_document(&mut self, document: &GeoJson) -> Result<(), AreaError> {
        match document {
            GeoJson::Geometry(geometry) => self.add_geometry(geometry),
            GeoJson::Feature(feature) => self.add_feature(feature),
            GeoJson::FeatureCollection(collection) => collection
                .features
                .iter()
                .try_for_each(|feature| self.add_feature(feature)),
        }
    }

    fn add_feature(&mut self, feature: &Feature) -> Result<(), AreaError> {
        match &feature.geometry {
            Some(geometry) => self.add_geometry(geometry),
            None => Err(AreaError::NotAPolygon("Feature without a geometry")),
        }
    }

    fn add_geometry(&mut self, geometry: &Geometry) -> Result<(), AreaError> {
        match &geometry.value {
            GeometryValue::Polygon { coordinates } => self.add_polygon(coordinates),
            GeometryValue::MultiPolygon { coordinates } => coordinates
                .iter()
                .try_for_each(|rings| self.add_polygon(rings)),
            GeometryValue::GeometryCollection { geometries } => geometries
                .iter()
                .try_for_each(|geometry| self.add_geometry(geometry)),
            other => Err(AreaError::NotAPolygon(other.type_name())),
        }
    }

    fn add_polygon(&mut self, rings: &PolygonType) -> Result<(), AreaError> {
        let rings = rings.iter().map(|ring| self.parse_ring(ring));
        let rings = rings.collect::<Result<Vec<_>, _>>()?;
        self.parts
            .push(AreaPolygon::new(rings).ok_or(AreaError::Ring)?);
        Ok(())
    }

    fn parse_ring(&mut self, positions: &[Position]) -> Result<Vec<GeoPlace>, AreaError> {
        self.vertices += positions.len();
        if self.vertices > MAX_VERTICES {
            return Err(AreaError::TooManyVertices);
        }
        let ring = positions
            .iter()
            .map(parse_coordinate)
            .collect::<Result<Vec<_>, _>>()?;
        if ring.len() < MIN_RING_POSITIONS || ring.first() != ring.last() {
            return Err(AreaError::Ring);
        }
        let is_too_wide = |step: &[GeoPlace]| (step[0].x - step[1].x).abs() > MAX_STEP_DEGREES;
        if ring.windows(2).any(is_too_wide) {
            return Err(AreaError::Antimeridian);
        }
        Ok(ring)
    }
}

fn parse_coordinate(position: &Position) -> Result<GeoPlace, AreaError> {
    match position.as_slice() {
        [x, y, ..] if (-180.0..=180.0).contains(x) && (-90.0..=90.0).contains(y) => {
            Ok(GeoPlace { x: *x, y: *y })
        }
        _ => Err(AreaError::Position),
    }
}

#[cfg(test)]
mod tests;
