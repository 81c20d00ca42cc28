//! Declared fields: what an integration says that its records hold.

use std::collections::HashSet;
use std::str::FromStr;

use audience::{ColumnType, fold_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::push::PushError;
use crate::push::body::read_object;
use model::limits::{DECLARED_FIELDS, FIELD_NAME_CHARS, OPTION_CHARS, OPTIONS_PER_FIELD};

/// How the values of a field are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// Any scalar.
    Text,
    /// A JSON number, or a text that reads as one.
    Number,
    /// A day.
    Date,
    /// A yes or a no.
    YesNo,
    /// One of the field's options; any text when it has none.
    Choice,
}

/// The contact column that a field fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the columns'")]
#[schemars(rename = "Semantic")]
pub enum FieldSemantic {
    FirstName,
    LastName,
    #[serde(rename = "address_1")]
    Address1,
    #[serde(rename = "address_2")]
    Address2,
    City,
    State,
    Zip,
    Email,
    Phone,
    Organization,
}

/// A field as it is declared, stored and read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Field")]
pub struct IntegrationField {
    /// What records call it; case-sensitive.
    pub key: String,
    /// What people call it; the key unless declared otherwise.
    pub label: String,
    /// Its type.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// The choices of a choice field; empty for the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The contact column that it fills.
    pub semantic: Option<FieldSemantic>,
}

impl FieldType {
    /// Every type.
    pub const ALL: [Self; 5] = [
        Self::Text,
        Self::Number,
        Self::Date,
        Self::YesNo,
        Self::Choice,
    ];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            other => other.column_type().as_str(),
        }
    }

    /// The type of the address book's column: a choice is a text there.
    pub const fn column_type(self) -> ColumnType {
        match self {
            Self::Text | Self::Choice => ColumnType::Text,
            Self::Number => ColumnType::Number,
            Self::Date => ColumnType::Date,
            Self::YesNo => ColumnType::YesNo,
        }
    }

    /// What a value must look like, as the end of a sentence.
    pub const fn expectation(self) -> &'static str {
        match self {
            Self::Text => "must be a text, a number or a boolean",
            Self::Number => "must be a number like 1,234.50 or $12",
            Self::Date => "must be a date like 2026-01-31 or 1/31/2026",
            Self::YesNo => "must be true or false (or yes/no, y/n, 1/0)",
            Self::Choice => "must be one of the field's options",
        }
    }
}

impl FromStr for FieldType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|field_type| field_type.as_str() == name)
            .ok_or(())
    }
}

impl FieldSemantic {
    /// Every semantic, in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::FirstName,
        Self::LastName,
        Self::Address1,
        Self::Address2,
        Self::City,
        Self::State,
        Self::Zip,
        Self::Email,
        Self::Phone,
        Self::Organization,
    ];

    /// Those that a contact needs to get mail: a set-up is complete when they are declared.
    pub const NEEDED_TO_MAIL: [Self; 4] = [Self::Address1, Self::City, Self::State, Self::Zip];

    /// The name on the wire and in the database, which is the column's.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Address1 => "address_1",
            Self::Address2 => "address_2",
            Self::City => "city",
            Self::State => "state",
            Self::Zip => "zip",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Organization => "organization",
        }
    }
}

impl FromStr for FieldSemantic {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|semantic| semantic.as_str() == name)
            .ok_or(())
    }
}

#[derive(Deserialize)]
struct DeclarationEnvelope<'a> {
    #[serde(borrow)]
    fields: Option<&'a RawValue>,
}

/// A field as it is sent. Absent and null are the same.
#[derive(Deserialize)]
struct SentField {
    key: Option<String>,
    label: Option<String>,
    #[serde(rename = "type")]
    field_type: Option<String>,
    options: Option<Vec<String>>,
    semantic: Option<String>,
}

/// Reads the body of a declaration. Errors: `invalid_json`, `invalid_request`, `too_many_fields`.
pub fn read_declaration(body: &[u8]) -> Result<Vec<IntegrationField>, PushError> {
    let envelope: DeclarationEnvelope<'_> = read_object(body)?;
    let raw = envelope
        .fields
        .filter(|raw| raw.get().starts_with('['))
        .ok_or_else(|| {
            PushError::InvalidRequest("fields must be an array of fields.".to_owned())
        })?;
    let sent: Vec<&RawValue> = serde_json::from_str(raw.get())
        .map_err(|_| PushError::InvalidRequest("fields must be an array of fields.".to_owned()))?;
    if sent.len() > DECLARED_FIELDS {
        return Err(PushError::TooManyFields {
            received: sent.len(),
        });
    }
    let fields = sent
        .iter()
        .enumerate()
        .map(|(index, raw)| {
            parse_field(raw)
                .map_err(|why| PushError::InvalidRequest(format!("fields[{index}]: {why}.")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    refuse_clashes(&fields)?;
    Ok(fields)
}

fn parse_field(raw: &RawValue) -> Result<IntegrationField, String> {
    if !raw.get().starts_with('{') {
        return Err("a field must be an object".to_owned());
    }
    let sent: SentField = serde_json::from_str(raw.get())
        .map_err(|_| "key, label, type and semantic must be texts, options a list of texts")?;
    let key = sent
        .key
        .filter(|key| !key.trim().is_empty())
        .ok_or("a field needs a key that is not empty")?;
    refuse_unstorable("key", &key, FIELD_NAME_CHARS)?;
    let label = sent
        .label
        .filter(|label| !label.trim().is_empty())
        .unwrap_or_else(|| key.clone());
    refuse_unstorable("label", &label, FIELD_NAME_CHARS)?;
    let field_type = match sent.field_type {
        None => FieldType::Text,
        Some(name) => name
            .parse()
            .map_err(|()| "type must be text, number, date, yes_no or choice".to_owned())?,
    };
    let semantic = match sent.semantic {
        None => None,
        Some(name) => Some(
            name.parse()
                .map_err(|()| format!("there is no semantic {name:.40}"))?,
        ),
    };
    let options = match field_type {
        FieldType::Choice => parse_options(sent.options.unwrap_or_default())?,
        _ => Vec::new(),
    };
    Ok(IntegrationField {
        key,
        label,
        field_type,
        options,
        semantic,
    })
}

fn parse_options(options: Vec<String>) -> Result<Vec<String>, String> {
    if options.len() > OPTIONS_PER_FIELD {
        return Err(format!(
            "a choice field has at most {OPTIONS_PER_FIELD} options"
        ));
    }
    options
        .into_iter()
        .map(|option| {
            let option = option.trim().to_owned();
            refuse_unstorable("an option", &option, OPTION_CHARS).map(|()| option)
        })
        .collect()
}

fn refuse_unstorable(what: &str, text: &str, most_chars: usize) -> Result<(), String> {
    if text.contains('\0') {
        return Err(format!(
            "{what} holds the character U+0000, which cannot be stored"
        ));
    }
    if text.len() > most_chars && text.chars().count() > most_chars {
        return Err(format!("{what} is longer than {most_chars} characters"));
    }
    Ok(())
}

/// Two fields of one declaration cannot fill the same column, whether by name or by semantic.
fn refuse_clashes(fields: &[IntegrationField]) -> Result<(), PushError> {
    let mut names = HashSet::new();
    let mut semantics = HashSet::new();
    for field in fields {
        if !names.insert(fold_name(&field.key)) {
            return Err(PushError::InvalidRequest(format!(
                "The field {} is declared twice.",
                field.key
            )));
        }
        if let Some(semantic) = field.semantic
            && !semantics.insert(semantic)
        {
            let name = semantic.as_str();
            return Err(PushError::InvalidRequest(format!(
                "Two fields claim the semantic {name}."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_declaration_error(body: &str) -> String {
        match read_declaration(body.as_bytes()).expect_err(body) {
            PushError::InvalidRequest(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_field_without_type_is_text_and_without_label_is_called_by_its_key() {
        let body = r#"{"fields":[{"key":"score"},
            {"key":"tier","label":"Tier","type":"choice","options":["gold"," silver "],"semantic":null},
            {"key":"mail","semantic":"email","options":["ignored"]}]}"#;
        let fields = read_declaration(body.as_bytes()).unwrap();
        assert_eq!(
            serde_json::to_value(&fields).unwrap(),
            serde_json::json!([
                {"key": "score", "label": "score", "type": "text", "semantic": null},
                {"key": "tier", "label": "Tier", "type": "choice", "options": ["gold", "silver"], "semantic": null},
                {"key": "mail", "label": "mail", "type": "text", "semantic": "email"},
            ])
        );
        assert!(read_declaration(br#"{"fields":[]}"#).unwrap().is_empty());
    }

    #[test]
    fn invalid_request_names_the_field_and_what_is_wrong_with_it() {
        let cases = [
            ("[]", "must be a JSON object"),
            ("{}", "fields must be an array"),
            (r#"{"fields":{}}"#, "fields must be an array"),
            (r#"{"fields":[7]}"#, "fields[0]: a field must be an object"),
            (
                r#"{"fields":[{"key":"a"},{}]}"#,
                "fields[1]: a field needs a key",
            ),
            (
                r#"{"fields":[{"key":" "}]}"#,
                "fields[0]: a field needs a key",
            ),
            (
                r#"{"fields":[{"key":7}]}"#,
                "fields[0]: key, label, type and semantic must be texts",
            ),
            (
                r#"{"fields":[{"key":"a","type":"choice","options":[7]}]}"#,
                "options a list of texts.",
            ),
            (
                r#"{"fields":[{"key":"a","type":"choice","options":"b"}]}"#,
                "options a list of texts.",
            ),
            (r#"{"fields":[{"key":"a\u0000"}]}"#, "U+0000"),
            (
                r#"{"fields":[{"key":"a","type":"int"}]}"#,
                "type must be text",
            ),
            (
                r#"{"fields":[{"key":"a","semantic":"fax"}]}"#,
                "there is no semantic fax",
            ),
            (
                r#"{"fields":[{"key":"a"},{"key":" A"}]}"#,
                "is declared twice",
            ),
            (
                r#"{"fields":[{"key":"a","semantic":"zip"},{"key":"b","semantic":"zip"}]}"#,
                "Two fields claim the semantic zip.",
            ),
        ];
        for (body, message) in cases {
            assert!(
                expect_declaration_error(body).contains(message),
                "{body}: {}",
                expect_declaration_error(body)
            );
        }
    }

    #[test]
    fn too_many_fields_is_over_1000() {
        let body = |count: usize| {
            let fields: Vec<_> = (0..count)
                .map(|number| format!("{{\"key\":\"f{number}\"}}"))
                .collect();
            format!("{{\"fields\":[{}]}}", fields.join(","))
        };
        assert_eq!(read_declaration(body(1000).as_bytes()).unwrap().len(), 1000);
        let error = read_declaration(body(1001).as_bytes()).unwrap_err();
        assert_eq!(error, PushError::TooManyFields { received: 1001 });
    }

    #[test]
    fn a_type_and_a_semantic_have_one_name_in_json_and_in_text() {
        for field_type in FieldType::ALL {
            assert_eq!(field_type.as_str().parse(), Ok(field_type));
            assert_eq!(
                serde_json::to_value(field_type).unwrap(),
                field_type.as_str()
            );
        }
        for semantic in FieldSemantic::ALL {
            assert_eq!(semantic.as_str().parse(), Ok(semantic));
            assert_eq!(serde_json::to_value(semantic).unwrap(), semantic.as_str());
        }
    }
}
