//! Address points to find homes at.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::{TestStack, build_recipient};

/// Degrees of latitude between houses of neighbouring numbers: about 11 metres.
const STEP_DEGREES: f64 = 0.0001;

/// Degrees north and east of house number 0 of Main Street.
pub const MAIN_STREET: (f64, f64) = (30.27, -97.74);

/// A file of its own that is removed at the end.
pub struct PointFile {
    /// Where it is.
    pub path: PathBuf,
}

impl PointFile {
    /// A file with this text.
    pub fn new(text: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("pillarbox-points-{}.csv", uuid::Uuid::now_v7()));
        std::fs::write(&path, text).expect("a file can be written");
        Self { path }
    }

    /// The houses of these numbers on Main Street, each 11 metres north of the one before, as OpenAddresses writes
    /// them. They are where [`build_recipient`] lives.
    pub fn main_street(numbers: impl IntoIterator<Item = usize>) -> Self {
        let mut text =
            "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n".to_owned();
        for number in numbers {
            let latitude = MAIN_STREET.0 + STEP_DEGREES * number as f64;
            let longitude = MAIN_STREET.1;
            let line =
                format!("{longitude},{latitude},{number},MAIN ST,,AUSTIN,,TX,78701,,{number:x}");
            writeln!(text, "{line}").expect("a text can be written to");
        }
        Self::new(&text)
    }
}

impl Drop for PointFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl TestStack {
    /// Imports the houses of these numbers on Main Street.
    pub async fn import_main_street(&self, numbers: impl IntoIterator<Item = usize>) {
        let file = PointFile::main_street(numbers);
        let now = self.clock.now();
        let imported =
            pillarbox::addresses::import::import_file(&self.store, &file.path, false, now).await;
        imported.unwrap_or_else(|error| panic!("{error:#}"));
    }
}

/// A center at the house of this number on Main Street.
pub fn build_center(number: usize) -> Value {
    build_recipient(number)
}
