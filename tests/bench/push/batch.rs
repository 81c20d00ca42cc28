//! One batch: new contacts against a bare INSERT of the same rows, unchanged ones against new ones, four at a time
//! against one.

use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::future::try_join_all;
use tokio_postgres::Client as Sql;
use uuid::Uuid;

use crate::cpu;
use crate::figures::Figure;
use crate::machine;
use crate::push::client::{Client, Ids, fields};
use crate::push::share::Marks;
use crate::push::{BATCH, ROUNDS, Stack};
use crate::samples::Samples;
use crate::step;

/// Batches of one comparison of throughput.
const THROUGHPUT_BATCHES: usize = 48;

/// Pushers at a time.
const PUSHERS: usize = 4;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    step("push batches of new and of unchanged contacts");
    let client = stack.client(0)?;
    let sql = stack.database.client().await?;
    client.begin().await?;
    let (mut new, mut bare) = (Samples::default(), Samples::default());
    let marks = Marks::read(stack).await?;
    for round in 0..ROUNDS {
        let numbers = round * BATCH..(round + 1) * BATCH;
        new.push(client.push(numbers.clone()).await?);
        bare.push(insert_bare(&sql, Uuid::nil(), Ids::Spread, numbers).await?);
    }
    let of_new = marks.figures(stack, new.mean_ms()).await?;
    client.complete().await?;
    client.begin().await?;
    let marks = Marks::read(stack).await?;
    let mut unchanged = Samples::default();
    for round in 0..ROUNDS {
        unchanged.push(client.push(round * BATCH..(round + 1) * BATCH).await?);
    }
    let of_unchanged = marks.figures(stack, unchanged.mean_ms()).await?;
    // Once more in turns: what the machine does meanwhile is the same for both then.
    let (mut repeated, mut added) = (Samples::default(), Samples::default());
    for round in 0..ROUNDS {
        repeated.push(client.push(round * BATCH..(round + 1) * BATCH).await?);
        added.push(
            client
                .push((ROUNDS + round) * BATCH..(ROUNDS + round + 1) * BATCH)
                .await?,
        );
    }
    step("push four at a time");
    let first = 2 * ROUNDS * BATCH;
    let one = throughput(&[&client], first).await?;
    let four = [
        stack.client(0)?,
        stack.client(0)?,
        stack.client(0)?,
        stack.client(0)?,
    ];
    let before = machine::busy_seconds();
    let cpu_before = cpu_seconds(stack)?;
    let four = throughput(
        &four.iter().collect::<Vec<_>>(),
        first + THROUGHPUT_BATCHES * BATCH,
    )
    .await?;
    let busy = machine::busy_seconds()
        .zip(before)
        .map_or(0.0, |(after, before)| after - before);
    let used = cpu_seconds(stack)?;
    client.complete().await?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let mut figures = vec![Figure::new(
        "batch of 1000 new contacts, end to end",
        new.median_ms(),
        "ms",
    )];
    figures.extend(of_new);
    figures.extend([
        Figure::new(
            "bare INSERT ... ON CONFLICT of the same rows",
            bare.median_ms(),
            "ms",
        ),
        Figure::new(
            "new batch / bare INSERT",
            new.median_ms() / bare.median_ms(),
            "x",
        )
        .at_most(2.5),
        Figure::new(
            "batch of 1000 unchanged contacts",
            unchanged.median_ms(),
            "ms",
        ),
    ]);
    figures.extend(of_unchanged);
    figures.extend([
        Figure::new(
            "unchanged / new, in turns",
            repeated.median_ms() / added.median_ms(),
            "x",
        )
        .at_most(0.5),
        Figure::new("one pusher", per_second(one), "contacts/s"),
        Figure::new("4 pushers on one sync", per_second(four), "contacts/s"),
        Figure::new(
            "time of 4 pushers / of one",
            four.as_secs_f64() / one.as_secs_f64(),
            "x",
        )
        .at_most(1.0 / 1.6),
        // What bounds them, clients and servers together on one machine.
        Figure::new(
            "all cores busy with 4 pushers",
            busy / four.as_secs_f64() / cores * 100.0,
            "%",
        ),
    ]);
    for (used, before) in used.into_iter().zip(cpu_before) {
        let ms_per_batch = (used.1 - before.1) * 1000.0 / THROUGHPUT_BATCHES as f64;
        figures.push(Figure::new(
            format!("  processor time of a batch: {}", used.0),
            ms_per_batch,
            "ms",
        ));
    }
    Ok(figures)
}

/// Processor seconds that each process has used so far.
fn cpu_seconds(stack: &Stack) -> anyhow::Result<[(&'static str, f64); 5]> {
    let broker = std::env::var("TEST_AMQP_URL").context("TEST_AMQP_URL is set by ./dev bench")?;
    let syncers: anyhow::Result<f64> = stack
        .fleet
        .syncers
        .iter()
        .map(|syncer| cpu::seconds(syncer.id()))
        .sum();
    Ok([
        ("gateway", cpu::seconds(stack.fleet.gateway.id())?),
        ("syncer", syncers?),
        (
            "PostgreSQL",
            cpu::seconds(cpu::listener(&stack.database.url)?)?,
        ),
        ("RabbitMQ", cpu::seconds(cpu::listener(&broker)?)?),
        ("the pushers", cpu::own_seconds()),
    ])
}

fn per_second(time: Duration) -> f64 {
    (THROUGHPUT_BATCHES * BATCH) as f64 / time.as_secs_f64()
}

/// The same rows, in the same table, under this integration: one prepared statement.
pub async fn insert_bare(
    sql: &Sql,
    integration_id: Uuid,
    ids: Ids,
    numbers: std::ops::Range<usize>,
) -> anyhow::Result<Duration> {
    let ids: Vec<String> = numbers
        .clone()
        .map(|number| ids.external_id(number))
        .collect();
    let values: Vec<String> = numbers.map(|number| fields(number).to_string()).collect();
    let statement = sql
        .prepare(
            "INSERT INTO contacts (integration_id, external_id, fields, changed_in, created_at, changed_at)
             SELECT $1, external_id, fields::jsonb, $1, now(), now()
             FROM unnest($2::text[], $3::text[]) AS new (external_id, fields)
             ON CONFLICT (integration_id, external_id) DO UPDATE SET fields = excluded.fields",
        )
        .await?;
    let begun = Instant::now();
    sql.execute(&statement, &[&integration_id, &ids, &values])
        .await?;
    Ok(begun.elapsed())
}

/// How long [`THROUGHPUT_BATCHES`] of new contacts take with these clients.
async fn throughput(clients: &[&Client], first: usize) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    try_join_all(
        clients
            .iter()
            .enumerate()
            .map(|(worker, client)| async move {
                for batch in (worker..THROUGHPUT_BATCHES).step_by(clients.len()) {
                    let start = first + batch * BATCH;
                    client.push(start..start + BATCH).await?;
                }
                anyhow::Ok(())
            }),
    )
    .await?;
    debug_assert!(clients.len() <= PUSHERS);
    Ok(begun.elapsed())
}
