//! The healthy endpoint beside one that hangs on every request, of the same team and of another; and beside one that
//! answers at once, which shows what of the difference is the work of its deliveries.

use serde_json::json;

use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;
use crate::webhooks::leisure::latencies;
use crate::webhooks::load::percentile;
use crate::webhooks::team::{self, HANGING, HEALTHY, scan_steadily};

/// Scans of each campaign.
const PER_SECOND: usize = 100;

/// The three runs are made so often in turn, every other time the other way round, and the medians of their p99s are
/// compared: one pause of the machine is the p99 of a whole run, and says nothing about endpoints. The medians of five
/// rounds still differed by a third between runs that were the same.
const ROUNDS: usize = 16;
const SECONDS_PER_ROUND: usize = 4;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let healthy = json!({"url": stack.sink.url, "campaigns": [HEALTHY]});
    let (hanging_url, other_url) = (&*stack.sink.hanging_url, &*stack.sink.other_url);
    for (index, whose) in ["the same team", "another team"].into_iter().enumerate() {
        let campaign = HANGING[index];
        let [hanging, other] =
            [hanging_url, other_url].map(|url| json!({"url": url, "campaigns": [campaign]}));
        let (one, another) = match index {
            0 => (json!([healthy, hanging, other]), json!([])),
            _ => (json!([healthy]), json!([hanging, other])),
        };
        team::apply(&stack.database, &one, &another).await?;
        // The campaign's scans are made in all runs, so that only the endpoint makes the difference.
        step(&format!(
            "beside endpoints of {whose}: none, one that answers, one that hangs"
        ));
        let mut runs = [
            (None, Vec::new()),
            (Some(other_url), Vec::new()),
            (Some(hanging_url), Vec::new()),
        ];
        for round in 0..ROUNDS {
            for index in 0..runs.len() {
                let (active, p99s) = if round % 2 == 0 {
                    &mut runs[index]
                } else {
                    &mut runs[2 - index]
                };
                activate(stack, *active).await?;
                p99s.push(percentile(&mut beside(stack, campaign).await?, 0.99));
            }
        }
        activate(stack, None).await?;
        let [quiet, answered, hung] = runs.map(|(_, mut p99s)| percentile(&mut p99s, 0.5));
        figures.push(Figure::new(
            format!("p99 beside scans of {whose} that nobody hears of"),
            quiet,
            "ms",
        ));
        figures.push(Figure::new(
            format!("p99 beside an endpoint of {whose} that answers"),
            answered,
            "ms",
        ));
        figures.push(Figure::new(
            format!("p99 beside an endpoint of {whose} that hangs"),
            hung,
            "ms",
        ));
        figures.push(Figure::new("  hanging / nobody", hung / quiet, "times").at_most(1.2));
        figures.push(Figure::new(
            "  hanging / answering",
            hung / answered,
            "times",
        ));
    }
    Ok(figures)
}

/// Lets one of the endpoints beside the healthy one get deliveries, or none.
async fn activate(stack: &Stack, url: Option<&str>) -> anyhow::Result<()> {
    let sql = "UPDATE endpoints SET state = CASE WHEN url = $1 THEN 'active' ELSE 'paused' END WHERE url <> $2";
    stack
        .database
        .client()
        .await?
        .execute(sql, &[&url.unwrap_or_default(), &stack.sink.url])
        .await?;
    Ok(())
}

async fn beside(stack: &Stack, campaign: &str) -> anyhow::Result<Vec<f64>> {
    let paths: Vec<String> = stack
        .cards
        .iter()
        .filter(|card| card.campaign == campaign)
        .map(|card| card.path.clone())
        .collect();
    let paths = paths
        .into_iter()
        .cycle()
        .take(PER_SECOND * SECONDS_PER_ROUND)
        .collect();
    let others = scan_steadily(&stack.fleet.url, paths, PER_SECOND, 16);
    let (latencies, others) = tokio::join!(latencies(stack, PER_SECOND, SECONDS_PER_ROUND), others);
    others?;
    latencies
}
