//! `$#,##0.00;($0.00)`, `0%`, `(000) 000-0000`.

use super::{FormatCharacter, FormatError, invalid_format, reject_unsupported_sign, split_format};
use crate::value::round_to;

/// Most digits behind the point that a format may ask for.
const MAX_DECIMALS: usize = 15;

/// Most sections: for numbers above zero, below it, and zero itself.
const MAX_SECTIONS: usize = 3;

/// How a number is written.
pub(super) struct NumberFormat {
    /// At least one.
    sections: Vec<NumberFormatSection>,
}

/// How numbers of a sign are written.
#[derive(Default)]
struct NumberFormatSection {
    prefix: String,
    /// Places of digits before the point, and what stands between them.
    whole: Vec<DigitPlaceholder>,
    is_grouped: bool,
    /// Digits behind the point: those that are shown, and those of them that are shown although they are zero.
    decimals: usize,
    needed: usize,
    suffix: String,
    /// A `%` shows hundredths.
    is_percent: bool,
}

#[derive(Clone, Copy)]
enum DigitPlaceholder {
    /// A digit, zero where there is none.
    Zero,
    /// A digit, nothing where there is none.
    Number,
    /// Stands for itself.
    Literal(char),
}

impl NumberFormat {
    /// Reads the sections.
    pub(super) fn parse(format: &str) -> Result<Self, FormatError> {
        let pieces = split_format(format)?;
        let parts: Vec<_> = pieces
            .split(|(_, piece)| *piece == FormatCharacter::Sign(';'))
            .collect();
        if let Some(beyond) = parts.get(MAX_SECTIONS) {
            let at = beyond.first().map_or(format.chars().count(), |(at, _)| *at);
            return invalid_format(
                at,
                "A format has three sections at the most: above zero, below it, and zero.",
            );
        }
        let sections = parts
            .iter()
            .map(|part| NumberFormatSection::parse(part))
            .collect::<Result<Vec<_>, _>>()?;
        if !sections[0].has_digits() {
            return invalid_format(
                0,
                "A number is written where 0 or # stands, as in $#,##0.00.",
            );
        }
        Ok(Self { sections })
    }

    /// The number as text. One that rounds to zero is written as zero.
    pub(super) fn format(&self, number: f64) -> String {
        let [above, behind @ ..] = self.sections.as_slice() else {
            return String::new();
        };
        let zero = behind.get(1).unwrap_or(above);
        let section = match behind.first() {
            Some(below) if number < 0.0 => below,
            _ => above,
        };
        let rounded = section.round_number(number);
        if rounded == 0.0 && section.has_digits() || number == 0.0 {
            return zero.format(0.0);
        }
        let sign = if rounded < 0.0 && behind.is_empty() {
            "-"
        } else {
            ""
        };
        format!("{sign}{}", section.format(rounded.abs()))
    }
}

impl NumberFormatSection {
    /// What stands before the first and behind the last of the digits stays, and between those before the point.
    fn parse(pieces: &[(usize, FormatCharacter)]) -> Result<Self, FormatError> {
        let is_digit = |(_, piece): &(usize, FormatCharacter)| {
            matches!(piece, FormatCharacter::Sign('0' | '#'))
        };
        let mut section = Self::default();
        let (prefix, picture, suffix) = match pieces.iter().position(is_digit) {
            Some(first) => {
                // `.00` begins with its point.
                let has_point = first > 0 && pieces[first - 1].1 == FormatCharacter::Sign('.');
                let start = first - usize::from(has_point);
                let end = pieces
                    .iter()
                    .rposition(is_digit)
                    .map_or(first, |last| last + 1);
                (&pieces[..start], &pieces[start..end], &pieces[end..])
            }
            None => (pieces, &pieces[..0], &pieces[..0]),
        };
        if let [(at, FormatCharacter::Sign(',')), ..] = suffix
            && !picture.is_empty()
        {
            return invalid_format(
                *at,
                "A comma behind the digits means nothing here; one that is to print stands in quotes.",
            );
        }
        for (at, piece) in prefix {
            let literal = section.parse_literal(*at, *piece)?;
            section.prefix.push(literal);
        }
        section.read_picture(picture)?;
        for (at, piece) in suffix {
            let literal = section.parse_literal(*at, *piece)?;
            section.suffix.push(literal);
        }
        Ok(section)
    }

    fn read_picture(&mut self, picture: &[(usize, FormatCharacter)]) -> Result<(), FormatError> {
        let point = picture
            .iter()
            .position(|(_, piece)| *piece == FormatCharacter::Sign('.'))
            .unwrap_or(picture.len());
        let (whole, decimals) = picture.split_at(point);
        for (at, piece) in whole {
            let place = match piece {
                FormatCharacter::Sign('0') => DigitPlaceholder::Zero,
                FormatCharacter::Sign('#') => DigitPlaceholder::Number,
                FormatCharacter::Sign(',') => {
                    self.is_grouped = true;
                    continue;
                }
                FormatCharacter::Sign('%') => {
                    return invalid_format(*at, "A % stands before or behind all digits.");
                }
                other => DigitPlaceholder::Literal(self.parse_literal(*at, *other)?),
            };
            self.whole.push(place);
        }
        let between = whole
            .iter()
            .find(|(_, piece)| !matches!(piece, FormatCharacter::Sign('0' | '#' | ',')));
        if let (Some((at, _)), true) = (between, self.is_grouped || !decimals.is_empty()) {
            return invalid_format(
                *at,
                "Digits are either grouped and with a point, or parted by other signs.",
            );
        }
        for (at, piece) in decimals.iter().skip(1) {
            match piece {
                FormatCharacter::Sign('0') => self.needed = self.decimals + 1,
                FormatCharacter::Sign('#') => {}
                _ => return invalid_format(*at, "Behind the point stand only 0 and #."),
            }
            self.decimals += 1;
            if self.decimals > MAX_DECIMALS {
                return invalid_format(
                    *at,
                    format!("A format has at most {MAX_DECIMALS} digits behind the point."),
                );
            }
        }
        Ok(())
    }

    /// A character beside the digits, as it prints.
    fn parse_literal(&mut self, at: usize, piece: FormatCharacter) -> Result<char, FormatError> {
        let sign = match piece {
            FormatCharacter::Literal(character) => return Ok(character),
            FormatCharacter::Sign(sign) => sign,
        };
        reject_unsupported_sign(at, sign)?;
        match sign {
            '%' if self.is_percent => invalid_format(
                at,
                "A format has one % at the most; others stand in quotes.",
            ),
            '%' => {
                self.is_percent = true;
                Ok(sign)
            }
            'E' | 'e' => invalid_format(
                at,
                "Formats have no powers of ten; letters stand in quotes, as in 0 \"points\".",
            ),
            letter if letter.is_alphabetic() => invalid_format(
                at,
                format!("Letters stand in quotes, as in 0 \"points\"; this is {letter}."),
            ),
            _ => Ok(sign),
        }
    }

    fn has_digits(&self) -> bool {
        self.decimals > 0
            || self
                .whole
                .iter()
                .any(|place| !matches!(place, DigitPlaceholder::Literal(_)))
    }

    /// The number that is written.
    fn round_number(&self, number: f64) -> f64 {
        let number = if self.is_percent {
            number * 100.0
        } else {
            number
        };
        // At most MAX_DECIMALS.
        round_to(number, self.decimals as i32, f64::round)
    }

    /// A rounded number without its sign.
    fn format(&self, rounded: f64) -> String {
        if !self.has_digits() {
            return format!("{}{}", self.prefix, self.suffix);
        }
        let shown = self.decimals;
        let digits = format!("{rounded:.shown$}");
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let (whole, fraction) = (
            self.format_whole_part(whole),
            fraction_text(fraction, self.needed),
        );
        format!("{}{whole}{fraction}{}", self.prefix, self.suffix)
    }

    /// The digits before the point in their places, from the right; those that have none stand before the first.
    fn format_whole_part(&self, digits: &str) -> String {
        let mut left = digits.trim_start_matches('0').chars().rev();
        let (mut text, mut count) = (Vec::with_capacity(digits.len() + self.whole.len()), 0);
        let mut push = |text: &mut Vec<char>, digit: char| {
            if self.is_grouped && count > 0 && count % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
            count += 1;
        };
        let first = self
            .whole
            .iter()
            .position(|place| !matches!(place, DigitPlaceholder::Literal(_)));
        for (at, place) in self.whole.iter().enumerate().rev() {
            match place {
                DigitPlaceholder::Literal(character) => text.push(*character),
                DigitPlaceholder::Zero => push(&mut text, left.next().unwrap_or('0')),
                DigitPlaceholder::Number => left
                    .next()
                    .into_iter()
                    .for_each(|digit| push(&mut text, digit)),
            }
            if Some(at) == first {
                left.by_ref().for_each(|digit| push(&mut text, digit));
            }
        }
        left.for_each(|digit| push(&mut text, digit));
        text.iter().rev().collect()
    }
}

/// The point and the digits behind it, at least so many.
fn fraction_text(digits: &str, least: usize) -> String {
    let significant = digits
        .trim_end_matches('0')
        .len()
        .max(least)
        .min(digits.len());
    if significant == 0 {
        String::new()
    } else {
        format!(".{}", &digits[..significant])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_their_format_shows() {
        let cases = [
            (1234.5, "0", "1235"),
            (1234.5, "#,##0.00", "1,234.50"),
            (-1234.5, "$#,##0.00", "-$1,234.50"),
            (0.256, "0%", "26%"),
            (0.256, "0.0%", "25.6%"),
            (0.285, "0%", "29%"),
            (7.0, "000", "007"),
            (1234.0, "0,000,000", "0,001,234"),
            (0.5, "#.##", ".5"),
            (0.5, ".00", ".50"),
            (12.5, ".00", "12.50"),
            (3.0, "0.##", "3"),
            (3.25, "0.0#", "3.25"),
            (-0.001, "0.00", "0.00"),
            (0.0, "#", ""),
            (1_234_567.0, "#,##0 \"points\"", "1,234,567 points"),
            (5.0, "0 \"pts\"", "5 pts"),
            (5.0, "\"No. \"0", "No. 5"),
            (5.0, "\\#0", "#5"),
            (5.0, "0\\E", "5E"),
            (5.0, "€0.", "€5."),
            (1e300, "0.0", &format!("{:.1}", 1e300)),
        ];
        for (number, format, expected) in cases {
            let written = NumberFormat::parse(format).map(|format| format.format(number));
            assert_eq!(written, Ok(expected.to_owned()), "{number} as {format}");
        }
    }

    #[test]
    fn digits_stand_in_the_places_of_a_pattern() {
        let cases = [
            (5_125_551_234.0, "(000) 000-0000", "(512) 555-1234"),
            (15_125_551_234.0, "(000) 000-0000", "(1512) 555-1234"),
            (5_551_234.0, "(000) 000-0000", "(000) 555-1234"),
            (5_125_551_234.0, "+1 000 000 0000", "+1 512 555 1234"),
            (12_345_678.0, "000-00-0000", "012-34-5678"),
            (787_011_234.0, "00000-0000", "78701-1234"),
            (12.0, "0\"/\"0", "1/2"),
        ];
        for (number, format, expected) in cases {
            let written = NumberFormat::parse(format).map(|format| format.format(number));
            assert_eq!(written, Ok(expected.to_owned()), "{number} as {format}");
        }
    }

    #[test]
    fn numbers_below_zero_and_zero_have_sections_of_their_own() {
        let cases = [
            (5.0, "$0.00;($0.00)", "$5.00"),
            (-5.0, "$0.00;($0.00)", "($5.00)"),
            (0.0, "$0.00;($0.00)", "$0.00"),
            (-0.001, "$0.00;($0.00)", "$0.00"),
            (0.0, "0;-0;\"none\"", "none"),
            (0.2, "0;-0;\"none\"", "none"),
            (-5.0, "0;\"owes\"", "owes"),
            (-5.0, "0;", ""),
            (5.0, "0;;", "5"),
        ];
        for (number, format, expected) in cases {
            let written = NumberFormat::parse(format).map(|format| format.format(number));
            assert_eq!(written, Ok(expected.to_owned()), "{number} as {format}");
        }
    }

    #[test]
    fn a_number_s_format_that_is_not_understood_is_a_fault_at_its_place() {
        for (format, at) in [
            ("five", 0),
            ("0 points", 2),
            ("0E+0", 1),
            ("# ?/?", 2),
            ("h:mm", 0),
            ("0,", 1),
            ("0;0;0;@", 6),
            ("[Red]0", 0),
            ("_(0", 0),
            ("0.0-0", 3),
            ("0-0.0", 1),
            ("0-0,0", 1),
            ("0%0", 1),
            ("0%%", 2),
            ("0 \"pts", 2),
            ("\"only\"", 0),
            ("0.0000000000000000", 17),
        ] {
            assert_eq!(
                NumberFormat::parse(format).err().map(|fault| fault.at),
                Some(at),
                "{format}"
            );
        }
    }
}
