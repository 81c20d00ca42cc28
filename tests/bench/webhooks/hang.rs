//! The healthy endpoint beside one that hangs on every request, of the same team and of another.

use serde_json::json;

use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;
use crate::webhooks::leisure::latencies;
use crate::webhooks::load::percentile;
use crate::webhooks::team::{self, HANGING, HEALTHY, scan_steadily};

/// Scans of each campaign.
const PER_SECOND: usize = 100;

/// Both runs are made so often in turn, and the medians of their p99s are compared: one pause of the machine is the
/// p99 of a whole run, and says nothing about endpoints.
const ROUNDS: usize = 5;
const SECONDS_PER_ROUND: usize = 5;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let healthy = json!({"url": stack.sink.url, "campaigns": [HEALTHY]});
    for (index, whose) in ["the same team", "another team"].into_iter().enumerate() {
        let campaign = HANGING[index];
        let hanging = json!({"url": stack.sink.hanging_url, "campaigns": [campaign]});
        let (one, other) = match index {
            0 => (json!([healthy, hanging]), json!([])),
            _ => (json!([healthy]), json!([hanging])),
        };
        team::apply(&stack.database, &one, &other).await?;
        // The scans of the campaign that hangs are made in both runs, so that only the endpoint makes the difference.
        step(&format!("beside scans that nobody hears of, and beside an endpoint of {whose} that hangs"));
        let (mut quiet, mut hung) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            set_hanging(stack, "paused").await?;
            quiet.push(percentile(&mut beside(stack, campaign).await?, 0.99));
            set_hanging(stack, "active").await?;
            hung.push(percentile(&mut beside(stack, campaign).await?, 0.99));
        }
        set_hanging(stack, "paused").await?;
        let (quiet, p99) = (percentile(&mut quiet, 0.5), percentile(&mut hung, 0.5));
        figures.push(Figure::new(format!("p99 beside scans of {whose} that nobody hears of"), quiet, "ms"));
        figures.push(Figure::new(format!("p99 beside an endpoint of {whose} that hangs"), p99, "ms"));
        figures.push(Figure::new("  that is", p99 / quiet, "times").at_most(1.2));
    }
    Ok(figures)
}

async fn set_hanging(stack: &Stack, state: &str) -> anyhow::Result<()> {
    let sql = "UPDATE endpoints SET state = $2 WHERE url = $1";
    stack.database.client().await?.execute(sql, &[&stack.sink.hanging_url, &state]).await?;
    Ok(())
}

async fn beside(stack: &Stack, campaign: &str) -> anyhow::Result<Vec<f64>> {
    let paths: Vec<String> =
        stack.cards.iter().filter(|card| card.campaign == campaign).map(|card| card.path.clone()).collect();
    let paths = paths.into_iter().cycle().take(PER_SECOND * SECONDS_PER_ROUND).collect();
    let others = scan_steadily(&stack.fleet.url, paths, PER_SECOND, 16);
    let (latencies, others) = tokio::join!(latencies(stack, PER_SECOND, SECONDS_PER_ROUND), others);
    others?;
    latencies
}
