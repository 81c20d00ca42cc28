//! What each tool of the Integrations server answers: the push API's answers as JSON Schemas. Answers may get more
//! properties later, so none is closed.

use serde_json::{Value, json};

use super::{IntegrationTool, field_properties, semantic, sync_id};
use crate::limits::WARNING_EXAMPLES;
use crate::mcp::schema::{
    always_true, answer, count, list, object, one_of, or_null, text, text_or_null, yes_no,
};

/// The schema of a tool's answer, failures included.
pub(super) fn of(tool: IntegrationTool) -> Value {
    answer(match tool {
        IntegrationTool::GetStatus => status(),
        IntegrationTool::DeclareSchema => declared(),
        IntegrationTool::ValidateRecords => validated(),
        IntegrationTool::BeginSync => begun(),
        IntegrationTool::PushRecords => pushed(),
        IntegrationTool::CompleteSync => completed(),
        IntegrationTool::GetRejections => rejections_page(),
    })
}

fn status() -> Value {
    let integration = object(
        json!({
            "id": text("The integration's public id."),
            "name": text("Its name."),
            "status": text("setup_needed, ready or syncing; more may be added."),
            "setupComplete": yes_no("Whether its contacts can be mailed."),
        }),
        &["id", "name", "status", "setupComplete"],
    );
    let open_sync = object(
        json!({
            "id": sync_id("Its id."),
            "mode": mode(),
            "expiresAt": time("When it expires."),
            "batchesReceived": count("Batches that it received."),
        }),
        &["id", "mode", "expiresAt", "batchesReceived"],
    );
    let limits = object(
        json!({
            "recordsPerBatch": count("Records in a batch."),
            "bytesPerBatch": count("Bytes of a batch."),
            "declaredFields": count("Declared fields of the integration."),
            "syncExpiryHours": count("Hours until an open sync expires."),
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
        "openSync": or_null(open_sync),
        "limits": limits,
        "nextStep": text("What to call next."),
        "fields": list(object(field_properties(or_null(semantic())), &["key", "label", "type", "semantic"])),
    });
    object(
        properties,
        &["integration", "openSync", "limits", "nextStep", "fields"],
    )
}

fn declared() -> Value {
    let properties = json!({
        "ok": always_true(),
        "added": count("Fields declared for the first time."),
        "noLongerSent": list(text("Key of a declared field that was not mentioned.")),
    });
    object(properties, &["ok", "added", "noLongerSent"])
}

fn begun() -> Value {
    object(sync_properties(), &["syncId", "mode", "expiresAt"])
}

fn sync_properties() -> Value {
    json!({"syncId": sync_id("The sync's id."), "mode": mode(), "expiresAt": time("When it expires.")})
}

fn pushed() -> Value {
    let mut properties = batch_properties();
    properties["deleted"] = count("Records that removed a contact.");
    object(
        properties,
        &["accepted", "deleted", "rejected", "rejections", "warnings"],
    )
}

fn validated() -> Value {
    let mut properties = batch_properties();
    properties["validated"] = always_true();
    object(
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
        "accepted": count("Records that are applied."),
        "rejected": count("Records that are refused."),
        "rejections": list(rejection()),
        "warnings": list(warning_group()),
    })
}

fn rejection() -> Value {
    let properties = json!({
        "index": count("Position in the batch."),
        "externalId": text_or_null("The record's external_id, where it can be read."),
        "code": text("missing_external_id, invalid_external_id, unknown_field, invalid_type, invalid_email, \
            duplicate_in_batch, record_too_large or invalid_record; more may be added."),
        "field": text("The field at fault."),
        "message": text("What is wrong, in a sentence."),
    });
    object(properties, &["index", "externalId", "code", "message"])
}

fn warning_group() -> Value {
    let mut external_ids = list(json!({"type": "string"}));
    external_ids["maxItems"] = json!(WARNING_EXAMPLES);
    let properties = json!({
        "index": count("Position of the first record."),
        "externalId": text("external_id of the first record."),
        "code": text("invalid_type; more may be added."),
        "field": text("The field that lost its value."),
        "message": text("What is wrong, in a sentence."),
        "count": count("Accepted records that lost a value of this field."),
        "externalIds": external_ids,
    });
    object(
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

fn completed() -> Value {
    let properties = json!({
        "ok": always_true(),
        "syncId": sync_id("The completed sync."),
        "mode": mode(),
        "recordsUpserted": count("Upserts that it applied."),
        "recordsDeleted": count("Deletes that it applied."),
        "recordsRejected": count("Records that it refused."),
        "markedRemoved": count("Contacts that a full sync did not receive and removed."),
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
    object(properties, &required)
}

fn rejections_page() -> Value {
    let item = object(
        json!({
            "id": count("Its number within the sync."),
            "batch": count("The batch's number within the sync, from 1."),
            "index": count("Position in the batch."),
            "externalId": text_or_null("The record's external_id, where it can be read."),
            "code": text("Why."),
            "field": text_or_null("The field at fault."),
            "message": text("What is wrong, in a sentence."),
            "resolved": yes_no("True when a later batch of the sync accepted the record, or a value for the field."),
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
        "syncId": sync_id("The sync."),
        "type": one_of(&["rejection", "warning"], "What is listed."),
        "items": list(item),
        "nextAfter": text_or_null("Pass it as after for the next page; null on the last one."),
    });
    object(properties, &["syncId", "type", "items", "nextAfter"])
}

fn mode() -> Value {
    one_of(
        &["full", "delta"],
        "full removes at its end what it did not receive; delta does not.",
    )
}

fn time(description: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": description})
}
