//! A CSV file of rows to upload: found in order before anything is sent, then read row by row.

mod known;
mod mapping;
mod reader;

pub(crate) use self::known::{CONTACT, RECIPIENT};
pub use self::mapping::Mapping;
pub(crate) use self::mapping::{Columns, Unknown, map_columns};
pub(crate) use self::reader::{Row, Rows, Sheet};
