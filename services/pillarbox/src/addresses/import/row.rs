//! A row as the columns that matter: separated values with headings, or GeoJSON.

use std::borrow::Cow;

use anyhow::ensure;

use super::columns::{SourceColumnRole, find_column_role};
use super::geojson;
use super::point::PointSkipReason;

/// The separators that are known, the most usual first.
const SEPARATORS: [u8; 4] = [b',', b'\t', b'|', b';'];

/// The shape of a file's rows.
#[derive(Debug)]
pub(super) enum SourceFormat {
    /// Separated values: the separator, and the role of each column.
    Separated(u8, Vec<Option<SourceColumnRole>>),
    /// One GeoJSON feature a line.
    GeoJson,
}

/// The values of a line by role; absent ones are empty.
#[derive(Debug, Default)]
pub(super) struct SourceRow<'a>([Cow<'a, str>; SourceColumnRole::COUNT]);

impl SourceRow<'_> {
    /// The value, trimmed.
    pub(super) fn get(&self, role: SourceColumnRole) -> &str {
        self.0[role as usize].trim()
    }
}

impl<'a> SourceRow<'a> {
    /// Sets a value; the first that is not empty stays.
    pub(super) fn set(&mut self, role: SourceColumnRole, value: Cow<'a, str>) {
        let place = &mut self.0[role as usize];
        if place.is_empty() {
            *place = value;
        }
    }
}

impl SourceFormat {
    /// The shape that the first line shows, and where the rows begin. `length` is what the line takes in the file.
    pub(super) fn detect(first: &[u8], length: u64) -> anyhow::Result<(Self, u64)> {
        let text = String::from_utf8_lossy(first);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.starts_with('{') {
            return Ok((Self::GeoJson, 0));
        }
        let count = |separator: &u8| text.bytes().filter(|byte| byte == separator).count();
        let separator = SEPARATORS
            .into_iter()
            .rev()
            .max_by_key(count)
            .unwrap_or(b',');
        let roles: Vec<Option<SourceColumnRole>> = split_fields(text.as_bytes(), separator)
            .iter()
            .map(|heading| find_column_role(heading))
            .collect();
        let has = |wanted: SourceColumnRole| roles.contains(&Some(wanted));
        ensure!(
            has(SourceColumnRole::Number)
                && (has(SourceColumnRole::Street) || has(SourceColumnRole::StreetName))
                && has(SourceColumnRole::Zip),
            "the first line names no columns for house number, street and ZIP"
        );
        ensure!(
            has(SourceColumnRole::Latitude) && has(SourceColumnRole::Longitude),
            "the first line names no columns for degrees"
        );
        Ok((Self::Separated(separator, roles), length))
    }

    /// What stands between the values; `None` where they are no columns.
    pub(super) fn separator(&self) -> Option<u8> {
        match self {
            Self::Separated(separator, _) => Some(*separator),
            Self::GeoJson => None,
        }
    }

    /// The values of a row.
    pub(super) fn parse_row<'a>(&self, line: &'a [u8]) -> Result<SourceRow<'a>, PointSkipReason> {
        let Self::Separated(separator, roles) = self else {
            return geojson::parse_feature(line);
        };
        let fields = split_fields(line, *separator);
        if fields.len() != roles.len() {
            return Err(PointSkipReason::BadRow);
        }
        let mut row = SourceRow::default();
        for (field, role) in fields.into_iter().zip(roles) {
            if let Some(role) = role {
                row.set(*role, field);
            }
        }
        Ok(row)
    }
}

/// The values of a row. In quotes neither a separator nor a line break is one, and two quotes are one.
fn split_fields(line: &[u8], separator: u8) -> Vec<Cow<'_, str>> {
    let mut fields = Vec::with_capacity(32);
    let mut rest = line;
    loop {
        let is_quoted = rest.first() == Some(&b'"');
        let (value, length) = if is_quoted {
            parse_quoted(rest)
        } else {
            (Cow::Borrowed(rest), 0)
        };
        let end = rest[length..]
            .iter()
            .position(|byte| *byte == separator)
            .map(|at| at + length);
        let value = if is_quoted {
            value
        } else {
            Cow::Borrowed(&rest[..end.unwrap_or(rest.len())])
        };
        fields.push(match value {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        });
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => return fields,
        }
    }
}

/// The value in quotes that the text begins with, and the bytes that it takes.
fn parse_quoted(text: &[u8]) -> (Cow<'_, [u8]>, usize) {
    let mut value = Vec::new();
    let mut at = 1;
    loop {
        let Some(quote) = text[at..]
            .iter()
            .position(|byte| *byte == b'"')
            .map(|found| at + found)
        else {
            value.extend_from_slice(&text[at..]);
            return (value.into(), text.len());
        };
        value.extend_from_slice(&text[at..quote]);
        if text.get(quote + 1) != Some(&b'"') {
            return (value.into(), quote + 1);
        }
        value.push(b'"');
        at = quote + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::point::parse_point;
    use super::super::records::split_records;
    use super::*;

    #[test]
    fn fuzz_address_file() {
        let samples = [
            "NUMBER,STREET,UNIT,CITY,POSTCODE,LON,LAT\n1100,Congress Ave,,Austin,78701,-97.74,30.27\n\"1\n2\",\"A \"\"B\"\" St\",#4,,78701,0,0\n",
            "{\"type\":\"Feature\",\"properties\":{\"number\":12,\"street\":\"Main St\",\"postcode\":\"78701\"},\"geometry\":{\"type\":\"Point\",\"coordinates\":[-97.74,30.27]}},\n",
            "number|street|zip|latitude|longitude\n7|Elm|78701|1e9|x\n",
        ];
        let words = [
            "\"",
            "number",
            "street",
            "|",
            "\t",
            "78701",
            "-97.74",
            "NaN",
            "inf",
            "1/2",
            "{\"properties\":{",
        ];
        fuzz::Target::new(samples)
            .words(words)
            .cases(2_000)
            .run(|content| {
                let first = content
                    .split_inclusive(|byte| *byte == b'\n')
                    .next()
                    .unwrap_or_default();
                let Ok((shape, start)) = SourceFormat::detect(first, first.len() as u64) else {
                    return Ok(());
                };
                let text = &content[usize::try_from(start).unwrap()..];
                let records = split_records(text, shape.separator());
                proptest::prop_assert!(
                    records.iter().map(|record| record.len()).sum::<usize>() <= text.len()
                );
                for point in records
                    .iter()
                    .filter_map(|record| parse_point(&shape.parse_row(record).ok()?).ok())
                {
                    proptest::prop_assert!(
                        (-90.0..=90.0).contains(&point.latitude)
                            && (-180.0..=180.0).contains(&point.longitude)
                    );
                }
                Ok(())
            });
    }

    #[test]
    fn values_are_separated_and_quoted_as_in_any_csv_file() {
        for (line, expected) in [
            ("a,b,c", &["a", "b", "c"][..]),
            (",,", &["", "", ""]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("\"say \"\"hi\"\"\",5\" pipe", &["say \"hi\"", "5\" pipe"]),
            ("\"open,b", &["open,b"]),
            ("", &[""]),
        ] {
            assert_eq!(split_fields(line.as_bytes(), b','), expected, "{line}");
        }
    }

    #[test]
    fn the_first_line_shows_the_shape() {
        let length = 7;
        let (shape, start) = SourceFormat::detect(
            b"\xef\xbb\xbfLON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID\n",
            length,
        )
        .unwrap();
        assert_eq!(start, length);
        let row = shape
            .parse_row(b"-97.7,30.2,1,Main St,Apt 2,Austin,,TX,78701,x")
            .unwrap();
        let values = [
            SourceColumnRole::Number,
            SourceColumnRole::Street,
            SourceColumnRole::Unit,
            SourceColumnRole::City,
            SourceColumnRole::Zip,
        ]
        .map(|role| row.get(role));
        assert_eq!(values, ["1", "Main St", "Apt 2", "Austin", "78701"]);
        assert_eq!(
            shape.parse_row(b"1,2,3").unwrap_err(),
            PointSkipReason::BadRow
        );
        assert!(matches!(
            SourceFormat::detect(b"{\"type\":\"Feature\"", 9).unwrap(),
            (SourceFormat::GeoJson, 0)
        ));
        assert!(SourceFormat::detect(b"name,phone\n", 11).is_err());
        assert!(
            SourceFormat::detect(b"Add_Number|St_Name|Zip_Code\n", 28).is_err(),
            "without degrees"
        );
    }
}
