//! Databases from before the baseline of the schema: they become what a new database is, keep what is in them, and are never
//! left in between.

use std::process::{Child, Command, Stdio};

use pillarbox_tests::{TestDatabase, binary_path, wait_until};
use refinery::{Runner, Target, load_sql_migrations};
use tokio_postgres::{Client, NoTls};

/// The migrations that came before the baseline.
const EARLIER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../shared/infra/store/earlier_migrations"
);

/// The newest of them.
const LAST_EARLIER: i32 = 46;

/// The migrations of a new database.
const MIGRATIONS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../shared/infra/store/migrations"
);

/// The newest of those that say what the earlier ones said.
const LAST_OF_BASELINE: i32 = 55;

/// Migrations since the baseline, which every database gets.
fn behind_the_baseline() -> usize {
    let migrations = load_sql_migrations(MIGRATIONS).unwrap();
    migrations
        .iter()
        .filter(|migration| migration.version() > LAST_OF_BASELINE)
        .count()
}

/// What the database knows of the schema.
const CATALOGUE: &str = include_str!("catalogue.sql");

/// What migrations have left in the database's memory.
const HISTORY: &str =
    "SELECT version, name, applied_on, checksum FROM refinery_schema_history ORDER BY version";

async fn connect(database: &TestDatabase) -> Client {
    let (client, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A database that was made by the earlier migrations up to this one, and has a team and a member from then.
async fn database_at(version: i32) -> (TestDatabase, Client) {
    let database = TestDatabase::without_tables().await;
    let mut client = connect(&database).await;
    let earlier = load_sql_migrations(EARLIER).unwrap();
    for until in [1, version] {
        Runner::new(&earlier)
            .set_target(Target::Version(until))
            .run_async(&mut client)
            .await
            .unwrap();
        let rows = "INSERT INTO teams (team_id, name, created_at) VALUES
                (md5('team')::uuid, 'From before', '2026-01-02') ON CONFLICT DO NOTHING;
            INSERT INTO users (user_id, team_id, email, name, role, password_hash, created_at) VALUES
                (md5('user')::uuid, md5('team')::uuid, 'jo@example.com', 'Jo', 'owner', '$argon2id$', '2026-01-02')
                ON CONFLICT DO NOTHING";
        if until == 1 {
            client.batch_execute(rows).await.unwrap();
        }
    }
    (database, client)
}

async fn lines_of(client: &Client, sql: &str) -> Vec<String> {
    let rows = client.query(sql, &[]).await.unwrap();
    let mut lines: Vec<String> = rows.iter().map(|row| row.get("line")).collect();
    lines.sort();
    lines
}

/// The catalogue, with the partitions of scans for one month and those behind it, whichever month it was when they were made.
async fn catalogue(client: &Client) -> Vec<String> {
    let partitions =
        "SELECT scan_partitions_make('2031-05-01', 4), scan_partitions_drop('2031-05-01')";
    client.execute(partitions, &[]).await.unwrap();
    lines_of(client, CATALOGUE).await
}

/// The history as text.
async fn history(client: &Client) -> Vec<String> {
    let as_lines = format!("SELECT history::text AS line FROM ({HISTORY}) history");
    lines_of(client, &as_lines).await
}

async fn newest(client: &Client) -> i32 {
    let sql = "SELECT max(version) FROM refinery_schema_history";
    client.query_one(sql, &[]).await.unwrap().get(0)
}

fn start_migrating(database: &TestDatabase) -> Child {
    Command::new(binary_path("pillarbox"))
        .args(["migrate", "--without-groups"])
        .env("PILLARBOX__DATABASE__URL", &database.url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

async fn until_somebody_waits(client: &Client) {
    let waiting = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()";
    wait_until("somebody waits for a lock", async || {
        client
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_earlier_migrations_and_the_baseline_give_the_same_catalogue() {
    let new = TestDatabase::without_tables().await;
    assert!(store::migrate_database(&new.url).await.unwrap().granted);
    let expected = catalogue(&connect(&new).await).await;
    for kind in [
        "relation",
        "column",
        "constraint",
        "index",
        "trigger",
        "function",
        "sequence",
        "database privileges",
        "migration",
    ] {
        assert!(expected.iter().any(|line| line.starts_with(kind)), "{kind}");
    }

    let (old, client) = database_at(LAST_EARLIER).await;
    let migrated = store::migrate_database(&old.url).await.unwrap();
    assert!(
        migrated.granted && migrated.applied == behind_the_baseline(),
        "it has the tables of the baseline already: {migrated:?}"
    );
    let found = catalogue(&client).await;
    let missing: Vec<_> = expected
        .iter()
        .filter(|line| !found.contains(line))
        .collect();
    let surplus: Vec<_> = found
        .iter()
        .filter(|line| !expected.contains(line))
        .collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "missing {missing:#?}, surplus {surplus:#?}"
    );
    assert_eq!(found.len(), expected.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_any_earlier_version_keeps_its_rows() {
    for (version, missing) in [(1, 38), (23, 18), (45, 1)] {
        let (database, client) = database_at(version).await;
        let migrated = store::migrate_database(&database.url).await.unwrap();
        assert_eq!(
            migrated.applied,
            missing + behind_the_baseline(),
            "from {version}"
        );
        let sql = "SELECT teams.name, members.email, members.is_claimed FROM teams JOIN members USING (team_id)";
        let row = client.query_one(sql, &[]).await.unwrap();
        assert_eq!(
            (row.get(0), row.get(1), row.get(2)),
            ("From before", "jo@example.com", true)
        );
        assert!(newest(&client).await > LAST_EARLIER);
        assert_eq!(
            store::migrate_database(&database.url)
                .await
                .unwrap()
                .applied,
            0
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_migrate_an_earlier_database_at_once_do_it_once() {
    let (database, client) = database_at(44).await;
    let (one, other) = tokio::join!(
        store::migrate_database(&database.url),
        store::migrate_database(&database.url)
    );
    assert_eq!(
        one.unwrap().applied + other.unwrap().applied,
        2 + behind_the_baseline()
    );
    let oldest = "SELECT min(version) FROM refinery_schema_history";
    let oldest: i32 = client.query_one(oldest, &[]).await.unwrap().get(0);
    assert_eq!(oldest, LAST_EARLIER + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dies_while_it_replaces_the_history_leaves_it_as_it_was() {
    let (database, client) = database_at(LAST_EARLIER).await;
    let before = history(&client).await;
    let mut holder = connect(&database).await;
    let held = holder.transaction().await.unwrap();
    // The last row that is replaced: all others are, when it waits for this one.
    let row = "SELECT FROM refinery_schema_history WHERE version = $1 FOR UPDATE";
    held.execute(row, &[&LAST_EARLIER]).await.unwrap();
    let mut dying = start_migrating(&database);
    until_somebody_waits(&client).await;
    assert_eq!(
        newest(&client).await,
        LAST_EARLIER,
        "nobody sees half of it"
    );
    dying.kill().unwrap();
    dying.wait().unwrap();
    assert_eq!(history(&client).await, before);

    let mut next = start_migrating(&database);
    held.rollback().await.unwrap();
    let ended = tokio::task::block_in_place(|| next.wait().unwrap());
    assert!(ended.success());
    assert!(newest(&client).await > LAST_EARLIER);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_is_not_ours_is_refused_and_left_as_it_is() {
    for (change, named) in [
        (
            "UPDATE refinery_schema_history SET checksum = '1' WHERE version = 7",
            "V7__scans_and_webhooks",
        ),
        (
            "INSERT INTO refinery_schema_history VALUES (44, 'of_somebody', '2026-01-02T03:04:05Z', '1')",
            "V44__of_somebody",
        ),
        (
            "DELETE FROM refinery_schema_history WHERE version = 33",
            "V33__feeds",
        ),
    ] {
        let (database, client) = database_at(LAST_EARLIER).await;
        client.batch_execute(change).await.unwrap();
        let before = history(&client).await;
        let error = store::migrate_database(&database.url)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(named), "{error}");
        assert_eq!(history(&client).await, before);
    }
}
