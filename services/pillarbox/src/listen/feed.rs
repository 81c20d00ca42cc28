//! The feed of scans, each once.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::{GatewayClient, GatewayError, GatewayRequest};
use crate::upload::UploadProgress;

/// Seconds that the service may hold a question open.
const WAIT_SECONDS: u64 = 20;

/// A scan: a webhook's body as it would be delivered.
pub(super) struct ScanFeedEvent {
    body: Box<RawValue>,
    value: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScanEventsPage {
    events: Vec<Box<RawValue>>,
    next_after: String,
}

/// Where we are in the feed.
pub(super) struct ScanFeedReader {
    client: GatewayClient,
    after: String,
}

impl ScanFeedEvent {
    fn parse(body: Box<RawValue>) -> Result<Self, GatewayError> {
        let value = serde_json::from_str(body.get())
            .map_err(|error| GatewayError::Unreadable(error.to_string()))?;
        Ok(Self { body, value })
    }

    fn text_at<'a>(&'a self, path: &str) -> &'a str {
        self.value
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The event's id.
    pub(super) fn id(&self) -> &str {
        self.text_at("/id")
    }

    /// Of which campaign.
    pub(super) fn campaign_id(&self) -> &str {
        self.text_at("/campaign/id")
    }

    /// The JSON, on one line.
    pub(super) fn body(&self) -> &str {
        self.body.get()
    }

    /// For people: when, which campaign, who, roughly where, and where it led.
    pub(super) fn format_line(&self) -> String {
        let joined = |paths: [&str; 2], between: &str| {
            let parts: Vec<&str> = paths
                .iter()
                .map(|path| self.text_at(path))
                .filter(|part| !part.is_empty())
                .collect();
            parts.join(between)
        };
        let automated = if self.value["automated"] == true {
            "by a program"
        } else {
            ""
        };
        let parts = [
            self.text_at("/scanned_at").to_owned(),
            self.campaign_id().to_owned(),
            joined(["/recipient/first_name", "/recipient/last_name"], " "),
            joined(["/location/city", "/location/region"], ", "),
            self.text_at("/destination").to_owned(),
            automated.to_owned(),
        ];
        let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        // What a sender has sent is shown on a terminal: without its control characters.
        shown
            .join("  ")
            .chars()
            .filter(|character| !character.is_control())
            .collect()
    }
}

impl ScanFeedReader {
    /// Begins with what comes from now on.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn open(client: GatewayClient) -> Result<Self, GatewayError> {
        let page = fetch_page(&client, None, 0).await?;
        Ok(Self {
            client,
            after: page.next_after,
        })
    }

    /// The next scans; none when nothing came for a while.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn next(&mut self) -> Result<Vec<ScanFeedEvent>, GatewayError> {
        let page = fetch_page(&self.client, Some(&self.after), WAIT_SECONDS).await?;
        let scans = page
            .events
            .into_iter()
            .map(ScanFeedEvent::parse)
            .collect::<Result<_, _>>()?;
        self.after = page.next_after;
        Ok(scans)
    }
}

async fn fetch_page(
    client: &GatewayClient,
    after: Option<&str>,
    wait: u64,
) -> Result<ScanEventsPage, GatewayError> {
    let after = after
        .map(|after| format!("&after={after}"))
        .unwrap_or_default();
    client
        .send(
            &GatewayRequest::get(format!("/api/v1/scans?wait={wait}{after}")),
            &UploadProgress::hidden(),
        )
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_is_known_and_no_control_characters() {
        let json = r#"{"id":"evt_1","scanned_at":"2026-01-31T12:00:00.000Z","campaign":{"id":"PA-7K2M9Q","name":"x"},
            "recipient":{"first_name":"Ann\u001b[2J","last_name":null},"location":{"city":"Austin","region":"Texas"},
            "destination":"https://example.com/"}"#;
        let scan = ScanFeedEvent::parse(RawValue::from_string(json.to_owned()).unwrap()).unwrap();
        assert_eq!(
            scan.format_line(),
            "2026-01-31T12:00:00.000Z  PA-7K2M9Q  Ann[2J  Austin, Texas  https://example.com/"
        );
    }
}
