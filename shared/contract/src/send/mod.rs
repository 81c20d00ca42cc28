//! POST /api/v1/recipients: the request, its answer and its errors.

mod error;
mod request;
mod response;

pub use error::SendError;
pub use request::{InvalidRequest, Recipient, SendRequest, api_key_in, check, fingerprint, parse};
pub use response::{
    Outcome, Postage, Reason, ReturnAddressReason, SendResponse, Summary, Warning, write_response,
};
