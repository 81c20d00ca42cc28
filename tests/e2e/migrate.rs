//! `pillarbox migrate` waits for what is not there yet, and does not call a database ready that no process can work with.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use pillarbox_tests::{PrivateServer, ServerKind, binary_path, wait_until};

/// What the processes' users are made with.
const USERS: &str = include_str!("../../deploy/postgres/users.sql");

/// The command with these words on this database.
fn migrate(url: &str, words: &[&str]) -> Command {
    let mut command = Command::new(binary_path("pillarbox"));
    command
        .arg("migrate")
        .args(words)
        .env("PILLARBOX__DATABASE__URL", url)
        .stdin(Stdio::null());
    command
}

/// The groups of the processes are gone.
fn forget_groups(server: &PrivateServer) {
    let drop = "DO $$ DECLARE name text; BEGIN FOR name IN SELECT rolname FROM pg_roles WHERE rolname LIKE 'pillarbox\\_%' \
        OR rolname = ANY (ARRAY['gateway', 'mailer', 'syncer', 'dispatcher', 'console']) LOOP \
        EXECUTE format('DROP OWNED BY %I; DROP ROLE %I', name, name); END LOOP; END $$";
    server.run_client(&["-c", drop]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_the_groups_of_the_processes_is_a_failure_unless_it_is_meant() {
    let server = tokio::task::block_in_place(|| PrivateServer::start(ServerKind::Postgres));
    tokio::task::block_in_place(|| forget_groups(&server));
    let url = format!("{}?sslmode=disable", server.url);
    let output = tokio::task::block_in_place(|| migrate(&url, &[]).output().unwrap());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("deploy/postgres/users.sql"), "{said}");
    let output =
        tokio::task::block_in_place(|| migrate(&url, &["--without-groups"]).output().unwrap());
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_waits_for_the_database_and_then_for_the_groups() {
    let server = tokio::task::block_in_place(|| PrivateServer::start(ServerKind::Postgres));
    tokio::task::block_in_place(|| {
        forget_groups(&server);
        server.run_action("stop");
    });
    let url = format!("{}?sslmode=disable", server.url);
    let output = tokio::task::block_in_place(|| migrate(&url, &[]).output().unwrap());
    assert_eq!(
        output.status.code(),
        Some(1),
        "without waiting there is none"
    );
    let mut child = migrate(&url, &["--wait", "120"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    tokio::task::block_in_place(|| server.run_action("start"));
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'campaigns'";
    wait_until("the tables are there", async || {
        tokio::task::block_in_place(|| server.run_client(&["-c", tables])) == "1"
    })
    .await;
    assert!(
        child.try_wait().unwrap().is_none(),
        "it waits for the groups"
    );
    tokio::task::block_in_place(|| server.run_client(&["-c", USERS]));
    let has_ended = AtomicBool::new(false);
    let child = std::sync::Mutex::new(child);
    wait_until("it ends well", async || {
        let ended = child.lock().unwrap().try_wait().unwrap();
        has_ended.store(
            ended.is_some_and(|status| status.success()),
            Ordering::Relaxed,
        );
        has_ended.load(Ordering::Relaxed)
    })
    .await;
    let granted = "SELECT has_any_column_privilege('pillarbox_gateway', 'campaigns', 'SELECT')";
    assert_eq!(
        tokio::task::block_in_place(|| server.run_client(&["-c", granted])),
        "t"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_held_is_named_and_nothing_half_done_stays() {
    let server = tokio::task::block_in_place(|| PrivateServer::start(ServerKind::Postgres));
    let url = format!("{}?sslmode=disable", server.url);
    // The one table that every migration writes to; its reader looks at it for long.
    let (reader, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let history = "CREATE TABLE refinery_schema_history
        (version int4 PRIMARY KEY, name varchar(255), applied_on varchar(255), checksum varchar(255))";
    reader.batch_execute(history).await.unwrap();
    reader
        .batch_execute("BEGIN; LOCK TABLE refinery_schema_history IN SHARE MODE")
        .await
        .unwrap();
    let output = tokio::task::block_in_place(|| {
        migrate(&url, &["--without-groups", "--wait", "120"])
            .output()
            .unwrap()
    });
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("needs refinery_schema_history, which others held"),
        "{said}"
    );
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(
        tokio::task::block_in_place(|| server.run_client(&["-c", tables])),
        "1"
    );

    // Another one that waits gets it as soon as it is free.
    let mut waiting = migrate(&url, &["--without-groups"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let awaited = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    wait_until("it waits", async || {
        tokio::task::block_in_place(|| server.run_client(&["-c", awaited])) == "1"
    })
    .await;
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(
        tokio::task::block_in_place(|| waiting.wait().unwrap()).code(),
        Some(0)
    );
}
