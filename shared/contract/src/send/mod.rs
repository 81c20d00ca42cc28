//! POST /api/v1/recipients: the request, its answer and its errors.

mod context;
mod error;
mod request;
mod response;
mod status;
mod validation;

/// The header of an answer that tells what its request has cost, in whole US cents: an addition to the contract. A stored
/// answer that is given again has none.
pub const COST_HEADER: &str = "x-cost-cents";

pub use context::SendContext;
pub use error::SendError;
pub use request::{
    InvalidRequest, Recipient, SendRequest, api_key_in, check, fingerprint, parse, request_hash,
};
pub use response::{
    Outcome, Postage, Reason, ReturnAddressReason, SendResponse, Summary, Warning, write_response,
};
pub use status::{RequestAnswer, RequestStatus};
pub use validation::{SendValidation, ValidationSummary, write_validation};
