//! Every statement of the store has a plan that was looked at: `shared/infra/store/plans` keeps what matters of each, and no
//! statement reads a table that grows from end to end.
//!
//! Statements are read from the store's source, so that none is forgotten, and planned by Postgres for tables of a million rows.
//! These are not there: each has 10,000 real rows, of which ANALYZE makes its statistics, and in the catalogue stands 100 times as
//! many. The planner multiplies the rows of a page by the pages that there are, so it counts a million; and as the pages are 100
//! times too few, each costs 100 times as much. So a scan of a table costs what it would with all rows there, and so do many
//! look-ups; a few cost more, so that this test sees a scan rather too early than too late. All tables are filled in seconds
//! instead of minutes. Without the dearer pages, purges that did read whole tables looked as if they did not.
//!
//! `UPDATE_PLANS=1 ./dev test plans` writes the files anew; what changed is then reviewed like code.

mod planner;
mod source;
mod sql_text;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use pillarbox_tests::TestDatabase;
use planner::{CHECK, StatementPlan, plan_all};
use source::{FoundStatements, StoreStatement, read_statements};
use store::Store;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/infra/store/src");
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/infra/store/plans");

/// Says that the files are to be written.
const UPDATE: &str = "UPDATE_PLANS";

/// Tables that do not grow with what is sent, and why.
const SMALL_TABLES: [(&str, &str); 2] = [
    ("address_overrides", "what the operator vouches for by hand"),
    ("staged_points", "a batch of an import, in the session"),
];

/// Statements that may read a table from end to end, and why.
const WHOLE_READERS: [(&str, &str, &str); 7] = [
    (
        "list_print_mailers",
        "print_serials",
        "has a row for each mailer id of the installation",
    ),
    (
        "purge_campaign_days",
        "teams",
        "asks each team for its oldest, by their key",
    ),
    (
        "purge_deliveries",
        "endpoints",
        "asks each endpoint for its oldest deliveries, by their key",
    ),
    (
        "purge_emails",
        "teams",
        "asks each team for its oldest, by their key",
    ),
    (
        "purge_events",
        "teams",
        "asks each team for its oldest, by their key",
    ),
    (
        "purge_mailpiece_events",
        "teams",
        "asks each team for its oldest, by their key",
    ),
    (
        "purge_scan_feed",
        "feeds",
        "asks each feed for its oldest batches, by their key",
    ),
];

/// Statements that the store sends, those of the check among them.
fn all_statements() -> Vec<StoreStatement> {
    let FoundStatements {
        mut statements,
        problems,
    } = read_statements(Path::new(SOURCE));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    statements.extend(
        Store::check_statements()
            .into_iter()
            .map(|(rule, sql)| StoreStatement {
                module: CHECK.to_owned(),
                function: rule.to_owned(),
                sql,
            }),
    );
    // Several functions send the same: each once.
    let mut seen = BTreeSet::new();
    statements.retain(|statement| seen.insert(statement.clone()));
    statements
}

/// The text of each module's file. A function's statements are in the order in which it has them.
fn texts(plans: &[StatementPlan]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    for StatementPlan {
        statement, steps, ..
    } in plans
    {
        let number = numbers
            .entry((&statement.module, &statement.function))
            .or_default();
        *number += 1;
        let text = texts.entry(statement.module.clone()).or_default();
        let ending = if *number == 1 {
            String::new()
        } else {
            format!(", {number}")
        };
        writeln!(text, "{}{ending}", statement.function).unwrap();
        for step in steps {
            writeln!(text, "    {step}").unwrap();
        }
    }
    texts
}

fn kept_texts() -> BTreeMap<String, String> {
    let files = fs::read_dir(KEPT).into_iter().flatten();
    let paths = files.map(|file| file.unwrap().path());
    let text = |path: std::path::PathBuf| {
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (module, fs::read_to_string(path).unwrap())
    };
    paths.map(text).collect()
}

/// The lines that are in one of two texts only, each behind its sign; none when only their order differs.
fn difference(kept: &str, found: &str) -> Vec<String> {
    let only = |sign: char, one: &str, other: &str| {
        let missing = one
            .lines()
            .filter(|line| !other.lines().any(|kept| kept == *line));
        missing
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    [only('-', kept, found), only('+', found, kept)].concat()
}

fn keep(texts: &BTreeMap<String, String>) {
    fs::create_dir_all(KEPT).unwrap();
    for module in kept_texts()
        .keys()
        .filter(|module| !texts.contains_key(*module))
    {
        fs::remove_file(format!("{KEPT}/{module}.txt")).unwrap();
    }
    for (module, text) in texts {
        fs::write(format!("{KEPT}/{module}.txt"), text).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_have_the_plans_that_are_kept_and_read_no_growing_table_whole() {
    let database = TestDatabase::new().await;
    let (mut client, connection) = tokio_postgres::connect(&database.url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let plans = plan_all(&mut client, all_statements())
        .await
        .unwrap_or_else(|error| panic!("{error}"));

    let mut whole: BTreeSet<(&str, &str)> = BTreeSet::new();
    for plan in &plans {
        let tables = plan.whole_tables.iter().map(String::as_str);
        let growing = tables.filter(|table| !SMALL_TABLES.iter().any(|(small, _)| small == table));
        whole.extend(growing.map(|table| (plan.statement.function.as_str(), table)));
    }
    let allowed: BTreeSet<_> = WHOLE_READERS
        .iter()
        .map(|(function, table, _)| (*function, *table))
        .collect();
    assert_eq!(whole, allowed, "who reads growing tables from end to end");

    let texts = texts(&plans);
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        keep(&texts);
    }
    let kept = kept_texts();
    let modules: BTreeSet<&String> = texts.keys().chain(kept.keys()).collect();
    let mut changed = String::new();
    for module in modules {
        let none = String::new();
        let [kept, found] = [&kept, &texts].map(|all| all.get(module).unwrap_or(&none));
        if kept != found {
            let lines = difference(kept, found).join("\n");
            write!(changed, "plans/{module}.txt\n{lines}\n").unwrap();
        }
    }
    assert!(
        changed.is_empty(),
        "plans changed; look at each, and keep them with {UPDATE}=1:\n{changed}"
    );
}

#[test]
fn statements_are_found_however_they_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        const COLUMNS: &str = "a, b";
        const PARTS: [(&str, &str); 2] = [("t", "x"), ("u", "y")];
        fn list(condition: &str) -> String { format!("SELECT {COLUMNS} FROM t WHERE {condition}") }
        impl Store {
            async fn some(&self, all: bool) {
                let only = if all { "true" } else { "b = $1" };
                let sql = list(only);
                tokio::try_join!(biased; self.query_rows(&sql, &[]), self.execute_batch("SET x = 1"));
                for (table, order) in PARTS {
                    let sql = format!("DELETE FROM {table} ORDER BY {order}");
                    self.execute(&sql, &[]).await;
                }
                self.send("UPDATE t SET a = 1").await;
            }
            async fn send(&self, sql: &str) { self.execute(sql, &[]).await; }
            async fn lost(&self) { elsewhere("SELECT 1 FROM lost"); }
        }
    "#;
    fs::write(folder.path().join("sample.rs"), source).unwrap();
    let FoundStatements {
        statements,
        problems,
    } = read_statements(folder.path());
    let found: Vec<_> = statements
        .iter()
        .map(|statement| statement.sql.as_str())
        .collect();
    let expected = [
        "SELECT a, b FROM t WHERE true",
        "SELECT a, b FROM t WHERE b = $1",
        "SET x = 1",
        "DELETE FROM t ORDER BY x",
        "DELETE FROM u ORDER BY y",
        "UPDATE t SET a = 1",
    ];
    assert_eq!(found, expected);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("SELECT 1 FROM lost"), "{problems:?}");
}
