//! Reading the file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use csv::{ByteRecord, Position, ReaderBuilder};
use spreadsheet::{ForeignFile, LineCounter};

/// Bytes of the line of headings at the most.
const HEADING_BYTES: u64 = 1_048_576;

/// Problems of rows that are shown before the rest is only counted.
const PROBLEMS_SHOWN: usize = 10;

/// What some editors begin UTF-8 with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file with its headings.
pub(crate) struct TableFile {
    path: PathBuf,
    delimiter: u8,
    /// Behind a byte-order mark.
    start: u64,
    /// Of the columns, without blanks around them.
    pub(crate) headings: Vec<String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRow {
    /// Where it begins in the file, from 1.
    pub(crate) line: u64,
    /// As many as there are headings, without blanks around them.
    pub(crate) cells: Vec<String>,
}

/// Why a row cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}{}: {problem}", .column.as_ref().map(|column| format!(", {column}")).unwrap_or_default())]
pub(crate) struct BadRowError {
    line: u64,
    column: Option<String>,
    problem: String,
}

/// The rows of a file in its order.
pub(crate) struct TableRows<'s> {
    sheet: &'s TableFile,
    reader: csv::Reader<LineCounter<File>>,
    record: ByteRecord,
}

impl TableFile {
    /// Opens a file and reads its headings.
    ///
    /// # Errors
    /// When it cannot be read, is no regular file (it is read twice), is not UTF-8 or has no headings.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
        if !file.metadata()?.is_file() {
            bail!(
                "{shown} is not a file: save the rows in one, so that an upload can go on after an interruption"
            );
        }
        let mut first = Vec::new();
        BufReader::new(file.take(HEADING_BYTES)).read_until(b'\n', &mut first)?;
        if let Some(foreign) = ForeignFile::detect(&first) {
            bail!("{shown} is {foreign}");
        }
        let start = if first.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let delimiter = detect_delimiter(&first[start..]);
        let start = u64::try_from(start)?;
        let mut sheet = Self {
            path: path.to_owned(),
            delimiter,
            start,
            headings: Vec::new(),
        };
        let mut record = ByteRecord::new();
        sheet
            .open_reader()?
            .read_byte_record(&mut record)
            .with_context(|| format!("cannot read {shown}"))?;
        sheet.headings = record
            .iter()
            .map(|cell| std::str::from_utf8(cell).map(|text| text.trim().to_owned()))
            .collect::<Result<_, _>>()
            .with_context(|| format!("{shown}, line 1, is not UTF-8: save it as UTF-8"))?;
        if sheet.headings.iter().all(String::is_empty) {
            bail!("{shown} begins with no headings: the first line must name the columns");
        }
        Ok(sheet)
    }

    fn open_reader(&self) -> anyhow::Result<csv::Reader<LineCounter<File>>> {
        let mut file = File::open(&self.path)
            .with_context(|| format!("cannot read {}", self.path.display()))?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(LineCounter::new(file)))
    }

    /// The rows from the first one on.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    pub(crate) fn rows(&self) -> anyhow::Result<TableRows<'_>> {
        let mut reader = self.open_reader()?;
        let mut record = ByteRecord::new();
        reader.read_byte_record(&mut record)?;
        Ok(TableRows {
            sheet: self,
            reader,
            record,
        })
    }

    /// Looks at every row, `check` at what is the caller's to know. Returns how many there are.
    ///
    /// # Errors
    /// A list of the rows that cannot be used, with line and column; or the file has no rows.
    pub(crate) fn check_rows(
        &self,
        check: impl Fn(&TableRow) -> Result<(), String>,
    ) -> anyhow::Result<u64> {
        let (mut rows, mut bad) = (0_u64, Vec::new());
        let mut bad_rows = 0_u64;
        for row in self.rows()? {
            rows += 1;
            let problem = match row {
                Ok(row) => check(&row)
                    .map_err(|problem| BadRowError {
                        line: row.line,
                        column: None,
                        problem,
                    })
                    .err(),
                Err(problem) => Some(problem),
            };
            if let Some(problem) = problem {
                bad_rows += 1;
                if bad.len() < PROBLEMS_SHOWN {
                    bad.push(format!("{}, {problem}", self.path.display()));
                }
            }
        }
        let shown = u64::try_from(bad.len())?;
        if bad_rows > shown {
            bad.push(format!("and {} more rows", bad_rows - shown));
        }
        match (bad.is_empty(), rows) {
            (false, _) => bail!("nothing was sent: {}", bad.join("; ")),
            (true, 0) => bail!("{} has headings and no rows", self.path.display()),
            (true, rows) => Ok(rows),
        }
    }

    /// A hash of the whole file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn hash(&self) -> anyhow::Result<String> {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update_reader(File::open(&self.path)?)
            .with_context(|| format!("cannot read {}", self.path.display()))?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn parse_row(&self, line: u64, record: &ByteRecord) -> Result<TableRow, BadRowError> {
        let bad = |column: Option<String>, problem: String| BadRowError {
            line,
            column,
            problem,
        };
        let (found, expected) = (record.len(), self.headings.len());
        if found > expected
            && record
                .iter()
                .skip(expected)
                .any(|cell| !cell.trim_ascii().is_empty())
        {
            let problem = format!(
                "{found} cells under {expected} headings: is a cell with a comma without its quotes?"
            );
            return Err(bad(None, problem));
        }
        if found < expected {
            return Err(bad(
                None,
                format!("only {found} cells under {expected} headings"),
            ));
        }
        let mut cells = Vec::with_capacity(expected);
        for (index, cell) in record.iter().take(expected).enumerate() {
            let column = || {
                Some(format!(
                    "column {} \"{:.60}\"",
                    index + 1,
                    self.headings[index]
                ))
            };
            let text = std::str::from_utf8(cell)
                .map_err(|_| bad(column(), "not UTF-8: save the file as UTF-8".to_owned()))?;
            if text.contains('\0') {
                return Err(bad(
                    column(),
                    "holds the character U+0000, which cannot be stored".to_owned(),
                ));
            }
            cells.push(text.trim().to_owned());
        }
        Ok(TableRow { line, cells })
    }
}

impl Iterator for TableRows<'_> {
    type Item = Result<TableRow, BadRowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.read_byte_record(&mut self.record) {
                Ok(false) => return None,
                Ok(true) => {
                    // Also of a row that is left out: the counter keeps what it has not been asked about.
                    let line = self.line_number();
                    // Rows of nothing but separators are left behind by spreadsheets.
                    if self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                        return Some(self.sheet.parse_row(line, &self.record));
                    }
                }
                Err(error) => {
                    let line = self.line_number();
                    return Some(Err(BadRowError {
                        line,
                        column: None,
                        problem: error.to_string(),
                    }));
                }
            }
        }
    }
}

impl TableRows<'_> {
    /// Where the record begins.
    fn line_number(&mut self) -> u64 {
        let byte = self.record.position().map_or(0, Position::byte);
        self.reader.get_mut().line_of_row(byte)
    }
}

/// The separator that the headings have most of.
fn detect_delimiter(first_line: &[u8]) -> u8 {
    let count = |byte: u8| first_line.iter().filter(|other| **other == byte).count();
    // Of equal ones the last counts.
    [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|byte| count(*byte))
        .unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_content(content: &[u8]) -> (tempfile::NamedTempFile, anyhow::Result<TableFile>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let sheet = TableFile::open(file.path());
        (file, sheet)
    }

    fn read_rows(content: &[u8]) -> Vec<(u64, Vec<String>)> {
        let (_file, sheet) = open_content(content);
        sheet
            .unwrap()
            .rows()
            .unwrap()
            .map(|row| row.map(|row| (row.line, row.cells)).unwrap())
            .collect()
    }

    fn describe_problem(content: &[u8]) -> String {
        let (_file, sheet) = open_content(content);
        match sheet.and_then(|sheet| sheet.check_rows(|_| Ok(()))) {
            Ok(rows) => format!("{rows} rows are fine"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn rows_keep_their_lines_and_lose_their_blanks() {
        let content = b"\xef\xbb\xbfName , City\nAnn,\"Aus\ntin\"\n\n,,\n Bob ,Waco,\n";
        let expected = [
            (2, vec!["Ann".to_owned(), "Aus\ntin".to_owned()]),
            (6, vec!["Bob".to_owned(), "Waco".to_owned()]),
        ];
        assert_eq!(read_rows(content), expected);
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        for end in ["\n", "\r\n", "\r"] {
            let file = ["a,b", "1,2", "", "", "3,\"x", "y\"", ",", "5"].join(end);
            assert_eq!(
                read_rows(&file.as_bytes()[..file.len() - 1])
                    .iter()
                    .map(|(line, _)| *line)
                    .collect::<Vec<_>>(),
                [2, 5]
            );
            let problem = describe_problem(file.as_bytes());
            assert!(
                problem.contains(", line 8: only 1 cells"),
                "{end:?}: {problem}"
            );
        }
    }

    #[test]
    fn any_number_of_rows_of_separators_are_passed_over() {
        let blank = ",".repeat(8_000) + "\n";
        let content = format!("a,b\n{}1,2\n", blank.repeat(2_500));
        assert_eq!(
            read_rows(content.as_bytes()),
            [(2_502, vec!["1".to_owned(), "2".to_owned()])]
        );
    }

    #[test]
    fn what_is_no_csv_is_told_with_what_to_do() {
        let workbook = describe_problem(b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0");
        assert!(
            workbook.contains("is an Excel workbook (.xlsx)") && workbook.contains("CSV UTF-8"),
            "{workbook}"
        );
        assert!(
            describe_problem(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
                .contains("is an Excel workbook (.xls)")
        );
        assert!(describe_problem(b"a\0,\0b\0\n\0").contains("UTF-16"));
    }

    #[test]
    fn semicolons_and_tabs_separate_too() {
        for separator in [";", "\t"] {
            let content = format!("name{separator}city\nAnn{separator}Austin, TX\n");
            assert_eq!(
                read_rows(content.as_bytes()),
                [(2, vec!["Ann".to_owned(), "Austin, TX".to_owned()])]
            );
        }
    }

    #[test]
    fn problems_name_line_and_column() {
        assert!(
            describe_problem(b"a,b\n1\n1,2\n").contains("line 2: only 1 cells under 2 headings")
        );
        assert!(describe_problem(b"a,b\n1,2,3\n").contains("line 2: 3 cells under 2 headings"));
        assert!(
            describe_problem(b"a,b\n1,2\n1,\xff\n").contains("line 3, column 2 \"b\": not UTF-8")
        );
        assert!(
            describe_problem(b"a,b\n\0,2\n")
                .contains("line 2, column 1 \"a\": holds the character U+0000")
        );
        assert!(describe_problem(b"a,b\n").contains("has headings and no rows"));
        assert!(describe_problem(b"").contains("begins with no headings"));
        assert!(describe_problem(b"\xff\xfea\0").contains("UTF-16"));
        assert!(
            describe_problem(&[b"a,b\n".as_slice(), &b"1\n".repeat(30)].concat())
                .ends_with("and 20 more rows")
        );
    }

    #[test]
    fn a_pipe_cannot_be_uploaded() {
        let error = TableFile::open(Path::new("/dev/null"))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("is not a file"), "{error}");
    }

    #[test]
    fn fuzz_sheet() {
        let samples = [
            "\u{feff}Name , City\nAnn,\"Aus\ntin\"\n\n,,\n Bob ,Waco,\n",
            "a;b\n1;\"\"\"\"\n",
            "a\tb\r\n1\t2\r\n",
        ];
        fuzz::Target::new(samples)
            .words(["\"\"", "\r", ";", "a,a"])
            .run(|content| {
                let (_file, sheet) = open_content(content);
                let Ok(sheet) = sheet else { return Ok(()) };
                let (width, mut before) = (sheet.headings.len(), 0);
                for row in sheet.rows().unwrap().flatten() {
                    proptest::prop_assert_eq!(row.cells.len(), width);
                    proptest::prop_assert!(
                        row.line >= before,
                        "lines never go back: {} after {}",
                        row.line,
                        before
                    );
                    before = row.line;
                }
                Ok(())
            });
    }
}
