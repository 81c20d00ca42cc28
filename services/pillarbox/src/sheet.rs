//! A CSV file of rows to upload: found in order before anything is sent, then read row by row.

mod known;
mod mapping;
mod reader;

pub(crate) use self::known::{CONTACT, RECIPIENT};
pub use self::mapping::ColumnMapping;
pub(crate) use self::mapping::{MappedColumns, UnknownColumnRule, map_columns};
pub(crate) use self::reader::{TableFile, TableRow, TableRows};
