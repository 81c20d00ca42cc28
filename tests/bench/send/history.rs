//! The largest request over five million earlier cards against one over almost none.
//!
//! The earlier cards went to every ZIP of the country; the requests are of one region, as those of a business or of one
//! branch of a chain are. Recipients who live in 5000 different ZIPs are shown beside them: they touch a page of
//! each index for almost each row, whatever the ids.

use std::time::Instant;

use futures_util::future::try_join_all;

use crate::database::Database;
use crate::figures::Figure;
use crate::load::{CAMPAIGNS, People, body, places};
use crate::samples::Samples;
use crate::send::{LARGE, ROUNDS, Stack};
use crate::step;

/// The ids that the services make, for entries and addresses by their number.
const IDS: &str = include_str!("history/ids.sql");

/// What is filled, with the statement that fills it.
const TABLES: [(&str, &str); 4] = [
    ("charges", include_str!("history/charges.sql")),
    (
        "address_entries",
        include_str!("history/address_entries.sql"),
    ),
    ("recipients", include_str!("history/recipients.sql")),
    ("mailpieces", include_str!("history/mailpieces.sql")),
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
    let begun = Instant::now();
    let client = seeded.client().await?;
    client.batch_execute(IDS).await?;
    let places = places(1..100_000);
    let zips: Vec<&str> = places.iter().map(|place| place.zip.as_str()).collect();
    client
        .execute(
            "INSERT INTO earlier_zips SELECT * FROM unnest($1::text[]) WITH ORDINALITY",
            &[&zips],
        )
        .await?;
    try_join_all(TABLES.map(|(table, sql)| fill(seeded, table, sql))).await?;
    // The load is written out, so that it is not what the measurement waits for.
    client.batch_execute("VACUUM ANALYZE").await?;
    client.batch_execute("CHECKPOINT").await?;
    step(&format!(
        "prepared in {} s; 5000 recipients over them",
        begun.elapsed().as_secs()
    ));
    let mut over = Stack::start(seeded.clone()).await?;
    let mut nationwide = People::nationwide();
    let (mut without, mut with, mut spread) =
        (Samples::default(), Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        let short = stack
            .sender
            .send(body(CAMPAIGNS[0], &stack.people.take(LARGE)), LARGE)
            .await?;
        let long = over
            .sender
            .send(body(CAMPAIGNS[0], &over.people.take(LARGE)), LARGE)
            .await?;
        let far = over
            .sender
            .send(body(CAMPAIGNS[0], &nationwide.take(LARGE)), LARGE)
            .await?;
        // The first round only warms all sides up.
        if round > 0 {
            without.push(short);
            with.push(long);
            spread.push(far);
        }
    }
    drop(over);
    let ratio = |samples: &Samples| samples.median_ms() / without.median_ms();
    Ok(vec![
        Figure::new(
            "5000 recipients over 5 million earlier cards",
            with.median_ms(),
            "ms",
        ),
        Figure::new(
            "5 million earlier cards against almost none",
            ratio(&with),
            "times",
        )
        .at_most(1.3),
        Figure::new(
            "the same, 5000 recipients in as many ZIPs",
            ratio(&spread),
            "times",
        ),
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
