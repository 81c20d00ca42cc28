//! From a scan to the endpoint at 50 scans a second.

use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;
use crate::webhooks::load::percentile;
use crate::webhooks::team::{Card, HEALTHY, scan_steadily};

const PER_SECOND: usize = 50;
const SECONDS: usize = 20;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    step("50 scans a second");
    // The crowd before has left the tables as autovacuum has not yet seen them.
    let client = stack.database.client().await?;
    for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
        client.batch_execute(statement).await?;
    }
    let mut latencies = latencies(stack, PER_SECOND, SECONDS).await?;
    Ok(vec![
        Figure::new("scan to arrival at 50 a second, p50", percentile(&mut latencies, 0.5), "ms")
            .at_most(3.5),
        Figure::new("scan to arrival at 50 a second, p99", percentile(&mut latencies, 0.99), "ms")
            .at_most(10.0),
    ])
}

/// Milliseconds from each scan of the healthy campaign to its arrival, at this rate for so many seconds.
pub async fn latencies(stack: &Stack, per_second: usize, seconds: usize) -> anyhow::Result<Vec<f64>> {
    let count = per_second * seconds;
    let cards: Vec<&Card> = stack.cards.iter().filter(|card| card.campaign == HEALTHY).take(count).collect();
    stack.sink.clear();
    let paths = cards.iter().map(|card| card.path.clone()).collect();
    let scanned = scan_steadily(&stack.fleet.url, paths, per_second, 16).await?;
    stack.sink.until(cards.len()).await?;
    let took = cards.iter().zip(scanned).filter_map(|(card, (scanned_at, _))| {
        Some((stack.sink.arrival(&card.last_name)? - scanned_at).as_secs_f64() * 1_000.0)
    });
    Ok(took.collect())
}
