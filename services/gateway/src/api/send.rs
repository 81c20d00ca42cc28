//! The operations of the Dynamic Audience API, and those that a Full access key opens beside it.

use contract::limits::IDEMPOTENCY_KEY_CHARS;
use contract::send::{RequestAnswer, SendError, SendResponse, SendValidation};
use contract::webhook::QrScanned;
use serde_json::{Value, json};

use super::operation::{Envelope, Failure, Operation, answered, failed, parameter, replayed};
use super::shape::SendRequest;
use super::types::Types;
use crate::recipients::status_of;
use crate::requests;

/// The tag of these operations.
pub(super) const TAG: &str = "Dynamic Audience";

/// Keys in either header.
const OPENED_BY: &[&str] = &["fullAccessKey", "fullAccessKeyHeader"];

/// All of them.
pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
    vec![send(types), request(types), scans(types)]
}

fn send(types: &mut Types) -> Operation {
    let answer = json!({"oneOf": [types.written::<SendResponse>(), types.written::<SendValidation>()]});
    let key = json!({"type": "string", "maxLength": IDEMPOTENCY_KEY_CHARS});
    let mut responses = failed(Envelope::Flat, every_error().iter().map(failure).collect());
    let description = "Every recipient's result; with `validate=1`, what it would be.";
    responses.insert(200, replayed(answered(description, answer)));
    Operation {
        method: "post",
        path: "/api/v1/recipients".to_owned(),
        id: "sendRecipients",
        tag: TAG,
        summary: "Send recipients to a campaign",
        description: "Verifies each address, applies the campaign's filters, checks the budget, mails each accepted recipient \
                      and charges the team, all inside the request. The answer is 200 also when nobody was mailed. The same \
                      addresses to the same campaign within 15 minutes get the stored response of the first request.",
        parameters: vec![
            parameter("query", "validate", json!({"type": "string"}), VALIDATE),
            parameter("header", "Idempotency-Key", key, IDEMPOTENCY_KEY),
        ],
        body: Some(types.read::<SendRequest>()),
        needs_body: true,
        opened_by: OPENED_BY,
        responses,
    }
}

const VALIDATE: &str = "`1` for a dry run: verifies, filters and prices, but mails nobody, charges nobody and stores nothing of \
                        the request. Any other value is ignored.";

const IDEMPOTENCY_KEY: &str = "A new value for each request, the same on its retries: they get the first one's answer, however \
                               late. Optional; not read in a dry run.";

fn request(types: &mut Types) -> Operation {
    use SendError::{InternalError, InvalidApiKey, InvalidPayload, RateLimited};
    let id = json!({"type": "string", "format": "uuid"});
    let errors =
        [InvalidApiKey, InvalidPayload("The id is no request's.".to_owned()), RateLimited, InternalError];
    let mut responses = failed(Envelope::Flat, errors.iter().map(failure).collect());
    let description = "Where the request stands, and once it is done its stored response.";
    responses.insert(200, answered(description, types.written::<RequestAnswer<'_>>()));
    Operation {
        method: "get",
        path: requests::PATH.to_owned(),
        id: "getRequest",
        tag: TAG,
        summary: "What became of a request",
        description: "For a sender that lost the answer to POST /api/v1/recipients, or got a 504. Knows the team's requests of \
                      the last 7 days.",
        parameters: vec![parameter("path", "id", id, "The `X-Request-Id` of the request's answer.")],
        body: None,
        needs_body: false,
        opened_by: OPENED_BY,
        responses,
    }
}

fn scans(types: &mut Types) -> Operation {
    use SendError::{InternalError, InvalidApiKey, InvalidPayload, RateLimited};
    let parameters = "A parameter cannot be read.".to_owned();
    let errors = [InvalidApiKey, InvalidPayload(parameters), RateLimited, InternalError];
    let mut responses = failed(Envelope::Flat, errors.iter().map(failure).collect());
    let answer = json!({
        "type": "object",
        "required": ["events", "nextAfter"],
        "properties": {
            "events": {"type": "array", "items": types.written::<QrScanned<'_>>(), "description": "The oldest first."},
            "nextAfter": {"type": "string", "format": "uuid", "description": "The `after` of the next question."},
        },
    });
    responses.insert(200, answered("Scans behind `after`, at most 100.", answer));
    let wait = json!({"type": "integer", "minimum": 0, "maximum": 25});
    Operation {
        method: "get",
        path: "/api/v1/scans".to_owned(),
        id: "listScans",
        tag: TAG,
        summary: "Scans as they come",
        description: "For programs that cannot be reached by webhooks. Without `after` it answers the end of the feed.",
        parameters: vec![
            parameter("query", "after", json!({"type": "string", "format": "uuid"}), "The `nextAfter` of an earlier answer."),
            parameter("query", "wait", wait, "Seconds that the question is held open until there is a scan."),
        ],
        body: None,
        needs_body: false,
        opened_by: OPENED_BY,
        responses,
    }
}

/// The event that is posted to endpoints.
pub(super) fn webhook(types: &mut Types) -> Value {
    let seconds = json!({"type": "string", "pattern": "^[0-9]+$"});
    json!({"post": {
        "operationId": "qrScanned",
        "tags": [TAG],
        "summary": "A QR code was scanned",
        "description": "Posted to each active endpoint of the team whose scope the campaign is in.",
        "security": [],
        "parameters": [
            parameter("header", "webhook-id", json!({"type": "string"}), "The event's id, the same on every retry."),
            parameter("header", "webhook-timestamp", seconds, "Unix seconds at which this attempt was sent."),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": types.written::<QrScanned<'_>>()}}},
        "responses": {"2XX": {"description": "Delivered. Anything else, or no answer within 10 seconds, is retried."}},
    }})
}

/// Every error once; variable texts say when it is given.
pub(super) fn every_error() -> Vec<SendError> {
    let text = str::to_owned;
    vec![
        SendError::InvalidApiKey,
        SendError::CampaignNotFound,
        SendError::CampaignNotActive(text(
            "The campaign is inactive, does not take its audience from the API, or misses a design on a step.",
        )),
        SendError::DesignCannotRender(text("A design cannot print; the message names item, surface and template.")),
        SendError::IdempotencyKeyReused,
        SendError::InProgress,
        SendError::PayloadTooLarge(text("Too many recipients, or a body over 4456448 bytes.")),
        SendError::InvalidPayload(text("The body cannot be read, or recipients is empty.")),
        SendError::InvalidIdempotencyKey,
        SendError::RateLimited,
        SendError::InternalError,
        SendError::ValidationUnavailable,
        SendError::DeadlinePassed,
    ]
}

fn failure(error: &SendError) -> Failure {
    Failure { status: status_of(error), code: error.code(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where an error stands in the list; a new one does not compile until it has a place.
    fn place(error: &SendError) -> usize {
        match error {
            SendError::InvalidApiKey => 0,
            SendError::CampaignNotFound => 1,
            SendError::CampaignNotActive(_) => 2,
            SendError::DesignCannotRender(_) => 3,
            SendError::IdempotencyKeyReused => 4,
            SendError::InProgress => 5,
            SendError::PayloadTooLarge(_) => 6,
            SendError::InvalidPayload(_) => 7,
            SendError::InvalidIdempotencyKey => 8,
            SendError::RateLimited => 9,
            SendError::InternalError => 10,
            SendError::ValidationUnavailable => 11,
            SendError::DeadlinePassed => 12,
        }
    }

    #[test]
    fn every_error_is_documented() {
        let places: Vec<usize> = every_error().iter().map(place).collect();
        assert_eq!(places, (0..13).collect::<Vec<_>>());
    }
}
