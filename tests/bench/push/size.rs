//! The same batch in a table of a hundred thousand contacts and in one of ten million, with random ids and with ids
//! in order.

use anyhow::Context;
use tokio_postgres::Client as Sql;
use uuid::Uuid;

use crate::figures::Figure;
use crate::push::batch::insert_bare;
use crate::push::client::{Ids, integration_id};
use crate::push::complete::settle;
use crate::push::{BATCH, ROUNDS, Stack};
use crate::samples::Samples;
use crate::step;

const SMALL: i64 = 100_000;
const LARGE: i64 = 10_000_000;

/// Contacts in one page of the index by external id, as [`fill`] makes it.
const CONTACTS_PER_PAGE: usize = 100;

/// Rounds that are not measured: PostgreSQL plans the first five executions of a statement each by itself.
const PLANNED_ROUNDS: usize = 5;

/// The bound of a batch in the large table against the small one.
const BOUND: f64 = 1.3;

/// What a batch of new contacts takes, through the API and by a bare INSERT.
#[derive(Default)]
struct Times {
    push: Samples,
    bare: Samples,
}

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    let sql = stack.database.client().await?;
    // The log of the warm-up alone would bring about a checkpoint in the middle of the measurement.
    for statement in [
        "ALTER SYSTEM SET max_wal_size = '8GB'",
        "SELECT pg_reload_conf()",
    ] {
        sql.batch_execute(statement).await?;
    }
    stack.client(3)?.declare().await?;
    let integration_id = integration_id(&stack.database, 3).await?;
    let mut small = [Times::default(), Times::default()];
    let mut large = [Times::default(), Times::default()];
    let mut count = 0;
    for (size, times) in [(SMALL, &mut small), (LARGE, &mut large)] {
        step(&format!("fill the table up to {size} contacts"));
        // Of the same integration, so that its own index entries are as many.
        fill(&sql, integration_id, count, size).await?;
        count = size;
        settle(&sql).await?;
        batches(stack, &sql, integration_id, size, times).await?;
    }
    for statement in ["ALTER SYSTEM RESET max_wal_size", "SELECT pg_reload_conf()"] {
        sql.batch_execute(statement).await?;
    }
    let orders = ["random ids", "ids in order"]
        .into_iter()
        .zip(small.iter().zip(&large));
    Ok(orders
        .flat_map(|(order, (small, large))| figures(order, small, large))
        .collect())
}

/// Pushes and inserts batches of new contacts, with spread ids and with ids in order in turn.
async fn batches(
    stack: &Stack,
    sql: &Sql,
    integration_id: Uuid,
    size: i64,
    times: &mut [Times; 2],
) -> anyhow::Result<()> {
    let orders = [Ids::Spread, Ids::InOrder];
    let clients = [
        stack.client_with(3, Ids::Spread)?,
        stack.client_with(3, Ids::InOrder)?,
    ];
    clients[0].begin().await?;
    let size = usize::try_from(size)?;
    let mut batch = (size * 10..)
        .step_by(BATCH)
        .map(|start| start..start + BATCH);
    let mut next = || batch.next().context("batches have no end");
    // Behind a checkpoint Postgres logs each page whole that is touched for the first time, and random ids touch another
    // one with nearly every contact: what is measured is the time between two checkpoints. So many random contacts
    // touch nine pages in ten.
    for _ in 0..(size / CONTACTS_PER_PAGE * 12 / 5).div_ceil(BATCH) {
        insert_bare(sql, integration_id, Ids::Spread, next()?).await?;
    }
    for round in 0..PLANNED_ROUNDS + ROUNDS {
        for ((ids, client), times) in orders.iter().zip(&clients).zip(times.iter_mut()) {
            let push = client.push(next()?).await?;
            let bare = insert_bare(sql, integration_id, *ids, next()?).await?;
            if round >= PLANNED_ROUNDS {
                times.push.push(push);
                times.bare.push(bare);
            }
        }
    }
    Ok(sql
        .batch_execute("UPDATE syncs SET status = 'expired' WHERE status = 'open'")
        .await?)
}

fn figures(order: &str, small: &Times, large: &Times) -> Vec<Figure> {
    let ratio = |of: fn(&Times) -> &Samples| of(large).median_ms() / of(small).median_ms();
    vec![
        Figure::new(
            format!("new batch among 100,000 contacts, {order}"),
            small.push.median_ms(),
            "ms",
        ),
        Figure::new("new batch among 10,000,000", large.push.median_ms(), "ms"),
        Figure::new(
            "bare INSERT of the same rows among 100,000",
            small.bare.median_ms(),
            "ms",
        ),
        Figure::new(
            "bare INSERT of the same rows among 10,000,000",
            large.bare.median_ms(),
            "ms",
        ),
        Figure::new(
            "10,000,000 / 100,000, bare INSERT",
            ratio(|times| &times.bare),
            "x",
        ),
        Figure::new(
            format!("10,000,000 / 100,000, {order}"),
            ratio(|times| &times.push),
            "x",
        )
        .at_most(BOUND),
    ]
}

/// Adds contacts. Their indexes are made afterwards, which takes a part of the time.
async fn fill(sql: &Sql, integration_id: Uuid, from: i64, to: i64) -> anyhow::Result<()> {
    let indexes = sql
        .query(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'contacts'",
            &[],
        )
        .await?;
    sql.batch_execute("ALTER TABLE contacts DROP CONSTRAINT contacts_pkey")
        .await?;
    for index in indexes
        .iter()
        .filter(|index| index.get::<_, &str>(0) != "contacts_pkey")
    {
        sql.batch_execute(&format!("DROP INDEX {}", index.get::<_, &str>(0)))
            .await?;
    }
    sql.execute(
        "INSERT INTO contacts (integration_id, external_id, fields, changed_in, created_at, changed_at)
         SELECT $1, md5(number::text), '{\"first_name\": \"Pat\", \"city\": \"Austin\"}', $1, now(), now()
         FROM generate_series($2::bigint + 1, $3::bigint) AS number",
        &[&integration_id, &from, &to],
    )
    .await?;
    sql.batch_execute("SET maintenance_work_mem = '1GB'")
        .await?;
    for index in &indexes {
        sql.batch_execute(index.get(1)).await?;
    }
    let key =
        "ALTER TABLE contacts ADD CONSTRAINT contacts_pkey PRIMARY KEY USING INDEX contacts_pkey";
    Ok(sql.batch_execute(key).await?)
}
