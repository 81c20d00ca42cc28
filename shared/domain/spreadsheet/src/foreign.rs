//! Files that people send as CSV and that are none.

use std::fmt;

/// What a file is when it is no text in UTF-8, with what to do about it as a sentence's end: `people.xlsx is …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFile {
    /// `.xlsx` and its kin, or any other ZIP archive.
    Workbook,
    /// `.ods`.
    OpenDocument,
    /// `.xls`.
    OldWorkbook,
    /// Gzip.
    Compressed,
    /// PDF.
    Pdf,
    /// Text, in two bytes a character.
    Utf16,
}

impl ForeignFile {
    /// Says what begins with these bytes; `None` of what may be CSV. The first hundred of a file are enough.
    pub fn detect(beginning: &[u8]) -> Option<Self> {
        const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument";
        match beginning {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => {
                let is_open = beginning
                    .windows(OPEN_DOCUMENT.len())
                    .any(|bytes| bytes == OPEN_DOCUMENT);
                Some(if is_open {
                    Self::OpenDocument
                } else {
                    Self::Workbook
                })
            }
            [0xd0, 0xcf, 0x11, 0xe0, ..] => Some(Self::OldWorkbook),
            [0x1f, 0x8b, ..] => Some(Self::Compressed),
            [b'%', b'P', b'D', b'F', ..] => Some(Self::Pdf),
            // The mark of the byte order, or a first character of ASCII without one.
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..] => {
                Some(Self::Utf16)
            }
            _ => None,
        }
    }
}

impl fmt::Display for ForeignFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SAVE: &str =
            "save it as CSV in UTF-8 (in Excel: File, Save As, \"CSV UTF-8 (Comma delimited)\")";
        match self {
            Self::Workbook => {
                write!(
                    formatter,
                    "an Excel workbook (.xlsx) or another ZIP archive, not CSV: {SAVE}"
                )
            }
            Self::OpenDocument => write!(
                formatter,
                "an OpenDocument spreadsheet (.ods), not CSV: save it as Text CSV with the character set UTF-8"
            ),
            Self::OldWorkbook => write!(formatter, "an Excel workbook (.xls), not CSV: {SAVE}"),
            Self::Compressed => write!(formatter, "compressed (gzip), not CSV: unpack it first"),
            Self::Pdf => {
                write!(
                    formatter,
                    "a PDF, not CSV: save the table that it was made from as CSV in UTF-8"
                )
            }
            Self::Utf16 => write!(formatter, "text in UTF-16, not in UTF-8: {SAVE}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_csv_is_known_by_its_first_bytes() {
        let open = [
            &b"PK\x03\x04\x14\0\0\x08\0\0"[..],
            b"mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK",
        ]
        .concat();
        for (beginning, expected) in [
            (
                &b"PK\x03\x04\x14\0\x06\0[Content_Types].xml"[..],
                ForeignFile::Workbook,
            ),
            (&open, ForeignFile::OpenDocument),
            (
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
                ForeignFile::OldWorkbook,
            ),
            (b"\x1f\x8b\x08", ForeignFile::Compressed),
            (b"%PDF-1.7", ForeignFile::Pdf),
            (b"\xff\xfea\0", ForeignFile::Utf16),
            (b"\xfe\xff\0a", ForeignFile::Utf16),
            (b"a\0b\0", ForeignFile::Utf16),
            (b"\0a\0b", ForeignFile::Utf16),
        ] {
            assert_eq!(
                ForeignFile::detect(beginning),
                Some(expected),
                "{beginning:?}"
            );
        }
    }

    #[test]
    fn what_may_be_csv_is_left_to_its_reader() {
        for beginning in [
            "",
            "a",
            "PK,name\n",
            "\u{feff}name,city\n",
            "name;city\n",
            "\"PK\"",
            "é,a\n",
        ] {
            assert_eq!(
                ForeignFile::detect(beginning.as_bytes()),
                None,
                "{beginning:?}"
            );
        }
    }
}
