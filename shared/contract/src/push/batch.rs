//! Taking the records out of a batch one by one, as the JSON that was sent.
//!
//! A record that is malformed in itself stays raw until it is looked at alone, so that it never stops the rest.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::limits::RECORDS_PER_BATCH;
use crate::push::PushError;
use crate::push::body::{read_object, string};

/// The records of one batch, each as it was sent.
#[derive(Debug)]
pub struct Batch<'a> {
    /// At most [`RECORDS_PER_BATCH`].
    pub records: Vec<&'a RawValue>,
}

/// What a record asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Make the contact or change it.
    Upsert,
    /// Remove the contact.
    Delete,
}

/// One record, its parts still raw. A name given twice counts as it was given last, as in most JSON readers;
/// names that the contract does not know are ignored.
#[derive(Debug, Default)]
pub struct Record<'a> {
    /// `external_id`; `None` when absent or null.
    pub external_id: Option<&'a RawValue>,
    /// `op`; `None` when absent or null.
    pub operation: Option<&'a RawValue>,
    /// `fields`; `None` when absent or null.
    pub fields: Option<&'a RawValue>,
}

/// A batch's object. Its records are an array, or whatever is to be refused.
#[derive(Deserialize)]
struct Envelope<T> {
    records: Option<T>,
}

/// The records that a batch may have, and how many there were.
struct Records<'a> {
    records: Vec<&'a RawValue>,
    received: usize,
}

/// Takes a batch apart. Errors: `invalid_json`, `invalid_request`, `too_many_records`.
pub fn split_batch(body: &[u8]) -> Result<Batch<'_>, PushError> {
    // Nearly every batch is well-formed, and then it is walked over once. Why another one is not, the careful way tells.
    let Records { records, received } = split_well_formed(body).map_or_else(|| split_carefully(body), Ok)?;
    if received > RECORDS_PER_BATCH {
        return Err(PushError::TooManyRecords { received });
    }
    Ok(Batch { records })
}

fn split_well_formed(body: &[u8]) -> Option<Records<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    // An array of arrays would be taken for an envelope without names.
    let object = text.trim_start().starts_with('{').then_some(text)?;
    serde_json::from_str::<Envelope<Records<'_>>>(object).ok()?.records
}

fn split_carefully(body: &[u8]) -> Result<Records<'_>, PushError> {
    let Envelope { records } = read_object::<Envelope<&RawValue>>(body)?;
    let raw = records
        .filter(|raw| raw.get().starts_with('['))
        .ok_or_else(|| PushError::InvalidRequest("records must be an array of records.".to_owned()))?;
    serde_json::from_str(raw.get())
        .map_err(|error| PushError::InvalidRequest(format!("records cannot be read: {error}.")))
}

impl<'a> Record<'a> {
    /// Takes a record apart. `None` when it is not an object.
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::Deserializer::from_str(raw.get()).deserialize_map(RecordVisitor).ok()
    }

    /// The operation, an upsert unless it says otherwise; `None` when it is another word.
    pub fn operation(&self) -> Option<Operation> {
        match self.operation.map(string) {
            None => Some(Operation::Upsert),
            Some(Some(word)) if word == "upsert" => Some(Operation::Upsert),
            Some(Some(word)) if word == "delete" => Some(Operation::Delete),
            Some(_) => None,
        }
    }

    /// Field keys and values as they were sent, a key given twice twice; `None` when `fields` is not an object.
    pub fn fields(&self) -> Option<Vec<(Cow<'a, str>, &'a RawValue)>> {
        let Some(raw) = self.fields else { return Some(Vec::new()) };
        serde_json::Deserializer::from_str(raw.get()).deserialize_map(FieldsVisitor).ok()
    }
}

impl<'de> Deserialize<'de> for Records<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RecordsVisitor)
    }
}

/// Keeps the records that a batch may have and counts the rest.
struct RecordsVisitor;

impl<'de> Visitor<'de> for RecordsVisitor {
    type Value = Records<'de>;

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
        Ok(Records { records, received })
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = Record::default();
        while let Some((Text(name), value)) = map.next_entry::<Text<'de>, &RawValue>()? {
            let value = (value.get() != "null").then_some(value);
            match name.as_ref() {
                "external_id" => record.external_id = value,
                "op" => record.operation = value,
                "fields" => record.fields = value,
                _ => {}
            }
        }
        Ok(record)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of field keys and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((Text(key), value)) = map.next_entry::<Text<'de>, &RawValue>()? {
            fields.push((key, value));
        }
        Ok(fields)
    }
}

/// A text that borrows where it can.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> PushError {
        split_batch(body.as_bytes()).expect_err(body)
    }

    #[test]
    fn invalid_json_is_a_body_that_is_not_json() {
        for body in
            ["", " ", "{", "{\"records\":[}", "{\"records\":[]} x", "\u{feff}{}", "nul", "{'records':[]}"]
        {
            assert_eq!(refusal(body).code(), "invalid_json", "{body}");
        }
        assert_eq!(split_batch(b"{\"records\":[\"\xff\"]}").unwrap_err().code(), "invalid_json");
    }

    #[test]
    fn invalid_request_is_a_body_without_a_records_array() {
        for body in ["[]", "[[]]", "7", "null", "\"x\"", "{}", r#"{"records":null}"#, r#"{"records":{}}"#] {
            assert_eq!(refusal(body).code(), "invalid_request", "{body}");
        }
    }

    #[test]
    fn too_many_records_counts_them() {
        let body = |count: usize| format!("{{\"records\":[{}]}}", vec!["0"; count].join(","));
        assert_eq!(split_batch(body(1000).as_bytes()).unwrap().records.len(), 1000);
        assert_eq!(refusal(&body(1001)), PushError::TooManyRecords { received: 1001 });
        assert!(split_batch(b"{\"records\":[]}").unwrap().records.is_empty());
    }

    #[test]
    fn a_record_of_any_shape_and_depth_stays_raw() {
        let deep = format!("{{\"records\":[{}{},{{}}]}}", "[".repeat(100_000), "]".repeat(100_000));
        let batch = split_batch(deep.as_bytes()).unwrap();
        assert_eq!(batch.records.len(), 2);
        assert!(Record::read(batch.records[0]).is_none());
        assert!(Record::read(batch.records[1]).is_some());
    }
}
