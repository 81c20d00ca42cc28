//! Strangers and customers who misbehave at the edge: whoever is slow, silent or greedy there pays for it alone.

mod answers;
mod bodies;
mod connections;
mod hosts;
mod silence;
mod stop;

use std::time::{Duration, Instant};

use pillarbox_tests::{TestStack, build_recipient};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test runs.
const FOR_EVER: &str = "600000";

/// Requests that are measured beside an attack, and without one.
const MEASURED: usize = 40;

/// A connection to a server on which this has been said.
async fn said(url: &str, text: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://"))
        .await
        .unwrap();
    stream.write_all(text).await.unwrap();
    stream
}

/// The other end has neither answered nor hung up.
fn is_silent(stream: &TcpStream) -> bool {
    let mut byte = [0];
    stream
        .try_read(&mut byte)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// The key and the campaign of a tenant beside the tests' own.
const OTHER_KEY: &str = "pk_live_OtherOtherOtherOtherOt";
const OTHER_CAMPAIGN: &str = "PA-OTHER1";

/// Makes the other tenant.
async fn other_tenant(stack: &TestStack) {
    stack
        .apply_team(json!({"teams": [{
            "name": "Other",
            "time_zone": "America/New_York",
            "keys": [{"kind": "full_access", "name": "Other", "key": OTHER_KEY}],
            "designs": [{"name": "Card", "document": {
                "product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []},
            }}],
            "top_up": {"amount": "$1000.00", "reference": "other"},
            "campaigns": [{
                "id": OTHER_CAMPAIGN, "name": "Other", "steps": [{"design": "Card", "postage": "standard"}],
            }],
        }]}))
        .await;
}

/// Sends of the other tenant, one after the other, each of a person of its own; all of them must be answered with 200. Returns how long they
/// took, sorted.
async fn sends_of_the_other_tenant(stack: &TestStack, url: &str, first: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for number in first..first + MEASURED {
        let body = json!({"campaign_id": OTHER_CAMPAIGN, "recipients": [build_recipient(number)]})
            .to_string();
        let headers = [("x-api-key", OTHER_KEY), ("x-forwarded-for", "203.0.113.7")];
        let begun = Instant::now();
        let answer = tokio::time::timeout(PATIENCE, stack.post_send_to(url, &headers, body))
            .await
            .expect("an answer");
        assert_eq!(answer.reasons(), ["mailed"]);
        times.push(begun.elapsed());
    }
    times.sort();
    times
}

/// What an attack made of the other tenant's times.
fn times(drill: &str, alone: &[Duration], beside: &[Duration]) -> String {
    let at = |times: &[Duration], percent: usize| {
        times[(times.len() - 1) * percent / 100].as_secs_f64() * 1000.0
    };
    format!(
        "\ndrill {drill}: alone p50 {:.0} ms, p99 {:.0} ms; beside the attack p50 {:.0} ms, p99 {:.0} ms",
        at(alone, 50),
        at(alone, 99),
        at(beside, 50),
        at(beside, 99)
    )
}
