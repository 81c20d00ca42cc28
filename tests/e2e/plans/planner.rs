//! How Postgres would run statements: it is asked for the plan of each, over tables as the seed makes them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage, Transaction};

use super::source::{StoreStatement, begins_statement};

/// Rows for all tables.
const SEED: &str = include_str!("seed.sql");

/// What plans depend on, whatever the server was told. A page stands for 100, as a row does (`seed.sql`), so it costs as much as
/// they do, and as much less of the tables fits into memory.
const SETTINGS: &str = "
    SET LOCAL timezone = 'UTC';
    SET LOCAL jit = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL seq_page_cost = 100;
    SET LOCAL random_page_cost = 400;
    SET LOCAL cpu_tuple_cost = 0.01;
    SET LOCAL cpu_index_tuple_cost = 0.005;
    SET LOCAL cpu_operator_cost = 0.0025;
    SET LOCAL effective_cache_size = '40MB';
    SET LOCAL work_mem = '4MB';
    SET LOCAL hash_mem_multiplier = 2;
    SET LOCAL default_statistics_target = 100;
    SET LOCAL plan_cache_mode = force_generic_plan";

/// What the check sets for its own statements, and what they have otherwise.
const CHECK_SETTINGS: &str =
    "SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off";
const USUAL_SETTINGS: &str =
    "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = on";

/// The module of the check's statements.
pub(super) const CHECK: &str = "check";

/// The partitions of scans, as tables and in the names of indexes: which there are depends on the time.
static PARTITION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bscans_(\d{4}_\d\d|other)").unwrap());

/// A place in an index that the check walks along.
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$(\d+)::text::(uuid|timestamptz|text)").unwrap());

/// A statement with what matters of its plan.
pub(super) struct StatementPlan {
    pub(super) statement: StoreStatement,
    /// The tables it reads, with the indexes it takes, and those it changes; in no order, as that of joins is a matter of small
    /// costs.
    pub(super) steps: BTreeSet<String>,
    /// Tables that it reads from end to end.
    pub(super) whole_tables: BTreeSet<String>,
}

/// The plans of statements. Nothing stays in the database.
///
/// # Errors
/// What Postgres says of the first statement that cannot be planned.
pub(super) async fn plan_all(
    client: &mut Client,
    statements: Vec<StoreStatement>,
) -> Result<Vec<StatementPlan>, String> {
    let mut transaction = client.transaction().await.unwrap();
    transaction.batch_execute(SETTINGS).await.unwrap();
    transaction.batch_execute(SEED).await.unwrap();
    // Tables of a session, which others read.
    let temporary = statements
        .iter()
        .filter(|statement| statement.sql.trim_start().starts_with("CREATE TEMP"));
    for statement in temporary {
        transaction.batch_execute(&statement.sql).await.unwrap();
    }
    let mut plans = Vec::new();
    for statement in statements {
        if !begins_statement(&statement.sql) {
            continue;
        }
        let plan = plan(&mut transaction, &statement).await;
        let plan = plan.map_err(|error| {
            let said = error
                .as_db_error()
                .map_or_else(String::new, ToString::to_string);
            format!(
                "{} {}: {said}\n{}",
                statement.module, statement.function, statement.sql
            )
        })?;
        plans.push(matters_of(statement, &plan));
    }
    Ok(plans)
}

async fn plan(
    transaction: &mut Transaction<'_>,
    statement: &StoreStatement,
) -> Result<Value, tokio_postgres::Error> {
    let is_check = statement.module == CHECK;
    if is_check {
        transaction.batch_execute(CHECK_SETTINGS).await?;
    }
    let prepare = format!("PREPARE planned AS {}", statement.sql);
    transaction.batch_execute(&prepare).await?;
    let types =
        "SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'planned'";
    let types = first_columns(&transaction.simple_query(types).await?);
    let values: Vec<String> = types
        .iter()
        .zip(1..)
        .map(|(kind, number)| value(&statement.sql, kind, number))
        .collect();
    let values = if values.is_empty() {
        String::new()
    } else {
        format!("({})", values.join(", "))
    };
    let explain = format!("EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE planned{values}");
    let text = first_columns(&transaction.simple_query(&explain).await?).concat();
    transaction.batch_execute("DEALLOCATE planned").await?;
    if is_check {
        transaction.batch_execute(USUAL_SETTINGS).await?;
    }
    Ok(serde_json::from_str(&text).unwrap())
}

/// A value for a parameter. A generic plan has none; yet partitions are chosen by it, and the check's plans are made for values.
fn value(sql: &str, kind: &str, number: usize) -> String {
    let places: BTreeSet<(usize, &str)> = PLACE
        .captures_iter(sql)
        .map(|found| (found[1].parse().unwrap(), found.get(2).unwrap().as_str()))
        .collect();
    let Some((_, place)) = places.iter().find(|(place, _)| *place == number) else {
        return match kind {
            "uuid" => "first_id_of('2031-05-15')".to_owned(),
            _ => "NULL".to_owned(),
        };
    };
    let is_end = sql.contains("<= (") && number > places.len() / 2;
    let value = match (*place, is_end) {
        ("uuid", false) => "40000000-0000-0000-0000-000000000000",
        ("uuid", true) => "40200000-0000-0000-0000-000000000000",
        ("timestamptz", false) => "2026-01-10T00:00:00Z",
        ("timestamptz", true) => "2026-01-10T06:00:00Z",
        (_, false) => "campaign 1",
        (_, true) => "campaign 2",
    };
    format!("'{value}'")
}

fn first_columns(messages: &[SimpleQueryMessage]) -> Vec<String> {
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    rows.map(str::to_owned).collect()
}

fn matters_of(statement: StoreStatement, plan: &Value) -> StatementPlan {
    let mut planned = StatementPlan {
        statement,
        steps: BTreeSet::new(),
        whole_tables: BTreeSet::new(),
    };
    planned.add(&plan[0]["Plan"]);
    planned
}

impl StatementPlan {
    fn add(&mut self, node: &Value) {
        let text = |name: &str| {
            let text = node[name].as_str().unwrap_or_default();
            PARTITION.replace_all(text, "scans").into_owned()
        };
        let (kind, table, index) = (text("Node Type"), text("Relation Name"), text("Index Name"));
        match kind.as_str() {
            "Seq Scan" => {
                self.steps.insert(format!("read the whole of {table}"));
                self.whole_tables.insert(table);
            }
            "ModifyTable" => {
                let operation = text("Operation").to_lowercase();
                self.steps.insert(format!("{operation} {table}"));
            }
            "Tid Scan" | "Tid Range Scan" => {
                self.steps.insert(format!("{table} by row place"));
            }
            _ if !index.is_empty() => {
                let is_bounded = node.get("Index Cond").is_some();
                let from = if is_bounded { "" } else { ", from its end" };
                self.steps.insert(format!("index {index}{from}"));
            }
            _ => {}
        }
        for below in node["Plans"].as_array().into_iter().flatten() {
            self.add(below);
        }
    }
}
