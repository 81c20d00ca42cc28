//! The largest request over five million earlier cards against one over almost none.

use futures_util::future::try_join_all;

use crate::database::Database;
use crate::figures::Figure;
use crate::load::{CAMPAIGNS, body};
use crate::samples::Samples;
use crate::send::{LARGE, ROUNDS, Stack};
use crate::step;

/// What is filled, with the statement that fills it.
const TABLES: [(&str, &str); 4] = [
    ("charges", include_str!("history/charges.sql")),
    ("address_entries", include_str!("history/address_entries.sql")),
    ("recipients", include_str!("history/recipients.sql")),
    ("pieces", include_str!("history/pieces.sql")),
];

/// For loading: memory to sort an index in, and no wait for the disk.
const LOADING: &str = "SET maintenance_work_mem = '512MB'; SET synchronous_commit = off";

/// A table's indexes and constraints: what removes each, and what makes it again.
const INDEXES: &str = "
    SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', $1::text, conname),
        format('ALTER TABLE %I ADD CONSTRAINT %I %s', $1::text, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype IN ('p', 'u')
    UNION ALL
    SELECT format('DROP INDEX %I', indexrelid::regclass::text), pg_get_indexdef(indexrelid)
    FROM pg_index WHERE indrelid = $1::text::regclass
        AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)";

pub(super) async fn measure(stack: &mut Stack, seeded: &Database) -> anyhow::Result<Vec<Figure>> {
    step("prepare 5 million earlier cards, 5 million recipients and 2.5 million entries");
    let begun = std::time::Instant::now();
    try_join_all(TABLES.map(|(table, sql)| fill(seeded, table, sql))).await?;
    let client = seeded.client().await?;
    // The load is written out, so that it is not what the measurement waits for.
    client.batch_execute("VACUUM ANALYZE").await?;
    client.batch_execute("CHECKPOINT").await?;
    step(&format!("prepared in {} s; 5000 recipients over them", begun.elapsed().as_secs()));
    let mut over = Stack::start(seeded.clone()).await?;
    let (mut without, mut with) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        let short = stack.sender.send(body(CAMPAIGNS[0], &stack.people.take(LARGE)), LARGE).await?;
        let long = over.sender.send(body(CAMPAIGNS[0], &over.people.take(LARGE)), LARGE).await?;
        // The first round only warms both sides up.
        if round > 0 {
            without.push(short);
            with.push(long);
        }
    }
    drop(over);
    let ratio = with.median_ms() / without.median_ms();
    Ok(vec![
        Figure::new("5000 recipients over 5 million earlier cards", with.median_ms(), "ms"),
        Figure::new("5 million earlier cards against almost none", ratio, "times").at_most(1.3),
    ])
}

/// Fills a table set-wise. Its indexes are made afterwards: sorted, as PostgreSQL builds them quickest.
async fn fill(database: &Database, table: &str, sql: &str) -> anyhow::Result<()> {
    let client = database.client().await?;
    client.batch_execute(LOADING).await?;
    let indexes = client.query(INDEXES, &[&table]).await?;
    for row in &indexes {
        client.batch_execute(row.get(0)).await?;
    }
    client.batch_execute(sql).await?;
    for row in &indexes {
        client.batch_execute(row.get(1)).await?;
    }
    Ok(())
}
