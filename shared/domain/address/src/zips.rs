//! ZIP codes: state, post office name and centre point of each, as they ship in `data/`.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    io::Read,
    sync::LazyLock,
};

use flate2::read::GzDecoder;

use crate::{hash::FnvHasher, tables::state};

/// One line a ZIP: `zip state latitude longitude city`, separated by tabs, sorted by ZIP. Degrees
/// are in ten-thousandths and may be empty, as may the city. `data/README.md` says where from.
static DATA: &[u8] = include_bytes!("../data/zips.tsv.gz");

/// One line a place: `zip name`, separated by a tab, for places of which another one's post office delivers the mail.
static LOCALITIES: &str = include_str!("../data/localities.tsv");

/// ZIPs that a city of this size has, so that its name is not taken for a quarter's elsewhere.
const CITY_ZIPS_MIN: usize = 5;

/// The most bytes that the data may unpack to.
const DATA_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Two post offices of one state whose ZIPs are this close serve as names for each other's ZIPs.
const NEIGHBOUR_METRES_MAX: f64 = 40_000.0;

const METRES_PER_DEGREE: f64 = 111_195.0;

const DEGREE_UNITS: f64 = 10_000.0;

/// What is known of one ZIP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ZipEntry {
    number: u32,
    state: u8,
    name_start: u32,
    name_len: u8,
    /// Latitude and longitude in ten-thousandths of a degree.
    centre: Option<(i32, i32)>,
}

impl ZipEntry {
    /// The state's abbreviation.
    pub fn state(&self) -> &'static str {
        state::state_at(self.state)
    }

    /// The post office's name, in mixed case; empty where it is not known.
    pub fn city(&self) -> &'static str {
        let start = self.name_start as usize;
        &ZIPS.names[start..start + usize::from(self.name_len)]
    }

    /// Degrees north and east of the centre.
    fn centre_degrees(&self) -> Option<(f64, f64)> {
        let (latitude, longitude) = self.centre?;
        Some((
            f64::from(latitude) / DEGREE_UNITS,
            f64::from(longitude) / DEGREE_UNITS,
        ))
    }

    /// True when a post office of the same state by this name serves this ZIP's neighbourhood.
    pub fn accepts_city(&self, city: &str) -> bool {
        let key = city_key(city);
        ZIPS.by_city.get(&(self.state, key)).is_some_and(|indexes| {
            indexes
                .iter()
                .any(|&index| self.is_near(ZIPS.entry_at(index)))
        })
    }

    /// True when the other ZIP is of the same sectional centre (first three digits) or close by.
    fn is_near(&self, other: &ZipEntry) -> bool {
        if self.number / 100 == other.number / 100 {
            return true;
        }
        let (Some(here), Some(there)) = (self.centre_degrees(), other.centre_degrees()) else {
            return false;
        };
        let north = (there.0 - here.0) * METRES_PER_DEGREE;
        if north.abs() > NEIGHBOUR_METRES_MAX {
            return false;
        }
        let east = (there.1 - here.1) * METRES_PER_DEGREE * here.0.to_radians().cos();
        north.hypot(east) <= NEIGHBOUR_METRES_MAX
    }
}

struct ZipTable {
    sorted: Vec<ZipEntry>,
    names: String,
    /// By state: its first and last place in `sorted`, between which few are another's.
    by_state: HashMap<u8, (usize, usize), BuildHasherDefault<FnvHasher>>,
    /// Places in `sorted` by state and [`city_key`].
    by_city: HashMap<(u8, u64), Vec<u32>, BuildHasherDefault<FnvHasher>>,
}

impl ZipTable {
    fn entry_at(&self, index: u32) -> &ZipEntry {
        &self.sorted[index as usize]
    }
}

static ZIPS: LazyLock<ZipTable> = LazyLock::new(|| {
    let mut text = String::new();
    // The data is part of the program: what cannot be read here fails every test of this crate.
    GzDecoder::new(DATA)
        .take(DATA_BYTES_MAX)
        .read_to_string(&mut text)
        .expect("the shipped ZIP data unpacks");
    parse_zip_data(&text)
});

fn parse_zip_data(text: &str) -> ZipTable {
    let mut zips = ZipTable {
        sorted: Vec::with_capacity(45_000),
        names: String::with_capacity(512 * 1024),
        by_state: HashMap::default(),
        by_city: HashMap::with_capacity_and_hasher(32_000, BuildHasherDefault::default()),
    };
    let mut name_before = (0, "");
    for row in text.lines() {
        let mut columns = row.split('\t');
        let mut column = || columns.next().unwrap_or_default();
        let (number, state) = (column().parse(), state::state_index(column()));
        let centre = column().parse().ok().zip(column().parse().ok());
        let city = column();
        let (Ok(number), Some(state)) = (number, state) else {
            continue;
        };
        // Neighbouring ZIPs mostly have the same city: its name is kept once.
        if name_before.1 != city {
            name_before = (zips.names.len(), city);
            zips.names.push_str(city);
        }
        if !city.is_empty() {
            let places = zips.by_city.entry((state, city_key(city))).or_default();
            places.push(zips.sorted.len() as u32);
        }
        let here = zips.sorted.len();
        zips.by_state.entry(state).or_insert((here, here)).1 = here;
        zips.sorted.push(ZipEntry {
            number,
            state,
            name_start: name_before.0 as u32,
            name_len: city.len() as u8,
            centre,
        });
    }
    zips.names.shrink_to_fit();
    for (number, name) in LOCALITIES.lines().filter_map(|row| row.split_once('\t')) {
        let number = number.parse().unwrap_or_default();
        if let Ok(index) = zips.sorted.binary_search_by_key(&number, |zip| zip.number) {
            let key = (zips.sorted[index].state, city_key(name));
            zips.by_city.entry(key).or_default().push(index as u32);
        }
    }
    zips
}

/// The ZIP of five digits, if there is one.
pub(crate) fn find_zip(zip5: &str) -> Option<&'static ZipEntry> {
    if zip5.len() != 5 || !zip5.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = zip5.parse().ok()?;
    let index = ZIPS.sorted.binary_search_by_key(&number, |zip| zip.number);
    index.ok().map(|index| &ZIPS.sorted[index])
}

/// True when the state has a post office by this name.
pub(crate) fn is_city(state: &str, city: &str) -> bool {
    state::state_index(state)
        .is_some_and(|state| ZIPS.by_city.contains_key(&(state, city_key(city))))
}

/// The first and the last ZIP of the city; `None` when the state has no post office by this name. Between them are other
/// cities' ZIPs too, see [`is_zip_of_city`].
pub(crate) fn city_zips(state: &str, city: &str) -> Option<(i32, i32)> {
    let places = ZIPS
        .by_city
        .get(&(state::state_index(state)?, city_key(city)))?;
    let numbers = places
        .iter()
        .map(|place| ZIPS.entry_at(*place).number as i32);
    Some((numbers.clone().min()?, numbers.max()?))
}

/// True when the post office of the ZIP (five digits) has this name.
pub(crate) fn is_zip_of_city(zip5: &str, state: &str, city: &str) -> bool {
    find_zip(zip5).is_some_and(|zip| zip.state() == state && is_same_city(zip.city(), city))
}

/// True when the ZIP (five digits) is in the state, and a post office of this name serves its neighbourhood there.
pub(crate) fn is_zip_near_city(zip5: &str, state: &str, city: &str) -> bool {
    find_zip(zip5).is_some_and(|zip| zip.state() == state && zip.accepts_city(city))
}

/// True when a name stands for a city of another state: one that has [`CITY_ZIPS_MIN`] ZIPs there, and at least seven of
/// eight of all that bear the name. `Albuquerque` does; `Brooklyn` and `Hollywood` may be a quarter of any city.
pub(crate) fn is_city_elsewhere(state: &str, city: &str) -> bool {
    let (here, key) = (state::state_index(state), city_key(city));
    let (mut all, mut most) = (0, (None, 0));
    for index in state::state_indexes() {
        let count = ZIPS.by_city.get(&(index, key)).map_or(0, Vec::len);
        all += count;
        if count > most.1 {
            most = (Some(index), count);
        }
    }
    most.0 != here && most.1 >= CITY_ZIPS_MIN && most.1 * 8 >= all * 7
}

/// The centre of a ZIP (five digits): degrees north and east. `None` for a ZIP that is not known
/// or has no place, like the military ones.
pub fn zip_centre(zip5: &str) -> Option<(f64, f64)> {
    find_zip(zip5)?.centre_degrees()
}

/// The first and the last ZIP of the state that lie near a ZIP (five digits), itself among them: those between which a
/// sender may have taken the wrong one. `None` for a ZIP that is not known.
pub(crate) fn nearby_zips(zip5: &str) -> Option<(i32, i32)> {
    let here = find_zip(zip5)?;
    let &(first, last) = ZIPS.by_state.get(&here.state)?;
    let of_state = ZIPS.sorted[first..=last]
        .iter()
        .filter(|other| other.state == here.state);
    let near = of_state.filter(|other| here.is_near(other));
    let numbers = near.filter_map(|zip| i32::try_from(zip.number).ok());
    let (low, high) = numbers.fold((i32::MAX, i32::MIN), |(low, high), zip| {
        (low.min(zip), high.max(zip))
    });
    Some((low, high))
}

/// The post office name and the state of a ZIP (five digits). The name is empty where it is not known.
pub fn find_city_and_state(zip5: &str) -> Option<(&'static str, &'static str)> {
    find_zip(zip5).map(|zip| (zip.city(), zip.state()))
}

/// True when two names are spellings of one: `St. Louis`, `SAINT LOUIS`.
pub(crate) fn is_same_city(left: &str, right: &str) -> bool {
    city_key(left) == city_key(right)
}

/// A hash of a city's name that is the same for all its spellings: words that are abbreviated
/// count in full, case, spaces and punctuation do not count.
pub(crate) fn city_key(city: &str) -> u64 {
    let mut key = FnvHasher::default();
    for word in city
        .split([' ', '-', '.', ','])
        .filter(|word| !word.is_empty())
    {
        let full = city_word(word).unwrap_or(word);
        for byte in full.bytes().filter(u8::is_ascii_alphanumeric) {
            key.write_u8(byte.to_ascii_lowercase());
        }
    }
    key.finish()
}

/// The full form of a word that is abbreviated in city names.
pub(crate) fn city_word(word: &str) -> Option<&'static str> {
    static WORDS: &[(&str, &str)] = &[
        ("BCH", "Beach"),
        ("CTR", "Center"),
        ("E", "East"),
        ("FT", "Fort"),
        ("GDNS", "Gardens"),
        ("HBR", "Harbor"),
        ("HTS", "Heights"),
        ("JCT", "Junction"),
        ("LK", "Lake"),
        ("MT", "Mount"),
        ("MTN", "Mountain"),
        ("N", "North"),
        ("PK", "Park"),
        ("PT", "Point"),
        ("S", "South"),
        ("SPGS", "Springs"),
        ("ST", "Saint"),
        ("STE", "Sainte"),
        ("TWP", "Township"),
        ("VLG", "Village"),
        ("VLY", "Valley"),
        ("VY", "Valley"),
        ("W", "West"),
    ];
    WORDS
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(word))
        .map(|(_, full)| *full)
}
