//! A large request against a small one.

use crate::figures::Figure;
use crate::load::{CAMPAIGNS, body};
use crate::samples::Samples;
use crate::send::{LARGE, ROUNDS, Stack};
use crate::step;

/// Recipients in the small request.
const SMALL: usize = 500;

pub(super) async fn measure(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    step("5000 recipients against 500");
    let (mut large, mut small) = (Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        for (size, samples) in [(SMALL, &mut small), (LARGE, &mut large)] {
            samples.push(
                stack
                    .sender
                    .send(body(CAMPAIGNS[1], &stack.people.take(size)), size)
                    .await?,
            );
        }
    }
    let ratio = large.median_ms() / small.median_ms();
    Ok(vec![
        Figure::new("500 recipients: whole request", small.median_ms(), "ms"),
        Figure::new("5000 recipients against 500", ratio, "times").at_most(12.0),
    ])
}
