//! What became of a request whose answer was lost: GET /api/v1/requests/{id}, an addition to the contract.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::SendResponse;
use model::id::RequestId;

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
    /// A worker has it: ask again.
    Running,
    /// It is finished, and `response` is its answer.
    Done,
    /// Nothing is known of it: it has not begun, it failed as a whole, it was answered with the stored response of an
    /// earlier request, it is too long ago, or the team never made it.
    Unknown,
}

/// What became of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestAnswer<'a> {
    /// The request's `X-Request-Id`.
    pub request_id: RequestId,
    /// Where it stands.
    pub status: RequestStatus,
    /// Once it is done: what it was answered, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<SendResponse>")]
    pub response: Option<&'a RawValue>,
}
