//! `print`: queued cards whose time has come become files for a print shop.
//!
//! A run is claimed in the database ([`store::PrintRun`]), its cards are laid out and printed into one PDF with a manifest
//! ([`run`]), the files are kept, and the run ends: from then on its cards are printed. A printer that dies before that leaves
//! a run whose files the next one makes again, the same under the same names.

mod files;
mod manifest;
mod run;
mod sheet;

use anyhow::{Context, bail};
use chrono::{NaiveDate, TimeDelta};
use design::Product;
use printing::PaperSettings;
use runtime::config::PrintSettings;
use runtime::{Clock, fail_point};
use serde::Serialize;
use storage::Storage;
use store::{PrintPaper, PrintRun, PrintRunRequest, Store, StoreError};

use self::run::print_run;
use crate::report::{CommandReport, build_table};

/// What is to be printed.
#[derive(Debug, Clone, Default)]
pub struct PrintRequest {
    /// Only this product; `None` for all.
    pub product: Option<Product>,
    /// Cards that mail by this day; `None` for those whose time has come.
    pub mail_by: Option<NaiveDate>,
    /// Whether cards that could not print before are tried again.
    pub retry: bool,
}

/// What prints.
pub struct PrintRunner {
    /// The queue.
    pub store: Store,
    /// Where pictures are and files go.
    pub storage: Storage,
    /// How.
    pub settings: PrintSettings,
    /// The time.
    pub clock: Clock,
}

/// What was printed.
#[derive(Debug, Clone, Serialize)]
pub struct PrintSummary {
    /// The runs that were ended, in their order.
    pub runs: Vec<PrintedRun>,
    /// Why cards that are due were not printed; none when all were.
    pub refused: Option<String>,
    /// Runs that other printers are working on.
    pub under_way: i64,
    /// Cards that are set aside now, by this printer or an earlier one; they wait for `--retry`.
    pub waiting: i64,
}

/// A run that was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrintedRun {
    /// Its id.
    pub run_id: uuid::Uuid,
    /// What its cards are.
    pub product: String,
    /// Cards that were printed.
    pub cards: usize,
    /// Cards that could not be, and why; they wait for `--retry`.
    pub set_aside: Vec<SetAsideReport>,
    /// The PDF in the store; none when no card could be printed.
    pub pdf: Option<String>,
    /// The manifest of its cards in the store, as CSV; none when no card could be printed.
    pub csv: Option<String>,
    /// The same as JSON, which tells of cards that were set aside, too.
    pub json: String,
}

/// A card that could not be printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAsideReport {
    /// The card.
    pub piece_id: uuid::Uuid,
    /// Its campaign.
    pub campaign_id: String,
    /// A sentence.
    pub problem: String,
}

impl PrintRunner {
    /// Finishes what other printers left, then prints what is due, run by run.
    ///
    /// # Errors
    /// When settings are missing, or the database or the store of files fails. Runs that were ended stay so; the one
    /// under way is free for the next printer.
    pub async fn print(&self, request: &PrintRequest) -> anyhow::Result<PrintSummary> {
        let papers = PaperSettings::for_all_mailers(&self.settings)?;
        if request.retry {
            self.store
                .requeue_set_aside_mailpieces(self.clock.now())
                .await?;
        }
        let mut runs = Vec::new();
        while let Some(run) = self
            .store
            .take_over_print_run(self.clock.now(), self.leased_until())
            .await?
        {
            runs.push(self.print_or_put_back(&run).await?);
        }
        let mut refused = None;
        let products = Product::ALL.into_iter();
        for product in
            products.filter(|product| request.product.is_none_or(|wanted| wanted == *product))
        {
            loop {
                match self.claim_run(product, request, &papers).await {
                    Ok(Some(run)) => {
                        fail_point::fail_if_chosen("print.claimed");
                        runs.push(self.print_or_put_back(&run).await?);
                    }
                    Ok(None) => break,
                    // What was printed until here is told nevertheless.
                    Err(StoreError::Limit(sentence)) => {
                        refused = Some(sentence);
                        break;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let under_way = self.store.count_active_print_runs(self.clock.now()).await?;
        let waiting = self.store.count_set_aside_mailpieces().await?;
        Ok(PrintSummary {
            runs,
            refused,
            under_way,
            waiting,
        })
    }

    fn leased_until(&self) -> chrono::DateTime<chrono::Utc> {
        self.clock.now() + TimeDelta::milliseconds(self.settings.lease_ms)
    }

    async fn claim_run(
        &self,
        product: Product,
        request: &PrintRequest,
        papers: &[PaperSettings],
    ) -> Result<Option<PrintRun>, StoreError> {
        let settings = papers
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<Vec<_>, _>>()?;
        let papers: Vec<PrintPaper<'_>> = papers
            .iter()
            .zip(&settings)
            .map(|(paper, settings)| PrintPaper {
                settings,
                mailer_id: paper.mailer_id.as_deref(),
            })
            .collect();
        let claim = PrintRunRequest {
            product: product.as_str(),
            limit: self.settings.cards_per_run,
            mail_by: request.mail_by,
            lead_days: self.settings.lead_days,
            papers: &papers,
        };
        self.store
            .claim_print_run(&claim, self.clock.now(), self.leased_until())
            .await
    }

    async fn print_or_put_back(&self, run: &PrintRun) -> anyhow::Result<PrintedRun> {
        let printed = print_run(self, run).await;
        if printed.is_err() {
            // The next printer need not wait for the lease to run out. If this fails it has to.
            let _ = self
                .store
                .release_print_run(run.lease, self.clock.now())
                .await;
        }
        printed.with_context(|| {
            format!(
                "run {} of {} is not finished: print again",
                run.lease.run_id, run.product
            )
        })
    }
}

impl PrintSummary {
    /// As an answer.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn report(&self) -> anyhow::Result<CommandReport> {
        let set_aside = self.runs.iter().flat_map(|run| &run.set_aside);
        let mut text = Vec::new();
        if self.runs.is_empty() && self.refused.is_none() {
            text.push("Nothing is due to print.".to_owned());
        } else if !self.runs.is_empty() {
            let mut rows = build_table(["Product", "Cards", "Set aside", "File"]);
            for run in &self.runs {
                let file = run.pdf.as_deref().unwrap_or("none");
                rows.add_row([
                    &run.product,
                    &run.cards.to_string(),
                    &run.set_aside.len().to_string(),
                    file,
                ]);
            }
            text.push(rows.trim_fmt());
        }
        text.extend(set_aside.clone().map(|card| {
            format!(
                "Set aside: card {} of {}: {}",
                card.piece_id, card.campaign_id, card.problem
            )
        }));
        text.extend(
            self.refused
                .iter()
                .map(|why| format!("Not printed: {why}.")),
        );
        match self.waiting {
            0 => {}
            1 => text
                .push("1 card is set aside: `pillarbox print --retry` tries it again.".to_owned()),
            count => text.push(format!(
                "{count} cards are set aside: `pillarbox print --retry` tries them again."
            )),
        }
        match self.under_way {
            0 => {}
            1 => text.push("Another printer is working on a run.".to_owned()),
            count => text.push(format!("Other printers are working on {count} runs.")),
        }
        let is_failure = set_aside.count() > 0 || self.refused.is_some();
        Ok(CommandReport::new(self, text.join("\n"))?.failed_when(is_failure))
    }
}

/// A product by its name.
///
/// # Errors
/// A sentence with the names that there are.
pub(crate) fn parse_product(name: &str) -> anyhow::Result<Product> {
    match name.parse() {
        Ok(product) => Ok(product),
        Err(error) => bail!("{error}"),
    }
}
