//! Sending: what becomes of a request to mail recipients. It verifies, decides, reserves, charges and settles, inside one
//! call; and it does what falls due later: later steps, the daily re-check, what a killed worker left open.
//!
//! The use cases: [`send`] answers a request, [`validate`] says what would become of it, [`run_due_work`] does what nobody
//! waits for.
//!
//! A request in reading order: `send.rs` names the steps and `execute.rs` puts them in their order: `fields.rs` and
//! `prepare.rs` (what was sent), [`verification`], `assess.rs`, `rules.rs` and `decide.rs` (who is mailed; pure),
//! `neighborhood.rs` (the homes around centers), `cards` (what prints), `reserve.rs`, `settle.rs`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod ai;
mod assess;
mod calendar;
mod cards;
mod decide;
mod detail;
mod due;
mod execute;
mod fields;
mod housekeeping;
mod leased;
mod links;
mod neighborhood;
mod open_sends;
pub mod payment;
mod prepare;
mod refunds;
mod reserve;
mod rules;
mod send;
mod settle;
mod validate;

pub use crate::calendar::mail_by_date;
pub use crate::send::{IncomingSend, SendAnswer, handle_send};
pub use crate::validate::validate_send;

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
use crate::due::DueJobs;
use crate::open_sends::OpenSends;
use crate::payment::PaymentProcessor;
use crate::refunds::OwedRefunds;

/// Payments of requests that wait for Stripe at a time in one process: while it hangs, there is room for the work of teams
/// that do not pay by card.
const AT_STRIPE: usize = 32;

/// The same for what nobody waits for: due jobs, and requests that a killed worker left open.
const AT_STRIPE_UNATTENDED: usize = 16;

/// What the parts of a mailer share. Clones share it all.
#[derive(Clone)]
pub struct MailerState {
    process: Process,
    /// The turn of the work that has this clone; none for what does not work at a slot.
    turn: Option<SlotPermit>,
    verifier: Arc<dyn AddressVerifier>,
    pictures: PictureFetcher,
    designs: DesignCache,
    layouts: LayoutThreads,
    payments: Arc<PaymentProcessor>,
}

/// Does what falls due until the process is to stop: later steps and re-checks, sends that a killed worker left open, refunds that a
/// provider owes, mailpieces of campaigns that were held or released,
/// values that a language model writes, and forgetting what is old.
///
/// # Errors
/// When the configuration of payments or of the language model cannot be used.
pub async fn run_due_work(mailer: &MailerState) -> anyhow::Result<()> {
    let unattended = mailer.for_unattended_work()?;
    let model = ai::LanguageModelClient::from_settings(&mailer.process.config.language_model)?;
    tokio::join!(
        leased::run_leased_work(mailer, DueJobs::new(unattended.clone())),
        leased::run_leased_work(
            mailer,
            OwedRefunds {
                mailer: unattended.clone()
            }
        ),
        leased::run_leased_work(mailer, OpenSends { mailer: unattended }),
        housekeeping::run(mailer),
        ai::run(mailer, model.as_ref()),
    );
    Ok(())
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
    fn for_unattended_work(&self) -> anyhow::Result<Self> {
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
