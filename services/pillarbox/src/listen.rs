//! `listen`: scans as they come.
//!
//! The service is asked for what is new and holds the question open for a while. A scan takes its place in the feed
//! once it is recorded, so that going on from answer to answer misses none.

mod feed;
mod forward;

use std::io::{ErrorKind, Write};
use std::time::Duration;

use anyhow::Context;

use self::feed::{ScanFeedEvent, ScanFeedReader};
use self::forward::ScanForwarder;
use crate::client::GatewayClient;
use crate::report::CommandReport;
use crate::sender_command::ListenArgs;

/// The pause between two questions, so that a crowd of scans does not use up the key's rate.
const PAUSE: Duration = Duration::from_millis(1_500);

/// Shows scans until it is stopped, or as many as were asked for.
///
/// # Errors
/// What the service says for good, or a URL to forward to that is none.
pub(crate) async fn listen_for_scans(
    command: &ListenArgs,
    is_json: bool,
) -> anyhow::Result<CommandReport> {
    let feed = ScanFeedReader::open(GatewayClient::new(&command.service)?).await?;
    let forward = command
        .forward
        .as_deref()
        .map(ScanForwarder::new)
        .transpose()?;
    eprintln!("pillarbox: listening for scans; end with Ctrl-C");
    tokio::select! {
        followed = follow_feed(command, feed, forward.as_ref(), is_json) => followed?,
        // It is how listening ends, and nothing is left undone.
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(CommandReport::empty())
}

async fn follow_feed(
    command: &ListenArgs,
    mut feed: ScanFeedReader,
    forward: Option<&ScanForwarder>,
    is_json: bool,
) -> anyhow::Result<()> {
    let mut left = command.count.unwrap_or(u64::MAX);
    let wanted = |scan: &ScanFeedEvent| {
        command
            .campaign
            .as_ref()
            .is_none_or(|campaign| scan.campaign_id() == campaign.to_string())
    };
    loop {
        for scan in feed.next().await?.iter().filter(|scan| wanted(scan)) {
            let forwarded = match forward {
                Some(forward) => Some(forward.post(scan).await),
                None => None,
            };
            match show_scan(scan, forwarded.as_deref(), is_json) {
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

fn show_scan(scan: &ScanFeedEvent, forwarded: Option<&str>, is_json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{}", scan.body())?;
    } else {
        let forwarded = forwarded
            .map(|outcome| format!("  → {outcome}"))
            .unwrap_or_default();
        writeln!(out, "{}{forwarded}", scan.format_line())?;
    }
    out.flush()
}
