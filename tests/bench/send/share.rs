//! One recipient on an idle system: what gateway, broker and codec cost.
//!
//! The sender's time from the first byte of the request to the last of the answer, less the time in which gateway or
//! mailer waited for Postgres (`pillarbox_database_busy_seconds`, which counts round trips and, once, statements that travel
//! together). The two never wait at the same time: the gateway admits before it calls, and calls before the mailer
//! begins. Both counters are read after each request, so that the median is one of requests and not of means. The
//! embedded verifier needs microseconds for one address; they stay in the share.

use std::time::Duration;

use crate::figures::Figure;
use crate::load::{CAMPAIGNS, body};
use crate::samples::Samples;
use crate::send::Stack;
use crate::step;

/// Requests before the measurement: connections open, statements are prepared.
const WARM_UP: usize = 30;

/// Requests that are measured.
const REQUESTS: usize = 200;

pub(super) async fn measure(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    step("one recipient, idle system");
    let (mut whole, mut store, mut share) =
        (Samples::default(), Samples::default(), Samples::default());
    for number in 0..WARM_UP + REQUESTS {
        let before = stack.fleet.store_seconds().await?;
        let took = stack
            .sender
            .send(body(CAMPAIGNS[0], &stack.people.take(1)), 1)
            .await?;
        let waited = Duration::from_secs_f64(stack.fleet.store_seconds().await? - before);
        if number >= WARM_UP {
            whole.push(took);
            store.push(waited);
            share.push(took.saturating_sub(waited));
        }
    }
    Ok(vec![
        Figure::new("1 recipient, idle: whole request", whole.median_ms(), "ms"),
        Figure::new(
            "1 recipient, idle: waiting for Postgres",
            store.median_ms(),
            "ms",
        ),
        Figure::new(
            "1 recipient, idle: gateway, broker, codec, verifier",
            share.median_ms(),
            "ms",
        )
        .at_most(3.0),
    ])
}
