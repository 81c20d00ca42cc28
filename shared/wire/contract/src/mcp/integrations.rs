//! The tools of the Integrations MCP server: the push API's operations, described for a model.

mod answers;

use serde_json::{Value, json};

use crate::mcp::schema::{
    empty_object_schema, list_schema, object_schema, one_of_schema, text_schema, with_description,
    yes_no_schema,
};
use crate::mcp::{McpTool, ServerInfo, ToolAnnotations};
use crate::push::{FieldSemantic, FieldType};
use model::limits::{
    DECLARED_FIELDS, EXTERNAL_ID_CHARS, IDEMPOTENCY_KEY_CHARS, PAGE_ITEMS, PAGE_ITEMS_DEFAULT,
    RECORD_BYTES, RECORDS_PER_BATCH,
};

/// How the Integrations server introduces itself.
pub const INTEGRATIONS_SERVER: ServerInfo = ServerInfo {
    name: "pillarbox-integrations",
    title: "Pillarbox Integrations",
    version: env!("CARGO_PKG_VERSION"),
};

/// What a model should know before it calls a tool of the Integrations server.
pub const INTEGRATIONS_INSTRUCTIONS: &str = "Syncs contacts from a CRM into one Pillarbox integration. \
    Call get_status first: its nextStep says what to call next. Declare the fields once with declare_schema, then \
    begin_sync, push_records in batches, and always complete_sync, also when some records were rejected. \
    A full sync removes every contact that it did not receive when it completes; use a delta sync to change or delete \
    some contacts only. A failed call carries error and message and has changed nothing, unless error is timeout: \
    then call again with the idempotencyKey of its details.";

/// A tool of the Integrations server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegrationTool {
    /// GET of the push API's root, with the declared fields.
    GetStatus,
    /// POST schema.
    DeclareSchema,
    /// POST records with `validate=1`.
    ValidateRecords,
    /// POST sync.
    BeginSync,
    /// POST records.
    PushRecords,
    /// PATCH sync.
    CompleteSync,
    /// GET sync/rejections.
    GetRejections,
}

impl IntegrationTool {
    /// Every tool, in the order of the list: that of a first use.
    pub const ALL: [Self; 7] = [
        Self::GetStatus,
        Self::DeclareSchema,
        Self::ValidateRecords,
        Self::BeginSync,
        Self::PushRecords,
        Self::CompleteSync,
        Self::GetRejections,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GetStatus => "get_status",
            Self::DeclareSchema => "declare_schema",
            Self::ValidateRecords => "validate_records",
            Self::BeginSync => "begin_sync",
            Self::PushRecords => "push_records",
            Self::CompleteSync => "complete_sync",
            Self::GetRejections => "get_rejections",
        }
    }

    /// The tool of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// All that a client knows of it.
    pub fn describe(self) -> McpTool {
        let (title, annotations) = self.title_and_hints();
        McpTool {
            name: self.name(),
            title,
            description: self.description(),
            input_schema: self.input_schema(),
            output_schema: answers::output_schema(self),
            annotations,
        }
    }

    const fn title_and_hints(self) -> (&'static str, ToolAnnotations) {
        match self {
            Self::GetStatus => ("Get status", ToolAnnotations::READS),
            Self::DeclareSchema => ("Declare fields", ToolAnnotations::WRITES),
            Self::ValidateRecords => ("Validate records", ToolAnnotations::READS),
            Self::BeginSync => ("Begin a sync", ToolAnnotations::WRITES),
            Self::PushRecords => ("Push records", ToolAnnotations::REMOVES),
            Self::CompleteSync => ("Complete the sync", ToolAnnotations::REMOVES),
            Self::GetRejections => ("List rejections and warnings", ToolAnnotations::READS),
        }
    }

    fn description(self) -> String {
        match self {
            Self::GetStatus => "Shows the integration: its status, its declared fields, the open sync if there is one, \
                the limits, and in nextStep what to call next. Call it first, and whenever you are unsure where \
                things stand."
                .to_owned(),
            Self::DeclareSchema => format!(
                "Declares the fields that records hold. Needed once before the first sync, and again when fields are \
                 added or change. State each field whole: what you leave out of one is reset to its default. Fields \
                 that you do not mention stay declared and are listed in noLongerSent. Give the fields that hold name, \
                 address, e-mail and so on their semantic: without address_1, city, state and zip no contact can be \
                 mailed. At most {DECLARED_FIELDS} fields. Fails with too_many_fields; field_locked when the owner set \
                 another type for a column, or campaigns or formulas use the column with another type; invalid_request when a field is malformed."
            ),
            Self::ValidateRecords => "Checks records by the rules of push_records and writes nothing; no sync needs to be \
                open. Use it to try a mapping on a few records before a sync."
                .to_owned(),
            Self::BeginSync => "Begins a sync; records can then be pushed for 24 hours. mode full means that you will send \
                every contact: those you do not send are removed when the sync completes. mode delta means that you \
                send changes only. Fails with sync_in_progress while another sync is open: its id and mode are in \
                details. Go on with it; completing a full one that has not received every contact removes the others."
                .to_owned(),
            Self::PushRecords => format!(
                "Pushes a batch of at most {RECORDS_PER_BATCH} records into the open sync. One bad record never stops the \
                 rest: the answer counts what was accepted and lists each rejected record with a code, and values that \
                 were dropped as warnings. Correct rejected records and push them again before you complete the sync. \
                 Fails with no_open_sync (call begin_sync first) and too_many_records (send smaller batches)."
            ),
            Self::CompleteSync => "Completes the open sync. Always do it once everything was pushed, also when records were \
                rejected. A full sync now removes every contact that it did not receive; markedRemoved tells how many. \
                Never complete a full sync that you did not fill. Fails with no_open_sync; with removal_guard when more \
                contacts would be removed than the owner allows: ask a person before you call again with confirmRemoval."
                .to_owned(),
            Self::GetRejections => format!(
                "Lists, page by page, the records that a sync rejected, or with type warning the values that it dropped \
                 from accepted records. What a later batch of the sync accepted is left out, unless includeResolved is \
                 true. Without syncId it is the latest sync. A page has {PAGE_ITEMS_DEFAULT} items \
                 unless limit says otherwise; pass nextAfter back as after, with the same syncId, type and limit, \
                 until it is null."
            ),
        }
    }

    fn input_schema(self) -> Value {
        match self {
            Self::GetStatus => empty_object_schema(),
            Self::DeclareSchema => {
                object_schema(json!({"fields": declared_fields_schema()}), &["fields"])
            }
            Self::ValidateRecords => {
                object_schema(json!({"records": records_schema()}), &["records"])
            }
            Self::BeginSync => object_schema(
                json!({
                    "mode": one_of_schema(&["full", "delta"], "full, the default, or delta."),
                    "idempotencyKey": idempotency_key_schema(),
                }),
                &[],
            ),
            Self::PushRecords => object_schema(
                json!({"records": records_schema(), "idempotencyKey": idempotency_key_schema()}),
                &["records"],
            ),
            Self::CompleteSync => object_schema(
                json!({
                    "syncId": sync_id_schema("The sync that you mean; the open one when left out."),
                    "confirmRemoval": yes_no_schema("True goes through with a removal that the removal guard stopped."),
                    "idempotencyKey": idempotency_key_schema(),
                }),
                &[],
            ),
            Self::GetRejections => object_schema(
                json!({
                    "syncId": sync_id_schema("The sync; the latest one when left out."),
                    "type": one_of_schema(&["rejection", "warning"], "rejection, the default, or warning."),
                    "includeResolved": yes_no_schema("True lists those too that a later batch of the sync has resolved."),
                    "after": {"type": "string", "pattern": "^[0-9]{1,15}$", "description": "nextAfter of the page before."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": PAGE_ITEMS, "default": PAGE_ITEMS_DEFAULT, "description": "Items of a page."},
                }),
                &[],
            ),
        }
    }
}

fn sync_id_schema(description: &str) -> Value {
    json!({"type": "string", "format": "uuid", "description": description})
}

fn idempotency_key_schema() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": IDEMPOTENCY_KEY_CHARS,
        "description": "Any text that you have not used before. A call that is repeated with the same key and the same \
            arguments is done once and gets the same answer. Left out, each call has a key of its own.",
    })
}

/// The column of a contact that a field fills.
fn semantic_schema() -> Value {
    one_of_schema(
        &FieldSemantic::ALL.map(FieldSemantic::as_str),
        "The contact's column that the field fills; left out of a field that fills none of these.",
    )
}

/// A field as it is declared; read, it has the same properties.
fn field_properties(semantic: Value) -> Value {
    let types = FieldType::ALL.map(FieldType::as_str);
    json!({
        "key": {"type": "string", "minLength": 1, "description": "What records call the field; case-sensitive."},
        "label": text_schema("What people call it; the key when left out."),
        "type": one_of_schema(&types, "How values are read; text when left out."),
        "options": with_description(list_schema(text_schema("A choice.")), "The choices of a choice field; without any it takes any text."),
        "semantic": semantic,
    })
}

fn declared_fields_schema() -> Value {
    json!({
        "type": "array",
        "maxItems": DECLARED_FIELDS,
        "items": object_schema(field_properties(semantic_schema()), &["key"]),
        "description": "The fields that records bring, each with a key of its own.",
    })
}

fn records_schema() -> Value {
    let properties = json!({
        "external_id": {
            "type": "string", "minLength": 1, "maxLength": EXTERNAL_ID_CHARS,
            "description": "The CRM's own id of the contact, which never changes.",
        },
        "op": one_of_schema(&["upsert", "delete"], "upsert, the default, makes or changes the contact; delete removes it."),
        "fields": {
            "type": "object",
            "additionalProperties": true,
            "description": "Values by the key of a declared field: a text, a number, true, false or null. A field that is left out keeps its value; null blanks it.",
        },
    });
    json!({
        "type": "array",
        "maxItems": RECORDS_PER_BATCH,
        "items": object_schema(properties, &["external_id"]),
        "description": format!("The contacts, each at most {RECORD_BYTES} bytes of JSON and at most once in a batch."),
    })
}
