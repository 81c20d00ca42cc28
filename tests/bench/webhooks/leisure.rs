//! From a scan to the endpoint at 50 scans a second.

use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;
use crate::webhooks::bare;
use crate::webhooks::load::percentile;
use crate::webhooks::team::{Card, HEALTHY, scan_steadily};

const PER_SECOND: usize = 50;
const SECONDS: usize = 20;

/// What it may take more than one insert and one post.
const P50_TIMES: f64 = 3.0;
const P99_TIMES: f64 = 5.0;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    step("50 scans a second");
    // The crowd before has left the tables as autovacuum has not yet seen them.
    let client = stack.database.client().await?;
    for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
        client.batch_execute(statement).await?;
    }
    let mut latencies = latencies(stack, PER_SECOND, SECONDS).await?;
    step("the limit: one bare insert and one bare post, at the same rate");
    let bare = bare::latencies(stack, PER_SECOND, SECONDS / 2).await?;
    let mut figures = Vec::new();
    for (part, percent, times) in [(0.5, 50, P50_TIMES), (0.99, 99, P99_TIMES)] {
        let (ours, bare) = (
            percentile(&mut latencies, part),
            bare.percentile_ms(percent),
        );
        figures.extend([
            Figure::new(
                format!("scan to arrival at 50 a second, p{percent}"),
                ours,
                "ms",
            ),
            Figure::new(format!("bare insert and bare post, p{percent}"), bare, "ms"),
            Figure::new(
                format!("  scan to arrival / the bare two, p{percent}"),
                ours / bare,
                "x",
            )
            .at_most(times),
        ]);
    }
    Ok(figures)
}

/// Milliseconds from each scan of the healthy campaign to its arrival, at this rate for so many seconds.
pub async fn latencies(
    stack: &Stack,
    per_second: usize,
    seconds: usize,
) -> anyhow::Result<Vec<f64>> {
    let count = per_second * seconds;
    let cards: Vec<&Card> = stack
        .cards
        .iter()
        .filter(|card| card.campaign == HEALTHY)
        .take(count)
        .collect();
    stack.sink.clear();
    let paths = cards.iter().map(|card| card.path.clone()).collect();
    let scanned = scan_steadily(&stack.fleet.url, paths, per_second, 16).await?;
    stack.sink.until(cards.len()).await?;
    let took = cards
        .iter()
        .zip(scanned)
        .filter_map(|(card, (scanned_at, _))| {
            Some((stack.sink.arrival(&card.last_name)? - scanned_at).as_secs_f64() * 1_000.0)
        });
    Ok(took.collect())
}
