//! Reading a send request.
//!
//! The gateway reads it to refuse what is malformed, the mailer to work on it; both through the same
//! code. The body is walked in place: a recipient's values borrow from it wherever they hold no escape.
//! Depth costs nothing (a nested value is skipped without recursion), and no number is converted, so
//! `1.50` stays `1.50`.

use std::borrow::Cow;
use std::collections::HashSet;

use audience::ColumnType;
use chrono::NaiveDate;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use model::id::CampaignId;
use model::idempotency::RequestHash;
use model::key::PresentedKey;
use model::limits::{FIELD_NAME_CHARS, RECIPIENTS_PER_REQUEST};

/// A request body in its documented shape.
#[derive(Debug)]
pub struct SendRequest<'a> {
    /// `None` when missing, not a text or not of the form: all of these are `campaign_not_found`.
    pub campaign_id: Option<CampaignId>,
    /// Types of the custom fields that this request creates, by name, trimmed.
    pub field_types: Vec<(Cow<'a, str>, ColumnType)>,
    /// Types that were left out because their field's name is longer than [`FIELD_NAME_CHARS`].
    pub long_names_of_types: usize,
    /// Whether a recipient without a usable variable image is left out instead of printing the default image.
    pub require_variable_images: bool,
    /// The day on which its cards are to begin, by the team's calendar; `None` is today.
    pub send_on: Option<NaiveDate>,
    /// What its cards must cost together, in whole US cents, for anything to be mailed; `None` when any price will do.
    pub expect_total: Option<i64>,
    /// One to [`RECIPIENTS_PER_REQUEST`] recipients.
    pub recipients: Vec<SentRecipient<'a>>,
}

/// One recipient as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentRecipient<'a> {
    /// The caller's own id, as sent (not trimmed: it is echoed).
    pub reference: Option<Cow<'a, str>>,
    /// Every other field in the order sent: trimmed name, trimmed value. Null values are absent; names are
    /// distinct whatever their case.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Fields that were left out because their name is longer than [`FIELD_NAME_CHARS`].
    pub long_names: usize,
}

impl SendRequest<'_> {
    /// Fields and types that were left out because of the length of their names.
    pub fn count_long_names(&self) -> usize {
        self.long_names_of_types
            + self
                .recipients
                .iter()
                .map(|recipient| recipient.long_names)
                .sum::<usize>()
    }
}

impl SentRecipient<'_> {
    /// The value of the field with this lower-case name; empty when absent.
    pub fn value(&self, name: &str) -> &str {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map_or("", |(_, value)| value)
    }
}

/// A body that is not a send request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendRequestError {
    /// Not JSON, or not of the documented shape (422); the text says where and why.
    #[error("{0}")]
    Shape(String),
    /// More than [`RECIPIENTS_PER_REQUEST`] recipients (413).
    #[error("A request takes at most {RECIPIENTS_PER_REQUEST} recipients; this one has {0}.")]
    TooManyRecipients(usize),
}

impl SendRequestError {
    fn shape(message: impl Into<String>) -> Self {
        Self::Shape(message.into())
    }

    fn from_json_error(error: &serde_json::Error) -> Self {
        if error.is_data() {
            return Self::Shape(format!(
                "The body cannot be read: {}.",
                describe_without_position(error)
            ));
        }
        let (line, column) = (error.line(), error.column());
        Self::Shape(format!(
            "The body cannot be read: it is not valid JSON at line {line}, column {column}."
        ))
    }
}

/// The largest `expect_total`: up to it every whole number is a double.
const LARGEST_TOTAL: f64 = 9_007_199_254_740_991.0;

/// The top level, its parts still text. A name given twice is an error of the derived code.
#[derive(Deserialize)]
struct SendEnvelope<'a> {
    #[serde(borrow)]
    campaign_id: Option<&'a RawValue>,
    recipients: Option<&'a RawValue>,
    field_types: Option<&'a RawValue>,
    require_variable_images: Option<&'a RawValue>,
    send_on: Option<&'a RawValue>,
    expect_total: Option<&'a RawValue>,
    api_key: Option<&'a RawValue>,
}

/// A text that borrows where it can.
#[derive(Deserialize)]
struct SendText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> SendEnvelope<'a> {
    fn parse(body: &'a [u8]) -> Result<Self, SendRequestError> {
        let text = std::str::from_utf8(body)
            .map_err(|error| SendRequestError::shape(format!("The body is not UTF-8: {error}.")))?;
        if text.starts_with('\u{feff}') {
            let message = "The body begins with a byte-order mark, which JSON does not have: send it without.";
            return Err(SendRequestError::shape(message));
        }
        if !text.trim_start().starts_with('{') {
            return Err(SendRequestError::shape("The body must be a JSON object."));
        }
        serde_json::from_str(text).map_err(|error| SendRequestError::from_json_error(&error))
    }

    fn campaign_id(&self) -> Option<CampaignId> {
        let SendText(text) = serde_json::from_str(self.campaign_id?.get()).ok()?;
        text.parse().ok()
    }

    fn require_variable_images(&self) -> Result<bool, SendRequestError> {
        match self.require_variable_images.map(RawValue::get) {
            None | Some("null" | "false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(SendRequestError::shape(
                "require_variable_images must be true or false.",
            )),
        }
    }

    fn send_on(&self) -> Result<Option<NaiveDate>, SendRequestError> {
        let Some(raw) = self.send_on.filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        let text = serde_json::from_str::<SendText<'_>>(raw.get()).ok();
        // Ten characters: other ways to write a date are none.
        let day = text.filter(|SendText(text)| text.len() == "2026-12-24".len());
        let day = day.and_then(|SendText(text)| NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok());
        day.map(Some).ok_or_else(|| {
            SendRequestError::shape("send_on must be a day as YYYY-MM-DD, such as \"2026-12-24\".")
        })
    }

    fn expect_total(&self) -> Result<Option<i64>, SendRequestError> {
        let Some(raw) = self.expect_total.filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        // As a double: a whole number is one however it is written, as in 79.0.
        let number = serde_json::from_str::<f64>(raw.get()).ok();
        let cents =
            number.filter(|cents| cents.fract() == 0.0 && (0.0..=LARGEST_TOTAL).contains(cents));
        cents.map(|cents| Some(cents as i64)).ok_or_else(|| {
            SendRequestError::shape("expect_total must be a whole number of US cents, from 0.")
        })
    }

    fn field_types(&self) -> Result<FieldTypes<'a>, SendRequestError> {
        let Some(raw) = self.field_types.filter(|raw| raw.get() != "null") else {
            return Ok(FieldTypes::default());
        };
        let must = "field_types must map field names to text, number, date or yes_no";
        if !raw.get().starts_with('{') {
            return Err(SendRequestError::shape(format!("{must}.")));
        }
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        reader.deserialize_map(FieldTypesVisitor).map_err(|error| {
            SendRequestError::shape(format!("{must}: {}.", describe_without_position(&error)))
        })
    }

    fn for_each_recipient(
        &self,
        mut take: impl FnMut(SentRecipient<'a>),
    ) -> Result<(), SendRequestError> {
        let raw = self
            .recipients
            .filter(|raw| raw.get().starts_with('['))
            .ok_or_else(|| SendRequestError::shape("recipients must be an array of recipients."))?;
        let count = serde_json::Deserializer::from_str(raw.get())
            .deserialize_seq(RecipientsVisitor(&mut take))
            .map_err(|error| SendRequestError::shape(describe_without_position(&error)))?;
        match count {
            0 => Err(SendRequestError::shape(
                "recipients is empty: send at least one recipient.",
            )),
            1..=RECIPIENTS_PER_REQUEST => Ok(()),
            _ => Err(SendRequestError::TooManyRecipients(count)),
        }
    }
}

/// The text of an error about a recipient, without the line and column inside `recipients`: the message
/// names the recipient and the field, which is what the sender can look up.
fn describe_without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Reads a body. Errors: [`SendRequestError`], the first one found.
pub fn parse_request(body: &[u8]) -> Result<SendRequest<'_>, SendRequestError> {
    let envelope = SendEnvelope::parse(body)?;
    let mut recipients = Vec::new();
    let counted = envelope.for_each_recipient(|recipient| {
        // Past the limit the rest is only counted, for the message.
        if recipients.len() < RECIPIENTS_PER_REQUEST {
            recipients.push(recipient);
        }
    });
    let FieldTypes { types, long_names } = envelope.field_types()?;
    let require_variable_images = envelope.require_variable_images()?;
    let send_on = envelope.send_on()?;
    let expect_total = envelope.expect_total()?;
    counted?;
    Ok(SendRequest {
        campaign_id: envelope.campaign_id(),
        field_types: types,
        long_names_of_types: long_names,
        require_variable_images,
        send_on,
        expect_total,
        recipients,
    })
}

/// Checks a body as [`parse`] does, keeping nothing: memory does not grow with the recipients.
pub fn check_request(body: &[u8]) -> Result<(), SendRequestError> {
    let envelope = SendEnvelope::parse(body)?;
    let counted = envelope.for_each_recipient(drop);
    envelope.field_types()?;
    envelope.require_variable_images()?;
    envelope.send_on()?;
    envelope.expect_total()?;
    counted
}

/// The key in the body's `api_key`, for senders that cannot set headers. `None` when the body cannot be
/// read as JSON or holds no text there; a body whose other parts are malformed still gives its key.
pub fn find_api_key(body: &[u8]) -> Option<PresentedKey> {
    let envelope = SendEnvelope::parse(body).ok()?;
    let SendText(text) = serde_json::from_str(envelope.api_key?.get()).ok()?;
    Some(PresentedKey::new(&text))
}

/// What makes two requests the same for the replay window: the campaign and the addresses as sent
/// (trimmed, case-folded, in order), nothing else.
pub fn fingerprint_request(campaign: &CampaignId, recipients: &[SentRecipient<'_>]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(campaign.as_str().as_bytes());
    for recipient in recipients {
        for name in ["address_1", "address_2", "city", "state", "zip"] {
            // A separator that no value can hold keeps "12" + "3" apart from "1" + "23".
            hasher.update(&[0]);
            hasher.update(recipient.value(name).to_lowercase().as_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

/// What makes two requests with the same `Idempotency-Key` the same: all that they ask for, as it was written. The API
/// key in a body is no part of it, so a retry may come with a new one.
///
/// # Errors
/// [`SendRequestError`] when the body is no JSON object.
pub fn hash_request(body: &[u8]) -> Result<RequestHash, SendRequestError> {
    let SendEnvelope {
        campaign_id,
        recipients,
        field_types,
        require_variable_images,
        send_on,
        ..
    } = SendEnvelope::parse(body)?;
    let mut words = vec![
        campaign_id,
        recipients,
        field_types,
        require_variable_images,
    ];
    // Requests without it have the hashes that they had before there was one.
    words.extend(send_on.map(Some));
    let words: Vec<_> = words
        .into_iter()
        .map(|word| word.map(RawValue::get))
        .collect();
    Ok(RequestHash::hash_words("send", &words))
}

/// The types of `field_types`, by name, and how many were left out.
#[derive(Default)]
struct FieldTypes<'a> {
    types: Vec<(Cow<'a, str>, ColumnType)>,
    long_names: usize,
}

struct FieldTypesVisitor;

impl<'de> Visitor<'de> for FieldTypesVisitor {
    type Value = FieldTypes<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object of field names and types")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut seen = HashSet::new();
        let mut read = FieldTypes::default();
        while let Some(SendText(name)) = map.next_key()? {
            let name = parse_field_name(name).map_err(A::Error::custom)?;
            let raw: &RawValue = map.next_value()?;
            let Some(name) = name else {
                read.long_names += 1;
                continue;
            };
            if !seen.insert(name.to_lowercase()) {
                return Err(A::Error::custom(format!("{name} is given twice")));
            }
            let column_type = serde_json::from_str(raw.get()).map_err(|_| {
                A::Error::custom(format!("{name} has the type {}", excerpt_text(raw.get())))
            })?;
            read.types.push((name, column_type));
        }
        Ok(read)
    }
}

/// The beginning of a text that is quoted in a message.
fn excerpt_text(text: &str) -> Cow<'_, str> {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Walks the array, hands each recipient on, and returns how many there were.
struct RecipientsVisitor<'f, F>(&'f mut F);

impl<'de, F: FnMut(SentRecipient<'de>)> Visitor<'de> for RecipientsVisitor<'_, F> {
    type Value = usize;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an array of recipients")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<usize, A::Error> {
        let mut index = 0;
        while let Some(recipient) = sequence.next_element_seed(RecipientSeed { index })? {
            (self.0)(recipient);
            index += 1;
        }
        Ok(index)
    }
}

struct RecipientSeed {
    index: usize,
}

impl<'de> DeserializeSeed<'de> for RecipientSeed {
    type Value = SentRecipient<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let index = self.index;
        if !raw.get().starts_with('{') {
            return Err(D::Error::custom(format!(
                "recipients[{index}] must be an object"
            )));
        }
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_map(RecipientVisitor)
            .map_err(|error| {
                D::Error::custom(format!(
                    "recipients[{index}]: {}",
                    describe_without_position(&error)
                ))
            })
    }
}

struct RecipientVisitor;

impl<'de> Visitor<'de> for RecipientVisitor {
    type Value = SentRecipient<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a recipient")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut recipient = SentRecipient::default();
        let mut seen = FieldNameSet::default();
        while let Some(SendText(name)) = map.next_key()? {
            let name = parse_field_name(name).map_err(A::Error::custom)?;
            let raw: &RawValue = map.next_value()?;
            let Some(name) = name else {
                recipient.long_names += 1;
                continue;
            };
            if !seen.insert(&name) {
                return Err(A::Error::custom(format!("the field {name} is given twice")));
            }
            let Some(value) =
                parse_scalar(raw).map_err(|why| A::Error::custom(format!("{name} {why}")))?
            else {
                continue;
            };
            if name.eq_ignore_ascii_case("reference") {
                recipient.reference = Some(value);
            } else {
                recipient.fields.push((name, trim_value(value)));
            }
        }
        Ok(recipient)
    }
}

/// The names met so far in one recipient, whatever their case. A few are compared one by one; many go
/// through a set, so that ten thousand names cost no more than their number.
#[derive(Default)]
struct FieldNameSet {
    few: Vec<String>,
    many: HashSet<String>,
}

impl FieldNameSet {
    const FEW: usize = 24;

    fn insert(&mut self, name: &str) -> bool {
        let folded = name.to_lowercase();
        if self.few.contains(&folded) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(folded);
            return true;
        }
        self.many.insert(folded)
    }
}

/// A field's name: trimmed, not empty, without control characters. `None` for one that is longer than a column's may be:
/// what it names is left out and counted.
fn parse_field_name(name: Cow<'_, str>) -> Result<Option<Cow<'_, str>>, String> {
    let name = trim_value(name);
    if name.is_empty() {
        return Err("a field has an empty name".to_owned());
    }
    if name.chars().any(char::is_control) {
        return Err("a field's name holds a control character".to_owned());
    }
    let is_long = name.len() > FIELD_NAME_CHARS && name.chars().count() > FIELD_NAME_CHARS;
    Ok((!is_long).then_some(name))
}

/// A field's value as text: a string's content, a number's or a boolean's own JSON text; null is `None`.
fn parse_scalar(raw: &RawValue) -> Result<Option<Cow<'_, str>>, &'static str> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => parse_string(text).map(Some),
        Some(b'n') => Ok(None),
        Some(b'[') => Err("must be a text, a number or a boolean, not an array"),
        Some(b'{') => Err("must be a text, a number or a boolean, not an object"),
        _ => Ok(Some(Cow::Borrowed(text))),
    }
}

fn parse_string(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let inside = &text[1..text.len() - 1];
    if !inside.contains('\\') {
        return Ok(Cow::Borrowed(inside));
    }
    let SendText(value) = serde_json::from_str(text)
        .map_err(|_| "is not a valid text: an escape in it has no meaning")?;
    if value.contains('\0') {
        return Err("holds the character U+0000, which cannot be stored");
    }
    Ok(value)
}

fn trim_value(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
