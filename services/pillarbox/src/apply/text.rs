//! From text to a document: YAML or JSON, without what one of them lets pass in silence.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The longest file that is read, in bytes.
pub const FILE_BYTES: usize = 8 * 1024 * 1024;

/// Reads a document. A text that begins with `{` is JSON, any other YAML. A name given twice, a number that
/// JSON has not and the character U+0000 are refused; both readers stop at 128 levels of nesting.
///
/// # Errors
/// A sentence with the line.
pub(crate) fn parse_document(text: &str) -> Result<Value, String> {
    if text.len() > FILE_BYTES {
        return Err(format!("the file is longer than {FILE_BYTES} bytes"));
    }
    let strict = if text.trim_start().starts_with('{') {
        serde_json::from_str::<StrictJson>(text).map_err(|error| error.to_string())
    } else {
        yaml_serde::from_str::<StrictJson>(text).map_err(|error| error.to_string())
    };
    strict.map(|StrictJson(value)| value)
}

/// A JSON value that was read without losing anything.
struct StrictJson(Value);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text, a number, true, false, null, a list or a mapping")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    /// An empty YAML file.
    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom(format!("{value} is not a number")))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        without_nul(text)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(StrictJson(value)) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            without_nul(&name)?;
            if values.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} is given twice")));
            }
            let StrictJson(value) = map.next_value()?;
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}

fn without_nul<E: Error>(text: &str) -> Result<(), E> {
    if text.contains('\0') {
        return Err(E::custom(
            "a text holds the character U+0000, which cannot be stored",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_and_yaml_give_the_same_document() {
        let expected = json!({"teams": [{"name": "A", "n": 1.5, "yes": true, "none": null}]});
        assert_eq!(
            parse_document("teams:\n- {name: A, n: 1.5, yes: true, none: }\n"),
            Ok(expected.clone())
        );
        assert_eq!(
            parse_document(
                "\n\t{\"teams\": [{\"name\": \"A\",\t\"n\": 1.5, \"yes\": true, \"none\": null}]}"
            ),
            Ok(expected)
        );
    }

    #[test]
    fn what_would_be_lost_in_silence_is_refused() {
        for (text, why) in [
            ("a: 1\na: 2\n", "given twice"),
            ("{\"a\": {\"b\": 1, \"b\": 2}}", "given twice"),
            ("a: .nan\n", "not a number"),
            ("a: 99999999999999999999999\n", "invalid"),
            ("a: \"\\0\"\n", "U+0000"),
            ("{\"a\\u0000\": 1}", "U+0000"),
            ("a: !secret b\n", ""),
            ("a: 1\n---\nb: 1\n", "more than one document"),
            ("{\"a\": 1} x", "trailing"),
        ] {
            let error = parse_document(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn long_and_deep_files_are_refused() {
        assert!(
            parse_document(&" ".repeat(FILE_BYTES + 1))
                .unwrap_err()
                .contains("longer")
        );
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = open.repeat(100_000) + &close.repeat(100_000);
            assert!(parse_document(&deep).is_err(), "{open}");
        }
    }

    #[test]
    fn a_yaml_file_cannot_multiply_itself() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let previous = format!("*a{}, ", level - 1).repeat(10);
            text += &format!("a{level}: &a{level} [{previous}]\n");
        }
        assert!(parse_document(&text).is_err());
    }
}
