//! The same batch in a table of a hundred thousand contacts and in one of ten million.

use uuid::Uuid;

use crate::figures::Figure;
use crate::push::batch::insert_bare;
use crate::push::client::integration_id;
use crate::push::complete::settle;
use crate::push::{BATCH, ROUNDS, Stack};
use crate::samples::Samples;
use crate::step;

const SMALL: i64 = 100_000;
const LARGE: i64 = 10_000_000;

/// Batches of both kinds before the measurement. Behind a checkpoint Postgres logs each page whole that is touched for the
/// first time, and random ids touch another one with nearly every contact: what is measured is the time between two
/// checkpoints, not the moment behind one.
const WARM_UP: usize = 120;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    let sql = stack.database.client().await?;
    let client = stack.client(3)?;
    client.declare().await?;
    let integration_id = integration_id(&stack.database, 3).await?;
    let (mut medians, mut bare_medians) = (Vec::new(), Vec::new());
    let mut count = 0;
    for size in [SMALL, LARGE] {
        step(&format!("fill the table up to {size} contacts"));
        // Of the same integration, so that its own index entries are as many.
        fill(&sql, integration_id, count, size).await?;
        count = size;
        settle(&sql).await?;
        client.begin().await?;
        let (mut new, mut bare, first) =
            (Samples::default(), Samples::default(), usize::try_from(size)? * 10);
        for round in 0..WARM_UP + ROUNDS {
            let start = first + 2 * round * BATCH;
            let time = client.push(start..start + BATCH).await?;
            let bare_time = insert_bare(&sql, integration_id, start + BATCH..start + 2 * BATCH).await?;
            if round >= WARM_UP {
                new.push(time);
                bare.push(bare_time);
            }
        }
        let end = "UPDATE syncs SET status = 'expired' WHERE status = 'open'";
        sql.batch_execute(end).await?;
        medians.push(new.median_ms());
        bare_medians.push(bare.median_ms());
    }
    Ok(vec![
        Figure::new("new batch among 100,000 contacts", medians[0], "ms"),
        Figure::new("new batch among 10,000,000 contacts", medians[1], "ms"),
        Figure::new("10,000,000 / 100,000", medians[1] / medians[0], "x").at_most(1.3),
        Figure::new("bare INSERT of the same rows among 100,000", bare_medians[0], "ms"),
        Figure::new("bare INSERT of the same rows among 10,000,000", bare_medians[1], "ms"),
    ])
}

/// Adds contacts. Their indexes are made afterwards, which takes a part of the time.
async fn fill(sql: &tokio_postgres::Client, integration_id: Uuid, from: i64, to: i64) -> anyhow::Result<()> {
    let indexes =
        sql.query("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'contacts'", &[]).await?;
    sql.batch_execute("ALTER TABLE contacts DROP CONSTRAINT contacts_pkey").await?;
    for index in indexes.iter().filter(|index| index.get::<_, &str>(0) != "contacts_pkey") {
        sql.batch_execute(&format!("DROP INDEX {}", index.get::<_, &str>(0))).await?;
    }
    sql.execute(
        "INSERT INTO contacts (integration_id, external_id, fields, changed_in, created_at, changed_at)
         SELECT $1, md5(number::text), '{\"first_name\": \"Pat\", \"city\": \"Austin\"}', $1, now(), now()
         FROM generate_series($2::bigint + 1, $3::bigint) AS number",
        &[&integration_id, &from, &to],
    )
    .await?;
    sql.batch_execute("SET maintenance_work_mem = '1GB'").await?;
    for index in &indexes {
        sql.batch_execute(index.get(1)).await?;
    }
    let key = "ALTER TABLE contacts ADD CONSTRAINT contacts_pkey PRIMARY KEY USING INDEX contacts_pkey";
    Ok(sql.batch_execute(key).await?)
}
