//! Verifiers that misbehave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use address::{AddressInput, AddressVerdict, VerificationStrictness};
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use verification::{AddressVerifier, VerificationError};

/// Verifies by the ZIP data after a while in which something can happen.
pub struct SlowVerifier(pub Duration);

impl AddressVerifier for SlowVerifier {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        _: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            Ok(inputs
                .iter()
                .map(|input| address::verify_address(*input))
                .collect())
        })
    }
}

/// Verifies by the ZIP data once it is opened, and counts how often it was asked.
#[derive(Default)]
pub struct GatedVerifier {
    asked: AtomicUsize,
    open: watch::Sender<bool>,
}

impl GatedVerifier {
    /// Lets everything through that waits, and whatever comes.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Times that it was asked to verify.
    pub fn count_requests(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl AddressVerifier for GatedVerifier {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        _: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let opened = self
                .open
                .subscribe()
                .wait_for(|is_open| *is_open)
                .await
                .map(drop);
            opened.map_err(|_| VerificationError::Unavailable("the gate is gone".to_owned()))?;
            Ok(inputs
                .iter()
                .map(|input| address::verify_address(*input))
                .collect())
        })
    }
}

/// A verifier whose provider is down.
pub struct UnavailableVerifier;

impl AddressVerifier for UnavailableVerifier {
    fn verify<'a>(
        &'a self,
        _: &'a [AddressInput<'a>],
        _: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async {
            Err(VerificationError::Unavailable(
                "the provider is down".to_owned(),
            ))
        })
    }
}
