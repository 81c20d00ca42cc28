//! A steady load of sends, each to houses of its own, and the count of what became of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::people::build_recipients;
use crate::stack::TestStack;
use crate::{CAMPAIGN, KEY};

/// Houses between the first of one client and the first of the next.
const CLIENT_HOUSES: usize = 50_000;

/// Recipients of a request.
const BATCH: usize = 5;

/// What a client does when a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadRetryPolicy {
    /// It notes the failure and sends the next one.
    Noted,
    /// It sends the same again until it is answered.
    Repeated,
}

/// A load under way.
pub struct LoadGenerator {
    is_over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<LoadReport>>,
}

/// What clients have seen.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Houses whose card an answer has told of.
    pub answered: Vec<String>,
    /// Requests that were not answered with 200.
    pub failures: Vec<String>,
    /// The longest time without an answer.
    pub longest_silence: Duration,
}

/// What became of a load.
#[derive(Debug, PartialEq, Eq)]
pub struct LoadTally {
    /// Cards in the database.
    pub recorded: usize,
    /// Cards that clients were told of.
    pub answered: usize,
    /// Cards that clients were told of and that are not there.
    pub lost: usize,
    /// Cards beyond the first for a house.
    pub doubled: usize,
}

impl LoadGenerator {
    /// Begins to send to the campaign of the tests, from so many clients.
    pub fn start(urls: &[String], clients: usize, failed: LoadRetryPolicy) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let clients = (0..clients)
            .map(|client| {
                let (url, is_over) = (urls[client % urls.len()].clone(), is_over.clone());
                tokio::spawn(run_client(url, 1 + client * CLIENT_HOUSES, failed, is_over))
            })
            .collect();
        Self { is_over, clients }
    }

    /// Ends it; what is under way is still answered.
    pub async fn finish(self) -> LoadReport {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = LoadReport::default();
        for client in self.clients {
            let sent = client.await.expect("a client");
            all.answered.extend(sent.answered);
            all.failures.extend(sent.failures);
            all.longest_silence = all.longest_silence.max(sent.longest_silence);
        }
        all
    }
}

async fn run_client(
    url: String,
    first: usize,
    failed: LoadRetryPolicy,
    is_over: Arc<AtomicBool>,
) -> LoadReport {
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(15))
        .build()
        .expect("a client");
    let mut sent = LoadReport::default();
    let (mut house, mut answered) = (first, Instant::now());
    // A repeated request is given up long after the drill.
    let mut tries = 0;
    while !is_over.load(Ordering::Relaxed) || (tries > 0 && tries < 300) {
        match post_batch(&client, &url, house).await {
            Ok(houses) => {
                sent.answered.extend(houses);
                sent.longest_silence = sent.longest_silence.max(answered.elapsed());
                (answered, tries) = (Instant::now(), 0);
                house += BATCH;
            }
            Err(why) => {
                sent.failures.push(why);
                match failed {
                    LoadRetryPolicy::Noted => house += BATCH,
                    LoadRetryPolicy::Repeated => tries += 1,
                }
                // A pace, not a wait for a state.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    sent
}

/// Posts a batch; returns the houses that were mailed, or were before.
async fn post_batch(
    client: &reqwest::Client,
    url: &str,
    house: usize,
) -> Result<Vec<String>, String> {
    let recipients = build_recipients(house..house + BATCH);
    let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
    let request = client
        .post(format!("{url}/api/v1/recipients"))
        .header("x-api-key", KEY)
        .body(body);
    let answer = request.send().await.map_err(|error| format!("{error:?}"))?;
    let status = answer.status();
    let text = answer.text().await.map_err(|error| format!("{error:?}"))?;
    if status != 200 {
        return Err(format!("{status} {text}"));
    }
    let json: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let results = json["results"].as_array().cloned().unwrap_or_default();
    let is_mailed =
        |result: &Value| result["status"] == "mailed" || result["reason"] == "duplicate_recent";
    if !results.iter().all(is_mailed) {
        return Err(text);
    }
    Ok((house..house + BATCH)
        .map(|number| format!("{number} MAIN ST"))
        .collect())
}

impl LoadTally {
    /// Compares what clients were told with the cards that are there.
    pub async fn compare(stack: &TestStack, sent: &LoadReport) -> Self {
        let rows = stack
            .sql
            .query(
                "SELECT upper(line_1), count(*) FROM mailpieces GROUP BY 1",
                &[],
            )
            .await;
        let cards: HashMap<String, i64> = rows
            .expect("mailpieces")
            .iter()
            .map(|row| (row.get(0), row.get(1)))
            .collect();
        let doubled: i64 = cards.values().map(|count| count - 1).sum();
        Self {
            recorded: cards.len(),
            answered: sent.answered.len(),
            lost: sent
                .answered
                .iter()
                .filter(|house| !cards.contains_key(*house))
                .count(),
            doubled: usize::try_from(doubled).expect("not negative"),
        }
    }

    /// Prints what became of the load of a drill, and asserts that nothing was lost or doubled.
    #[expect(clippy::print_stdout, reason = "a drill says what became of its load")]
    pub fn print_and_assert(&self, drill: &str, sent: &LoadReport) {
        let Self {
            recorded,
            answered,
            lost,
            doubled,
        } = self;
        println!(
            "\ndrill {drill}: recorded {recorded}, answered {answered}, lost {lost}, doubled {doubled}; {} requests failed, \
             {:.1} s without an answer at the most",
            sent.failures.len(),
            sent.longest_silence.as_secs_f64()
        );
        assert!(*answered > 0, "there was a load");
        assert_eq!((*lost, *doubled), (0, 0), "{drill}");
    }
}
