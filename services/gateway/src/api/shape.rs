//! The shapes of bodies that are read in place, without a type of their own: what the readers in `contract` take.

#![expect(dead_code, reason = "only the shape is used")]

use std::collections::BTreeMap;

use contract::push::{FieldSemantic, FieldType, SyncMode};
use model::limits::{
    DECLARED_FIELDS, EXTERNAL_ID_CHARS, FIELD_NAME_CHARS, OPTION_CHARS, OPTIONS_PER_FIELD,
    RECIPIENTS_PER_REQUEST, RECORDS_PER_BATCH,
};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

/// The name of a recipient's field.
const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

/// A text that can be stored.
const STORABLE: &str = r"^[^\x00]*$";

/// A value as text. A number or a boolean counts as its JSON text; null is as absent.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Scalar")]
enum ScalarShape {
    /// At most 600 characters are kept. U+0000 cannot be stored.
    Text(#[schemars(regex(pattern = STORABLE))] String),
    /// As it is written.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// As absent.
    Null(()),
}

/// Recipients for one campaign. A name that is not listed here is ignored. At most 4456448 bytes.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SendRequest")]
pub(super) struct SendRequestShape {
    /// `PA-` and six characters; case-sensitive.
    #[schemars(regex(pattern = r"^PA-[A-Z0-9]{6}$"))]
    campaign_id: String,
    /// Whom to mail. On a Neighborhood Mail campaign these are centers, 250 at the most.
    #[schemars(length(min = 1, max = RECIPIENTS_PER_REQUEST))]
    recipients: Vec<RecipientShape>,
    /// Types of the custom fields that this request creates, by name; one without an entry is a text.
    #[schemars(extend("propertyNames" = {"pattern": NAME}))]
    field_types: Option<BTreeMap<String, CustomFieldType>>,
    /// When true, a recipient without a usable variable image is not mailed instead of printing the default image.
    require_variable_images: Option<bool>,
    /// The day on which the cards are to begin, by the team's calendar: from today to 180 days ahead. They do not print before it, and
    /// `mail_by_date` is counted from it. Charged at once.
    #[schemars(extend("format" = "date"))]
    send_on: Option<String>,
    /// What the request's cards must cost together, in whole US cents: `price.totalCents` of a dry run. When they would cost another
    /// sum, the request is refused with 409 `price_changed`.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64))]
    expect_total: Option<i64>,
    /// The Full access key, only for senders that cannot set headers.
    api_key: Option<String>,
}

/// The type of a custom field.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CustomFieldType {
    Text,
    Number,
    Date,
    YesNo,
}

/// Somebody to mail. Names match whatever their case; each stands once. A field whose name is longer than 200 characters is
/// left out and counted in `longNamesIgnored`.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("propertyNames" = {"pattern": NAME}))]
#[schemars(rename = "Recipient")]
struct RecipientShape {
    /// The caller's own id, echoed in the result.
    #[schemars(default)]
    reference: Option<ScalarShape>,
    /// First name.
    first_name: Option<ScalarShape>,
    /// Last name.
    last_name: Option<ScalarShape>,
    /// Needed for mailing, as are `city`, `state` and `zip`: without it the recipient is `invalid_address`.
    address_1: Option<ScalarShape>,
    /// Counts for deliverability; no part of the result's address.
    address_2: Option<ScalarShape>,
    /// City.
    city: Option<ScalarShape>,
    /// Two letters.
    state: Option<ScalarShape>,
    /// Five digits, or nine.
    zip: Option<ScalarShape>,
    /// Like `M/D` or `YYYY-MM-DD`.
    birthday: Option<ScalarShape>,
    /// E-mail address.
    email: Option<ScalarShape>,
    /// Telephone number.
    phone: Option<ScalarShape>,
    /// Organization.
    organization: Option<ScalarShape>,
    // Any other name is a custom field, whose column is made when it is new.
    #[serde(flatten)]
    custom: BTreeMap<String, ScalarShape>,
}

/// The fields that an integration sends.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Declaration")]
pub(super) struct DeclarationShape {
    /// All of them; one that is left out keeps its column and values.
    #[schemars(length(max = DECLARED_FIELDS))]
    fields: Vec<DeclaredField>,
}

/// A field as it is declared. Two fields of one declaration have neither one key nor one semantic.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("if" = {"required": ["type"], "properties": {"type": {"const": "choice"}}}))]
#[schemars(extend("then" = {"properties": {"options": {
    "maxItems": OPTIONS_PER_FIELD,
    "items": {"maxLength": OPTION_CHARS, "pattern": STORABLE},
}}}))]
struct DeclaredField {
    /// What records call it; case-sensitive.
    #[schemars(length(min = 1, max = FIELD_NAME_CHARS), regex(pattern = r"^[^\x00]*[^\s\x00][^\x00]*$"))]
    key: String,
    /// What people call it; the key unless it is given.
    #[schemars(length(max = FIELD_NAME_CHARS), regex(pattern = STORABLE))]
    label: Option<String>,
    /// `text` unless it is given.
    #[serde(rename = "type")]
    field_type: Option<FieldType>,
    /// The choices of a `choice` field, at most 1000 of at most 200 characters; of no meaning for the others. Without any the
    /// field takes any text.
    options: Option<Vec<String>>,
    /// The contact column that it fills.
    semantic: Option<FieldSemantic>,
}

/// How to begin a sync.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "BeginRequest")]
pub(super) struct BeginRequestShape {
    /// `full` unless it is given.
    mode: Option<SyncMode>,
}

/// Which sync to complete.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CompleteRequest")]
pub(super) struct CompleteRequestShape {
    /// The open one unless it is given; when it is, it must be that one.
    sync_id: Option<Uuid>,
    /// Goes through with a removal that the integration's removal guard would stop.
    confirm_removal: Option<bool>,
}

/// Records for the open sync. Each is judged by itself: a bad one is reported in the answer and stops no other. At most
/// 4456448 bytes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PushRequest {
    /// At most 65536 bytes each.
    #[schemars(length(max = RECORDS_PER_BATCH))]
    #[schemars(with = "Vec<AnyRecord>")]
    records: Vec<RecordShape>,
}

/// A record, or what is rejected as one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum AnyRecord {
    /// As it should be.
    Record(RecordShape),
    /// Rejected.
    Other(serde_json::Value),
}

/// A contact to upsert or delete.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Record")]
struct RecordShape {
    /// The caller's stable id of the contact.
    #[schemars(length(min = 1, max = EXTERNAL_ID_CHARS))]
    external_id: String,
    /// `upsert` unless it is given.
    op: Option<RecordOpShape>,
    /// Values by declared key. An absent field keeps its value; null is stored as blank.
    fields: Option<BTreeMap<String, ScalarShape>>,
}

/// What to do with a contact.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Op")]
enum RecordOpShape {
    /// Make it or change it.
    Upsert,
    /// Mark it removed.
    Delete,
}
