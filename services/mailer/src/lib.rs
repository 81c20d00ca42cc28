//! The mailer: takes send requests from the queue and, inside each, verifies, decides, reserves, charges and
//! settles. It also does what falls due: later steps, the daily re-check, and what a killed worker left open. And it
//! answers the tools of the Formula MCP server ([`formulas`]).
//!
//! A request in reading order: [`handler`] → [`send`] → [`fields`] and [`prepare`] (what was sent) → [`verification`] →
//! [`assess`], [`rules`] and [`decide`] (who is mailed; pure), [`neighborhood`] (the homes around centers), [`cards`] (what
//! prints) → [`reserve`] → [`settle`]; [`take_effect`] has them in this order.

mod ai;
mod assess;
mod calendar;
mod cards;
mod decide;
mod detail;
mod due;
mod fields;
mod formulas;
mod handler;
mod housekeeping;
mod lease;
mod leased;
mod links;
mod neighborhood;
mod open_sends;
pub mod payment;
mod prepare;
mod reserve;
mod rules;
mod send;
mod settle;
mod take_effect;
mod times;
mod validate;

use std::sync::Arc;

use address::{AddressInput, AddressVerdict, VerificationStrictness};
use contract::message::{CALL_QUEUES, SEND_QUEUE};
use design::Product;
use outbound::{OutboundClient, TargetPolicy};
use pictures::PictureFetcher;
use queue::{ConsumerOptions, SlotPermit};
use runtime::Process;
use storage::Storage;
use verification::{AddressVerifier, VerificationError};

use crate::cards::{DesignCache, LayoutThreads};
use crate::due::DueJobs;
use crate::open_sends::OpenSends;
use crate::payment::PaymentProcessor;

/// Payments of requests that wait for Stripe at a time in one process: while it hangs, there is room for the work of teams
/// that do not pay by card.
const AT_STRIPE: usize = 32;

/// The same for what nobody waits for: due jobs, and requests that a killed worker left open.
const AT_STRIPE_UNATTENDED: usize = 16;

/// What the parts of a mailer share. Clones share it all.
#[derive(Clone)]
pub(crate) struct MailerState {
    process: Process,
    /// The turn of the work that has this clone; none for what does not work at a slot.
    turn: Option<SlotPermit>,
    verifier: Arc<dyn AddressVerifier>,
    pictures: PictureFetcher,
    designs: DesignCache,
    layouts: LayoutThreads,
    payments: Arc<PaymentProcessor>,
}

/// Runs a mailer with the configured verifier until the process is to stop.
///
/// # Errors
/// When the configuration lacks something that sends need.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let verifier = verification::configured(&process.config, &process.store, &process.clock)?;
    serve(process, verifier).await
}

/// Runs a mailer with this verifier until the process is to stop.
///
/// # Errors
/// When the configuration lacks something that sends need.
pub async fn serve(process: Process, verifier: Arc<dyn AddressVerifier>) -> anyhow::Result<()> {
    for product in Product::ALL {
        anyhow::ensure!(
            process.config.prices.contains_key(product.as_str()),
            "[prices] lacks {}",
            product.as_str()
        );
    }
    let payments = PaymentProcessor::new(process.store.clone(), &process.config.stripe, AT_STRIPE)?;
    let pictures = pictures(&process)?;
    let (designs, layouts) = (DesignCache::default(), LayoutThreads::default());
    let model = ai::LanguageModelClient::configured(&process.config.language_model)?;
    let payments = Arc::new(payments);
    let unattended_payments = PaymentProcessor::new(
        process.store.clone(),
        &process.config.stripe,
        AT_STRIPE_UNATTENDED,
    )?;
    let mailer = MailerState {
        process,
        turn: None,
        verifier,
        pictures,
        designs,
        layouts,
        payments,
    };
    let unattended = MailerState {
        payments: Arc::new(unattended_payments),
        ..mailer.clone()
    };
    let process = &mailer.process;
    let consumption = ConsumerOptions {
        queue: SEND_QUEUE,
        concurrency: process.config.mailer.concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace(),
        is_consuming: process.is_working.clone(),
    };
    let handler = Arc::new(handler::SendHandler::new(mailer.clone()));
    tokio::join!(
        queue::serve(&process.broker, consumption, handler),
        formulas::run(process),
        queue::sort_dead_letters(&process.broker, CALL_QUEUES, process.shutdown.clone()),
        leased::run(&mailer, DueJobs::new(unattended.clone())),
        leased::run(&mailer, OpenSends { mailer: unattended }),
        housekeeping::run(&mailer),
        ai::run(&mailer, model.as_ref()),
    );
    Ok(())
}

impl MailerState {
    /// The same mailer for work that is in its turn.
    pub(crate) fn in_turn(&self, turn: SlotPermit) -> Self {
        Self {
            turn: Some(turn),
            ..self.clone()
        }
    }

    /// Lets others have the slot, and goes on in its next turn.
    pub(crate) async fn pass_turn(&self) {
        if let Some(turn) = &self.turn {
            turn.pass().await;
        }
    }

    /// The verdicts on these addresses.
    pub(crate) async fn verify(
        &self,
        inputs: &[AddressInput<'_>],
        strictness: Option<VerificationStrictness>,
    ) -> Result<Vec<AddressVerdict>, VerificationError> {
        let verdicts = self.verifier.verify(inputs, strictness);
        if self.verifier.asks_elsewhere() {
            self.aside(verdicts).await
        } else {
            verdicts.await
        }
    }

    /// Waits for somebody else, a host, a provider or an equal request. The slot of the work is another's meanwhile.
    pub(crate) async fn aside<T>(&self, wait: impl Future<Output = T>) -> T {
        match &self.turn {
            Some(turn) => turn.aside(wait).await,
            None => wait.await,
        }
    }
}

/// What fetches the pictures of cards.
fn pictures(process: &Process) -> anyhow::Result<PictureFetcher> {
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
