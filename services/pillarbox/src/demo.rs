//! `demo`: posts recipients as a client would and shows what became of each.

use std::time::Duration;

use anyhow::{Context, bail};
use contract::send::SendSummary;
use model::limits::RESPONSE_BYTES;
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::apply::FILE_BYTES;
use crate::command::DemoArgs;
use crate::report::{CommandReport, build_table};
use crate::text_file;

/// Where recipients are posted.
const RECIPIENTS_PATH: &str = "/api/v1/recipients";

/// How long to try to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for the whole answer: longer than the gateway waits for its worker by default.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(150);

/// Tries of a request that is answered with 500, and the pause between them.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(300);

/// An answer with status 200, as far as it is shown.
#[derive(Debug, Deserialize)]
struct DemoResponse {
    summary: SendSummary,
    results: Vec<DemoOutcome>,
    #[serde(default)]
    results_truncated: bool,
}

/// One recipient's outcome.
#[derive(Debug, Deserialize, Serialize)]
struct DemoOutcome {
    reference: Option<String>,
    address: String,
    status: String,
    #[serde(default)]
    reason: String,
    detail: String,
}

/// An answer with any other status.
#[derive(Debug, Deserialize)]
struct DemoErrorBody {
    code: String,
    message: String,
}

/// Sends the request, again a few times when the answer is 500: nothing was mailed then, and a stack that has just been
/// started may not have found its workers yet.
async fn send_with_retries(request: reqwest::RequestBuilder) -> reqwest::Result<Response> {
    for _ in 1..TRIES {
        let Some(again) = request.try_clone() else {
            break;
        };
        let response = again.send().await?;
        if response.status() != StatusCode::INTERNAL_SERVER_ERROR {
            return Ok(response);
        }
        tokio::time::sleep(PAUSE).await;
    }
    request.send().await
}

/// Posts the file. The report is the answer's body for programs, a table for people.
///
/// # Errors
/// When the file cannot be read, the gateway cannot be reached, or it answers with another status than 200.
pub async fn post_recipients(demo: &DemoArgs) -> anyhow::Result<CommandReport> {
    let body = text_file::read_text(&demo.file, FILE_BYTES)?;
    let names = list_recipient_names(&body);
    let url = format!("{}{RECIPIENTS_PATH}", demo.url.trim_end_matches('/'));
    runtime::install_crypto();
    #[expect(
        clippy::disallowed_methods,
        reason = "it asks the service that the operator names"
    )]
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let request = client
        .post(&url)
        .bearer_auth(&demo.key)
        .header("content-type", "application/json")
        .body(body);
    let response = send_with_retries(request)
        .await
        .map_err(reqwest::Error::without_url)
        .with_context(|| format!("{url} cannot be reached"))?;
    let status = response.status();
    let body = bounded_body(response).await?;
    if status != StatusCode::OK {
        bail!(failure_sentence(status, &body));
    }
    let value: Value = serde_json::from_slice(&body).context("the answer cannot be read")?;
    let answer = DemoResponse::deserialize(&value).context("the answer cannot be read")?;
    CommandReport::new(&value, format_report(&answer, &names))
}

/// The names of the recipients in the order of the file; none when the file is no request, which is for the
/// gateway to say.
fn list_recipient_names(body: &str) -> Vec<String> {
    let Ok(request) = contract::send::parse_request(body.as_bytes()) else {
        return Vec::new();
    };
    let name = |recipient: &contract::send::SentRecipient<'_>| {
        format!(
            "{} {}",
            recipient.value("first_name"),
            recipient.value("last_name")
        )
        .trim()
        .to_owned()
    };
    request.recipients.iter().map(name).collect()
}

async fn bounded_body(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.context("the answer was cut off")? {
        if body.len() + chunk.len() > RESPONSE_BYTES {
            bail!("the answer is longer than {RESPONSE_BYTES} bytes");
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn failure_sentence(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<DemoErrorBody>(body) {
        Ok(DemoErrorBody { code, message }) => format!("{} {code}: {message}", status.as_u16()),
        Err(_) => format!("the answer was {status}, which is not Pillarbox's: is the URL right?"),
    }
}

fn format_report(answer: &DemoResponse, names: &[String]) -> String {
    let SendSummary {
        received,
        mailed,
        not_mailed,
        ..
    } = answer.summary;
    let mut rows = build_table(["Reference", "Name", "Address", "Status", "Reason", "Detail"]);
    // A truncated answer leaves results out, so that positions tell nothing.
    let names = if answer.results_truncated { &[] } else { names };
    for (index, outcome) in answer.results.iter().enumerate() {
        let reference = outcome.reference.as_deref().unwrap_or_default();
        let name = names.get(index).map_or("", String::as_str);
        rows.add_row([
            reference,
            name,
            &outcome.address,
            &outcome.status,
            &outcome.reason,
            &outcome.detail,
        ]);
    }
    format!(
        "{}\n\nReceived {received}: {mailed} mailed, {not_mailed} not mailed.",
        rows.trim_fmt()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outcomes_show_with_the_names_that_were_sent() {
        let body = json!({"campaign_id": "PA-7K2M9Q", "recipients": [{"first_name": "Ada", "last_name": "Hall"}, {}]});
        let answer = json!({"summary": {"received": 2, "mailed": 1, "notMailed": 1}, "results": [
            {"reference": "r1", "address": "1 Main St", "status": "mailed", "detail": "Queued."},
            {"reference": null, "address": "", "status": "not_mailed", "reason": "invalid_address", "detail": "No."}]});
        let text = format_report(
            &DemoResponse::deserialize(&answer).unwrap(),
            &list_recipient_names(&body.to_string()),
        );
        assert!(
            text.contains("Received 2: 1 mailed, 1 not mailed."),
            "{text}"
        );
        let line = text.lines().find(|line| line.contains("Ada Hall")).unwrap();
        assert!(
            line.contains("r1") && line.contains("mailed") && line.contains("Queued."),
            "{text}"
        );
        assert!(text.contains("invalid_address"), "{text}");
    }

    #[test]
    fn a_refused_request_shows_code_and_message() {
        let body = br#"{"code": "invalid_api_key", "message": "The API key is wrong."}"#;
        assert_eq!(
            failure_sentence(StatusCode::UNAUTHORIZED, body),
            "401 invalid_api_key: The API key is wrong."
        );
        assert!(failure_sentence(StatusCode::BAD_GATEWAY, b"<html>").contains("502"));
    }
}
