//! One run: its cards through the press, the files into the store, the end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::TimeDelta;
use design::{LayoutPlan, PrintableDesign, Product};
use indicatif::{ProgressBar, ProgressStyle};
use model::id::{DesignId, TeamId};
use printing::PaperSettings;
use runtime::fail_point;
use store::{PrintMailpiece, PrintRun, SetAsideMailpiece, StoreError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::files::{RunFileNames, RunFiles};
use super::sheet::{self, FileChunk, PlanResult, PressBatch, PressContext, PressOutput};
use super::{PrintRunner, PrintedRun, parse_product};

/// Cards read at a time.
const CARDS_AT_A_TIME: i64 = 250;

/// Batches read ahead of the press, and pieces of files made ahead of the store.
const BATCHES_AHEAD: usize = 2;
const CHUNKS_AHEAD: usize = 8;

/// Designs that are kept ready.
const PLANS_KEPT: usize = 256;

/// The lease is renewed so many times before it would run out.
const RENEWALS_PER_LEASE: i32 = 4;

/// Prints a run.
///
/// # Errors
/// When the database or the store of files fails; the run is not ended then.
pub(super) async fn print_run(printer: &PrintRunner, run: &PrintRun) -> anyhow::Result<PrintedRun> {
    let names = RunFileNames::for_run(run.lease.run_id, &run.product, run.created_at)?;
    let mut files = RunFiles::create(&printer.storage, &names).await?;
    let made = match make_files(printer, run, &names, &mut files).await {
        Ok(made) => made,
        Err(error) => {
            files.abandon().await;
            return Err(error);
        }
    };
    files.finish(made.pages > 0).await?;
    if made.pages == 0 {
        // What an earlier printer of this run may have made.
        printer.storage.delete(&names.pdf).await?;
        printer.storage.delete(&names.csv).await?;
    }
    fail_point::fail_if_chosen("print.files_kept");
    let set_aside: Vec<SetAsideMailpiece> = made
        .set_aside
        .iter()
        .map(|(set_aside, _)| set_aside.clone())
        .collect();
    printer
        .store
        .complete_print_run(run.lease, &set_aside, printer.clock.now())
        .await?;
    fail_point::fail_if_chosen("print.finished");
    Ok(PrintedRun {
        run_id: run.lease.run_id,
        product: run.product.clone(),
        cards: made.cards,
        set_aside: made.set_aside.into_iter().map(|(_, card)| card).collect(),
        pdf: (made.pages > 0).then(|| names.pdf.to_string()),
        csv: (made.pages > 0).then(|| names.csv.to_string()),
        json: names.json.to_string(),
    })
}

/// Three at a time: cards are read, the press works in a thread of its own, what it makes goes to the store.
async fn make_files(
    printer: &PrintRunner,
    run: &PrintRun,
    names: &RunFileNames,
    files: &mut RunFiles,
) -> anyhow::Result<PressOutput> {
    let paper: PaperSettings =
        serde_json::from_value(run.settings.clone()).context("the run's settings")?;
    let product = parse_product(&run.product)?;
    let bar = create_progress_bar(run);
    let sheet = PressContext {
        run: run.clone(),
        paper,
        product,
        pdf_name: names.pdf.to_string(),
        storage: printer.storage.clone(),
        runtime: Handle::current(),
        bar: bar.clone(),
    };
    let (batches, batch_queue) = mpsc::channel(BATCHES_AHEAD);
    let (chunks, chunk_queue) = mpsc::channel(CHUNKS_AHEAD);
    let press =
        tokio::task::spawn_blocking(move || sheet::print_mailpieces(&sheet, batch_queue, chunks));
    // If one of them fails, the press finds its queue closed and ends.
    tokio::try_join!(
        send_batches(printer, run, product, batches),
        store_chunks(printer, run, files, chunk_queue)
    )?;
    let made = press.await.context("the press failed")?;
    bar.finish_and_clear();
    made
}

fn create_progress_bar(run: &PrintRun) -> ProgressBar {
    const STYLE: &str = "{msg} {bar:40} {pos} of {len} cards, {per_sec}, {eta} left";
    // Shown on a terminal only.
    let bar = ProgressBar::new(u64::try_from(run.mailpieces).unwrap_or_default());
    let style =
        ProgressStyle::with_template(STYLE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.set_message(run.product.clone());
    bar
}

/// Reads the run's cards with their designs.
async fn send_batches(
    printer: &PrintRunner,
    run: &PrintRun,
    product: Product,
    batches: mpsc::Sender<PressBatch>,
) -> anyhow::Result<()> {
    let mut plans: HashMap<(DesignId, i32), PlanResult> = HashMap::new();
    let mut after = 0;
    loop {
        let mailpieces = printer
            .store
            .list_print_mailpieces(run.lease.run_id, after, CARDS_AT_A_TIME)
            .await?;
        let Some(last) = mailpieces.last() else {
            return Ok(());
        };
        after = last.position;
        let mut batch = Vec::with_capacity(mailpieces.len());
        for mailpiece in mailpieces {
            let key = (mailpiece.design_id, mailpiece.design_version);
            if !plans.contains_key(&key) {
                if plans.len() >= PLANS_KEPT {
                    plans.clear();
                }
                plans.insert(key, load_plan(printer, &mailpiece, product).await?);
            }
            batch.push((mailpiece, plans[&key].clone()));
        }
        if batches.send(batch).await.is_err() {
            // The press has ended, and says why itself.
            return Ok(());
        }
    }
}

async fn load_plan(
    printer: &PrintRunner,
    mailpiece: &PrintMailpiece,
    product: Product,
) -> Result<PlanResult, StoreError> {
    let (team_id, design_id): (TeamId, DesignId) = (mailpiece.team_id, mailpiece.design_id);
    let document = match printer
        .store
        .find_design_document(team_id, design_id, mailpiece.design_version)
        .await
    {
        Ok(document) => document,
        Err(error @ StoreError::NotFound(_)) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    Ok(match PrintableDesign::parse(&document) {
        Ok(document) if document.product() == product => Ok(Arc::new(LayoutPlan::new(document))),
        Ok(document) => Err(format!("its design is a {}", document.product())),
        Err(problem) => Err(problem.to_string()),
    })
}

/// Gives what the press makes to the store, and keeps the run while that goes on.
async fn store_chunks(
    printer: &PrintRunner,
    run: &PrintRun,
    files: &mut RunFiles,
    mut chunks: mpsc::Receiver<FileChunk>,
) -> anyhow::Result<()> {
    let lease = TimeDelta::milliseconds(printer.settings.lease_ms);
    let period = (lease / RENEWALS_PER_LEASE)
        .to_std()
        .unwrap_or(Duration::from_secs(1));
    let mut renewal = tokio::time::interval(period);
    loop {
        tokio::select! {
            chunk = chunks.recv() => match chunk {
                Some(FileChunk { kind, content }) => files.write(kind, content).await?,
                None => return Ok(()),
            },
            _ = renewal.tick() => {
                printer.store.renew_print_lease(run.lease, printer.clock.now() + lease).await?;
            }
        }
    }
}
