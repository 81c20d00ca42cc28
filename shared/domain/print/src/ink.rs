//! Colours as a press gets them.

use design::Colour;
use pdf_writer::{Content, Name};

/// The name of the graphics state in which black prints over what is below it.
pub(crate) const OVERPRINT: Name<'static> = Name(b"Overprint");

/// The least contrast with white (WCAG 2: relative luminance) at which scanners read a code.
const LEAST_CONTRAST: f64 = 4.5;

/// Ink of one colour.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PrintInk {
    /// A share of black ink and no other: a grey that is mixed from four inks shows coloured edges where these do not
    /// lie exactly over each other.
    Black(f32),
    /// sRGB, which the press turns into its inks.
    Mixed(f32, f32, f32),
}

impl PrintInk {
    fn from_color(colour: Colour) -> Self {
        let share = |byte: u8| f32::from(byte) / 255.0;
        let Colour { red, green, blue } = colour;
        if red == green && green == blue {
            Self::Black(1.0 - share(red))
        } else {
            Self::Mixed(share(red), share(green), share(blue))
        }
    }
}

/// Fills with this colour from here on.
pub(crate) fn set_fill(content: &mut Content, colour: Colour) {
    match PrintInk::from_color(colour) {
        PrintInk::Black(share) => content.set_fill_cmyk(0.0, 0.0, 0.0, share),
        PrintInk::Mixed(red, green, blue) => content.set_fill_rgb(red, green, blue),
    };
}

/// Draws lines in this colour from here on.
pub(crate) fn set_stroke(content: &mut Content, colour: Colour) {
    match PrintInk::from_color(colour) {
        PrintInk::Black(share) => content.set_stroke_cmyk(0.0, 0.0, 0.0, share),
        PrintInk::Mixed(red, green, blue) => content.set_stroke_rgb(red, green, blue),
    };
}

/// Fills letters with this colour from here on. Black ones leave no hole in what is below them, which would show white
/// where the inks do not lie exactly over each other.
pub(crate) fn set_letter_fill(content: &mut Content, colour: Colour) {
    if colour == Colour::BLACK {
        content.set_parameters(OVERPRINT);
    }
    set_fill(content, colour);
}

/// The colour, or black where scanners could not tell it from white.
pub(crate) fn ensure_scannable(colour: Colour) -> Colour {
    let contrast = 1.05 / (relative_luminance(colour) + 0.05);
    if contrast >= LEAST_CONTRAST {
        colour
    } else {
        Colour::BLACK
    }
}

/// Relative luminance of an sRGB colour, 0 to 1.
fn relative_luminance(colour: Colour) -> f64 {
    let linear = |byte: u8| {
        let value = f64::from(byte) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_and_grey_are_black_ink_alone() {
        assert_eq!(PrintInk::from_color(Colour::BLACK), PrintInk::Black(1.0));
        assert_eq!(
            PrintInk::from_color(Colour {
                red: 255,
                green: 255,
                blue: 255
            }),
            PrintInk::Black(0.0)
        );
        assert!(
            matches!(PrintInk::from_color(Colour { red: 51, green: 51, blue: 51 }), PrintInk::Black(share) if share == 0.8)
        );
        assert_eq!(
            PrintInk::from_color(Colour {
                red: 255,
                green: 0,
                blue: 0
            }),
            PrintInk::Mixed(1.0, 0.0, 0.0)
        );
    }

    #[test]
    fn a_code_too_pale_for_scanners_is_black() {
        let dark_green = Colour {
            red: 31,
            green: 95,
            blue: 58,
        };
        assert_eq!(ensure_scannable(dark_green), dark_green);
        for pale in [
            Colour {
                red: 255,
                green: 220,
                blue: 0,
            },
            Colour {
                red: 255,
                green: 255,
                blue: 255,
            },
        ] {
            assert_eq!(ensure_scannable(pale), Colour::BLACK);
        }
    }
}
