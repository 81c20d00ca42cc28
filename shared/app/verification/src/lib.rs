//! Verifying addresses: one interface, several verifiers, chosen in the configuration.
//!
//! [`LocalVerifier`] needs nothing but the database; [`SmartyClient`] asks a provider over HTTPS, with [`cached`] answers.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod breaker;
mod cached;
mod distinct;
mod local;
mod smarty;

use std::sync::Arc;

use address::{AddressInput, AddressVerdict, VerificationStrictness};
use futures_util::future::BoxFuture;
use runtime::Clock;
use runtime::config::{Config, VerifierKind};
use store::{Store, StoreError};

pub use cached::CachedVerifier;
pub use local::LocalVerifier;
pub use smarty::{SmartyClient, SmartySettingsError};

/// Why addresses could not be verified. None of the request's were.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// They cannot be checked now (contract: 503 `validation_unavailable`). The text is for the log.
    #[error("addresses cannot be verified: {0}")]
    Unavailable(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Something that verifies addresses.
pub trait AddressVerifier: Send + Sync + 'static {
    /// The verdict on each address, in their order. All or none: a request is not mailed in part because a verifier
    /// went away half-way. Without a `strictness` the verifier asks for as much as it can know of an address.
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        strictness: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>>;

    /// Whether verdicts may have to wait for somebody elsewhere, who may be slow.
    fn is_remote(&self) -> bool {
        false
    }
}

/// The verifier that the configuration names.
///
/// # Errors
/// [`SmartySettingsError`] when the provider's settings cannot be used.
pub fn build_verifier(
    config: &Config,
    store: &Store,
    clock: &Clock,
) -> Result<Arc<dyn AddressVerifier>, SmartySettingsError> {
    Ok(match config.verification.verifier {
        VerifierKind::Local => Arc::new(LocalVerifier::new(
            store.clone(),
            config.verification.coverage_points,
        )),
        VerifierKind::Smarty => {
            let smarty = SmartyClient::new(&config.smarty)?;
            Arc::new(CachedVerifier::new(
                smarty,
                store.clone(),
                clock.clone(),
                config.verification.answer_days,
            ))
        }
    })
}
