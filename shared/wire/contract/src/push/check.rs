//! Which records of a batch are accepted, and with which values (contract: Rejection codes).

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::push::batch::{PushedRecord, RecordBatch, RecordOperation, SentFields};
use crate::push::body::parse_json_string;
use crate::push::field::{FieldSemantic, FieldType, IntegrationField};
use crate::push::issue::{
    DroppedValue, DryRunAnswer, IssueCode, PushAnswer, RecordRejection, group_warnings,
};
use crate::push::value::{ScalarValue, is_complete_email};
use crate::push::values::{ContactFingerprint, ContactValues};
use model::limits::{EXTERNAL_ID_CHARS, FIELD_NAME_CHARS, RECORD_BYTES};

/// The declared fields.
pub struct FieldSchema<'s> {
    fields: &'s [IntegrationField],
    /// Where each stands, by key.
    positions: HashMap<&'s str, usize>,
    /// Of each, the key and the sentence of its warnings, once there are any.
    misfits: Vec<OnceCell<(Arc<str>, Arc<str>)>>,
}

/// A contact to make or to change. Fields that are absent keep their stored values.
#[derive(Debug, PartialEq, Eq)]
pub struct AcceptedUpsert<'a> {
    /// The record's place in the batch, from 0.
    pub index: usize,
    /// The caller's id of the contact.
    pub external_id: Cow<'a, str>,
    /// The values to store.
    pub values: ContactValues<'a>,
    /// Tells these values from others.
    pub fingerprint: ContactFingerprint,
}

/// A batch after the check. `upserts`, `deletes` and `rejections` together are its records.
#[derive(Debug, Default)]
pub struct CheckedBatch<'a> {
    /// In the order sent.
    pub upserts: Vec<AcceptedUpsert<'a>>,
    /// External ids of the contacts to remove.
    pub deletes: Vec<Cow<'a, str>>,
    /// In the order sent.
    pub rejections: Vec<RecordRejection>,
    /// One for each dropped value.
    pub warnings: Vec<DroppedValue>,
    /// External ids of rejected records. They count as received: a full sync never removes a contact because one
    /// of its values was bad.
    pub rejected_ids: Vec<Cow<'a, str>>,
}

/// Why one record is refused.
#[derive(Clone)]
struct RecordError {
    code: IssueCode,
    field: Option<String>,
    message: String,
}

impl RecordError {
    fn new(code: IssueCode, message: impl Into<String>) -> Self {
        Self {
            code,
            field: None,
            message: message.into(),
        }
    }

    fn for_field(code: IssueCode, key: &str, message: String) -> Self {
        Self {
            code,
            field: Some(truncate_key(key)),
            message,
        }
    }
}

impl<'s> FieldSchema<'s> {
    /// The schema of these fields.
    pub fn new(fields: &'s [IntegrationField]) -> Self {
        let positions = fields
            .iter()
            .enumerate()
            .map(|(position, field)| (field.key.as_str(), position))
            .collect();
        Self {
            fields,
            positions,
            misfits: vec![OnceCell::new(); fields.len()],
        }
    }

    /// Where the field of this key stands. Most senders keep to an order: `guess` is where it stands then.
    fn find_position(&self, key: &str, guess: usize) -> Option<usize> {
        match self.fields.get(guess) {
            Some(field) if field.key == key => Some(guess),
            _ => self.positions.get(key).copied(),
        }
    }
}

/// Checks each record of a batch by itself.
pub fn check_batch<'a>(batch: &RecordBatch<'a>, schema: &FieldSchema<'a>) -> CheckedBatch<'a> {
    let mut checked = CheckedBatch::default();
    let mut seen = HashSet::new();
    for (index, raw) in batch.records.iter().enumerate() {
        checked.add_record(CheckedRecord::new(index, raw, schema).reject_if_seen(&mut seen));
    }
    checked
}

impl<'a> RecordBatch<'a> {
    /// The external id of each record, in the order sent; blank for one without. No more of a record is read.
    pub fn external_ids(&self) -> Vec<Cow<'a, str>> {
        let read = |raw: &&'a RawValue| read_external_id(&PushedRecord::parse_outline(raw)?).ok();
        self.records
            .iter()
            .map(|raw| read(raw).unwrap_or_default())
            .collect()
    }
}

/// What became of one record.
struct CheckedRecord<'a> {
    index: usize,
    /// `None` when it has none that could be read.
    external_id: Option<Cow<'a, str>>,
    outcome: Result<AcceptedRecord<'a>, RecordError>,
    /// None unless it is accepted.
    warnings: Vec<DroppedValue>,
}

impl<'a> CheckedRecord<'a> {
    fn new(index: usize, raw: &'a RawValue, schema: &FieldSchema<'a>) -> Self {
        let record = PushedRecord::parse(raw);
        let mut warnings = Vec::new();
        let external_id = record
            .as_ref()
            .ok_or_else(not_an_object_error)
            .and_then(read_external_id);
        let (external_id, outcome) = match external_id {
            Ok(external_id) => {
                let checker = RecordChecker {
                    index,
                    external_id: &external_id,
                    schema,
                };
                let outcome = checker.check(raw, record, &mut warnings);
                (Some(external_id), outcome)
            }
            Err(refusal) => (None, Err(refusal)),
        };
        Self {
            index,
            external_id,
            outcome,
            warnings,
        }
    }

    /// This record, refused when its contact was seen before, whatever else is wrong with it.
    fn reject_if_seen(mut self, seen: &mut HashSet<Cow<'a, str>>) -> Self {
        if self
            .external_id
            .as_ref()
            .is_some_and(|external_id| !seen.insert(external_id.clone()))
        {
            self.warnings.clear();
            self.outcome = Err(RecordError::new(
                IssueCode::DuplicateInBatch,
                "This contact stands in the batch before; only its first record counts.",
            ));
        }
        self
    }
}

/// What an accepted record asks for.
enum AcceptedRecord<'a> {
    Upsert(ContactValues<'a>, ContactFingerprint),
    Delete,
}

impl<'a> CheckedBatch<'a> {
    fn add_record(&mut self, record: CheckedRecord<'a>) {
        let CheckedRecord {
            index,
            external_id,
            outcome,
            warnings,
        } = record;
        self.warnings.extend(warnings);
        match (outcome, external_id) {
            (Ok(AcceptedRecord::Upsert(values, fingerprint)), Some(external_id)) => {
                self.upserts.push(AcceptedUpsert {
                    index,
                    external_id,
                    values,
                    fingerprint,
                });
            }
            (Ok(AcceptedRecord::Delete), Some(external_id)) => self.deletes.push(external_id),
            // A record is only accepted by its external id.
            (Ok(_), None) => {}
            (Err(refusal), external_id) => {
                self.rejections.push(RecordRejection {
                    index,
                    external_id: external_id.as_deref().map(str::to_owned),
                    code: refusal.code,
                    field: refusal.field,
                    message: refusal.message,
                });
                if refusal.code != IssueCode::DuplicateInBatch {
                    self.rejected_ids.extend(external_id);
                }
            }
        }
    }

    /// The answer to a push of this batch.
    pub fn answer(&self) -> PushAnswer {
        PushAnswer {
            accepted: self.upserts.len(),
            deleted: self.deletes.len(),
            rejected: self.rejections.len(),
            rejections: self.rejections.clone(),
            warnings: group_warnings(&self.warnings),
        }
    }

    /// The answer to a dry run of this batch.
    pub fn dry_run_answer(&self) -> DryRunAnswer {
        DryRunAnswer {
            validated: true,
            accepted: self.upserts.len() + self.deletes.len(),
            rejected: self.rejections.len(),
            rejections: self.rejections.clone(),
            warnings: group_warnings(&self.warnings),
        }
    }
}

fn not_an_object_error() -> RecordError {
    RecordError::new(
        IssueCode::MissingExternalId,
        "A record must be an object with an external_id.",
    )
}

fn read_external_id<'a>(record: &PushedRecord<'a>) -> Result<Cow<'a, str>, RecordError> {
    let missing = || {
        RecordError::new(
            IssueCode::MissingExternalId,
            "The record has no external_id.",
        )
    };
    let invalid = |message: &str| RecordError::new(IssueCode::InvalidExternalId, message);
    let raw = record.external_id.ok_or_else(missing)?;
    let text = parse_json_string(raw).ok_or_else(|| invalid("external_id must be a text."))?;
    if text.is_empty() {
        return Err(missing());
    }
    if text.contains('\0') {
        return Err(invalid(
            "external_id holds the character U+0000, which cannot be stored.",
        ));
    }
    if text.len() > EXTERNAL_ID_CHARS && text.chars().count() > EXTERNAL_ID_CHARS {
        return Err(invalid(&format!(
            "external_id has at most {EXTERNAL_ID_CHARS} characters."
        )));
    }
    Ok(text)
}

/// One record under check.
struct RecordChecker<'c, 'a> {
    index: usize,
    external_id: &'c str,
    schema: &'c FieldSchema<'a>,
}

impl<'a> RecordChecker<'_, 'a> {
    fn check(
        &self,
        raw: &'a RawValue,
        record: Option<PushedRecord<'a>>,
        warnings: &mut Vec<DroppedValue>,
    ) -> Result<AcceptedRecord<'a>, RecordError> {
        let record = record.ok_or_else(not_an_object_error)?;
        if raw.get().len() > RECORD_BYTES {
            let message = format!("A record has at most {RECORD_BYTES} bytes.");
            return Err(RecordError::new(IssueCode::RecordTooLarge, message));
        }
        let invalid = |message: &str| RecordError::new(IssueCode::InvalidRecord, message);
        match record
            .operation()
            .ok_or_else(|| invalid("op must be upsert or delete."))?
        {
            RecordOperation::Delete => Ok(AcceptedRecord::Delete),
            RecordOperation::Upsert => {
                let SentFields::Read(fields) = record.fields else {
                    return Err(invalid("fields must be an object."));
                };
                let values = self.check_fields(fields, warnings)?;
                let fingerprint = values.fingerprint();
                Ok(AcceptedRecord::Upsert(values, fingerprint))
            }
        }
    }

    fn check_fields(
        &self,
        sent: Vec<(Cow<'a, str>, &'a RawValue)>,
        warnings: &mut Vec<DroppedValue>,
    ) -> Result<ContactValues<'a>, RecordError> {
        let (mut values, mut dropped) = (ContactValues::default(), Vec::new());
        for (position, raw) in self.sort_by_schema(sent)? {
            let field = &self.schema.fields[position];
            let value = ScalarValue::parse(raw)
                .and_then(|scalar| scalar.convert_to(field.field_type, &field.options));
            match value {
                Some(value) => {
                    check_email(field, &value)?;
                    values.push(&field.key, value);
                }
                None if field.semantic.is_some() => {
                    return Err(RecordError::for_field(
                        IssueCode::InvalidType,
                        &field.key,
                        describe_expected(field),
                    ));
                }
                None => dropped.push(position),
            }
        }
        // Only an accepted record has warnings.
        if !dropped.is_empty() {
            let external_id: Arc<str> = self.external_id.into();
            warnings.extend(
                dropped
                    .into_iter()
                    .map(|position| self.build_warning(&external_id, position)),
            );
        }
        Ok(values)
    }

    /// What was sent as positions in the schema and values, in the schema's order. Of a field given twice the last
    /// value stays.
    fn sort_by_schema(
        &self,
        sent: Vec<(Cow<'a, str>, &'a RawValue)>,
    ) -> Result<Vec<(usize, &'a RawValue)>, RecordError> {
        let mut found = Vec::with_capacity(sent.len());
        let mut next = 0;
        for (key, raw) in sent {
            let position = self.schema.find_position(&key, next).ok_or_else(|| {
                let message = format!("The field {} was not declared.", truncate_key(&key));
                RecordError::for_field(IssueCode::UnknownField, &key, message)
            })?;
            found.push((position, raw));
            next = position + 1;
        }
        if found.is_sorted_by(|(one, _), (other, _)| one < other) {
            return Ok(found);
        }
        // The sort keeps the order of equal ones: from the last to the first.
        found.reverse();
        found.sort_by_key(|(position, _)| *position);
        found.dedup_by_key(|(position, _)| *position);
        Ok(found)
    }

    fn build_warning(&self, external_id: &Arc<str>, position: usize) -> DroppedValue {
        let field = &self.schema.fields[position];
        let texts = || (field.key.as_str().into(), describe_expected(field).into());
        let (key, message) = self.schema.misfits[position].get_or_init(texts).clone();
        let (index, external_id) = (self.index, external_id.clone());
        DroppedValue {
            index,
            external_id,
            code: IssueCode::InvalidType,
            field: key,
            message,
        }
    }
}

fn check_email(field: &IntegrationField, value: &str) -> Result<(), RecordError> {
    if field.semantic != Some(FieldSemantic::Email) || value.is_empty() || is_complete_email(value)
    {
        return Ok(());
    }
    let message = format!(
        "{} must be a complete e-mail address like ann@example.com.",
        field.key
    );
    Err(RecordError::for_field(
        IssueCode::InvalidEmail,
        &field.key,
        message,
    ))
}

/// Options of a choice field that its error lists: so many, of so many characters together.
const SHOWN_OPTIONS: usize = 20;
const SHOWN_OPTIONS_CHARS: usize = 300;

fn describe_expected(field: &IntegrationField) -> String {
    match field.field_type {
        FieldType::Choice if field.options.is_empty() => {
            format!("{} {}.", field.key, FieldType::Text.expectation())
        }
        FieldType::Choice => {
            format!(
                "{} must be one of its options: {}.",
                field.key,
                list_options(&field.options)
            )
        }
        other => format!("{} {}.", field.key, other.expectation()),
    }
}

fn list_options(options: &[String]) -> String {
    let mut chars = 0;
    let fits = |option: &&String| {
        chars += option.chars().count();
        chars <= SHOWN_OPTIONS_CHARS
    };
    let shown: Vec<&str> = options
        .iter()
        .take(SHOWN_OPTIONS)
        .take_while(fits)
        .map(String::as_str)
        .collect();
    match options.len() - shown.len() {
        0 => shown.join(", "),
        left => format!("{} and {left} more", shown.join(", ")),
    }
}

/// A key as it is shown: a sent one can be of any length and hold what cannot be stored.
fn truncate_key(key: &str) -> String {
    key.chars()
        .take(FIELD_NAME_CHARS)
        .map(|character| {
            if character == '\0' {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
