//! The largest request against COPY of the rows that it leaves behind.
//!
//! The rows are copied into a second database that was the same at the beginning and receives the same rows, into the
//! same tables with the same indexes and constraints, in one transaction: both sides always work on equal tables.

use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, TryStreamExt, pin_mut};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::database::Database;
use crate::figures::Figure;
use crate::load::{CAMPAIGNS, body};
use crate::samples::Samples;
use crate::send::{LARGE, ROUNDS, Stack};
use crate::step;

/// Tables that a send leaves rows in, and which rows are those of the send `{id}`. Transactions before their entries.
const TABLES: [(&str, &str); 7] = [
    (
        "address_entries",
        "entry_id IN (SELECT entry_id FROM mailpieces WHERE charge_id = '{id}')",
    ),
    ("recipients", "charge_id = '{id}'"),
    ("charges", "charge_id = '{id}'"),
    ("mailpieces", "charge_id = '{id}'"),
    ("ledger_transactions", "charge_id = '{id}'"),
    (
        "ledger_entries",
        "transaction_id IN (SELECT transaction_id FROM ledger_transactions WHERE charge_id = '{id}')",
    ),
    ("sends", "send_id = '{id}'"),
];

/// Bytes handed to the connection at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// The rows of one table, as COPY writes them.
struct Rows {
    table: &'static str,
    chunks: Vec<Bytes>,
}

pub(super) async fn measure(stack: &mut Stack, copies: &Database) -> anyhow::Result<Vec<Figure>> {
    step("5000 recipients against COPY of their rows");
    let (source, target) = (stack.database.client().await?, copies.client().await?);
    let (mut sends, mut copied) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        let send = stack
            .sender
            .send(body(CAMPAIGNS[0], &stack.people.take(LARGE)), LARGE)
            .await?;
        let rows = rows_of_last_send(&source).await?;
        let copy = copy_in(&target, &rows).await?;
        // The first round only warms both sides up.
        if round > 0 {
            sends.push(send);
            copied.push(copy);
        }
    }
    let (send, copy) = (sends.median_ms(), copied.median_ms());
    Ok(vec![
        Figure::new("5000 recipients: whole request", send, "ms"),
        Figure::new("5000 recipients: COPY of the same rows", copy, "ms"),
        Figure::new(
            "5000 recipients: request against COPY",
            send / copy,
            "times",
        )
        .at_most(3.0),
    ])
}

async fn rows_of_last_send(source: &Client) -> anyhow::Result<Vec<Rows>> {
    let sql = "SELECT send_id FROM sends ORDER BY created_at DESC LIMIT 1";
    let id: Uuid = source.query_one(sql, &[]).await?.get(0);
    let mut all = Vec::new();
    for (table, condition) in TABLES {
        let condition = condition.replace("{id}", &id.to_string());
        let sql =
            format!("COPY (SELECT * FROM {table} WHERE {condition}) TO STDOUT (FORMAT binary)");
        all.push(Rows {
            table,
            chunks: read(source, &sql).await?,
        });
    }
    Ok(all)
}

async fn read(source: &Client, sql: &str) -> anyhow::Result<Vec<Bytes>> {
    let stream = source.copy_out(sql).await?;
    pin_mut!(stream);
    let (mut chunks, mut chunk) = (Vec::new(), BytesMut::new());
    while let Some(row) = stream.try_next().await? {
        chunk.extend_from_slice(&row);
        if chunk.len() >= CHUNK_BYTES {
            chunks.push(chunk.split().freeze());
        }
    }
    chunks.push(chunk.freeze());
    Ok(chunks)
}

async fn copy_in(target: &Client, rows: &[Rows]) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    target.batch_execute("BEGIN").await?;
    for Rows { table, chunks } in rows {
        let sink = target
            .copy_in(&format!("COPY {table} FROM STDIN (FORMAT binary)"))
            .await?;
        pin_mut!(sink);
        for chunk in chunks {
            sink.feed(chunk.clone()).await?;
        }
        sink.finish()
            .await
            .with_context(|| format!("COPY into {table}"))?;
    }
    target.batch_execute("COMMIT").await?;
    Ok(begun.elapsed())
}
