//! Reading one value of a record as its field's type.

use std::borrow::Cow;

use audience::value::is_valid;
use email_address::{EmailAddress, Options};
use serde_json::value::RawValue;

use crate::push::body::parse_json_string;
use crate::push::field::FieldType;

/// A scalar value as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScalarValue<'a> {
    /// A string's content, trimmed; blank for null.
    Text(Cow<'a, str>),
    /// A number's own JSON text.
    Number(&'a str),
    /// `true` or `false`.
    YesNo(&'a str),
}

impl<'a> ScalarValue<'a> {
    /// `None` for what is no scalar or cannot be stored: an array, an object, a text with U+0000 or with an escape
    /// that has no meaning.
    pub(crate) fn parse(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'[' | b'{' => None,
            b'"' => parse_json_string(raw)
                .filter(|text| !text.contains('\0'))
                .map(|text| Self::Text(trim_text(text))),
            b'n' => Some(Self::Text(Cow::Borrowed(""))),
            b't' | b'f' => Some(Self::YesNo(text)),
            _ => Some(Self::Number(text)),
        }
    }

    /// The value as it is stored, if it fits the type. A blank fits every type.
    pub(crate) fn convert_to(
        self,
        field_type: FieldType,
        options: &[String],
    ) -> Option<Cow<'a, str>> {
        let fits = match (&self, field_type) {
            (_, FieldType::Text) => true,
            (Self::Text(text), _) if text.is_empty() => true,
            (Self::YesNo(_), FieldType::Number | FieldType::Date)
            | (Self::Number(_), FieldType::Date) => false,
            // Whoever declares no options leaves it open what can be chosen.
            (_, FieldType::Choice) if options.is_empty() => true,
            (scalar, FieldType::Choice) => options.iter().any(|option| option == scalar.as_str()),
            (scalar, typed) => is_valid(typed.column_type(), scalar.as_str()),
        };
        fits.then(|| self.into_text())
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Number(text) | Self::YesNo(text) => text,
        }
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Number(text) | Self::YesNo(text) => Cow::Borrowed(text),
        }
    }
}

/// Whether a text is one complete e-mail address, with a dot in its domain and nothing around it.
pub(crate) fn is_complete_email(text: &str) -> bool {
    let options = Options::default()
        .with_required_tld()
        .without_domain_literal()
        .without_display_text();
    EmailAddress::parse_with_options(text, options).is_ok()
}

fn trim_text(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert_json(field_type: FieldType, json: &str) -> Option<String> {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let options = ["gold".to_owned(), "1".to_owned()];
        ScalarValue::parse(&raw)?
            .convert_to(field_type, &options)
            .map(Cow::into_owned)
    }

    fn assert_conversions(field_type: FieldType, accepted: &[&str], refused: &[&str]) {
        for json in accepted {
            assert!(
                convert_json(field_type, json).is_some(),
                "{json} fits {field_type:?}"
            );
        }
        for json in refused {
            assert_eq!(
                convert_json(field_type, json),
                None,
                "{json} does not fit {field_type:?}"
            );
        }
    }

    #[test]
    fn each_type_takes_what_reads_as_it_and_a_blank() {
        let blanks = ["null", r#""""#, r#"" ""#];
        for field_type in FieldType::ALL {
            assert_conversions(
                field_type,
                &blanks,
                &["[]", "{}", r#""\u0000""#, r#""\ud800""#],
            );
        }
        assert_conversions(FieldType::Text, &["7", "true", r#""x""#, "1e999"], &[]);
        assert_conversions(
            FieldType::Number,
            &["7", "-1.5e3", r#""1,234.50""#, r#""$12""#],
            &["true", r#""x""#, "1e999"],
        );
        assert_conversions(
            FieldType::Date,
            &[
                r#""2026-01-31""#,
                r#""1/31/2026""#,
                r#""2026-01-31T10:00:00Z""#,
            ],
            &["20260131", "true", r#""31.1.2026""#, r#""2026-02-30""#],
        );
        assert_conversions(
            FieldType::YesNo,
            &["true", "false", "1", "0", r#""Yes""#, r#""n""#],
            &["2", r#""maybe""#],
        );
        assert_conversions(
            FieldType::Choice,
            &[r#""gold""#, r#"" gold ""#, "1"],
            &[r#""Gold""#, "2", "true"],
        );
    }

    #[test]
    fn a_value_is_stored_as_text_trimmed_and_null_as_blank() {
        assert_eq!(
            convert_json(FieldType::Text, r#"" a b ""#).as_deref(),
            Some("a b")
        );
        assert_eq!(
            convert_json(FieldType::Number, "1.50").as_deref(),
            Some("1.50")
        );
        assert_eq!(convert_json(FieldType::Date, "null").as_deref(), Some(""));
    }

    #[test]
    fn an_email_is_complete_or_none() {
        for complete in [
            "ann@example.com",
            "a.b+c@sub.example.co",
            "\"a b\"@example.com",
        ] {
            assert!(is_complete_email(complete), "{complete}");
        }
        for wrong in [
            "ann",
            "ann@",
            "@example.com",
            "ann@example",
            "a@b@c.com",
            "Ann <ann@example.com>",
            "a@[1.2.3.4]",
            "ann@example.com,",
            "ann @example.com",
        ] {
            assert!(!is_complete_email(wrong), "{wrong}");
        }
    }
}
