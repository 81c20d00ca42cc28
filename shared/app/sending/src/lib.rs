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
mod state;
mod validate;

pub use crate::calendar::mail_by_date;
pub use crate::send::{IncomingSend, SendAnswer, handle_send};
pub use crate::validate::validate_send;

use crate::due::DueJobs;
use crate::open_sends::OpenSends;
use crate::refunds::OwedRefunds;
pub use crate::state::MailerState;

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
