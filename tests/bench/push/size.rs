//! The same batch in a table of a hundred thousand contacts and in one of ten million.

use uuid::Uuid;

use crate::figures::Figure;
use crate::push::client::provision;
use crate::push::complete::settle;
use crate::push::{BATCH, ROUNDS, Stack};
use crate::samples::Samples;
use crate::step;

const SMALL: i64 = 100_000;
const LARGE: i64 = 10_000_000;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    let sql = stack.database.client().await?;
    sql.batch_execute("TRUNCATE contacts, sync_received, syncs, integration_fields, idempotency_keys")
        .await?;
    provision(&stack.database).await?;
    let client = stack.client(3)?;
    client.declare().await?;
    let mut medians = Vec::new();
    let mut count = 0;
    for size in [SMALL, LARGE] {
        step(&format!("fill the table up to {size} contacts"));
        // Of the same integration, so that its own index entries are as many.
        let integration_id = crate::push::client::integration_id(&stack.database, 3).await?;
        fill(&sql, integration_id, count, size).await?;
        count = size;
        settle(&sql).await?;
        client.begin().await?;
        // The first batches find nothing in memory.
        let (mut new, first) = (Samples::default(), usize::try_from(size)? * 10);
        for round in 0..2 * ROUNDS {
            let start = first + round * BATCH;
            let time = client.push(start..start + BATCH).await?;
            if round >= ROUNDS {
                new.push(time);
            }
        }
        client.call(reqwest::Method::GET, "/sync", String::new()).await?;
        let end = "UPDATE syncs SET status = 'expired' WHERE status = 'open'";
        sql.batch_execute(end).await?;
        medians.push(new.median_ms());
    }
    Ok(vec![
        Figure::new("new batch among 100,000 contacts", medians[0], "ms"),
        Figure::new("new batch among 10,000,000 contacts", medians[1], "ms"),
        Figure::new("10,000,000 / 100,000", medians[1] / medians[0], "x").at_most(1.3),
    ])
}

async fn fill(sql: &tokio_postgres::Client, integration_id: Uuid, from: i64, to: i64) -> anyhow::Result<()> {
    sql.execute(
        "INSERT INTO contacts (integration_id, external_id, fields, changed_in, created_at, changed_at)
         SELECT $1, md5(number::text), '{\"first_name\": \"Pat\", \"city\": \"Austin\"}', $1, now(), now()
         FROM generate_series($2::bigint + 1, $3::bigint) AS number",
        &[&integration_id, &from, &to],
    )
    .await?;
    Ok(())
}
