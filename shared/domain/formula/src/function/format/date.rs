//! `MMMM D, YYYY`.

use chrono::NaiveDate;

use super::{FormatCharacter, FormatError, invalid_format, reject_unsupported_sign, split_format};

/// How a date is written.
pub(super) struct DateFormat(Vec<DateFormatPart>);

enum DateFormatPart {
    Literal(char),
    /// As chrono writes it.
    Field(&'static str),
}

impl DateFormat {
    /// Runs of Y, M and D in any case; what has no letters stands for itself.
    pub(super) fn parse(format: &str) -> Result<Self, FormatError> {
        let pieces = split_format(format)?;
        let mut parts = Vec::new();
        let mut rest = pieces.as_slice();
        while let [(at, first), behind @ ..] = rest {
            rest = behind;
            match *first {
                FormatCharacter::Literal(character) => {
                    parts.push(DateFormatPart::Literal(character))
                }
                FormatCharacter::Sign(sign) if sign.is_alphabetic() => {
                    let is_same = |(_, piece): &&(usize, FormatCharacter)| matches!(piece, FormatCharacter::Sign(one) if one.eq_ignore_ascii_case(&sign));
                    let more = behind.iter().take_while(is_same).count();
                    parts.push(DateFormatPart::Field(strftime_field(*at, sign, more + 1)?));
                    rest = &behind[more..];
                }
                FormatCharacter::Sign(sign @ ('0' | '#' | ';')) => {
                    return invalid_format(
                        *at,
                        format!(
                            "A date is written with Y, M and D; a {sign} that is to print stands in quotes."
                        ),
                    );
                }
                FormatCharacter::Sign(sign) => {
                    reject_unsupported_sign(*at, sign)?;
                    parts.push(DateFormatPart::Literal(sign));
                }
            }
        }
        if !parts
            .iter()
            .any(|part| matches!(part, DateFormatPart::Field(_)))
        {
            return invalid_format(
                0,
                "A date is written where Y, M or D stands, as in MMMM D, YYYY.",
            );
        }
        Ok(Self(parts))
    }

    /// The date as text.
    pub(super) fn format(&self, date: NaiveDate) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                DateFormatPart::Literal(character) => text.push(*character),
                DateFormatPart::Field(field) => text.push_str(&date.format(field).to_string()),
            }
        }
        text
    }
}

fn strftime_field(at: usize, letter: char, count: usize) -> Result<&'static str, FormatError> {
    Ok(match (letter.to_ascii_uppercase(), count) {
        ('Y', 1 | 2) => "%y",
        ('Y', 3 | 4) => "%Y",
        ('M', 1) => "%-m",
        ('M', 2) => "%m",
        ('M', 3) => "%b",
        ('M', 4) => "%B",
        ('D', 1) => "%-d",
        ('D', 2) => "%d",
        ('D', 3) => "%a",
        ('D', 4) => "%A",
        ('H' | 'S', _) => {
            return invalid_format(
                at,
                "A date has no time; letters other than Y, M and D stand in quotes.",
            );
        }
        ('Y' | 'M' | 'D', _) => {
            return invalid_format(at, "Y, M and D stand four times in a row at the most.");
        }
        _ => {
            let why = format!("Letters other than Y, M and D stand in quotes; this is {letter}.");
            return invalid_format(at, why);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_their_format_shows() {
        let date = NaiveDate::from_ymd_opt(2026, 7, 4).unwrap();
        let cases = [
            ("MMMM D, YYYY", "July 4, 2026"),
            ("m/d/yy", "7/4/26"),
            ("YYYY-MM-DD", "2026-07-04"),
            ("dddd, mmm d", "Saturday, Jul 4"),
            ("ddd", "Sat"),
            ("\"Day\" D", "Day 4"),
            ("D \"de\" MMMM", "4 de July"),
            ("\\D\\a\\y D", "Day 4"),
            ("D → M", "4 → 7"),
            ("\"Dear\" MMMM", "Dear July"),
        ];
        for (format, expected) in cases {
            assert_eq!(
                DateFormat::parse(format).map(|format| format.format(date)),
                Ok(expected.to_owned()),
                "{format}"
            );
        }
    }

    #[test]
    fn a_date_s_format_that_is_not_understood_is_a_fault_at_its_place() {
        for (format, at) in [
            ("Dear MMMM", 1),
            ("Day D", 1),
            ("h:mm", 0),
            ("YYYY-MM-DDThh", 10),
            ("MMMMM", 0),
            ("YYYYY", 0),
            ("D;M", 1),
            ("D 0", 2),
            ("[Red]D", 0),
            ("\"Day", 0),
            ("D\\", 1),
            ("\"only\"", 0),
            ("--", 0),
        ] {
            assert_eq!(
                DateFormat::parse(format).err().map(|fault| fault.at),
                Some(at),
                "{format}"
            );
        }
    }
}
