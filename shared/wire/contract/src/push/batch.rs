//! Taking the records out of a batch one by one, as the JSON that was sent.
//!
//! A record that is malformed in itself stays raw until it is looked at alone, so that it never stops the rest.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::push::PushError;
use crate::push::body::{parse_json_string, read_object};
use model::limits::RECORDS_PER_BATCH;

/// The records of one batch, each as it was sent.
#[derive(Debug)]
pub struct RecordBatch<'a> {
    /// At most [`RECORDS_PER_BATCH`].
    pub records: Vec<&'a RawValue>,
}

/// What a record asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOperation {
    /// Make the contact or change it.
    Upsert,
    /// Remove the contact.
    Delete,
}

/// One record, its parts still raw. A name given twice counts as it was given last, as in most JSON readers;
/// names that the contract does not know are ignored.
#[derive(Debug, Default)]
pub struct PushedRecord<'a> {
    /// `external_id`; `None` when absent or null.
    pub external_id: Option<&'a RawValue>,
    /// `op`; `None` when absent or null.
    pub operation: Option<&'a RawValue>,
    /// `fields`; empty when absent or null.
    pub fields: SentFields<'a>,
}

/// What a record has as its fields.
#[derive(Debug)]
pub enum SentFields<'a> {
    /// Keys and values as they were sent, a key given twice twice.
    Read(Vec<(Cow<'a, str>, &'a RawValue)>),
    /// Something else than an object, or one with a key that has no meaning.
    Unreadable,
}

impl Default for SentFields<'_> {
    fn default() -> Self {
        Self::Read(Vec::new())
    }
}

/// A batch's object. Its records are an array, or whatever is to be refused.
#[derive(Deserialize)]
struct PushBatchEnvelope<T> {
    records: Option<T>,
}

/// The records that a batch may have, and how many there were.
struct BatchRecords<'a> {
    records: Vec<&'a RawValue>,
    received: usize,
}

/// Takes a batch apart. Errors: `invalid_json`, `invalid_request`, `too_many_records`.
pub fn split_batch(body: &[u8]) -> Result<RecordBatch<'_>, PushError> {
    // Nearly every batch is well-formed, and then it is walked over once. Why another one is not, the careful way tells.
    let BatchRecords { records, received } =
        split_well_formed(body).map_or_else(|| split_carefully(body), Ok)?;
    if received > RECORDS_PER_BATCH {
        return Err(PushError::TooManyRecords { received });
    }
    Ok(RecordBatch { records })
}

fn split_well_formed(body: &[u8]) -> Option<BatchRecords<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    // An array of arrays would be taken for an envelope without names.
    let object = text.trim_start().starts_with('{').then_some(text)?;
    serde_json::from_str::<PushBatchEnvelope<BatchRecords<'_>>>(object)
        .ok()?
        .records
}

fn split_carefully(body: &[u8]) -> Result<BatchRecords<'_>, PushError> {
    let PushBatchEnvelope { records } = read_object::<PushBatchEnvelope<&RawValue>>(body)?;
    let raw = records
        .filter(|raw| raw.get().starts_with('['))
        .ok_or_else(|| {
            PushError::InvalidRequest("records must be an array of records.".to_owned())
        })?;
    serde_json::from_str(raw.get())
        .map_err(|error| PushError::InvalidRequest(format!("records cannot be read: {error}.")))
}

impl<'a> PushedRecord<'a> {
    /// Takes a record apart. `None` when it is not an object.
    pub fn parse(raw: &'a RawValue) -> Option<Self> {
        // Nearly every record has an object of fields, and then it is walked over once.
        Self::parse_with::<RawFields<'a>>(raw).or_else(|| Self::parse_with::<&RawValue>(raw))
    }

    /// As [`PushedRecord::parse`], without a look into the fields: they count as empty.
    pub(crate) fn parse_outline(raw: &'a RawValue) -> Option<Self> {
        Self::parse_with::<IgnoredAny>(raw)
    }

    fn parse_with<F: Deserialize<'a> + Into<SentFields<'a>>>(raw: &'a RawValue) -> Option<Self> {
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_map(RecordVisitor::<F>(PhantomData))
            .ok()
    }

    /// The operation, an upsert unless it says otherwise; `None` when it is another word.
    pub fn operation(&self) -> Option<RecordOperation> {
        match self.operation.map(parse_json_string) {
            None => Some(RecordOperation::Upsert),
            Some(Some(word)) if word == "upsert" => Some(RecordOperation::Upsert),
            Some(Some(word)) if word == "delete" => Some(RecordOperation::Delete),
            Some(_) => None,
        }
    }
}

impl<'a> From<RawFields<'a>> for SentFields<'a> {
    fn from(RawFields(fields): RawFields<'a>) -> Self {
        Self::Read(fields)
    }
}

impl From<IgnoredAny> for SentFields<'_> {
    fn from(_: IgnoredAny) -> Self {
        Self::default()
    }
}

impl<'a> From<&'a RawValue> for SentFields<'a> {
    fn from(raw: &'a RawValue) -> Self {
        if raw.get() == "null" {
            return Self::default();
        }
        serde_json::from_str::<RawFields<'a>>(raw.get()).map_or(Self::Unreadable, Self::from)
    }
}

impl<'de> Deserialize<'de> for BatchRecords<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RecordsVisitor)
    }
}

/// Keeps the records that a batch may have and counts the rest.
struct RecordsVisitor;

impl<'de> Visitor<'de> for RecordsVisitor {
    type Value = BatchRecords<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let (mut records, mut received) = (Vec::new(), 0);
        while let Some(record) = sequence.next_element::<&RawValue>()? {
            if received < RECORDS_PER_BATCH {
                records.push(record);
            }
            received += 1;
        }
        Ok(BatchRecords { records, received })
    }
}

/// Reads a record, and its fields as an `F`.
struct RecordVisitor<F>(PhantomData<F>);

impl<'de, F: Deserialize<'de> + Into<SentFields<'de>>> Visitor<'de> for RecordVisitor<F> {
    type Value = PushedRecord<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = PushedRecord::default();
        while let Some(RecordText(name)) = map.next_key()? {
            if name == "fields" {
                record.fields = map.next_value::<F>()?.into();
                continue;
            }
            let value = Some(map.next_value::<&RawValue>()?).filter(|value| value.get() != "null");
            match name.as_ref() {
                "external_id" => record.external_id = value,
                "op" => record.operation = value,
                _ => {}
            }
        }
        Ok(record)
    }
}

/// Field keys and values as they were sent.
struct RawFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = RawFields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of field keys and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((RecordText(key), value)) = map.next_entry::<RecordText<'de>, &RawValue>()? {
            fields.push((key, value));
        }
        Ok(RawFields(fields))
    }
}

/// A text that borrows where it can.
#[derive(Deserialize)]
struct RecordText<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expect_split_error(body: &str) -> PushError {
        split_batch(body.as_bytes()).expect_err(body)
    }

    #[test]
    fn invalid_json_is_a_body_that_is_not_json() {
        for body in [
            "",
            " ",
            "{",
            "{\"records\":[}",
            "{\"records\":[]} x",
            "\u{feff}{}",
            "nul",
            "{'records':[]}",
        ] {
            assert_eq!(expect_split_error(body).code(), "invalid_json", "{body}");
        }
        assert_eq!(
            split_batch(b"{\"records\":[\"\xff\"]}").unwrap_err().code(),
            "invalid_json"
        );
    }

    #[test]
    fn invalid_request_is_a_body_without_a_records_array() {
        for body in [
            "[]",
            "[[]]",
            "7",
            "null",
            "\"x\"",
            "{}",
            r#"{"records":null}"#,
            r#"{"records":{}}"#,
        ] {
            assert_eq!(expect_split_error(body).code(), "invalid_request", "{body}");
        }
    }

    #[test]
    fn too_many_records_counts_them() {
        let body = |count: usize| format!("{{\"records\":[{}]}}", vec!["0"; count].join(","));
        assert_eq!(
            split_batch(body(1000).as_bytes()).unwrap().records.len(),
            1000
        );
        assert_eq!(
            expect_split_error(&body(1001)),
            PushError::TooManyRecords { received: 1001 }
        );
        assert!(split_batch(b"{\"records\":[]}").unwrap().records.is_empty());
    }

    #[test]
    fn a_record_of_any_shape_and_depth_stays_raw() {
        let deep = format!(
            "{{\"records\":[{}{},{{}}]}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let batch = split_batch(deep.as_bytes()).unwrap();
        assert_eq!(batch.records.len(), 2);
        assert!(PushedRecord::parse(batch.records[0]).is_none());
        assert!(PushedRecord::parse(batch.records[1]).is_some());
    }

    #[test]
    fn the_last_of_two_counts_and_fields_are_an_object_or_null() {
        let fields = |json: &str| {
            let record = PushedRecord::parse(serde_json::from_str(json).unwrap()).unwrap();
            match record.fields {
                SentFields::Read(fields) => Some(fields.len()),
                SentFields::Unreadable => None,
            }
        };
        for (json, expected) in [
            (r#"{"fields":{"a":1,"a":2}}"#, Some(2)),
            (r#"{"fields":null}"#, Some(0)),
            (r#"{}"#, Some(0)),
            (r#"{"fields":[]}"#, None),
            (r#"{"fields":{"\ud800":1}}"#, None),
            (r#"{"fields":7,"fields":{"a":1}}"#, Some(1)),
            (r#"{"fields":{"a":1},"fields":7}"#, None),
        ] {
            assert_eq!(fields(json), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_to_read_a_record_agree(
            parts in prop::collection::vec(
                (
                    prop::sample::select(vec!["external_id", "op", "fields", "other", "\\ud800"]),
                    prop::sample::select(vec!["null", "7", "{}", "[[{}]]", "\"x\"", r#"{"a":"b","a":[1]}"#, r#"{"\ud800":1}"#]),
                ),
                0..5,
            ),
        ) {
            let members: Vec<String> = parts.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            let json = format!("{{{}}}", members.join(","));
            let raw: &RawValue = serde_json::from_str(&json).unwrap();
            let careful = format!("{:?}", PushedRecord::parse_with::<&RawValue>(raw));
            let record = PushedRecord::parse(raw);
            prop_assert_eq!(format!("{:?}", &record), careful);
            let id = |record: Option<PushedRecord<'_>>| record.map(|record| record.external_id.map(ToString::to_string));
            prop_assert_eq!(id(record), id(PushedRecord::parse_outline(raw)));
        }
    }
}
