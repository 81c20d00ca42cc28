//! Verifying addresses: one interface, several verifiers.

use address::{AddressInput, Verdict};
use futures_util::future::BoxFuture;

/// Addresses cannot be checked now. The text is for the log.
#[derive(Debug, Clone, thiserror::Error)]
#[error("addresses cannot be verified: {0}")]
pub struct VerificationUnavailable(pub String);

/// Something that verifies addresses.
pub trait Verify: Send + Sync + 'static {
    /// The verdict on each address, in their order. All or none: a request is not mailed in part because a
    /// verifier went away half-way.
    fn verify<'a>(
        &'a self,
        inputs: Vec<AddressInput<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerificationUnavailable>>;
}

/// The embedded verifier: Publication 28 and the ZIP data that ships with the project. It is never unavailable.
pub struct LocalVerifier;

impl Verify for LocalVerifier {
    fn verify<'a>(
        &'a self,
        inputs: Vec<AddressInput<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerificationUnavailable>> {
        Box::pin(async move {
            // Thousands of addresses are milliseconds of work: other tasks of this thread move away meanwhile.
            Ok(tokio::task::block_in_place(|| inputs.into_iter().map(address::verify).collect()))
        })
    }
}
