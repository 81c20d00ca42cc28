//! An address as a line has it, and the line that answers it.

use std::borrow::Cow;

use address::{AddressCorrection, AddressInput, ParsedAddress};
use serde::{Deserialize, Deserializer, Serialize};

/// What a line holds.
#[derive(Debug)]
pub(super) enum AddressInputLine<'a> {
    /// The one-line form.
    Line(&'a str),
    /// A JSON object with the recipient's fields.
    Parts(AddressLineParts<'a>),
}

/// The recipient's fields that make its address; others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AddressLineParts<'a> {
    #[serde(borrow, deserialize_with = "text")]
    address_1: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "text")]
    address_2: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "text")]
    city: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "text")]
    state: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "text")]
    zip: Cow<'a, str>,
}

impl<'a> AddressInputLine<'a> {
    /// Reads a line. The error is a sentence.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, String> {
        let line = line.trim_ascii();
        if !line.starts_with(b"{") {
            // Guessing at letters would print a street that nobody sent.
            return std::str::from_utf8(line)
                .map(Self::Line)
                .map_err(|_| "the line is not UTF-8".to_owned());
        }
        serde_json::from_slice(line)
            .map(Self::Parts)
            .map_err(|error| format!("not an address: {error}"))
    }
}

impl AddressLineParts<'_> {
    /// The address as sent.
    pub(super) fn as_input(&self) -> AddressInput<'_> {
        AddressInput {
            address_1: &self.address_1,
            address_2: &self.address_2,
            city: &self.city,
            state: &self.state,
            zip: &self.zip,
        }
    }

    /// The address of a one-line form, in parts.
    pub(super) fn from_line(text: &str) -> AddressLineParts<'static> {
        let ParsedAddress {
            line1,
            line2,
            city,
            state,
            zip,
            plus4,
            ..
        } = address::parse_one_line(text);
        let zip = if plus4.is_empty() {
            zip
        } else {
            format!("{zip}-{plus4}")
        };
        AddressLineParts {
            address_1: line1.into(),
            address_2: line2.into(),
            city: city.into(),
            state: state.into(),
            zip: zip.into(),
        }
    }
}

/// A text, or a number as its text; null is absent.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    struct TextVisitor;
    impl<'de> serde::de::Visitor<'de> for TextVisitor {
        type Value = Cow<'de, str>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a text or a number")
        }

        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Cow::Borrowed(text))
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Cow::Owned(text.to_owned()))
        }

        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Cow::Owned(number.to_string()))
        }

        fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Cow::Owned(number.to_string()))
        }

        fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Cow::Owned(number.to_string()))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Cow::Borrowed(""))
        }
    }
    deserializer.deserialize_any(TextVisitor)
}

/// The line that answers an address. Absent parts are left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct AddressOutputLine<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    number: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    predirectional: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    street: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    suffix: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    postdirectional: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit_designator: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    po_box: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    rural_route: &'a str,
    #[serde(rename = "box", skip_serializing_if = "str::is_empty")]
    box_number: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    urbanization: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    city: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    state: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    zip: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    plus4: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    line1: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    line2: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    one_line: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) level: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) corrections: Vec<CorrectedField<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) reason: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) longitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) residential: Option<bool>,
}

/// One change that verification made.
#[derive(Debug, Serialize)]
pub(super) struct CorrectedField<'a> {
    field: &'static str,
    from: &'a str,
    to: &'a str,
}

impl<'a> From<&'a AddressCorrection> for CorrectedField<'a> {
    fn from(correction: &'a AddressCorrection) -> Self {
        Self {
            field: correction.field.as_str(),
            from: &correction.from,
            to: &correction.to,
        }
    }
}

impl<'a> AddressOutputLine<'a> {
    /// The parts of an address.
    pub(super) fn from_parsed(parsed: &'a ParsedAddress) -> Self {
        Self {
            number: &parsed.number,
            predirectional: &parsed.predirectional,
            street: &parsed.street,
            suffix: &parsed.suffix,
            postdirectional: &parsed.postdirectional,
            unit_designator: &parsed.unit_designator,
            unit: &parsed.unit,
            po_box: &parsed.po_box,
            rural_route: &parsed.rural_route,
            box_number: &parsed.box_number,
            urbanization: &parsed.urbanization,
            city: &parsed.city,
            state: &parsed.state,
            zip: &parsed.zip,
            plus4: &parsed.plus4,
            line1: &parsed.line1,
            line2: &parsed.line2,
            one_line: &parsed.one_line,
            ..Self::default()
        }
    }

    /// The same address with the one-line form that a result shows.
    pub(super) fn with_one_line(mut self, one_line: &'a str) -> Self {
        self.one_line = one_line;
        self
    }

    /// The answer to a line that is no address.
    pub(super) fn unreadable(reason: &'a str) -> Self {
        Self {
            level: FAILED,
            reason: reason.into(),
            ..Self::default()
        }
    }
}

/// The level of an address that cannot be mailed.
pub(super) const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_parts_are_left_out_and_the_box_is_called_so() {
        let parsed = address::parse_one_line("RR 2 Box 18, Austin TX 78701");
        let json = serde_json::to_value(AddressOutputLine::from_parsed(&parsed)).unwrap();
        let expected = serde_json::json!({"rural_route": "RR 2", "box": "18", "city": "Austin", "state": "TX",
            "zip": "78701", "line1": "RR 2 Box 18", "one_line": "RR 2 Box 18, Austin, TX 78701"});
        assert_eq!(json, expected);
    }

    #[test]
    fn an_object_has_the_recipients_fields_as_texts_or_numbers() {
        let line = br#" {"address_1": "1 M\u0061in St", "zip": 2108, "city": null, "state": "MA", "x": [1]}"#;
        let AddressInputLine::Parts(parts) = AddressInputLine::parse(line).unwrap() else {
            panic!("a line")
        };
        let expected = AddressInput {
            address_1: "1 Main St",
            state: "MA",
            zip: "2108",
            ..AddressInput::default()
        };
        assert_eq!(parts.as_input(), expected);
        assert!(AddressInputLine::parse(b"{\"address_1\": [1]}").is_err());
        assert!(AddressInputLine::parse(b"{").is_err());
        assert!(AddressInputLine::parse(b"1 Pe\xf1a St").is_err());
    }
}
