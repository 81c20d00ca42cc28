//! A CRM's side: integrations, records, requests.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use chrono::Utc;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::Database;
use crate::load::store;

/// Integrations of the team.
pub const INTEGRATIONS: usize = 4;

/// How long a stack may take until its gateway finds a syncer.
const READY_TIMEOUT: Duration = Duration::from_secs(20);

const LOOK_INTERVAL: Duration = Duration::from_millis(50);

static KEYS: AtomicU64 = AtomicU64::new(0);

/// How external ids follow each other when contacts are pushed as they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// In order: a CRM that counts its contacts, or whose ids begin with the time.
    InOrder,
    /// Over the whole range: a CRM with random ids, each contact far from the one before.
    Spread,
}

impl Ids {
    /// The id of the contact with this number. Those in order lie in the middle of the others, as they would among
    /// the integrations of others.
    pub fn external_id(self, number: usize) -> String {
        match self {
            Self::InOrder => format!("8{number:015}"),
            Self::Spread => format!(
                "{:016x}",
                (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ),
        }
    }
}

/// Speaks for one integration.
pub struct Client {
    http: reqwest::Client,
    base: String,
    authorization: String,
    ids: Ids,
}

fn key(number: usize) -> String {
    format!("pk_int_BenchBenchBenchBench{number}")
}

/// Provisions the team and its integrations.
pub async fn provision(database: &Database) -> anyhow::Result<()> {
    // What a sync removes here is meant to be removed.
    let integrations: Vec<Value> = (0..INTEGRATIONS)
        .map(|number| {
            let keys = json!([{"name": "Bench", "key": key(number)}]);
            json!({"name": format!("CRM{number}"), "removal_guard_percent": 100, "keys": keys})
        })
        .collect();
    let file = json!({"teams": [{"name": "Bench", "integrations": integrations}]});
    let policy = outbound::TargetPolicy::default();
    pillarbox::apply::apply_text(
        &store(database)?,
        &file.to_string(),
        Path::new("."),
        &policy,
        Utc::now(),
    )
    .await?;
    Ok(())
}

/// The id of the integration with this number.
pub async fn integration_id(database: &Database, number: usize) -> anyhow::Result<Uuid> {
    let store = store(database)?;
    let team = store.find_team_by_name("Bench").await?;
    Ok(store
        .find_integration_by_name(team.team_id, &format!("CRM{number}"))
        .await?
        .integration_id
        .0)
}

/// The values of a contact, as a CRM has them: twelve fields, some 300 bytes.
pub fn fields(number: usize) -> Value {
    json!({
        "first_name": "Pat", "last_name": format!("Reader{number}"), "email": format!("pat{number}@example.com"),
        "phone": "(512) 555-0100", "organization": "Garden Centre", "address_1": format!("{number} Main St"),
        "city": "Austin", "state": "TX", "zip": "78701", "lifetime_value": format!("{number}.50"),
        "customer_since": "2019-05-17", "newsletter": "yes",
    })
}

/// The records of a batch: contacts of these numbers.
fn records(numbers: std::ops::Range<usize>, ids: Ids) -> Value {
    let records = numbers
        .map(|number| json!({"external_id": ids.external_id(number), "fields": fields(number)}));
    json!({ "records": records.collect::<Vec<_>>() })
}

impl Client {
    /// A client of the integration with this number.
    pub fn new(url: &str, number: usize, ids: Ids) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(300))
            .build()?;
        let base = format!("{url}/api/integrations/push/v1");
        Ok(Self {
            http,
            base,
            authorization: format!("Bearer {}", key(number)),
            ids,
        })
    }

    /// One request with a new `Idempotency-Key`; its answer must be 200.
    pub async fn call(&self, method: Method, path: &str, body: String) -> anyhow::Result<Value> {
        let number = KEYS.fetch_add(1, Ordering::Relaxed);
        let request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header("authorization", &self.authorization)
            .header("idempotency-key", format!("bench-{number}"))
            .body(body);
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).context("the answer is no JSON")
    }

    pub async fn until_ready(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while let Err(error) = self.declare().await {
            ensure!(
                begun.elapsed() < READY_TIMEOUT,
                "no syncer is found: {error:#}"
            );
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(())
    }

    /// Declares the fields of [`fields`].
    pub async fn declare(&self) -> anyhow::Result<()> {
        let semantics = [
            "first_name",
            "last_name",
            "email",
            "phone",
            "organization",
            "address_1",
            "city",
            "state",
            "zip",
        ];
        let mut fields: Vec<Value> = semantics
            .iter()
            .map(|name| json!({"key": name, "semantic": name}))
            .collect();
        fields.push(json!({"key": "lifetime_value", "type": "number"}));
        fields.push(json!({"key": "customer_since", "type": "date"}));
        fields.push(json!({"key": "newsletter", "type": "yes_no"}));
        self.call(
            Method::POST,
            "/schema",
            json!({ "fields": fields }).to_string(),
        )
        .await?;
        Ok(())
    }

    pub async fn begin(&self) -> anyhow::Result<Value> {
        self.call(Method::POST, "/sync", String::new()).await
    }

    pub async fn complete(&self) -> anyhow::Result<Value> {
        self.call(Method::PATCH, "/sync", String::new()).await
    }

    /// Pushes contacts of these numbers; returns how long the answer took.
    pub async fn push(&self, numbers: std::ops::Range<usize>) -> anyhow::Result<Duration> {
        let (count, body) = (numbers.len(), records(numbers, self.ids).to_string());
        let begun = Instant::now();
        let answer = self.call(Method::POST, "/records", body).await?;
        let elapsed = begun.elapsed();
        ensure!(answer["accepted"] == json!(count), "{answer}");
        Ok(elapsed)
    }
}
