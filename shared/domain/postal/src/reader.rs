//! Rows of a file, whichever form it has.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;

use crate::json::JsonRows;
use crate::lines::{BoundedLines, LINE_BYTES};
use crate::mapping::{ScanColumns, ScanRules};
use crate::scan::{BrokenScan, PostalScan, RawScan};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// What cells may be set apart by; of those that the first line has, the one it has most of.
const DELIMITERS: [u8; 4] = [b',', b'|', b'\t', b';'];

/// The columns of the form without names: facility, operation, time, routing code, tracking code.
const UNNAMED_COLUMNS: usize = 5;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PostalFileError {
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// The first line names no column that is known for this.
    #[error(
        "no column has the {meaning}: looked for {wanted}, found {found}. A mapping file says what columns are called"
    )]
    Column {
        /// What was looked for.
        meaning: &'static str,
        /// Names that would do.
        wanted: String,
        /// Names that there are.
        found: String,
    },
}

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostalRow {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What it says.
    pub outcome: RowOutcome,
}

/// What a row says: a scan, or why it says nothing readable.
pub type RowOutcome = Result<PostalScan, BrokenScan>;

/// Reads a file row by row, in memory that does not grow with it.
#[derive(Debug)]
pub struct PostalFileReader<R> {
    form: FileForm<BufReader<R>>,
    rules: ScanRules,
    line: Vec<u8>,
}

#[derive(Debug)]
enum FileForm<R> {
    Lines {
        lines: BoundedLines<R>,
        /// The first line, when it is a row.
        first: Option<Vec<u8>>,
        delimiter: u8,
        columns: CellPlaces,
    },
    Json {
        rows: JsonRows<R>,
        names: MemberNames,
    },
}

/// Where in a line is what.
#[derive(Debug, Clone, Copy)]
struct CellPlaces {
    tracking: usize,
    operation: usize,
    time: usize,
    facility: Option<usize>,
    /// Cells of a line.
    count: usize,
}

/// What members of an object are for, by their normalised names: the meaning, and how much it is wanted, the least most.
#[derive(Debug)]
struct MemberNames(HashMap<String, (Meaning, usize)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Tracking,
    Operation,
    Time,
    Facility,
}

impl<R: Read> PostalFileReader<R> {
    /// Reads the file's beginning and finds out which form it has.
    ///
    /// # Errors
    /// [`PostalFileError`].
    pub fn new(input: R, rules: ScanRules) -> Result<Self, PostalFileError> {
        let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
        skip_beginning(&mut input)?;
        let first = input.fill_buf()?.first().copied();
        let form = match first.ok_or(PostalFileError::Empty)? {
            b'{' | b'[' => FileForm::Json {
                rows: JsonRows::new(input),
                names: MemberNames::new(&rules.columns),
            },
            _ => read_first_line(input, &rules.columns)?,
        };
        Ok(Self {
            form,
            rules,
            line: Vec::new(),
        })
    }

    /// Passes over the next row without looking at what it says. False at the end.
    ///
    /// # Errors
    /// When reading fails.
    pub fn skip_row(&mut self) -> io::Result<bool> {
        Ok(match &mut self.form {
            FileForm::Lines { lines, first, .. } => {
                first.take().is_some() || read_full_line(lines, &mut self.line)?.is_some()
            }
            FileForm::Json { rows, .. } => rows.next_row()?.is_some(),
        })
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// When reading fails.
    pub fn next_row(&mut self) -> io::Result<Option<PostalRow>> {
        match &mut self.form {
            FileForm::Lines {
                lines,
                first,
                delimiter,
                columns,
            } => {
                let is_whole = match first.take() {
                    Some(first) => {
                        self.line = first;
                        Some(true)
                    }
                    None => read_full_line(lines, &mut self.line)?,
                };
                let Some(is_whole) = is_whole else {
                    return Ok(None);
                };
                let outcome = if is_whole {
                    parse_line(&self.line, *delimiter, columns, &self.rules)
                } else {
                    Err(BrokenScan::TooLong)
                };
                Ok(Some(PostalRow {
                    line: lines.number,
                    outcome,
                }))
            }
            FileForm::Json { rows, names } => {
                let Some(row) = rows.next_row()? else {
                    return Ok(None);
                };
                let outcome = match &row.bytes {
                    Some(bytes) => names.parse_object(bytes, &self.rules),
                    None => Err(BrokenScan::TooLong),
                };
                Ok(Some(PostalRow {
                    line: row.line,
                    outcome,
                }))
            }
        }
    }
}

/// A byte order mark and blanks before the first character. Blank lines there are not counted.
fn skip_beginning(input: &mut impl BufRead) -> io::Result<()> {
    if input.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    Ok(())
}

/// The next line that is not blank.
fn read_full_line<R: BufRead>(
    lines: &mut BoundedLines<R>,
    line: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    loop {
        match lines.read_line(line)? {
            Some(true) if line.iter().all(u8::is_ascii_whitespace) => {}
            read => return Ok(read),
        }
    }
}

fn read_first_line<R: BufRead>(
    input: R,
    wanted: &ScanColumns,
) -> Result<FileForm<R>, PostalFileError> {
    let mut lines = BoundedLines::new(input);
    let mut line = Vec::new();
    let is_whole = read_full_line(&mut lines, &mut line)?.ok_or(PostalFileError::Empty)?;
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    let delimiter = DELIMITERS
        .into_iter()
        .max_by_key(|delimiter| (count(*delimiter), *delimiter == b','))
        .unwrap_or(b',');
    let text = String::from_utf8_lossy(&line).into_owned();
    let cells = split_line(&text, delimiter);
    if is_whole && is_unnamed_row(&cells) {
        return Ok(FileForm::Lines {
            lines,
            first: Some(line),
            delimiter,
            columns: CellPlaces {
                facility: Some(0),
                operation: 1,
                time: 2,
                tracking: 4,
                count: UNNAMED_COLUMNS,
            },
        });
    }
    let columns = CellPlaces::find(&cells, wanted)?;
    Ok(FileForm::Lines {
        lines,
        first: None,
        delimiter,
        columns,
    })
}

/// Whether a first line is a row of the form without names: its last cell is digits.
fn is_unnamed_row(cells: &[String]) -> bool {
    let last = cells.last().map_or("", |cell| cell.trim());
    cells.len() == UNNAMED_COLUMNS
        && !last.is_empty()
        && last.bytes().all(|byte| byte.is_ascii_digit())
}

/// A column's name as it is compared.
fn normalise_name(name: &str) -> String {
    let kept = name.chars().filter(|letter| letter.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

impl CellPlaces {
    fn find(header: &[String], wanted: &ScanColumns) -> Result<Self, PostalFileError> {
        let found: Vec<String> = header.iter().map(|name| normalise_name(name)).collect();
        let find = |names: &[String]| {
            names.iter().find_map(|name| {
                let name = normalise_name(name);
                found
                    .iter()
                    .position(|found| !name.is_empty() && *found == name)
            })
        };
        let need = |meaning: &'static str, names: &[String]| {
            find(names).ok_or_else(|| PostalFileError::Column {
                meaning,
                wanted: names.join(", "),
                found: shorten(&header.join(", ")),
            })
        };
        Ok(Self {
            tracking: need("tracking code", &wanted.tracking)?,
            operation: need("operation code", &wanted.operation)?,
            time: need("time", &wanted.time)?,
            facility: find(&wanted.facility),
            count: header.len(),
        })
    }
}

/// A text that a person is to read, however long a stranger made it.
fn shorten(text: &str) -> String {
    let kept = text.chars().filter(|letter| !letter.is_control());
    kept.take(300).collect()
}

/// The cells of a line. Without a quote in it, that is splitting.
fn split_line(line: &str, delimiter: u8) -> Vec<String> {
    if !line.contains('"') {
        let cells = line.split(char::from(delimiter));
        return cells.map(str::to_owned).collect();
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .buffer_capacity(line.len().clamp(16, LINE_BYTES))
        .from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn parse_line(line: &[u8], delimiter: u8, places: &CellPlaces, rules: &ScanRules) -> RowOutcome {
    let text = std::str::from_utf8(line).map_err(|_| BrokenScan::Encoding)?;
    let owned;
    let cells: Vec<&str> = if text.contains('"') {
        owned = split_line(text, delimiter);
        owned.iter().map(String::as_str).collect()
    } else {
        text.split(char::from(delimiter)).collect()
    };
    if cells.len() != places.count {
        return Err(BrokenScan::Columns);
    }
    let scan = RawScan {
        tracking: cells[places.tracking],
        operation: cells[places.operation],
        time: cells[places.time],
        facility: places.facility.map_or("", |place| cells[place]),
    };
    scan.parse_scan(rules)
}

impl MemberNames {
    fn new(columns: &ScanColumns) -> Self {
        let mut names = HashMap::new();
        for (meaning, wanted) in [
            (Meaning::Tracking, &columns.tracking),
            (Meaning::Operation, &columns.operation),
            (Meaning::Time, &columns.time),
            (Meaning::Facility, &columns.facility),
        ] {
            for (rank, name) in wanted.iter().enumerate() {
                let name = normalise_name(name);
                names.entry(name).or_insert((meaning, rank));
            }
        }
        Self(names)
    }

    fn parse_object(&self, bytes: &[u8], rules: &ScanRules) -> RowOutcome {
        let object: HashMap<String, Value> =
            serde_json::from_slice(bytes).map_err(|_| BrokenScan::Json)?;
        let mut texts: [(usize, String); 4] = std::array::from_fn(|_| (usize::MAX, String::new()));
        for (name, value) in object {
            let Some((meaning, rank)) = self.0.get(&normalise_name(&name)) else {
                continue;
            };
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            let place = &mut texts[*meaning as usize];
            // The same name in two spellings: whichever is less, so that the order does not count.
            if (*rank, &text) < (place.0, &place.1) {
                *place = (*rank, text);
            }
        }
        let [(_, tracking), (_, operation), (_, time), (_, facility)] = &texts;
        let scan = RawScan {
            tracking,
            operation,
            time,
            facility,
        };
        scan.parse_scan(rules)
    }
}

#[cfg(test)]
mod tests {
    use model::mailpiece_state::MailpieceState;
    use proptest::prelude::*;

    use super::*;
    use crate::ScanMapping;

    const CODE: &str = "00310123456000000042";

    fn read_rows(file: &[u8]) -> Vec<PostalRow> {
        let rules = ScanMapping::default().to_rules().unwrap();
        let mut reader = PostalFileReader::new(file, rules).unwrap();
        std::iter::from_fn(|| reader.next_row().unwrap()).collect()
    }

    #[test]
    fn all_forms_tell_of_the_same_scan() {
        let named = format!(
            "scan_datetime,\"imb\",Scan Event Code,scanFacilityZip\n2026-11-21 10:00:00,{CODE}78701123401,919,78710\n"
        );
        let piped = format!(
            "\u{feff}IMb_Tracking_Code|op_code|scanned_at|facility_zip|x\r\n{CODE}|919|2026-11-21T10:00:00-06:00|78710|\r\n"
        );
        let quoted = format!(
            "note,imb,scan_event_code,scan_datetime,scan_facility_zip\n\"a, b\",{CODE},919,2026-11-21 10:00:00,78710"
        );
        let json = format!(
            r#"{{"data":[{{"imb":"{CODE}","scanEventCode":919,"scanDatetime":"2026-11-21 10:00:00","scanFacilityZip":"78710","more":{{}}}}]}}"#
        );
        let five = format!("78710,919,2026-11-21 10:00:00,78701123401,{CODE}\n");
        let mut scans = Vec::new();
        for file in [&named, &piped, &quoted, &json, &five] {
            let rows = read_rows(file.as_bytes());
            assert_eq!(rows.len(), 1, "{file}");
            scans.push(rows[0].outcome.clone().expect(file));
        }
        let first = &scans[0];
        assert_eq!(first.state, Some(MailpieceState::OutForDelivery));
        assert_eq!(first.scanned_at.to_rfc3339(), "2026-11-21T16:00:00+00:00");
        assert_eq!(first.describe_operation(), "operation 919 at 78710");
        assert!(
            scans
                .iter()
                .all(|scan| scan == first && scan.event_id() == first.event_id())
        );
    }

    #[test]
    fn broken_rows_are_told_with_their_lines_and_stop_nothing() {
        let file = format!(
            "imb,scan_event_code,scan_datetime,scan_facility_zip\n\
             {CODE},919,2026-11-21 10:00:00,78710\n\
             123,919,2026-11-21 10:00:00,78710\n\
             \n\
             {CODE},919,soon,78710\n\
             {CODE},,2026-11-21 10:00:00,78710\n\
             {CODE},919\n\
             \"{CODE},919,2026-11-21 10:00:00,78710\n\
             {CODE},zzz,2026-11-21 10:00:00,\n"
        );
        let mut bytes = file.into_bytes();
        bytes.extend_from_slice(b"\xff\xff\n");
        bytes.extend_from_slice(&vec![b'x'; LINE_BYTES + 1]);
        let broken: Vec<_> = read_rows(&bytes)
            .into_iter()
            .map(|row| (row.line, row.outcome.err()))
            .collect();
        let expected = [
            (2, None),
            (3, Some(BrokenScan::Tracking)),
            (5, Some(BrokenScan::Time)),
            (6, Some(BrokenScan::Operation)),
            (7, Some(BrokenScan::Columns)),
            (8, Some(BrokenScan::Columns)),
            (9, None),
            (10, Some(BrokenScan::Encoding)),
            (11, Some(BrokenScan::TooLong)),
        ];
        assert_eq!(broken, expected);
    }

    #[test]
    fn a_file_without_what_is_needed_is_refused() {
        let rules = ScanMapping::default().to_rules().unwrap();
        let error = PostalFileReader::new(&b"imb,when\n1,2\n"[..], rules.clone()).unwrap_err();
        assert!(error.to_string().contains("operation code"), "{error}");
        let error = PostalFileReader::new(&b""[..], rules).unwrap_err();
        assert_eq!(error.to_string(), "the file is empty");
    }

    proptest! {
        /// Skipping rows and reading the others comes to the same as reading all.
        #[test]
        fn an_import_goes_on_behind_any_row(
            cells in prop::collection::vec(prop_oneof![
                Just(format!("78710,919,2026-11-21 10:00:00,,{CODE}")), Just("broken".to_owned()), Just(String::new()),
                Just("{\"imb\":1}".to_owned()), "[a-z\",{}]{0,9}"], 0..12),
            is_json in any::<bool>(),
            skipped in 0_usize..12,
        ) {
            let first = if is_json { "[\n".to_owned() } else { format!("1,2,3,4,{CODE}\n") };
            let file = format!("{first}{}", cells.join("\n"));
            let all = read_rows(file.as_bytes());
            let rules = ScanMapping::default().to_rules().unwrap();
            let mut reader = PostalFileReader::new(file.as_bytes(), rules).unwrap();
            for number in 0..skipped {
                prop_assert_eq!(reader.skip_row().unwrap(), number < all.len());
            }
            let rest: Vec<_> = std::iter::from_fn(|| reader.next_row().unwrap()).collect();
            prop_assert_eq!(&rest[..], &all[skipped.min(all.len())..]);
        }
    }
}
