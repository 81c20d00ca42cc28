//! What the parts of a mailer share.

use std::sync::Arc;

use address::{AddressInput, AddressVerdict, VerificationStrictness};
use design::Product;
use outbound::{OutboundClient, TargetPolicy};
use pictures::PictureFetcher;
use queue::SlotPermit;
use runtime::Process;
use storage::Storage;
use verification::{AddressVerifier, VerificationError};

use crate::cards::{DesignCache, LayoutThreads};
use crate::payment::PaymentProcessor;

/// Payments of requests that wait for Stripe at a time in one process: while it hangs, there is room for the work of teams
/// that do not pay by card.
const AT_STRIPE: usize = 32;

/// The same for what nobody waits for: due jobs, and requests that a killed worker left open.
const AT_STRIPE_UNATTENDED: usize = 16;

/// What the parts of a mailer share. Clones share it all.
#[derive(Clone)]
pub struct MailerState {
    pub(crate) process: Process,
    /// The turn of the work that has this clone; none for what does not work at a slot.
    pub(crate) turn: Option<SlotPermit>,
    pub(crate) verifier: Arc<dyn AddressVerifier>,
    pub(crate) pictures: PictureFetcher,
    pub(crate) designs: DesignCache,
    pub(crate) layouts: LayoutThreads,
    pub(crate) payments: Arc<PaymentProcessor>,
}

impl MailerState {
    /// What a process with this verifier sends with.
    ///
    /// # Errors
    /// When the configuration lacks something that sends need.
    pub fn new(process: Process, verifier: Arc<dyn AddressVerifier>) -> anyhow::Result<Self> {
        for product in Product::ALL {
            anyhow::ensure!(
                process.config.prices.contains_key(product.as_str()),
                "[prices] lacks {}",
                product.as_str()
            );
        }
        let pictures = build_picture_fetcher(&process)?;
        let payments =
            PaymentProcessor::new(process.store.clone(), &process.config.stripe, AT_STRIPE)?;
        Ok(Self {
            process,
            turn: None,
            verifier,
            pictures,
            designs: DesignCache::default(),
            layouts: LayoutThreads::default(),
            payments: Arc::new(payments),
        })
    }

    /// The same mailer for what nobody waits for: its payments take no place of those that somebody waits for.
    pub(crate) fn for_unattended_work(&self) -> anyhow::Result<Self> {
        let Process { store, config, .. } = &self.process;
        let payments = PaymentProcessor::new(store.clone(), &config.stripe, AT_STRIPE_UNATTENDED)?;
        Ok(Self {
            payments: Arc::new(payments),
            ..self.clone()
        })
    }

    /// The same mailer for work that is in its turn.
    pub fn with_slot(&self, turn: SlotPermit) -> Self {
        Self {
            turn: Some(turn),
            ..self.clone()
        }
    }

    /// Lets others have the slot, and goes on in its next turn.
    pub(crate) async fn yield_slot(&self) {
        if let Some(turn) = &self.turn {
            turn.yield_slot().await;
        }
    }

    /// The verdicts on these addresses.
    pub(crate) async fn verify_addresses(
        &self,
        inputs: &[AddressInput<'_>],
        strictness: Option<VerificationStrictness>,
    ) -> Result<Vec<AddressVerdict>, VerificationError> {
        let verdicts = self.verifier.verify(inputs, strictness);
        if self.verifier.is_remote() {
            self.wait_without_slot(verdicts).await
        } else {
            verdicts.await
        }
    }

    /// Waits for somebody else, a host, a provider or an equal request. The slot of the work is another's meanwhile.
    pub(crate) async fn wait_without_slot<T>(&self, wait: impl Future<Output = T>) -> T {
        match &self.turn {
            Some(turn) => turn.release_while_waiting(wait).await,
            None => wait.await,
        }
    }
}

/// What fetches the pictures of cards.
fn build_picture_fetcher(process: &Process) -> anyhow::Result<PictureFetcher> {
    let config = &process.config;
    let client = OutboundClient::new(TargetPolicy::new(&config.outbound.allowed_networks))?;
    let storage = Storage::new(&config.storage)?;
    let (store, clock) = (process.store.clone(), process.clock.clone());
    Ok(PictureFetcher::new(
        client,
        storage,
        store,
        clock,
        config.pictures.clone(),
    ))
}
