//! `listen`: scans as they come.
//!
//! The service is asked for what is new and holds the question open for a while. A scan takes its place in the feed
//! once it is recorded, so that going on from answer to answer misses none.

mod feed;
mod forward;

use std::io::{ErrorKind, Write};
use std::time::Duration;

use anyhow::Context;

use self::feed::{Feed, Scan};
use self::forward::Forward;
use crate::client::Client;
use crate::report::Report;
use crate::sender_command::ListenCommand;

/// The pause between two questions, so that a crowd of scans does not use up the key's rate.
const PAUSE: Duration = Duration::from_millis(1_500);

/// Shows scans until it is stopped, or as many as were asked for.
///
/// # Errors
/// What the service says for good, or a URL to forward to that is none.
pub(crate) async fn listen(command: &ListenCommand, is_json: bool) -> anyhow::Result<Report> {
    let feed = Feed::open(Client::new(&command.service)?).await?;
    let forward = command.forward.as_deref().map(Forward::new).transpose()?;
    eprintln!("pillarbox: listening for scans; end with Ctrl-C");
    tokio::select! {
        followed = follow(command, feed, forward.as_ref(), is_json) => followed?,
        // It is how listening ends, and nothing is left undone.
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(Report::nothing())
}

async fn follow(
    command: &ListenCommand,
    mut feed: Feed,
    forward: Option<&Forward>,
    is_json: bool,
) -> anyhow::Result<()> {
    let mut left = command.count.unwrap_or(u64::MAX);
    let wanted = |scan: &Scan| {
        command.campaign.as_ref().is_none_or(|campaign| scan.campaign_id() == campaign.to_string())
    };
    loop {
        for scan in feed.next().await?.iter().filter(|scan| wanted(scan)) {
            let forwarded = match forward {
                Some(forward) => Some(forward.post(scan).await),
                None => None,
            };
            match show(scan, forwarded.as_deref(), is_json) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                shown => shown.context("cannot write a scan")?,
            }
            left -= 1;
            if left == 0 {
                return Ok(());
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn show(scan: &Scan, forwarded: Option<&str>, is_json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{}", scan.body())?;
    } else {
        let forwarded = forwarded.map(|outcome| format!("  → {outcome}")).unwrap_or_default();
        writeln!(out, "{}{forwarded}", scan.line())?;
    }
    out.flush()
}
