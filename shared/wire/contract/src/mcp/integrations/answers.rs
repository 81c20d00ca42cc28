//! What each tool of the Integrations server answers: the push API's answers as JSON Schemas. Answers may get more
//! properties later, so none is closed.

use serde_json::{Value, json};

use super::{IntegrationTool, field_properties, semantic_schema, sync_id_schema};
use crate::mcp::schema::{
    always_true_schema, answer_schema, count_schema, list_schema, nullable_schema,
    nullable_text_schema, object_schema, one_of_schema, text_schema, yes_no_schema,
};
use model::limits::WARNING_EXAMPLES;

/// The schema of a tool's answer, failures included.
pub(super) fn output_schema(tool: IntegrationTool) -> Value {
    answer_schema(match tool {
        IntegrationTool::GetStatus => status_answer_schema(),
        IntegrationTool::DeclareSchema => declare_answer_schema(),
        IntegrationTool::ValidateRecords => validation_answer_schema(),
        IntegrationTool::BeginSync => begin_answer_schema(),
        IntegrationTool::PushRecords => push_answer_schema(),
        IntegrationTool::CompleteSync => complete_answer_schema(),
        IntegrationTool::GetRejections => rejections_page_schema(),
    })
}

fn status_answer_schema() -> Value {
    let integration = object_schema(
        json!({
            "id": text_schema("The integration's public id."),
            "name": text_schema("Its name."),
            "status": text_schema("setup_needed, ready or syncing; more may be added."),
            "setupComplete": yes_no_schema("Whether its contacts can be mailed."),
        }),
        &["id", "name", "status", "setupComplete"],
    );
    let open_sync = object_schema(
        json!({
            "id": sync_id_schema("Its id."),
            "mode": mode_schema(),
            "expiresAt": time_schema("When it expires."),
            "batchesReceived": count_schema("Batches that it received."),
        }),
        &["id", "mode", "expiresAt", "batchesReceived"],
    );
    let limits = object_schema(
        json!({
            "recordsPerBatch": count_schema("Records in a batch."),
            "bytesPerBatch": count_schema("Bytes of a batch."),
            "declaredFields": count_schema("Declared fields of the integration."),
            "syncExpiryHours": count_schema("Hours until an open sync expires."),
        }),
        &[
            "recordsPerBatch",
            "bytesPerBatch",
            "declaredFields",
            "syncExpiryHours",
        ],
    );
    let properties = json!({
        "integration": integration,
        "openSync": nullable_schema(open_sync),
        "limits": limits,
        "nextStep": text_schema("What to call next."),
        "fields": list_schema(object_schema(field_properties(nullable_schema(semantic_schema())), &["key", "label", "type", "semantic"])),
    });
    object_schema(
        properties,
        &["integration", "openSync", "limits", "nextStep", "fields"],
    )
}

fn declare_answer_schema() -> Value {
    let properties = json!({
        "ok": always_true_schema(),
        "added": count_schema("Fields declared for the first time."),
        "noLongerSent": list_schema(text_schema("Key of a declared field that was not mentioned.")),
    });
    object_schema(properties, &["ok", "added", "noLongerSent"])
}

fn begin_answer_schema() -> Value {
    object_schema(sync_properties(), &["syncId", "mode", "expiresAt"])
}

fn sync_properties() -> Value {
    json!({"syncId": sync_id_schema("The sync's id."), "mode": mode_schema(), "expiresAt": time_schema("When it expires.")})
}

fn push_answer_schema() -> Value {
    let mut properties = batch_properties();
    properties["deleted"] = count_schema("Records that removed a contact.");
    object_schema(
        properties,
        &["accepted", "deleted", "rejected", "rejections", "warnings"],
    )
}

fn validation_answer_schema() -> Value {
    let mut properties = batch_properties();
    properties["validated"] = always_true_schema();
    object_schema(
        properties,
        &[
            "validated",
            "accepted",
            "rejected",
            "rejections",
            "warnings",
        ],
    )
}

fn batch_properties() -> Value {
    json!({
        "accepted": count_schema("Records that are applied."),
        "rejected": count_schema("Records that are refused."),
        "rejections": list_schema(rejection_schema()),
        "warnings": list_schema(warning_group_schema()),
    })
}

fn rejection_schema() -> Value {
    let properties = json!({
        "index": count_schema("Position in the batch."),
        "externalId": nullable_text_schema("The record's external_id, where it can be read."),
        "code": text_schema("missing_external_id, invalid_external_id, unknown_field, invalid_type, invalid_email, \
            duplicate_in_batch, record_too_large or invalid_record; more may be added."),
        "field": text_schema("The field at fault."),
        "message": text_schema("What is wrong, in a sentence."),
    });
    object_schema(properties, &["index", "externalId", "code", "message"])
}

fn warning_group_schema() -> Value {
    let mut external_ids = list_schema(json!({"type": "string"}));
    external_ids["maxItems"] = json!(WARNING_EXAMPLES);
    let properties = json!({
        "index": count_schema("Position of the first record."),
        "externalId": text_schema("external_id of the first record."),
        "code": text_schema("invalid_type; more may be added."),
        "field": text_schema("The field that lost its value."),
        "message": text_schema("What is wrong, in a sentence."),
        "count": count_schema("Accepted records that lost a value of this field."),
        "externalIds": external_ids,
    });
    object_schema(
        properties,
        &[
            "index",
            "externalId",
            "code",
            "field",
            "message",
            "count",
            "externalIds",
        ],
    )
}

fn complete_answer_schema() -> Value {
    let properties = json!({
        "ok": always_true_schema(),
        "syncId": sync_id_schema("The completed sync."),
        "mode": mode_schema(),
        "recordsUpserted": count_schema("Upserts that it applied."),
        "recordsDeleted": count_schema("Deletes that it applied."),
        "recordsRejected": count_schema("Records that it refused."),
        "markedRemoved": count_schema("Contacts that a full sync did not receive and removed."),
    });
    let required = [
        "ok",
        "syncId",
        "mode",
        "recordsUpserted",
        "recordsDeleted",
        "recordsRejected",
        "markedRemoved",
    ];
    object_schema(properties, &required)
}

fn rejections_page_schema() -> Value {
    let item = object_schema(
        json!({
            "id": count_schema("Its number within the sync."),
            "batch": count_schema("The batch's number within the sync, from 1."),
            "index": count_schema("Position in the batch."),
            "externalId": nullable_text_schema("The record's external_id, where it can be read."),
            "code": text_schema("Why."),
            "field": nullable_text_schema("The field at fault."),
            "message": text_schema("What is wrong, in a sentence."),
            "resolved": yes_no_schema("True when a later batch of the sync accepted the record, or a value for the field."),
        }),
        &[
            "id",
            "batch",
            "index",
            "externalId",
            "code",
            "field",
            "message",
        ],
    );
    let properties = json!({
        "syncId": sync_id_schema("The sync."),
        "type": one_of_schema(&["rejection", "warning"], "What is listed."),
        "items": list_schema(item),
        "nextAfter": nullable_text_schema("Pass it as after for the next page; null on the last one."),
    });
    object_schema(properties, &["syncId", "type", "items", "nextAfter"])
}

fn mode_schema() -> Value {
    one_of_schema(
        &["full", "delta"],
        "full removes at its end what it did not receive; delta does not.",
    )
}

fn time_schema(description: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": description})
}
