//! `MMMM D, YYYY`.

use chrono::NaiveDate;

use super::{Fault, Piece, fault, pieces, refuse_strange};

/// How a date is written.
pub(super) struct Format(Vec<Part>);

enum Part {
    Literal(char),
    /// As chrono writes it.
    Field(&'static str),
}

impl Format {
    /// Runs of Y, M and D in any case; what has no letters stands for itself.
    pub(super) fn read(format: &str) -> Result<Self, Fault> {
        let pieces = pieces(format)?;
        let mut parts = Vec::new();
        let mut rest = pieces.as_slice();
        while let [(at, first), behind @ ..] = rest {
            rest = behind;
            match *first {
                Piece::Literal(character) => parts.push(Part::Literal(character)),
                Piece::Sign(sign) if sign.is_alphabetic() => {
                    let is_same = |(_, piece): &&(usize, Piece)| matches!(piece, Piece::Sign(one) if one.eq_ignore_ascii_case(&sign));
                    let more = behind.iter().take_while(is_same).count();
                    parts.push(Part::Field(field(*at, sign, more + 1)?));
                    rest = &behind[more..];
                }
                Piece::Sign(sign @ ('0' | '#' | ';')) => {
                    return fault(
                        *at,
                        format!(
                            "A date is written with Y, M and D; a {sign} that is to print stands in quotes."
                        ),
                    );
                }
                Piece::Sign(sign) => {
                    refuse_strange(*at, sign)?;
                    parts.push(Part::Literal(sign));
                }
            }
        }
        if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
            return fault(0, "A date is written where Y, M or D stands, as in MMMM D, YYYY.");
        }
        Ok(Self(parts))
    }

    /// The date as text.
    pub(super) fn write(&self, date: NaiveDate) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(character) => text.push(*character),
                Part::Field(field) => text.push_str(&date.format(field).to_string()),
            }
        }
        text
    }
}

fn field(at: usize, letter: char, count: usize) -> Result<&'static str, Fault> {
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
            return fault(at, "A date has no time; letters other than Y, M and D stand in quotes.");
        }
        ('Y' | 'M' | 'D', _) => return fault(at, "Y, M and D stand four times in a row at the most."),
        _ => {
            let why = format!("Letters other than Y, M and D stand in quotes; this is {letter}.");
            return fault(at, why);
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
                Format::read(format).map(|format| format.write(date)),
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
            assert_eq!(Format::read(format).err().map(|fault| fault.at), Some(at), "{format}");
        }
    }
}
