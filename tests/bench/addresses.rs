//! `bench addresses`: reading, verifying, finding homes and taking points in.

use std::fmt::Write;
use std::time::Instant;

use address::{AddressId, AddressInput, PointKey, StandardStreet};
use anyhow::Context;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::{AddressPointRow, Store, StoreSettings, retry_conflicts};
use uuid::Uuid;
use verification::{AddressVerifier, LocalVerifier};

use crate::database::Database;
use crate::figures::Figure;
use crate::step;

/// Addresses that are parsed.
const PARSED: usize = 400_000;

/// Addresses of the largest request.
const REQUEST: usize = model::limits::RECIPIENTS_PER_REQUEST;

/// Rows of the file that is imported.
const IMPORTED: usize = 1_000_000;

/// Rows of it in one ZIP.
const ROWS_PER_ZIP: usize = 50_000;

/// Points in the table, in millions, at which homes are searched.
const MILLIONS: [usize; 3] = [1, 5, 10];

/// Points of one transaction while the table is filled.
const CHUNK: usize = 50_000;

/// Houses of one row of the grid that the table is filled with.
const ROW: usize = 10_000;

/// Degrees between two houses of the grid: some 20 metres.
const STEP_DEGREES: f64 = 0.0002;

/// Searches that are timed together.
const SEARCHES: usize = 20;

/// Times that each measurement is taken; the best counts, for what else the machine does only slows.
const ROUNDS: usize = 5;

/// Ticks in a second of the processor times that the kernel tells.
const TICKS_PER_SECOND: f64 = 100.0;

/// Measures everything.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = vec![parsing()];
    let database = Database::migrated("bench_addresses").await?;
    let store = Store::new(&StoreSettings {
        url: database.url.clone(),
        pool_size: 2,
        wait_timeout_ms: 5_000,
        connect_timeout_ms: 5_000,
        statement_timeout_ms: 600_000,
        pooler: store::PoolerMode::None,
    })?;
    figures.extend(importing(&store, &database).await?);
    figures.extend(verifying(&store, &database).await?);
    figures.extend(searching(&store).await?);
    drop(store);
    database.remove().await?;
    Ok(figures)
}

fn line(number: usize) -> String {
    const FORMS: [&str; 6] = [
        "North Oak Street",
        "SW 42nd Ave Apt 4B",
        "Martin Luther King Jr Blvd",
        "main st, suite 200",
        "County Rd 512",
        "E. Elm Ct.",
    ];
    format!("{} {}", number + 1, FORMS[number % FORMS.len()])
}

/// On one core.
fn parsing() -> Figure {
    step("parsing");
    let lines: Vec<String> = (0..PARSED).map(line).collect();
    let seconds = best(|| {
        for line in &lines {
            let input = AddressInput {
                address_1: line,
                address_2: "",
                city: "Austin",
                state: "Texas",
                zip: "78701",
            };
            std::hint::black_box(address::parse(input));
        }
    });
    Figure::new(
        "parse and standardise, one core",
        PARSED as f64 / seconds,
        "addresses/s",
    )
    .at_least(200_000.0)
}

fn best(mut act: impl FnMut()) -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        act();
        begun.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// ZIPs of Texas that the ZIP data has, from Austin's first on: as many as the imported rows fill.
fn zips() -> Vec<String> {
    let all = (78_701..79_000).map(|zip: u32| zip.to_string());
    all.filter(|zip| address::find_city_and_state(zip).is_some())
        .take(IMPORTED.div_ceil(ROWS_PER_ZIP))
        .collect()
}

/// A file of houses in one ZIP after the other, in the order in which streets lie, as counties write them.
async fn importing(store: &Store, database: &Database) -> anyhow::Result<Vec<Figure>> {
    step("importing");
    let zips = zips();
    let mut text = "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n".to_owned();
    for number in 0..IMPORTED {
        let (street, house, zip) = (
            number / 100,
            1 + number % 100 * 2,
            &zips[number / ROWS_PER_ZIP],
        );
        let (longitude, latitude) = (
            -97.0 - STEP_DEGREES * (street % 1_000) as f64,
            30.0 + 0.000_1 * (number % 10_000) as f64,
        );
        writeln!(
            text,
            "{longitude:.6},{latitude:.6},{house},OAK {street} ST,,AUSTIN,,TX,{zip},,x"
        )?;
    }
    let path = std::env::temp_dir().join(format!("pillarbox-bench-{}.csv", std::process::id()));
    std::fs::write(&path, text)?;
    let begun = Instant::now();
    let imported =
        pillarbox::addresses::import::import_file(store, &path, false, chrono::Utc::now()).await;
    let seconds = begun.elapsed().as_secs_f64();
    std::fs::remove_file(&path)?;
    let kept = imported?.rows_kept as f64;
    let bare = bare_copy(database).await?;
    Ok(vec![
        Figure::new(
            "import of a file, rows that are points",
            kept / seconds,
            "rows/s",
        ),
        Figure::new(
            "bare COPY of the same rows into a table with the same indexes",
            kept / bare,
            "rows/s",
        ),
        Figure::new("import in the time of a bare COPY", seconds / bare, "times").at_most(3.0),
    ])
}

/// Seconds of a COPY, by the server alone, of all points into a table with the same indexes.
async fn bare_copy(database: &Database) -> anyhow::Result<f64> {
    let client = database.client().await?;
    let file = format!("/tmp/pillarbox-bench-{}.copy", std::process::id());
    let prepare = format!(
        "COPY address_points TO '{file}' (FORMAT binary); CREATE TABLE bare (LIKE address_points INCLUDING ALL)"
    );
    client.batch_execute(&prepare).await?;
    let begun = Instant::now();
    client
        .batch_execute(&format!("COPY bare FROM '{file}' (FORMAT binary)"))
        .await?;
    let seconds = begun.elapsed().as_secs_f64();
    client
        .batch_execute(&format!(
            "DROP TABLE bare; COPY (SELECT) TO PROGRAM 'rm -f {file}'"
        ))
        .await?;
    Ok(seconds)
}

/// Processor seconds that this process has used.
fn cpu_seconds() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat
        .rsplit_once(')')
        .context("an unknown /proc/self/stat")?;
    // The 14th and 15th field of the line, of which two are before the bracket.
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS_PER_SECOND)
}

/// Different houses of the imported file as recipients of one request.
async fn verifying(store: &Store, database: &Database) -> anyhow::Result<Vec<Figure>> {
    step("verifying");
    store.analyze_address_points().await?;
    let local = LocalVerifier::new(store.clone(), 1);
    let zips = zips();
    let mut random = StdRng::seed_from_u64(7);
    let lines: Vec<(String, String)> = (0..REQUEST)
        .map(|_| {
            let number = random.random_range(0..IMPORTED);
            (
                format!("{} oak {} street", 1 + number % 100 * 2, number / 100),
                zips[number / ROWS_PER_ZIP].clone(),
            )
        })
        .collect();
    let inputs: Vec<AddressInput<'_>> = lines
        .iter()
        .map(|(line, zip)| AddressInput {
            address_1: line,
            address_2: "",
            city: "Austin",
            state: "TX",
            zip,
        })
        .collect();
    let client = database.client().await?;
    let (mut cpu, mut wall) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (begun, cpu_before) = (Instant::now(), cpu_seconds()?);
        let verdicts = local.verify(&inputs, None).await?;
        wall = wall.min(begun.elapsed().as_secs_f64());
        cpu = cpu.min(cpu_seconds()? - cpu_before);
        let confirmed = verdicts
            .iter()
            .filter(|verdict| is_confirmed(verdict))
            .count();
        anyhow::ensure!(
            confirmed == REQUEST,
            "only {confirmed} of {REQUEST} addresses were confirmed"
        );
    }
    let mut round_trips = f64::INFINITY;
    for _ in 0..ROUNDS {
        round_trips = round_trips.min(statements_of(&client, local.verify(&inputs, None)).await?);
    }
    Ok(vec![
        Figure::new(
            format!("verification of {REQUEST} addresses, processor"),
            cpu * 1_000.0,
            "ms",
        )
        .at_most(60.0),
        Figure::new(
            format!("verification of {REQUEST} addresses, elapsed"),
            wall * 1_000.0,
            "ms",
        ),
        Figure::new("round trips of a verification", round_trips, "statements").at_most(3.0),
    ])
}

fn is_confirmed(verdict: &address::AddressVerdict) -> bool {
    matches!(verdict, address::AddressVerdict::Deliverable(verified) if verified.level == address::ConfirmationLevel::DeliveryPoint)
}

/// Statements, each a transaction of its own, that the database counted meanwhile. What it does by itself, like
/// collecting statistics, only adds to them: the least of several counts is the true one.
async fn statements_of<T, E>(
    client: &tokio_postgres::Client,
    act: impl Future<Output = Result<T, E>>,
) -> anyhow::Result<f64>
where
    anyhow::Error: From<E>,
{
    let before = transactions(client).await?;
    act.await?;
    // The look itself is one.
    Ok((transactions(client).await? - before - 1) as f64)
}

/// Transactions of all sessions, once each has told its own.
async fn transactions(client: &tokio_postgres::Client) -> anyhow::Result<i64> {
    const SETTLED: std::time::Duration = std::time::Duration::from_secs(2);
    tokio::time::sleep(SETTLED).await;
    let row = client
        .query_one(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
            &[],
        )
        .await?;
    Ok(row.get(0))
}

/// Houses on a grid, more and more of them at the same density: a circle holds as many at each size.
async fn searching(store: &Store) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut filled = 0;
    for millions in MILLIONS {
        step(&format!("searching among {millions} million points"));
        while filled < millions * 1_000_000 {
            let rows: Vec<AddressPointRow> = (filled..filled + CHUNK).map(house).collect();
            retry_conflicts(|| async {
                let mut connection = store.connection().await?;
                let transaction = connection.begin_transaction().await?;
                transaction.merge_address_points(&rows).await?;
                transaction.commit().await
            })
            .await?;
            filled += CHUNK;
        }
        store.analyze_address_points().await?;
        let center = house(ROW * 50 + 500);
        let (mut best, mut found) = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            for _ in 0..SEARCHES {
                let around = store
                    .list_homes_around(&[(center.latitude, center.longitude)], 400.0, 500)
                    .await?;
                found = around.first().map_or(0, |around| around.found);
            }
            best = best.min(begun.elapsed().as_secs_f64() / SEARCHES as f64);
        }
        let name = format!("homes within 400 m among {millions} million points ({found} found)");
        figures.push(Figure::new(name, best * 1_000.0, "ms"));
    }
    Ok(figures)
}

/// A house of the grid.
fn house(number: usize) -> AddressPointRow {
    let address_id = Uuid::from_u128(u128::from(mixed(number)) << 64);
    let zip = 10_000 + (number / 10_000) as i32;
    AddressPointRow {
        key: PointKey {
            zip,
            address_id: AddressId::from(address_id),
            street_key: 1,
            name_key: 1,
        },
        street: StandardStreet {
            name: "Grid".to_owned(),
            ..StandardStreet::default()
        },
        latitude: 40.0 + STEP_DEGREES * (number / ROW) as f64,
        longitude: -100.0 + STEP_DEGREES * (number % ROW) as f64,
        line_1: format!("{number} Grid"),
        city: "Somewhere".to_owned(),
        state: "KS".to_owned(),
        plus4: None,
        residential: Some(true),
    }
}

/// A number's bits mixed, so that keys come in no order.
fn mixed(number: usize) -> u64 {
    let mut bits = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 32;
    bits.wrapping_mul(0xd6e8_feb8_6659_fd93)
}
