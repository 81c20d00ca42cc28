//! POST /api/v1/recipients: the request, its answer and its errors.

mod error;
mod request;
mod response;
mod status;
mod validation;
mod verification;

/// The header of an answer that tells what its request has cost, in whole US cents: an addition to the contract. A stored
/// answer that is given again has none.
pub const COST_HEADER: &str = "x-cost-cents";

pub use error::SendError;
pub use request::{
    SendRequest, SendRequestError, SentRecipient, check_request, find_api_key, fingerprint_request,
    hash_request, parse_request,
};
pub use response::{
    NotMailedReason, Postage, RecipientOutcome, RecipientWarning, ReturnAddressReason,
    SendResponse, SendSummary, write_response,
};
pub use status::{RequestAnswer, RequestStatus};
pub use validation::{SendPrice, SendValidation, ValidationSummary, write_validation};
pub use verification::{AddressVerification, CorrectedPart, VerificationLevel};
