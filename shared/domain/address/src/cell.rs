//! Places as numbers on a space-filling curve, so that a plain ordered index finds what is near.
//!
//! A cell number interleaves the bits of latitude and longitude (a Morton curve). All points of a square
//! of the grid follow each other on it, so a circle is searched as a few ranges of numbers.

/// Bits of latitude and of longitude each: the number is positive in 64 bits.
const BITS: u32 = 31;

/// Squares that the search of a circle covers in each direction at the most.
const SQUARES_MAX: u32 = 8;

/// Ranges that [`cells_around`] gives at the most.
pub const RANGES_MAX: usize = (SQUARES_MAX * SQUARES_MAX) as usize;

/// Metres of a degree of latitude on a sphere of the earth's mean radius.
const METRES_PER_DEGREE: f64 = 111_195.080_233_5;

/// Mean radius of the earth in metres.
const EARTH_RADIUS_METRES: f64 = 6_371_008.8;

/// The number of the cell that a place is in. Degrees outside the globe count as its edge.
pub fn cell_at(latitude: f64, longitude: f64) -> i64 {
    interleave_bits(latitude_row(latitude), longitude_column(longitude))
}

/// Ranges of cell numbers, both ends included, that hold every place within `radius_metres` of a place, and little
/// else. In ascending order, without overlaps.
pub fn cells_around(latitude: f64, longitude: f64, radius_metres: f64) -> Vec<(i64, i64)> {
    // A little more than the radius: numbers are rounded.
    let north = radius_metres / METRES_PER_DEGREE * 1.001 + 1e-6;
    // The farther edge from the equator has the shortest degrees of longitude.
    let widest = (latitude.abs() + north).min(89.9).to_radians().cos();
    let east = north / widest;
    let rows = (
        latitude_row(latitude - north),
        latitude_row(latitude + north),
    );
    let first_column = longitude_column(longitude - east);
    let columns = longitude_column(longitude + east).wrapping_sub(first_column) & grid_mask();
    // Squares small enough that few lie outside, and large enough that there are not many.
    let mut shift = 0;
    while (rows.1 >> shift) - (rows.0 >> shift) >= SQUARES_MAX
        || (((first_column & ((1 << shift) - 1)) + columns) >> shift) >= SQUARES_MAX
    {
        shift += 1;
    }
    let width = ((first_column & ((1 << shift) - 1)) + columns) >> shift;
    let mut ranges = Vec::with_capacity(RANGES_MAX);
    for square_row in (rows.0 >> shift)..=(rows.1 >> shift) {
        for step in 0..=width {
            // Past the 180th degree the columns begin again.
            let square_column = ((first_column >> shift) + step) & (grid_mask() >> shift);
            let low = interleave_bits(square_row, square_column) << (2 * shift);
            ranges.push((low, low + (1_i64 << (2 * shift)) - 1));
        }
    }
    merge_ranges(ranges)
}

/// Metres between two places along the surface.
pub fn distance_metres(from: (f64, f64), to: (f64, f64)) -> f64 {
    let [from_latitude, to_latitude] = [from.0, to.0].map(f64::to_radians);
    let half_north = (to_latitude - from_latitude) / 2.0;
    let half_east = (to.1 - from.1).to_radians() / 2.0;
    let chord = half_north.sin().powi(2)
        + from_latitude.cos() * to_latitude.cos() * half_east.sin().powi(2);
    2.0 * EARTH_RADIUS_METRES * chord.sqrt().min(1.0).asin()
}

/// Ranges in order, neighbours made one.
fn merge_ranges(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match joined.last_mut() {
            Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}

const fn grid_mask() -> u32 {
    (1 << BITS) - 1
}

fn latitude_row(latitude: f64) -> u32 {
    scale_to_grid((latitude + 90.0) / 180.0)
}

fn longitude_column(longitude: f64) -> u32 {
    scale_to_grid((longitude + 180.0).rem_euclid(360.0) / 360.0)
}

fn scale_to_grid(part: f64) -> u32 {
    let whole = f64::from(1_u32 << BITS);
    // A cast to an integer stops at its ends.
    ((part * whole).max(0.0) as u32).min(grid_mask())
}

/// Bits of the two numbers in turn, the row's above the column's.
fn interleave_bits(row: u32, column: u32) -> i64 {
    (spread_bits(row) << 1 | spread_bits(column)).cast_signed()
}

/// The bits of a number with a zero between each two.
fn spread_bits(number: u32) -> u64 {
    let mut bits = u64::from(number);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A place `metres` away in a direction, on a sphere.
    fn move_by(from: (f64, f64), metres: f64, direction: f64) -> (f64, f64) {
        let angle = metres / EARTH_RADIUS_METRES;
        let (latitude, longitude) = (from.0.to_radians(), from.1.to_radians());
        let north =
            (latitude.sin() * angle.cos() + latitude.cos() * angle.sin() * direction.cos()).asin();
        let east = (direction.sin() * angle.sin() * latitude.cos())
            .atan2(angle.cos() - latitude.sin() * north.sin());
        let longitude = (longitude + east).to_degrees();
        (
            north.to_degrees(),
            (longitude + 540.0).rem_euclid(360.0) - 180.0,
        )
    }

    #[test]
    fn a_circle_is_a_few_ranges_of_about_its_size() {
        for radius in [50.0, 400.0, 5_000.0, 50_000.0] {
            let ranges = cells_around(39.4, -76.6, radius);
            assert!(ranges.len() <= RANGES_MAX);
            let covered: f64 = ranges
                .iter()
                .map(|(low, high)| (high - low + 1) as f64)
                .sum();
            let cell_metres = 180.0 / f64::from(1_u32 << BITS) * METRES_PER_DEGREE;
            let area = covered * cell_metres * cell_metres * 2.0 * 39.4_f64.to_radians().cos();
            let circle = std::f64::consts::PI * radius * radius;
            assert!(
                area < 4.0 * circle,
                "{radius}: {} times the circle",
                area / circle
            );
        }
    }

    proptest! {
        #[test]
        fn every_place_within_the_radius_is_in_a_range(
            latitude in -80.0_f64..80.0,
            longitude in -180.0_f64..180.0,
            radius in 1.0_f64..20_000.0,
            part in 0.0_f64..1.0,
            direction in 0.0_f64..std::f64::consts::TAU,
        ) {
            let place = move_by((latitude, longitude), radius * part, direction);
            let number = cell_at(place.0, place.1);
            let ranges = cells_around(latitude, longitude, radius);
            prop_assert!(ranges.len() <= RANGES_MAX);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            prop_assert!(ranges.iter().any(|(low, high)| (*low..=*high).contains(&number)));
        }

        #[test]
        fn distance_agrees_with_going_there(
            latitude in -70.0_f64..70.0,
            longitude in -179.0_f64..179.0,
            metres in 0.0_f64..50_000.0,
            direction in 0.0_f64..std::f64::consts::TAU,
        ) {
            let place = move_by((latitude, longitude), metres, direction);
            let measured = distance_metres((latitude, longitude), place);
            prop_assert!((measured - metres).abs() < 0.01 + metres * 1e-6, "{} and {}", measured, metres);
        }
    }
}
