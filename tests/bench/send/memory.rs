//! What gateway and mailer hold of many large bodies at a time.
//!
//! All bodies are posted at once to new processes. The gateway has 32 senders with 4 MB each; the mailer takes as many
//! requests at a time as its configuration says by default, which is 4.

use futures_util::future::try_join_all;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::load::{CAMPAIGNS, Sender, body};
use crate::send::{LARGE, Stack};
use crate::step;

/// Requests at a time.
const REQUESTS: usize = 32;

/// Bytes of a body.
const BODY_BYTES: usize = 4_000_000;

const MB: f64 = 1_000_000.0;

pub(super) async fn measure(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    step("32 bodies of 4 MB at a time");
    let bodies: Vec<String> = (0..REQUESTS)
        .map(|number| large_body(stack, CAMPAIGNS[number % CAMPAIGNS.len()]))
        .collect();
    let (gateway, mailer) = peaks(&stack.database, bodies).await?;
    Ok(vec![
        Figure::new("gateway, 32 bodies of 4 MB: peak memory", gateway, "MB").at_most(300.0),
        Figure::new("mailer, 4 of them in flight: peak memory", mailer, "MB").at_most(300.0),
    ])
}

/// A request that the limits just allow, filled up with notes.
fn large_body(stack: &mut Stack, campaign: &str) -> String {
    let probe = body(campaign, &stack.people.take_with_notes(LARGE, 0)).len();
    let note_length = BODY_BYTES.saturating_sub(probe) / LARGE;
    body(campaign, &stack.people.take_with_notes(LARGE, note_length))
}

/// Peak memory of a new gateway and a new mailer, in MB, over requests that are all answered.
async fn peaks(database: &Database, bodies: Vec<String>) -> anyhow::Result<(f64, f64)> {
    let fleet = Fleet::start(database, 1).await?;
    let sender = Sender::new(&fleet.url)?;
    try_join_all(bodies.into_iter().map(|body| sender.send(body, LARGE))).await?;
    let mailer = fleet
        .mailers
        .iter()
        .map(|mailer| mailer.peak_memory_bytes())
        .next()
        .transpose()?;
    Ok((
        fleet.gateway.peak_memory_bytes()? as f64 / MB,
        mailer.unwrap_or_default() as f64 / MB,
    ))
}
