//! The operations of the Dynamic Audience API.

use contract::send::{RequestAnswer, SendError, SendResponse, SendValidation};
use model::limits::IDEMPOTENCY_KEY_CHARS;
use serde_json::{Value, json};

use super::operation::{
    ApiOperation, DocumentedError, ErrorEnvelopeKind, RequestBodySpec, build_parameter,
    error_responses, json_response, with_cost_header, with_replay_header,
};
use super::shape::SendRequestShape;
use super::types::SchemaRegistry;
use crate::recipients::error_status;
use crate::requests;

/// The tag of these operations.
pub(super) const TAG: &str = "Dynamic Audience";

/// A key in either header.
pub(super) const OPENED_BY: &[&str] = &["fullAccessKey", "fullAccessKeyHeader"];

/// All of them.
pub(super) fn list_operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    vec![send_operation(types), request_operation(types)]
}

fn send_operation(types: &mut SchemaRegistry) -> ApiOperation {
    let answer = json!({"oneOf": [types.written_schema::<SendResponse>(), types.written_schema::<SendValidation>()]});
    let key = json!({"type": "string", "maxLength": IDEMPOTENCY_KEY_CHARS});
    let mut responses = error_responses(
        ErrorEnvelopeKind::Flat,
        send_errors().iter().map(documented_error).collect(),
    );
    let description = "Every recipient's result; with `validate=1`, what it would be.";
    responses.insert(
        200,
        with_cost_header(with_replay_header(json_response(description, answer))),
    );
    ApiOperation {
        method: "post",
        path: "/api/v1/recipients".to_owned(),
        id: "sendRecipients",
        tag: TAG,
        summary: "Send recipients to a campaign",
        description: "Verifies each address, applies the campaign's filters, checks the budget, mails each accepted recipient \
                      and charges the team, all inside the request. The answer is 200 also when nobody was mailed. The same \
                      addresses to the same campaign within 15 minutes get the stored response of the first request."
            .into(),
        parameters: vec![
            build_parameter("query", "validate", json!({"type": "string"}), VALIDATE),
            build_parameter("header", "Idempotency-Key", key, IDEMPOTENCY_KEY),
        ],
        body: Some(RequestBodySpec { schema: types.read_schema::<SendRequestShape>(), example: example_request(), is_required: true }),
        opened_by: OPENED_BY,
        responses,
    }
}

fn example_request() -> Value {
    json!({
        "campaign_id": "PA-7XK2QD",
        "recipients": [{
            "reference": "crm-1",
            "first_name": "Ada",
            "last_name": "Miles",
            "address_1": "1100 Congress Ave",
            "city": "Austin",
            "state": "TX",
            "zip": "78701",
            "Favourite plant": "Bluebonnet",
        }],
    })
}

const VALIDATE: &str = "`1` for a dry run: verifies, filters and prices, but mails nobody, charges nobody and stores nothing of \
                        the request. Any other value is ignored.";

const IDEMPOTENCY_KEY: &str = "Read only for teams that have switched it on, and not in a dry run: a new value for each request, \
                               the same on its retries, which get the first one's answer, however late. Optional.";

fn request_operation(types: &mut SchemaRegistry) -> ApiOperation {
    use SendError::{InternalError, InvalidApiKey, InvalidPayload, RateLimited};
    let id = json!({"type": "string", "format": "uuid"});
    let errors = [
        InvalidApiKey,
        InvalidPayload("The id is no request's.".to_owned()),
        RateLimited,
        InternalError,
    ];
    let mut responses = error_responses(
        ErrorEnvelopeKind::Flat,
        errors.iter().map(documented_error).collect(),
    );
    let description = "Where the request stands, and once it is done its stored response.";
    responses.insert(
        200,
        json_response(description, types.written_schema::<RequestAnswer<'_>>()),
    );
    ApiOperation {
        method: "get",
        path: requests::PATH.to_owned(),
        id: "getRequest",
        tag: TAG,
        summary: "What became of a request",
        description: "For a sender that lost the answer to POST /api/v1/recipients, or got a 504. Knows the team's requests of \
                      the last 7 days."
            .into(),
        parameters: vec![build_parameter("path", "id", id, "The `X-Request-Id` of the request's answer.")],
        body: None,
        opened_by: OPENED_BY,
        responses,
    }
}

/// Every error of a send once; variable texts say when it is given.
fn send_errors() -> Vec<SendError> {
    let text = str::to_owned;
    vec![
        SendError::InvalidApiKey,
        SendError::CampaignNotFound,
        SendError::CampaignNotActive(text(
            "The campaign is inactive, does not take its audience from the API, or misses a design on a step.",
        )),
        SendError::DesignCannotRender(text(
            "A design cannot print; the message names item, surface and template.",
        )),
        SendError::PriceChanged {
            expected_cents: 79,
            total_cents: 158,
        },
        SendError::IdempotencyKeyReused,
        SendError::InProgress,
        SendError::PayloadTooLarge(text("Too many recipients, or a body over 4456448 bytes.")),
        SendError::UnsupportedEncoding,
        SendError::InvalidPayload(text("The body cannot be read, or recipients is empty.")),
        SendError::InvalidIdempotencyKey,
        SendError::RateLimited,
        SendError::InternalError,
        SendError::ValidationUnavailable,
        SendError::DeadlinePassed,
    ]
}

pub(super) fn documented_error(error: &SendError) -> DocumentedError {
    DocumentedError {
        status: error_status(error),
        code: error.code(),
        message: error.to_string(),
        details: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    /// Where an error stands in the list; a new one does not compile until it has a place.
    fn error_position(error: &SendError) -> usize {
        match error {
            SendError::InvalidApiKey => 0,
            SendError::CampaignNotFound => 1,
            SendError::CampaignNotActive(_) => 2,
            SendError::DesignCannotRender(_) => 3,
            SendError::PriceChanged { .. } => 4,
            SendError::IdempotencyKeyReused => 5,
            SendError::InProgress => 6,
            SendError::PayloadTooLarge(_) => 7,
            SendError::UnsupportedEncoding => 8,
            SendError::InvalidPayload(_) => 9,
            SendError::InvalidIdempotencyKey => 10,
            SendError::RateLimited => 11,
            SendError::InternalError => 12,
            SendError::ValidationUnavailable => 13,
            SendError::DeadlinePassed => 14,
            SendError::MailpieceNotFound => 15,
            SendError::InvalidCursor => 16,
            SendError::InvalidState => 17,
        }
    }

    #[test]
    fn every_error_is_documented() {
        let all = send_errors().into_iter().chain(read::own_errors());
        let places: Vec<usize> = all.map(|error| error_position(&error)).collect();
        assert_eq!(places, (0..18).collect::<Vec<_>>());
    }
}
