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
mod links;
mod neighborhood;
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

use contract::message::SEND_QUEUE;
use design::Product;
use outbound::{Client, Policy};
use pictures::Pictures;
use queue::Consumption;
use service::Process;
use storage::Storage;
use verification::Verify;

use crate::cards::{Designs, Layouts};
use crate::payment::Payments;

/// What the parts of a mailer share. Clones share it all.
#[derive(Clone)]
pub(crate) struct Mailer {
    process: Process,
    verifier: Arc<dyn Verify>,
    pictures: Pictures,
    designs: Designs,
    layouts: Layouts,
    payments: Arc<Payments>,
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
pub async fn serve(process: Process, verifier: Arc<dyn Verify>) -> anyhow::Result<()> {
    for product in Product::ALL {
        anyhow::ensure!(
            process.config.prices.contains_key(product.as_str()),
            "[prices] lacks {}",
            product.as_str()
        );
    }
    let payments = Payments::new(process.store.clone(), &process.config.stripe)?;
    let pictures = pictures(&process)?;
    let (designs, layouts) = (Designs::default(), Layouts::default());
    let model = ai::Model::configured(&process.config.language_model)?;
    let mailer = Mailer { process, verifier, pictures, designs, layouts, payments: Arc::new(payments) };
    let process = &mailer.process;
    let consumption = Consumption {
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
        due::run(&mailer),
        housekeeping::run(&mailer),
        ai::run(&mailer, model.as_ref()),
    );
    Ok(())
}

/// What fetches the pictures of cards.
fn pictures(process: &Process) -> anyhow::Result<Pictures> {
    let config = &process.config;
    let client = Client::new(Policy::new(&config.outbound.allowed_networks))?;
    let storage = Storage::new(&config.storage)?;
    let (store, clock) = (process.store.clone(), process.clock.clone());
    Ok(Pictures::new(client, storage, store, clock, config.pictures.clone()))
}
