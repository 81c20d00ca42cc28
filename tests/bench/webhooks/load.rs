//! As much as goes: scans at concurrency 32, each to arrive at the sink.

use std::time::Instant;

use anyhow::Context;

use crate::cpu;
use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;
use crate::webhooks::bare;
use crate::webhooks::team::{HEALTHY, scan_all, scan_steadily};

const SCANS: usize = 20_000;
const CONCURRENCY: usize = 32;

/// Scans before the measurement: connections open, statements are prepared.
const WARM_UP: usize = 2_000;

/// Half of the redirects that one core is to give.
const HALF_RATE: usize = 1_500;

/// What is to be reached of what the machine can do, whichever machine it is.
const DELIVERED_PART: f64 = 0.1;
const PROCESSOR_TIMES: f64 = 8.0;
const GATEWAY_TIMES: f64 = 8.0;

pub async fn measure(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    let paths: Vec<String> = stack
        .cards
        .iter()
        .filter(|card| card.campaign == HEALTHY)
        .map(|card| card.path.clone())
        .collect();
    let some = |count: usize| {
        paths
            .iter()
            .cycle()
            .take(count)
            .cloned()
            .collect::<Vec<_>>()
    };
    step("warm up");
    scan_all(&stack.fleet.url, some(WARM_UP), CONCURRENCY).await?;
    stack.sink.until(WARM_UP).await?;

    step("20,000 scans at concurrency 32");
    stack.sink.clear();
    let before = used(stack)?;
    let begun = Instant::now();
    scan_all(&stack.fleet.url, some(SCANS), CONCURRENCY).await?;
    let redirected = begun.elapsed().as_secs_f64();
    stack.sink.until(SCANS).await?;
    let delivered = begun.elapsed().as_secs_f64();
    let after = used(stack)?;
    let per_thousand = |index: usize| (after[index] - before[index]) * 1_000.0 / SCANS as f64;
    let all: f64 = (0..4).map(per_thousand).sum();

    step("redirects at half the rate of a core");
    let latencies = scan_steadily(&stack.fleet.url, some(HALF_RATE * 6), HALF_RATE, 64).await?;
    let mut took: Vec<f64> = latencies
        .iter()
        .map(|(_, took)| took.as_secs_f64() * 1_000.0)
        .collect();
    stack.sink.until(SCANS + HALF_RATE * 6).await?;

    step("the limits: bare inserts of the same rows, and a bare client to the same sink");
    let inserts = bare::inserts(stack, SCANS).await?;
    let posts = bare::posts(stack, SCANS).await?;
    // Both on the same processors, one after the other; a scan is asked for and posted on: two exchanges.
    let limit = 1.0 / (1.0 / inserts.per_second + 2.0 / posts.per_second);
    let limit_cpu = (inserts.cpu_seconds + 2.0 * posts.cpu_seconds) * 1_000.0;
    let sustained = SCANS as f64 / delivered;
    Ok(vec![
        Figure::new("scans delivered, sustained", sustained, "per s"),
        Figure::new("redirects meanwhile", SCANS as f64 / redirected, "per s"),
        Figure::new("bare inserts of the same rows", inserts.per_second, "per s"),
        Figure::new("bare client to the same sink", posts.per_second, "per s"),
        Figure::new("the two together: insert, two exchanges", limit, "per s"),
        Figure::new("  delivered / the two together", sustained / limit, "x")
            .at_least(DELIVERED_PART),
        Figure::new("processor time, all processes", all, "s per 1000"),
        Figure::new("  gateway", per_thousand(0), "s per 1000"),
        Figure::new("  dispatcher", per_thousand(1), "s per 1000"),
        Figure::new("  Postgres", per_thousand(2), "s per 1000"),
        Figure::new("  RabbitMQ", per_thousand(3), "s per 1000"),
        Figure::new("  all processes / the bare two", all / limit_cpu, "x")
            .at_most(PROCESSOR_TIMES),
        Figure::new(
            "redirects on one core of gateway",
            1_000.0 / per_thousand(0),
            "per s",
        ),
        Figure::new(
            "  gateway / a bare exchange",
            per_thousand(0) / (posts.cpu_seconds * 1_000.0),
            "x",
        )
        .at_most(GATEWAY_TIMES),
        Figure::new(
            "redirect at 1500 a second, p99",
            percentile(&mut took, 0.99),
            "ms",
        )
        .at_most(20.0),
    ])
}

/// Processor seconds of gateway, dispatcher, Postgres and RabbitMQ so far.
fn used(stack: &Stack) -> anyhow::Result<[f64; 4]> {
    let broker = std::env::var("TEST_AMQP_URL").context("TEST_AMQP_URL is set by ./dev bench")?;
    let dispatcher = stack.fleet.dispatchers.first().context("a dispatcher")?;
    Ok([
        cpu::seconds(stack.fleet.gateway.id())?,
        cpu::seconds(dispatcher.id())?,
        cpu::seconds(cpu::listener(&stack.database.url)?)?,
        cpu::seconds(cpu::listener(&broker)?)?,
    ])
}

/// The value that this part of all is not over.
pub fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = ((values.len() as f64 * part).ceil() as usize).clamp(1, values.len().max(1)) - 1;
    values.get(index).copied().unwrap_or(0.0)
}
