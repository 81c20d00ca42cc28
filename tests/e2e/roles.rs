//! Each process reaches the database as a user of its own, which may do what its work needs: that the grants are enough, all
//! other tests show, since every process in them is such a user; that they are not more, these do.

use pillarbox_tests::{
    INTEGRATION_KEY, PrivateServers, SpawnedProcess, StackOptions, TestStack, settings_for,
    wait_until,
};
use runtime::Config;
use serde_json::json;
use store::{BookCursor, PROCESSES, PictureOutcome, PictureRow, PictureUse, Store};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

/// Tables that no process has anything to do with.
const OF_THE_OPERATOR: [&str; 1] = ["address_imports"];

/// What nobody may whose work it is not: the process, and statements that it must be refused.
const REFUSED: [(&str, &[&str]); 5] = [
    (
        "gateway",
        &[
            "SELECT secret FROM endpoints",
            "SELECT password_hash FROM members",
            "SELECT token_hash FROM sessions",
            "SELECT first_name FROM recipients",
            "SELECT first_name FROM address_entries",
            "SELECT stripe_customer FROM teams",
            "SELECT balance_cents FROM ledger_accounts",
            "SELECT amount_cents FROM charges",
            "SELECT address FROM recipients",
            "SELECT conditions FROM campaigns",
            "SELECT settings FROM print_runs",
            "SELECT payment_reference FROM refunds",
            "UPDATE mailpieces SET withheld = NULL",
            "INSERT INTO mailpiece_events DEFAULT VALUES",
            "UPDATE ledger_accounts SET balance_cents = 0",
            "INSERT INTO ledger_entries DEFAULT VALUES",
            "INSERT INTO api_keys DEFAULT VALUES",
            "UPDATE api_keys SET revoked_at = NULL",
            "UPDATE scans SET visitor = 'person'",
            "DELETE FROM scans",
            "INSERT INTO feed_batches DEFAULT VALUES",
            "DELETE FROM feed_batches",
            "UPDATE feed_batches SET item_ids = '{}'",
        ],
    ),
    (
        "mailer",
        &[
            "SELECT secret FROM endpoints",
            "SELECT password_hash FROM members",
            "SELECT member_id FROM sessions",
            "SELECT hash FROM api_keys",
            "UPDATE contacts SET fields = '{}'",
            "SELECT body FROM events",
            "UPDATE campaigns SET budget_cents = NULL",
            "UPDATE charges SET amount_cents = 0",
            "UPDATE mailpieces SET price_cents = 0",
            "UPDATE ledger_entries SET amount_cents = 0",
            "DELETE FROM ledger_entries",
            "DELETE FROM charges",
            "DELETE FROM do_not_mail",
            "SELECT subject FROM activities",
            "UPDATE activities SET actor_name = ''",
            "DELETE FROM activities",
        ],
    ),
    (
        "syncer",
        &[
            "SELECT secret FROM endpoints",
            "SELECT password_hash FROM members",
            "SELECT hash FROM api_keys",
            "SELECT first_name FROM recipients",
            "SELECT first_name FROM address_entries",
            "SELECT first_name FROM mailpieces",
            "SELECT name FROM teams",
            "SELECT response FROM sends",
            "UPDATE ledger_accounts SET balance_cents = 0",
            "UPDATE integrations SET team_id = NULL",
            "DELETE FROM contacts",
        ],
    ),
    (
        "dispatcher",
        &[
            "SELECT first_name FROM recipients",
            "SELECT first_name FROM address_entries",
            "SELECT first_name FROM mailpieces",
            "SELECT fields FROM contacts",
            "SELECT destination FROM scans",
            "SELECT password_hash FROM members",
            "SELECT hash FROM api_keys",
            "SELECT balance_cents FROM ledger_accounts",
            "UPDATE endpoints SET secret = NULL",
            "UPDATE endpoints SET url = ''",
            "INSERT INTO events DEFAULT VALUES",
            "DELETE FROM endpoints",
        ],
    ),
    (
        "console",
        &[
            "UPDATE ledger_accounts SET balance_cents = 0",
            "INSERT INTO ledger_transactions DEFAULT VALUES",
            "INSERT INTO ledger_entries DEFAULT VALUES",
            "INSERT INTO charges DEFAULT VALUES",
            "UPDATE campaigns SET committed_cents = 0",
            "INSERT INTO recipients DEFAULT VALUES",
            "INSERT INTO mailpieces DEFAULT VALUES",
            "UPDATE teams SET payment = 'balance'",
            "UPDATE members SET email = ''",
            "INSERT INTO members (password_hash) VALUES ('')",
            "UPDATE activities SET actor_name = ''",
            "DELETE FROM activities",
            "SELECT response FROM sends",
            "SELECT first_name FROM mailpieces",
            "INSERT INTO contacts DEFAULT VALUES",
        ],
    ),
];

/// What only the owner of the tables may.
const SCHEMA: [&str; 9] = [
    "CREATE TABLE more ()",
    "CREATE TEMPORARY TABLE more ()",
    "CREATE SCHEMA more",
    "CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "ALTER TABLE teams ADD COLUMN more integer",
    "DROP TABLE teams",
    "TRUNCATE duties",
    "CREATE INDEX more ON duties (holder)",
    "ALTER TABLE members OWNER TO CURRENT_USER",
];

/// A stack whose tables have no rows but a team's, and whose database was migrated once more.
async fn stack() -> TestStack {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    // What belongs to a database itself is not copied with it.
    migrate(&stack).await;
    stack
}

async fn migrate(stack: &TestStack) {
    let migrated = store::migrate_database(&stack.settings["PILLARBOX__DATABASE__URL"])
        .await
        .unwrap();
    assert!(migrated.granted && migrated.applied == 0, "{migrated:?}");
}

/// A connection as this process's user.
async fn connection(stack: &TestStack, process: &str) -> Client {
    let url = &settings_for(process, &stack.settings)["PILLARBOX__DATABASE__URL"];
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let user: String = client
        .query_one("SELECT current_user::text", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(user, process);
    client
}

async fn assert_refused(client: &Client, process: &str, sql: &str) {
    match client.batch_execute(sql).await {
        Ok(()) => panic!("{process} may {sql}"),
        Err(error) => {
            assert_eq!(
                error.code(),
                Some(&SqlState::INSUFFICIENT_PRIVILEGE),
                "{process}, {sql}: {error}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_may_do_what_is_not_its_work() {
    let stack = stack().await;
    for (process, statements) in REFUSED {
        let client = connection(&stack, process).await;
        for sql in statements {
            assert_refused(&client, process, sql).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_changes_the_schema() {
    let stack = stack().await;
    for process in PROCESSES {
        let client = connection(&stack, process).await;
        for sql in SCHEMA {
            assert_refused(&client, process, sql).await;
        }
        let drops_months = client
            .batch_execute("SELECT scan_partitions_drop('2020-01-01')")
            .await
            .is_ok();
        assert_eq!(drops_months, process == "dispatcher", "{process}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_table_is_denied_until_it_has_its_lines() {
    let stack = stack().await;
    stack
        .sql
        .batch_execute("CREATE TABLE later (secret text); INSERT INTO later VALUES ('x')")
        .await
        .unwrap();
    migrate(&stack).await;
    for process in PROCESSES {
        assert_refused(
            &connection(&stack, process).await,
            process,
            "SELECT secret FROM later",
        )
        .await;
    }
}

/// So that who adds a table says who works with it, rather than finds out when a process is refused.
#[tokio::test(flavor = "multi_thread")]
async fn every_table_is_somebodys_or_known_to_be_the_operators() {
    let stack = stack().await;
    let rows = stack
        .sql
        .query(
            "SELECT relname::text FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
                 AND NOT EXISTS (SELECT FROM unnest($1::text[]) AS process (name)
                     WHERE has_any_column_privilege(process.name, pg_class.oid, 'SELECT, INSERT, UPDATE'))
             ORDER BY relname",
            &[&&PROCESSES[..]],
        )
        .await
        .unwrap();
    let nobodys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(nobodys, OF_THE_OPERATOR);
}

/// All that is granted to anybody, in order.
async fn granted(stack: &TestStack) -> Vec<String> {
    let rows = stack
        .sql
        .query(
            "SELECT concat_ws(' ', relname, attname, grantee::regrole, privilege_type, is_grantable) FROM (
                 SELECT relname, NULL AS attname, acl.* FROM pg_class, aclexplode(relacl) acl
                 WHERE relnamespace = 'public'::regnamespace
                 UNION ALL
                 SELECT relname, attname, acl.* FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid,
                     aclexplode(attacl) acl
                 WHERE relnamespace = 'public'::regnamespace) AS granted
             ORDER BY 1",
            &[],
        )
        .await
        .unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_again_grants_the_same_and_takes_what_somebody_granted_by_hand() {
    let stack = stack().await;
    let before = granted(&stack).await;
    assert!(before.len() > 200, "{}", before.len());
    let by_hand =
        "GRANT SELECT ON members TO pillarbox_gateway; GRANT SELECT (secret) ON endpoints TO pillarbox_mailer;
        GRANT INSERT ON teams TO PUBLIC";
    stack.sql.batch_execute(by_hand).await.unwrap();
    assert_ne!(granted(&stack).await, before);
    migrate(&stack).await;
    assert_eq!(granted(&stack).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_groups_the_tables_are_made_and_the_operator_is_told() {
    let (servers, url) = PrivateServers::with_postgres_only().await;
    let drop = "DROP OWNED BY pillarbox_console; DROP ROLE console, pillarbox_console";
    tokio::task::block_in_place(|| servers.postgres().run_client(&["-c", drop]));
    assert!(!store::migrate_database(&url).await.unwrap().granted);
    // The next start of the private server makes them again.
    tokio::task::block_in_place(|| servers.postgres().run_action("restart"));
    assert!(
        store::migrate_database(&url).await.unwrap().granted,
        "the owner may grant without being a superuser"
    );
}

/// Where a statement runs only with rows that few tests have.
#[tokio::test(flavor = "multi_thread")]
async fn what_only_some_teams_data_leads_to_is_granted_too() {
    let stack = stack().await;
    let integration = json!({"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "integrations": [integration]}]}))
        .await;
    let (team_id, now) = (
        stack.store.find_team_by_name("Test").await.unwrap().team_id,
        stack.now(),
    );
    // A formula is tried with the contacts of integrations.
    let mailer = store_of(&stack, "mailer");
    let mut after = BookCursor::Entry(uuid::Uuid::nil());
    let mut pages = 0;
    while let Some(next) = mailer
        .list_address_book_page(team_id, after, 10)
        .await
        .unwrap()
        .next
    {
        (after, pages) = (next, pages + 1);
    }
    assert_eq!(
        pages, 1,
        "that of the integration follows that of the entries"
    );
    // A proof in the console asks for pictures that no send has asked for.
    let unusable = PictureOutcome::Unusable("it is none".to_owned());
    let row = PictureRow {
        link_hash: [7; 32],
        outcome: unusable,
        expires_at: None,
    };
    let console = store_of(&stack, "console");
    console
        .save_pictures(team_id, PictureUse::Recipient, &[row], now)
        .await
        .unwrap();
}

/// A mailer forgets what has run out, also of tables that it has nothing else to do with.
#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_may_delete_what_has_run_out() {
    let stack = stack().await;
    let mailer = store_of(&stack, "mailer");
    let now = stack.now();
    for purged in [
        mailer.purge_sessions(now, 10).await,
        mailer.purge_rate_windows(now, 10).await,
        mailer.purge_address_answers(now, 10).await,
        mailer.purge_pictures(now, 10).await,
        mailer.purge_return_addresses(now, 10).await,
        mailer.purge_sends(now, 10).await,
        mailer.purge_send_keys(now, 10).await,
    ] {
        assert_eq!(purged.unwrap(), 0);
    }
}

/// The store as this process has it.
fn store_of(stack: &TestStack, process: &str) -> Store {
    let config = Config::with(settings_for(process, &stack.settings)).unwrap();
    Store::new(&config.database).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_processes_of_these_tests_are_users_of_their_own() {
    let stack = stack().await;
    let listen = ["GATEWAY", "CONSOLE"].map(|name| {
        (
            format!("PILLARBOX__{name}__LISTEN"),
            "127.0.0.1:0".to_owned(),
        )
    });
    let mut settings = stack.settings.clone();
    settings.extend(listen);
    let _processes = PROCESSES.map(|process| SpawnedProcess::start(process, &settings, None));
    let sql = "SELECT count(DISTINCT usename) FROM pg_stat_activity
         WHERE datname = current_database() AND usename IN ('gateway', 'mailer', 'syncer', 'dispatcher', 'console')";
    wait_until("all are connected", async || {
        stack.query_count(sql).await == 5
    })
    .await;
}
