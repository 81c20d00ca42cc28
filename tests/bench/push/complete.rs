//! Completing a full sync over a million contacts of which one in a hundred was not received.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;
use tokio_postgres::Client as Sql;
use uuid::Uuid;

use crate::figures::Figure;
use crate::push::Stack;
use crate::push::client::integration_id;
use crate::step;

/// Contacts of the integration.
const CONTACTS: i64 = 1_000_000;

/// One in so many was not received.
const MISSING_ONE_IN: i64 = 100;

/// Contacts in a small batch of another integration, meanwhile.
const OTHERS: usize = 100;

pub async fn measure(stack: &Stack) -> anyhow::Result<Vec<Figure>> {
    step("make a million contacts twice");
    let sql = stack.database.client().await?;
    let (ours, bare) = (
        integration_id(&stack.database, 1).await?,
        integration_id(&stack.database, 2).await?,
    );
    let client = stack.client(1)?;
    let sync_id: Uuid = serde_json::from_value(client.begin().await?["syncId"].clone())?;
    for integration in [ours, bare] {
        seed(&sql, integration, sync_id).await?;
    }
    receive(&sql, ours, sync_id).await?;
    settle(&sql).await?;

    step("complete");
    let marked = mark_bare(&sql, bare, sync_id).await?;
    sql.batch_execute("CHECKPOINT").await?;
    let other = stack.client(0)?;
    other.begin().await?;
    let alone = other.push(0..OTHERS).await?;
    let begun = Instant::now();
    let (completed, meanwhile) = tokio::join!(client.complete(), other.push(0..OTHERS));
    let time = begun.elapsed();
    ensure!(
        completed?["markedRemoved"] == json!(CONTACTS / MISSING_ONE_IN),
        "the wrong contacts were removed"
    );
    let meanwhile = meanwhile?;
    other.complete().await?;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    Ok(vec![
        Figure::new(
            "complete over 1,000,000 contacts, end to end",
            ms(time),
            "ms",
        ),
        Figure::new("bare UPDATE that finds and marks them", ms(marked), "ms"),
        Figure::new("complete / bare UPDATE", ms(time) / ms(marked), "x").at_most(2.0),
        Figure::new("push of another integration, alone", ms(alone), "ms"),
        Figure::new(
            "push of another integration, meanwhile",
            ms(meanwhile),
            "ms",
        ),
        // One that waited would take as long as the rest of the completion.
        Figure::new("push meanwhile / complete", ms(meanwhile) / ms(time), "x").at_most(0.5),
    ])
}

/// Brings the tables into the state in which autovacuum leaves them, one statement at a time as it must be.
pub async fn settle(sql: &Sql) -> anyhow::Result<()> {
    for statement in [
        "VACUUM ANALYZE contacts",
        "VACUUM ANALYZE sync_received",
        "CHECKPOINT",
    ] {
        sql.batch_execute(statement).await?;
    }
    Ok(())
}

async fn seed(sql: &Sql, integration_id: Uuid, sync_id: Uuid) -> anyhow::Result<()> {
    sql.execute(
        "INSERT INTO contacts (integration_id, external_id, fields, changed_in, created_at, changed_at)
         SELECT $1, 'c' || number, jsonb_build_object('first_name', 'Pat', 'last_name', 'Reader' || number,
                'email', 'pat' || number || '@example.com', 'address_1', number || ' Main St', 'city', 'Austin',
                'state', 'TX', 'zip', '78701', 'phone', '(512) 555-0100'),
             CASE WHEN number % $3 = 0 THEN $1::uuid ELSE $2::uuid END, now(), now()
         FROM generate_series(1, $4::bigint) AS number",
        &[&integration_id, &sync_id, &MISSING_ONE_IN, &CONTACTS],
    )
    .await?;
    Ok(())
}

/// Notes that the sync received all but the missing ones, a thousand in each batch.
async fn receive(sql: &Sql, integration_id: Uuid, sync_id: Uuid) -> anyhow::Result<()> {
    sql.execute(
        "INSERT INTO sync_received (integration_id, sync_id, batch, contact_numbers)
         SELECT $1, $2, row_number / 1000, array_agg(contact_number)
         FROM (SELECT contact_number, row_number() OVER () FROM contacts
               WHERE integration_id = $1 AND changed_in = $2) AS received
         GROUP BY row_number / 1000",
        &[&integration_id, &sync_id],
    )
    .await?;
    Ok(())
}

/// What a design would do in which each contact carries the sync that received it last, written at each sync.
async fn mark_bare(sql: &Sql, integration_id: Uuid, sync_id: Uuid) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let marked = sql
        .execute(
            "UPDATE contacts SET removed_at = now(), removed_in = $2
             WHERE integration_id = $1 AND removed_at IS NULL AND changed_in <> $2",
            &[&integration_id, &sync_id],
        )
        .await?;
    let time = begun.elapsed();
    ensure!(
        i64::try_from(marked)? == CONTACTS / MISSING_ONE_IN,
        "the bare statement marked {marked}"
    );
    Ok(time)
}
