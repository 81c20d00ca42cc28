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
    ApiOperation, DocumentedError, ErrorEnvelopeKind, RequestBodySpec, build_parameter,
    error_responses, json_response, mark_required, with_replay_header,
};
use super::shape::{BeginRequestShape, CompleteRequestShape, DeclarationShape, PushRequest};
use super::types::SchemaRegistry;
use crate::push::BASE_PATH;
use crate::push::answer::error_status;

/// The tag of these operations.
pub(super) const TAG: &str = "Integrations push";

/// All of them.
pub(super) fn list_operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    vec![
        integration_operation(types),
        schema_operation(types),
        declare_operation(types),
        sync_operation(types),
        begin_operation(types),
        complete_operation(types),
        push_operation(types),
        rejections_operation(types),
        syncs_operation(types),
        contact_operation(types),
    ]
}

/// An operation that takes nothing.
fn read_operation(
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
fn push_error_responses(own: Vec<PushError>) -> BTreeMap<u16, Value> {
    let common = [
        PushError::InvalidKey,
        PushError::IntegrationUnavailable,
        PushError::RateLimited,
        PushError::InternalError,
    ];
    error_responses(
        ErrorEnvelopeKind::Nested,
        own.iter().chain(&common).map(documented_error).collect(),
    )
}

/// The same for a request that a syncer does.
fn change_error_responses(mut own: Vec<PushError>) -> BTreeMap<u16, Value> {
    own.extend([
        PushError::InvalidJson("The body is not JSON.".to_owned()),
        PushError::InvalidRequest(
            "The body has another shape; the message says what is wanted.".to_owned(),
        ),
        PushError::PayloadTooLarge,
        PushError::UnsupportedEncoding,
        PushError::DeadlinePassed,
    ]);
    push_error_responses(own)
}

/// The same for a request with a key.
fn keyed_error_responses(mut own: Vec<PushError>) -> BTreeMap<u16, Value> {
    own.extend([
        PushError::MissingIdempotencyKey,
        PushError::InvalidIdempotencyKey,
        PushError::IdempotencyKeyReused,
        PushError::InProgress,
    ]);
    change_error_responses(own)
}

fn documented_error(error: &PushError) -> DocumentedError {
    let (code, message, details) = (error.code(), error.to_string(), error.details());
    DocumentedError {
        status: error_status(error),
        code,
        message,
        details,
    }
}

fn idempotency_key_parameter() -> Value {
    let schema = json!({"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_CHARS});
    mark_required(build_parameter(
        "header",
        "Idempotency-Key",
        schema,
        "A new value for each request, the same on its retries.",
    ))
}

fn validate_parameter(description: &str) -> Value {
    build_parameter("query", "validate", json!({"type": "string"}), description)
}

fn limit_parameter() -> Value {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": PAGE_ITEMS, "default": 100});
    build_parameter("query", "limit", schema, "Items of a page.")
}

fn uuid_schema() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn integration_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = push_error_responses(Vec::new());
    let answer = types.written_schema::<IntegrationAnswer>();
    responses.insert(
        200,
        json_response(
            "The integration, its open sync, the limits and the next step.",
            answer,
        ),
    );
    let summary = "The integration of the key";
    let description =
        "What a client asks first: where the integration stands and what to call next.";
    ApiOperation {
        responses,
        ..read_operation("getIntegration", "", summary, description)
    }
}

fn schema_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = push_error_responses(Vec::new());
    responses.insert(
        200,
        json_response(
            "In the order of their first declaration.",
            types.written_schema::<SchemaAnswer>(),
        ),
    );
    ApiOperation {
        responses,
        ..read_operation(
            "getSchema",
            "/schema",
            "Declared fields",
            "The fields that were declared so far.",
        )
    }
}

fn declare_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let fields = vec![LockedField {
        key: "lifetime_value".to_owned(),
        why: TypeLockReason::Owner,
    }];
    let mut responses = change_error_responses(vec![
        PushError::TooManyFields { received: 1001 },
        PushError::FieldLocked { fields },
    ]);
    responses.insert(
        200,
        json_response("What changed.", types.written_schema::<DeclareAnswer>()),
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
            schema: types.read_schema::<DeclarationShape>(),
            example,
            is_required: true,
        }),
        responses,
        ..read_operation("declareFields", "/schema", summary, description)
    }
}

fn sync_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = push_error_responses(Vec::new());
    responses.insert(
        200,
        json_response(
            "The latest sync, or null before the first one.",
            types.written_schema::<SyncAnswer>(),
        ),
    );
    ApiOperation {
        responses,
        ..read_operation(
            "getSync",
            "/sync",
            "The latest sync",
            "Its state and progress.",
        )
    }
}

fn begin_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let open = OpenSync {
        sync_id: model::id::SyncId(Uuid::nil()),
        mode: SyncMode::Full,
        expires_at: chrono::DateTime::UNIX_EPOCH,
    };
    let mut responses = keyed_error_responses(vec![PushError::SyncInProgress(open)]);
    responses.insert(
        200,
        with_replay_header(json_response(
            "The open sync.",
            types.written_schema::<BeginAnswer>(),
        )),
    );
    let description = "A `full` sync marks every contact that it did not receive as removed when it completes; a `delta` sync \
                       removes only what is deleted explicitly. One sync is open at a time, for 24 hours at the most.";
    ApiOperation {
        method: "post",
        parameters: vec![idempotency_key_parameter()],
        body: Some(RequestBodySpec {
            schema: types.read_schema::<BeginRequestShape>(),
            example: json!({"mode": "full"}),
            is_required: false,
        }),
        responses,
        ..read_operation("beginSync", "/sync", "Begin a sync", description)
    }
}

fn complete_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let guard = PushError::RemovalGuard {
        count: 0,
        share: 0.0,
        limit: 0.0,
    };
    let mut responses = keyed_error_responses(vec![
        PushError::InvalidSyncId,
        PushError::NoOpenSync,
        PushError::SyncNotFound,
        guard,
    ]);
    let answer = json!({"oneOf": [types.written_schema::<CompleteAnswer>(), types.written_schema::<ValidatedComplete>()]});
    responses.insert(
        200,
        with_replay_header(json_response(
            "What the sync did; with `validate=1`, what completing would do.",
            answer,
        )),
    );
    let description = "Always to be done, also when some records were rejected.";
    ApiOperation {
        method: "patch",
        parameters: vec![
            idempotency_key_parameter(),
            validate_parameter(
                "`1` to be told what would be removed. The `Idempotency-Key` is not read then, and may be absent.",
            ),
        ],
        body: Some(RequestBodySpec {
            schema: types.read_schema::<CompleteRequestShape>(),
            example: json!({}),
            is_required: false,
        }),
        responses,
        ..read_operation("completeSync", "/sync", "Complete the sync", description)
    }
}

fn push_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = keyed_error_responses(vec![
        PushError::NoOpenSync,
        PushError::TooManyRecords { received: 1001 },
    ]);
    let answer = json!({"oneOf": [types.written_schema::<PushAnswer>(), types.written_schema::<DryRunAnswer>()]});
    responses.insert(
        200,
        with_replay_header(json_response("What became of the records.", answer)),
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
        parameters: vec![idempotency_key_parameter(), validate_parameter(dry)],
        body: Some(RequestBodySpec {
            schema: types.read_schema::<PushRequest>(),
            example,
            is_required: true,
        }),
        responses,
        ..read_operation("pushRecords", "/records", "Push records", description)
    }
}

const RESOLVED: &str =
    "`false` leaves out what a later batch of the sync has resolved. Any other value is ignored.";

fn rejections_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses = push_error_responses(vec![
        PushError::InvalidSyncId,
        PushError::InvalidType,
        PushError::InvalidCursor,
        PushError::InvalidLimit,
        PushError::SyncNotFound,
    ]);
    responses.insert(
        200,
        json_response("A page.", types.written_schema::<RejectionsAnswer>()),
    );
    let kind = json!({"type": "string", "enum": ["rejection", "warning"], "default": "rejection"});
    let after = json!({"type": "string", "pattern": "^[0-9]{1,15}$"});
    let description =
        "Rejected records of a sync, or with `type=warning` values dropped from accepted ones.";
    ApiOperation {
        parameters: vec![
            build_parameter(
                "query",
                "syncId",
                uuid_schema(),
                "The latest sync unless it is given.",
            ),
            build_parameter("query", "type", kind, "What to list."),
            build_parameter("query", "resolved", json!({"type": "string"}), RESOLVED),
            build_parameter(
                "query",
                "after",
                after,
                "The `nextAfter` of the page before.",
            ),
            limit_parameter(),
        ],
        responses,
        ..read_operation(
            "listRejections",
            "/sync/rejections",
            "Rejections of a sync",
            description,
        )
    }
}

fn syncs_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let mut responses =
        push_error_responses(vec![PushError::InvalidCursor, PushError::InvalidLimit]);
    responses.insert(
        200,
        json_response(
            "A page, the newest first.",
            types.written_schema::<SyncsAnswer>(),
        ),
    );
    ApiOperation {
        parameters: vec![
            build_parameter(
                "query",
                "after",
                uuid_schema(),
                "The `nextAfter` of the page before.",
            ),
            limit_parameter(),
        ],
        responses,
        ..read_operation("listSyncs", "/syncs", "Syncs", "All syncs that are kept.")
    }
}

fn contact_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let needed =
        PushError::InvalidRequest("externalId names the contact and is needed.".to_owned());
    let mut responses = push_error_responses(vec![needed, PushError::ContactNotFound]);
    responses.insert(
        200,
        json_response("The contact.", types.written_schema::<ContactAnswer>()),
    );
    let id = json!({"type": "string", "minLength": 1, "maxLength": EXTERNAL_ID_CHARS});
    ApiOperation {
        parameters: vec![mark_required(build_parameter(
            "query",
            "externalId",
            id,
            "The caller's id of the contact.",
        ))],
        responses,
        ..read_operation(
            "getContact",
            "/contacts",
            "A contact",
            "Its stored values and its newest issues.",
        )
    }
}
