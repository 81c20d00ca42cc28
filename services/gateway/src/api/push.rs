//! The operations of the Integrations push API.

use std::collections::BTreeMap;

use contract::push::{
    BeginAnswer, CompleteAnswer, ContactAnswer, DeclareAnswer, DryRunAnswer, IntegrationAnswer,
    LockedField, OpenSync, PushAnswer, PushError, RejectionsAnswer, SchemaAnswer, SyncAnswer,
    SyncMode, SyncsAnswer, TypeLockReason, ValidatedComplete,
};
use model::limits::{EXTERNAL_ID_CHARS, IDEMPOTENCY_KEY_CHARS, PAGE_ITEMS};
use serde_json::{Value, json};
use uuid::Uuid;

use super::operation::{
    ApiOperation, DocumentedError, ErrorEnvelopeKind, RequestBodySpec, answered, failed, parameter,
    replayed, required,
};
use super::shape::{BeginRequestShape, CompleteRequestShape, DeclarationShape, PushRequest};
use super::types::SchemaRegistry;
use crate::push::BASE_PATH;
use crate::push::answer::status_of;

/// The tag of these operations.
pub(super) const TAG: &str = "Integrations push";

/// All of them.
pub(super) fn operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    vec![
        integration(types),
        schema(types),
        declare(types),
        sync(types),
        begin(types),
        complete(types),
        push(types),
        rejections(types),
        syncs(types),
        contact(types),
    ]
}

/// An operation that takes nothing.
fn reading(
    id: &'static str,
    path: &str,
    summary: &'static str,
    description: &'static str,
) -> ApiOperation {
    ApiOperation {
        method: "get",
        path: format!("{BASE_PATH}{path}"),
        id,
        tag: TAG,
        summary,
        description: description.into(),
        parameters: Vec::new(),
        body: None,
        opened_by: &["integrationKey"],
        responses: BTreeMap::new(),
    }
}

/// What any request may be refused for, and these.
fn failures(own: Vec<PushError>) -> BTreeMap<u16, Value> {
    let common = [
        PushError::InvalidKey,
        PushError::IntegrationUnavailable,
        PushError::RateLimited,
        PushError::InternalError,
    ];
    failed(
        ErrorEnvelopeKind::Nested,
        own.iter().chain(&common).map(failure).collect(),
    )
}

/// The same for a request that a syncer does.
fn changing(mut own: Vec<PushError>) -> BTreeMap<u16, Value> {
    own.extend([
        PushError::InvalidJson("The body is not JSON.".to_owned()),
        PushError::InvalidRequest(
            "The body has another shape; the message says what is wanted.".to_owned(),
        ),
        PushError::PayloadTooLarge,
        PushError::DeadlinePassed,
    ]);
    failures(own)
}

/// The same for a request with a key.
fn keyed(mut own: Vec<PushError>) -> BTreeMap<u16, Value> {
    own.extend([
        PushError::MissingIdempotencyKey,
        PushError::InvalidIdempotencyKey,
        PushError::IdempotencyKeyReused,
        PushError::InProgress,
    ]);
    changing(own)
}

fn failure(error: &PushError) -> DocumentedError {
    let (code, message, details) = (error.code(), error.to_string(), error.details());
    DocumentedError {
        status: status_of(error),
        code,
        message,
        details,
    }
}

fn key() -> Value {
    let schema = json!({"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_CHARS});
    required(parameter(
        "header",
        "Idempotency-Key",
        schema,
        "A new value for each request, the same on its retries.",
    ))
}

fn validate(description: &str) -> Value {
    parameter("query", "validate", json!({"type": "string"}), description)
}

fn limit() -> Value {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": PAGE_ITEMS, "default": 100});
    parameter("query", "limit", schema, "Items of a page.")
}

fn uuid() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn integration(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = failures(Vec::new());
    let answer = types.written::<IntegrationAnswer>();
    responses.insert(
        200,
        answered(
            "The integration, its open sync, the limits and the next step.",
            answer,
        ),
    );
    let summary = "The integration of the key";
    let description =
        "What a client asks first: where the integration stands and what to call next.";
    ApiOperation {
        responses,
        ..reading("getIntegration", "", summary, description)
    }
}

fn schema(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = failures(Vec::new());
    responses.insert(
        200,
        answered(
            "In the order of their first declaration.",
            types.written::<SchemaAnswer>(),
        ),
    );
    ApiOperation {
        responses,
        ..reading(
            "getSchema",
            "/schema",
            "Declared fields",
            "The fields that were declared so far.",
        )
    }
}

fn declare(types: &mut SchemaRegistry) -> ApiOperation {
    let fields = vec![LockedField {
        key: "lifetime_value".to_owned(),
        why: TypeLockReason::Owner,
    }];
    let mut responses = changing(vec![
        PushError::TooManyFields { received: 1001 },
        PushError::FieldLocked { fields },
    ]);
    responses.insert(
        200,
        answered("What changed.", types.written::<DeclareAnswer>()),
    );
    let example = json!({"fields": [
        {"key": "name", "semantic": "first_name"},
        {"key": "mail", "semantic": "email"},
        {"key": "plan", "type": "choice", "options": ["free", "paid"]},
    ]});
    let summary = "Declare fields";
    let description = "Says which fields records have. A declared field that is not mentioned keeps its column and values.";
    ApiOperation {
        method: "post",
        body: Some(RequestBodySpec {
            schema: types.read::<DeclarationShape>(),
            example,
            is_required: true,
        }),
        responses,
        ..reading("declareFields", "/schema", summary, description)
    }
}

fn sync(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = failures(Vec::new());
    responses.insert(
        200,
        answered(
            "The latest sync, or null before the first one.",
            types.written::<SyncAnswer>(),
        ),
    );
    ApiOperation {
        responses,
        ..reading(
            "getSync",
            "/sync",
            "The latest sync",
            "Its state and progress.",
        )
    }
}

fn begin(types: &mut SchemaRegistry) -> ApiOperation {
    let open = OpenSync {
        sync_id: model::id::SyncId(Uuid::nil()),
        mode: SyncMode::Full,
        expires_at: chrono::DateTime::UNIX_EPOCH,
    };
    let mut responses = keyed(vec![PushError::SyncInProgress(open)]);
    responses.insert(
        200,
        replayed(answered("The open sync.", types.written::<BeginAnswer>())),
    );
    let description = "A `full` sync marks every contact that it did not receive as removed when it completes; a `delta` sync \
                       removes only what is deleted explicitly. One sync is open at a time, for 24 hours at the most.";
    ApiOperation {
        method: "post",
        parameters: vec![key()],
        body: Some(RequestBodySpec {
            schema: types.read::<BeginRequestShape>(),
            example: json!({"mode": "full"}),
            is_required: false,
        }),
        responses,
        ..reading("beginSync", "/sync", "Begin a sync", description)
    }
}

fn complete(types: &mut SchemaRegistry) -> ApiOperation {
    let guard = PushError::RemovalGuard {
        count: 0,
        share: 0.0,
        limit: 0.0,
    };
    let mut responses = keyed(vec![
        PushError::InvalidSyncId,
        PushError::NoOpenSync,
        PushError::SyncNotFound,
        guard,
    ]);
    let answer =
        json!({"oneOf": [types.written::<CompleteAnswer>(), types.written::<ValidatedComplete>()]});
    responses.insert(
        200,
        replayed(answered(
            "What the sync did; with `validate=1`, what completing would do.",
            answer,
        )),
    );
    let description = "Always to be done, also when some records were rejected.";
    ApiOperation {
        method: "patch",
        parameters: vec![
            key(),
            validate(
                "`1` to be told what would be removed. The `Idempotency-Key` is not read then, and may be absent.",
            ),
        ],
        body: Some(RequestBodySpec {
            schema: types.read::<CompleteRequestShape>(),
            example: json!({}),
            is_required: false,
        }),
        responses,
        ..reading("completeSync", "/sync", "Complete the sync", description)
    }
}

fn push(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = keyed(vec![
        PushError::NoOpenSync,
        PushError::TooManyRecords { received: 1001 },
    ]);
    let answer = json!({"oneOf": [types.written::<PushAnswer>(), types.written::<DryRunAnswer>()]});
    responses.insert(
        200,
        replayed(answered("What became of the records.", answer)),
    );
    let example = json!({"records": [
        {"external_id": "7", "fields": {"name": "Ada", "mail": "ada@example.com", "plan": "paid"}},
        {"external_id": "8", "op": "delete"},
    ]});
    let description = "Into the open sync. A bad record never stops the rest of its batch.";
    let dry = "`1` for a dry run: the same rules, nothing written, no open sync needed. The `Idempotency-Key` is not read then, \
               and may be absent.";
    ApiOperation {
        method: "post",
        parameters: vec![key(), validate(dry)],
        body: Some(RequestBodySpec {
            schema: types.read::<PushRequest>(),
            example,
            is_required: true,
        }),
        responses,
        ..reading("pushRecords", "/records", "Push records", description)
    }
}

const RESOLVED: &str =
    "`false` leaves out what a later batch of the sync has resolved. Any other value is ignored.";

fn rejections(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = failures(vec![
        PushError::InvalidSyncId,
        PushError::InvalidType,
        PushError::InvalidCursor,
        PushError::InvalidLimit,
        PushError::SyncNotFound,
    ]);
    responses.insert(
        200,
        answered("A page.", types.written::<RejectionsAnswer>()),
    );
    let kind = json!({"type": "string", "enum": ["rejection", "warning"], "default": "rejection"});
    let after = json!({"type": "string", "pattern": "^[0-9]{1,15}$"});
    let description =
        "Rejected records of a sync, or with `type=warning` values dropped from accepted ones.";
    ApiOperation {
        parameters: vec![
            parameter(
                "query",
                "syncId",
                uuid(),
                "The latest sync unless it is given.",
            ),
            parameter("query", "type", kind, "What to list."),
            parameter("query", "resolved", json!({"type": "string"}), RESOLVED),
            parameter(
                "query",
                "after",
                after,
                "The `nextAfter` of the page before.",
            ),
            limit(),
        ],
        responses,
        ..reading(
            "listRejections",
            "/sync/rejections",
            "Rejections of a sync",
            description,
        )
    }
}

fn syncs(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = failures(vec![PushError::InvalidCursor, PushError::InvalidLimit]);
    responses.insert(
        200,
        answered("A page, the newest first.", types.written::<SyncsAnswer>()),
    );
    ApiOperation {
        parameters: vec![
            parameter(
                "query",
                "after",
                uuid(),
                "The `nextAfter` of the page before.",
            ),
            limit(),
        ],
        responses,
        ..reading("listSyncs", "/syncs", "Syncs", "All syncs that are kept.")
    }
}

fn contact(types: &mut SchemaRegistry) -> ApiOperation {
    let needed =
        PushError::InvalidRequest("externalId names the contact and is needed.".to_owned());
    let mut responses = failures(vec![needed, PushError::ContactNotFound]);
    responses.insert(
        200,
        answered("The contact.", types.written::<ContactAnswer>()),
    );
    let id = json!({"type": "string", "minLength": 1, "maxLength": EXTERNAL_ID_CHARS});
    ApiOperation {
        parameters: vec![required(parameter(
            "query",
            "externalId",
            id,
            "The caller's id of the contact.",
        ))],
        responses,
        ..reading(
            "getContact",
            "/contacts",
            "A contact",
            "Its stored values and its newest issues.",
        )
    }
}
