//! Verifiers that misbehave.

use std::time::Duration;

use address::{AddressInput, Strictness, Verdict};
use futures_util::future::BoxFuture;
use verification::{Verify, VerifyError};

/// Verifies by the ZIP data after a while in which something can happen.
pub struct Slow(pub Duration);

impl Verify for Slow {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        _: Option<Strictness>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerifyError>> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            Ok(inputs.iter().map(|input| address::verify(*input)).collect())
        })
    }
}

/// A verifier whose provider is down.
pub struct Down;

impl Verify for Down {
    fn verify<'a>(
        &'a self,
        _: &'a [AddressInput<'a>],
        _: Option<Strictness>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerifyError>> {
        Box::pin(async { Err(VerifyError::Unavailable("the provider is down".to_owned())) })
    }
}
