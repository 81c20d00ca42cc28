//! The operations that stop mailpieces: cancelling them, and holding and releasing campaigns.

use contract::withhold::{
    CampaignHoldAnswer, CancelledMailpiece, CancelledMailpieces, ReferenceToCancel, WithholdError,
};
use serde_json::{Value, json};

use super::operation::{
    ApiOperation, DocumentedError, ErrorEnvelopeKind, RequestBodySpec, build_parameter,
    error_responses, json_response,
};
use super::send::{OPENED_BY, TAG};
use super::types::SchemaRegistry;
use crate::withhold::{
    CANCEL_MAILPIECE_PATH, CANCEL_REFERENCE_PATH, CANCEL_REQUEST_PATH, HOLD_CAMPAIGN_PATH,
    RELEASE_CAMPAIGN_PATH, error_status,
};

/// Failures that every one of them has, besides its own.
const COMMON: [&str; 6] = [
    "invalid_api_key",
    "payload_too_large",
    "unsupported_encoding",
    "rate_limited",
    "internal_error",
    "timeout",
];

/// All of them.
pub(super) fn list_operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    let many = types.written_schema::<CancelledMailpieces>();
    let held = types.written_schema::<CampaignHoldAnswer>();
    vec![
        ApiOperation {
            id: "cancelMailpiece",
            path: CANCEL_MAILPIECE_PATH.to_owned(),
            summary: "Cancel a mailpiece",
            description: "Takes it out of the queue for good and gives its price back. What is in a print run is mailed. Asked again, it \
                          answers the same."
                .into(),
            parameters: vec![uuid_parameter("The id of the mailpiece.")],
            ..build_operation(
                "The mailpiece is cancelled.",
                types.written_schema::<CancelledMailpiece>(),
                &["mailpiece_not_found", "already_printed", "in_progress", "invalid_payload"],
            )
        },
        ApiOperation {
            id: "cancelByReference",
            path: CANCEL_REFERENCE_PATH.to_owned(),
            summary: "Cancel the mailpieces of a reference",
            description: "Cancels what the campaign has queued for the recipients that were sent with this `reference`, of all steps; 10000 \
                          mailpieces at most. Nobody with it is no error."
                .into(),
            body: Some(RequestBodySpec {
                schema: types.read_schema::<ReferenceToCancel>(),
                example: json!({"campaign_id": "PA-7XK2QD", "reference": "crm-1"}),
                is_required: true,
            }),
            ..build_operation(
                CANCELLED,
                many.clone(),
                &["campaign_not_found", "in_progress", "invalid_payload"],
            )
        },
        ApiOperation {
            id: "cancelRequest",
            path: CANCEL_REQUEST_PATH.to_owned(),
            summary: "Cancel the mailpieces of a request",
            description: "Cancels what POST /api/v1/recipients has queued. Recipients that wait on filter conditions are not \
                          mailpieces yet: they may still be mailed."
                .into(),
            parameters: vec![uuid_parameter("The `X-Request-Id` of the request's answer.")],
            ..build_operation(
                CANCELLED,
                many,
                &["request_not_found", "in_progress", "invalid_payload"],
            )
        },
        ApiOperation {
            id: "holdCampaign",
            path: HOLD_CAMPAIGN_PATH.to_owned(),
            summary: "Hold a campaign's mailpieces",
            description: "None of its queued mailpieces prints from now on, nor those that are made meanwhile. What is in a print run is mailed."
                .into(),
            parameters: vec![campaign_parameter()],
            ..build_operation("The campaign is held.", held.clone(), &["campaign_not_found"])
        },
        ApiOperation {
            id: "releaseCampaign",
            path: RELEASE_CAMPAIGN_PATH.to_owned(),
            summary: "Release a held campaign",
            description: "Its mailpieces go back to the queue.".into(),
            parameters: vec![campaign_parameter()],
            ..build_operation("The campaign is not held.", held, &["campaign_not_found"])
        },
    ]
}

const CANCELLED: &str =
    "How the mailpieces stand: the same however often it is asked, until more are printed.";

/// What they have in common.
fn build_operation(answer: &str, schema: Value, codes: &[&str]) -> ApiOperation {
    let errors = WithholdError::list_all();
    let of_it = errors
        .iter()
        .filter(|error| COMMON.contains(&error.code()) || codes.contains(&error.code()));
    let mut responses = error_responses(
        ErrorEnvelopeKind::Flat,
        of_it.map(documented_error).collect(),
    );
    responses.insert(200, json_response(answer, schema));
    ApiOperation {
        method: "post",
        path: String::new(),
        id: "",
        tag: TAG,
        summary: "",
        description: "".into(),
        parameters: Vec::new(),
        body: None,
        opened_by: OPENED_BY,
        responses,
    }
}

fn uuid_parameter(description: &str) -> Value {
    let id = json!({"type": "string", "format": "uuid"});
    build_parameter("path", "id", id, description)
}

fn campaign_parameter() -> Value {
    let id = json!({"type": "string", "pattern": "^PA-[A-Z0-9]{6}$"});
    build_parameter("path", "id", id, "The campaign's id.")
}

fn documented_error(error: &WithholdError) -> DocumentedError {
    DocumentedError {
        status: error_status(error),
        code: error.code(),
        message: error.to_string(),
        details: None,
    }
}
