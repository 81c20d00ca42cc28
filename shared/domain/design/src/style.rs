//! Colours and alignment.

use serde::Deserialize;

/// A colour, in documents `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Colour {
    /// 0 to 255.
    pub red: u8,
    /// 0 to 255.
    pub green: u8,
    /// 0 to 255.
    pub blue: u8,
}

/// Where lines stand between the left and the right edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HorizontalAlignment {
    /// At the left edge.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// At the right edge.
    Right,
}

/// Where text stands between the upper and the lower edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerticalAlignment {
    /// At the upper edge.
    #[default]
    Top,
    /// In the middle.
    Middle,
    /// At the lower edge.
    Bottom,
}

impl Colour {
    /// Black.
    pub const BLACK: Self = Self {
        red: 0,
        green: 0,
        blue: 0,
    };
}

impl Default for Colour {
    fn default() -> Self {
        Self::BLACK
    }
}

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let number = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| format!("{text:?} is not a colour like \"#1a2b3c\""))?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Self { red, green, blue })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_six_hexadecimal_digits() {
        assert_eq!(
            Colour::try_from("#01fF20".to_owned()),
            Ok(Colour {
                red: 1,
                green: 255,
                blue: 32
            })
        );
        for text in [
            "", "#", "01ff20", "#01ff2", "#01ff200", "#+1ff20", "#01ff2g", "#01ffé",
        ] {
            assert!(Colour::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
