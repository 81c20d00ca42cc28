//! What nobody can do faster on this machine: bare inserts of the rows that a scan leaves behind, and a bare client that
//! posts the same bodies to the same sink. Figures of scans and deliveries are told as parts of it.

use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::Bytes;
use tokio_postgres::Client;

use crate::cpu;
use crate::samples::Samples;
use crate::webhooks::Stack;
use crate::webhooks::sink::Line;

/// Rows of a statement and statements at a time, as a gateway has them.
const BATCH: i32 = 128;
const LANES: usize = 2;

/// Connections of the bare client.
const CONNECTIONS: usize = 32;

/// Tables like those that a scan is written to, with their indexes.
const TABLES: &str = "
    DROP TABLE IF EXISTS bare_scans, bare_events, bare_deliveries;
    CREATE TABLE bare_scans (LIKE scans INCLUDING ALL);
    CREATE TABLE bare_events (LIKE events INCLUDING ALL);
    CREATE TABLE bare_deliveries (LIKE deliveries INCLUDING ALL)";

/// A scan, its event and its delivery, so many times in one statement.
const INSERT: &str = "
    WITH new AS MATERIALIZED (
        SELECT team_id, gen_random_uuid() AS id, body, now() AS at
        FROM (SELECT team_id, body FROM events LIMIT 1) event, generate_series(1, $1::integer)
    ), scanned AS (
        INSERT INTO bare_scans (team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, scanned_at)
        SELECT team_id, id, id, 'PA-BENCH0', 'person', 'https://example.com/?name=Pat', at FROM new
    ), delivered AS (
        INSERT INTO bare_deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT team_id, team_id, id, id, 'event', 'waiting', false, at, at FROM new
    )
    INSERT INTO bare_events (team_id, event_id, is_test, body, created_at) SELECT team_id, id, false, body, at FROM new";

/// How much of something goes, and what it takes of the processors.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub per_second: f64,
    /// Of PostgreSQL, or of client and sink together.
    pub cpu_seconds: f64,
}

/// The body of an event as it is posted.
async fn body(stack: &Stack) -> anyhow::Result<Bytes> {
    let row = stack
        .database
        .client()
        .await?
        .query_one("SELECT body FROM events LIMIT 1", &[])
        .await?;
    Ok(Bytes::from(row.get::<_, String>(0)))
}

async fn insert(client: &Client, rows: i32) -> anyhow::Result<()> {
    let statement = client.prepare(INSERT).await?;
    client
        .execute(&statement, &[&rows])
        .await
        .context("a bare insert")?;
    Ok(())
}

/// Bare inserts of what so many scans leave behind, as many at a time as a gateway makes.
pub async fn inserts(stack: &Stack, scans: usize) -> anyhow::Result<Limit> {
    stack.database.client().await?.batch_execute(TABLES).await?;
    let postgres = cpu::listener(&stack.database.url)?;
    let statements = scans.div_ceil(LANES * usize::try_from(BATCH)?);
    let (before, begun) = (cpu::seconds(postgres)?, Instant::now());
    let mut lanes = Vec::new();
    for _ in 0..LANES {
        let client = stack.database.client().await?;
        lanes.push(tokio::spawn(async move {
            let statement = client.prepare(INSERT).await?;
            for _ in 0..statements {
                client.execute(&statement, &[&BATCH]).await?;
            }
            anyhow::Ok(())
        }));
    }
    for lane in lanes {
        lane.await??;
    }
    let inserted = (statements * LANES) as f64 * f64::from(BATCH);
    Ok(Limit {
        per_second: inserted / begun.elapsed().as_secs_f64(),
        cpu_seconds: (cpu::seconds(postgres)? - before) / inserted,
    })
}

/// So many posts of a bare client to the same sink.
pub async fn posts(stack: &Stack, posts: usize) -> anyhow::Result<Limit> {
    let body = body(stack).await?;
    let (before, begun) = (cpu::own_seconds(), Instant::now());
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let (mut line, body) = (Line::open(&stack.sink.url).await?, body.clone());
        clients.push(tokio::spawn(async move {
            for _ in 0..posts / CONNECTIONS {
                line.ask("POST", "/hook", body.clone()).await?;
            }
            anyhow::Ok(())
        }));
    }
    for client in clients {
        client.await??;
    }
    let made = (posts / CONNECTIONS * CONNECTIONS) as f64;
    Ok(Limit {
        per_second: made / begun.elapsed().as_secs_f64(),
        cpu_seconds: (cpu::own_seconds() - before) / made,
    })
}

/// One scan's rows inserted and one body posted, one after the other, at this rate.
pub async fn latencies(
    stack: &Stack,
    per_second: usize,
    seconds: usize,
) -> anyhow::Result<Samples> {
    let client = stack.database.client().await?;
    client.batch_execute(TABLES).await?;
    let (mut line, body) = (Line::open(&stack.sink.url).await?, body(stack).await?);
    insert(&client, 1).await?;
    let statement = client.prepare(INSERT).await?;
    let mut samples = Samples::default();
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / u32::try_from(per_second)?);
    for _ in 0..per_second * seconds {
        ticks.tick().await;
        let begun = Instant::now();
        client.execute(&statement, &[&1]).await?;
        line.ask("POST", "/hook", body.clone()).await?;
        samples.push(begun.elapsed());
    }
    Ok(samples)
}
