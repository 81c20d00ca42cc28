//! Memory while 100,000 deliveries wait.

use std::time::Duration;

use anyhow::Context;

use crate::figures::Figure;
use crate::step;
use crate::webhooks::Stack;

const WAITING: i64 = 100_000;

/// How long the dispatcher works beside them.
const TIME: Duration = Duration::from_secs(5);

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    step("100,000 deliveries wait for an endpoint that hangs");
    let client = stack.database.client().await?;
    let endpoint = "SELECT team_id, endpoint_id FROM endpoints WHERE url = $1 LIMIT 1";
    client
        .execute(
            "UPDATE endpoints SET state = 'active' WHERE url = $1",
            &[&stack.sink.hanging_url],
        )
        .await?;
    client
        .execute(
            &format!(
                "WITH endpoint AS ({endpoint}), new AS (
                     SELECT gen_random_uuid() AS event_id FROM generate_series(1, $2::bigint)
                 ), event AS (
                     INSERT INTO events (team_id, event_id, is_test, body, created_at)
                     SELECT team_id, event_id, false, repeat('x', 500), now() FROM new, endpoint
                 )
                 INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
                 SELECT team_id, endpoint_id, event_id, event_id, 'event', 'waiting', false, now(), now() FROM new, endpoint"
            ),
            &[&stack.sink.hanging_url, &WAITING],
        )
        .await?;
    tokio::time::sleep(TIME).await;
    let dispatcher = stack.fleet.dispatchers.first().context("a dispatcher")?;
    let megabytes = dispatcher.peak_memory_bytes()? as f64 / 1_000_000.0;
    Ok(vec![
        Figure::new(
            "dispatcher's memory, the most of the whole run",
            megabytes,
            "MB",
        )
        .at_most(100.0),
    ])
}
