//! A CSV file of addresses.

use address::{AddressInput, AddressListEntry};
use csv::{ByteRecord, Position, ReaderBuilder};
use spreadsheet::{ForeignFile, LineCounter};

/// Lines of a file with an address at the most.
pub(super) const MOST_ADDRESSES: usize = 100_000;

/// Lines that could not be taken which are told one by one.
pub(super) const TOLD: usize = 100;

/// The column of an address on one line.
const LINE: &str = "address";

/// The columns of an address in parts; the second may be missing.
const PARTS: [&str; 5] = ["address_1", "address_2", "city", "state", "zip"];

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DoNotMailFile {
    /// Verified addresses, each once.
    pub(super) addresses: Vec<AddressListEntry>,
    /// The first lines that could not be taken: their numbers, from 1, and why.
    pub(super) told: Vec<(u64, String)>,
    /// How many could not be taken.
    pub(super) bad: usize,
}

/// Why nothing of a file can be taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DoNotMailFileError {
    /// Its first line names no address.
    #[error(
        "The first line has to name the columns: either \"{LINE}\", or \"address_1\", \"city\", \"state\" and \"zip\", and \"address_2\" if there are units."
    )]
    Headings,
    /// More than are taken in one go.
    #[error("The file has more than {MOST_ADDRESSES} addresses. Send it in parts.")]
    TooMany,
    /// It is a file of another kind.
    #[error("The file is {0}. Nothing of it was taken.")]
    Foreign(ForeignFile),
    /// It is no CSV file.
    #[error("The file cannot be read as CSV. Nothing of it was taken.")]
    Unreadable,
}

/// Where an address stands in a line.
#[derive(Debug)]
enum DoNotMailFileColumns {
    Line(usize),
    Parts([Option<usize>; 5]),
}

impl DoNotMailFileColumns {
    fn of(headings: &ByteRecord) -> Result<Self, DoNotMailFileError> {
        let name = |cell: &[u8]| String::from_utf8_lossy(cell).trim().to_lowercase();
        let find = |wanted: &str| headings.iter().position(|cell| name(cell) == wanted);
        if let Some(at) = find(LINE) {
            return Ok(Self::Line(at));
        }
        let parts = PARTS.map(find);
        let is_whole = parts
            .iter()
            .zip(PARTS)
            .all(|(at, name)| at.is_some() || name == "address_2");
        is_whole
            .then_some(Self::Parts(parts))
            .ok_or(DoNotMailFileError::Headings)
    }

    /// The address of a line; `None` of a line without one.
    fn read_address(&self, record: &ByteRecord) -> Option<Result<AddressListEntry, String>> {
        let cell =
            |at: usize| std::str::from_utf8(record.get(at).unwrap_or_default()).map(str::trim);
        let not_utf_8 = || "it is not text in UTF-8".to_owned();
        match self {
            Self::Line(at) => match cell(*at) {
                Ok("") => None,
                Ok(line) => Some(AddressListEntry::from_line(line)),
                Err(_) => Some(Err(not_utf_8())),
            },
            Self::Parts(parts) => {
                let cells: Result<Vec<&str>, _> =
                    parts.iter().map(|at| at.map_or(Ok(""), cell)).collect();
                match cells.as_deref() {
                    Ok(cells) if cells.iter().all(|cell| cell.is_empty()) => None,
                    Ok([address_1, address_2, city, state, zip]) => {
                        Some(AddressListEntry::from_parts(AddressInput {
                            address_1,
                            address_2,
                            city,
                            state,
                            zip,
                        }))
                    }
                    _ => Some(Err(not_utf_8())),
                }
            }
        }
    }
}

/// Reads a file. Lines that cannot be taken are told; blank ones do not count.
///
/// # Errors
/// [`DoNotMailFileError`] when nothing of it can be taken.
pub(super) fn read_file(file: &[u8]) -> Result<DoNotMailFile, DoNotMailFileError> {
    if let Some(foreign) = ForeignFile::detect(file) {
        return Err(DoNotMailFileError::Foreign(foreign));
    }
    // No text has it, and no column holds it.
    if file.contains(&0) {
        return Err(DoNotMailFileError::Unreadable);
    }
    // Of lines with too few cells the rest counts as blank.
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .from_reader(LineCounter::new(file));
    let unreadable = |_: csv::Error| DoNotMailFileError::Unreadable;
    let columns = DoNotMailFileColumns::of(reader.byte_headers().map_err(unreadable)?)?;
    let (mut read, mut record, mut lines) = (DoNotMailFile::default(), ByteRecord::new(), 0);
    while reader.read_byte_record(&mut record).map_err(unreadable)? {
        let line = reader
            .get_mut()
            .line_of_row(record.position().map_or(0, Position::byte));
        let Some(address) = columns.read_address(&record) else {
            continue;
        };
        lines += 1;
        if lines > MOST_ADDRESSES {
            return Err(DoNotMailFileError::TooMany);
        }
        match address {
            Ok(listed) => read.addresses.push(listed),
            Err(why) => {
                read.bad += 1;
                if read.told.len() < TOLD {
                    read.told.push((line, why));
                }
            }
        }
    }
    // In the order of their ids: two files that are taken at the same time cannot wait for each other in a ring.
    read.addresses.sort_unstable_by_key(|listed| listed.id);
    read.addresses.dedup_by_key(|listed| listed.id);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_lines(file: &str) -> Vec<String> {
        read_file(file.as_bytes())
            .unwrap()
            .addresses
            .into_iter()
            .map(|listed| listed.line)
            .collect()
    }

    #[test]
    fn addresses_stand_on_one_line_or_in_parts() {
        let expected = ["1100 Congress Ave, Austin, TX 78701"];
        assert_eq!(
            address_lines("\u{feff}Name,Address\nAda,\"1100 congress avenue, austin TX 78701\"\n"),
            expected
        );
        assert_eq!(
            address_lines("zip,state,city,address_1\r\n78701,tx,Austin,1100 Congress Ave\r\n"),
            expected
        );
    }

    #[test]
    fn an_address_counts_once_and_blank_lines_do_not() {
        let file = "address\n\n\"1100 Congress Ave, Austin TX 78701\"\n\"\"\n\"1100 CONGRESS AVENUE, AUSTIN TX 78701\"\n";
        assert_eq!(address_lines(file).len(), 1);
    }

    #[test]
    fn bad_lines_are_told_with_their_numbers_and_stop_nothing() {
        let mut file =
            b"address_1,city,state,zip\n1100 Congress Ave,Austin,TX,78701\nnowhere,Austin\n"
                .to_vec();
        file.extend(b"\xff\xfe,Austin,TX,78701\n");
        let read = read_file(&file).unwrap();
        assert_eq!((read.addresses.len(), read.bad), (1, 2));
        let numbers: Vec<u64> = read.told.iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [3, 4]);
        assert!(read.told[1].1.contains("UTF-8"), "{:?}", read.told);
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        let read = read_file(b"address\r\n\r\nnowhere\r\n\r\nnowhere else\r\n").unwrap();
        let numbers: Vec<u64> = read.told.iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [3, 5]);
    }

    #[test]
    fn a_workbook_is_told_from_a_csv_file() {
        let problem = read_file(b"PK\x03\x04\x14\0\x06\0")
            .unwrap_err()
            .to_string();
        assert!(
            problem.starts_with("The file is an Excel workbook (.xlsx)"),
            "{problem}"
        );
        assert_eq!(
            read_file(b"\xff\xfea\0"),
            Err(DoNotMailFileError::Foreign(ForeignFile::Utf16))
        );
    }

    #[test]
    fn a_file_without_headings_or_with_too_many_lines_is_refused() {
        assert_eq!(
            read_file("1100 Congress Ave\n".as_bytes()),
            Err(DoNotMailFileError::Headings)
        );
        assert_eq!(read_file("".as_bytes()), Err(DoNotMailFileError::Headings));
        let file = format!("address\n{}", "x\n".repeat(MOST_ADDRESSES + 1));
        assert_eq!(read_file(file.as_bytes()), Err(DoNotMailFileError::TooMany));
    }

    #[test]
    fn fuzz_do_not_mail_file() {
        let samples = [
            "Name,Address\nAda,\"1100 congress avenue, austin TX 78701\"\n",
            "zip;state\nx",
            "address_1,address_2,city,state,zip\r\n1100 Congress Ave,Apt 4,Austin,TX,78701\r\n\"\"\"\",,,,\r\n",
        ];
        fuzz::Target::new(samples)
            .words(["address,", "\"", "\"\"", "\r", "78701"])
            .cases(2_000)
            .run(|content| {
                let Ok(file) = read_file(content) else {
                    return Ok(());
                };
                proptest::prop_assert!(file.told.len() <= TOLD && file.told.len() <= file.bad);
                proptest::prop_assert!(
                    file.addresses.is_sorted_by_key(|listed| listed.id)
                        && file.addresses.len() <= content.len()
                );
                Ok(())
            });
    }
}
