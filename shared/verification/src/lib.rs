//! Verifying addresses: one interface, several verifiers, chosen in the configuration.
//!
//! [`Local`] needs nothing but the database; [`Smarty`] asks a provider over HTTPS, with [`cached`] answers.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod breaker;
mod cached;
mod distinct;
mod local;
mod smarty;

use std::sync::Arc;

use address::{AddressInput, Strictness, Verdict};
use futures_util::future::BoxFuture;
use service::Clock;
use service::config::{Config, Verifier};
use store::{Store, StoreError};

pub use cached::Cached;
pub use local::Local;
pub use smarty::{Smarty, SmartySettingsError};

/// Why addresses could not be verified. None of the request's were.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// They cannot be checked now (contract: 503 `validation_unavailable`). The text is for the log.
    #[error("addresses cannot be verified: {0}")]
    Unavailable(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Something that verifies addresses.
pub trait Verify: Send + Sync + 'static {
    /// The verdict on each address, in their order. All or none: a request is not mailed in part because a verifier
    /// went away half-way. Without a `strictness` the verifier asks for as much as it can know of an address.
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        strictness: Option<Strictness>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerifyError>>;

    /// Whether verdicts may have to wait for somebody elsewhere, who may be slow.
    fn asks_elsewhere(&self) -> bool {
        false
    }
}

/// The verifier that the configuration names.
///
/// # Errors
/// [`SmartySettingsError`] when the provider's settings cannot be used.
pub fn configured(
    config: &Config,
    store: &Store,
    clock: &Clock,
) -> Result<Arc<dyn Verify>, SmartySettingsError> {
    Ok(match config.verification.verifier {
        Verifier::Local => Arc::new(Local::new(store.clone(), config.verification.coverage_points)),
        Verifier::Smarty => {
            let smarty = Smarty::new(&config.smarty)?;
            Arc::new(Cached::new(smarty, store.clone(), clock.clone(), config.verification.answer_days))
        }
    })
}
