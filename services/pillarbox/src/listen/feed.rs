//! The feed of scans, each once.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::{Client, Request, RequestError};
use crate::upload::Progress;

/// Seconds that the service may hold a question open.
const WAIT_SECONDS: u64 = 20;

/// How far back, and how often, is looked for what was recorded late.
const LATE: Duration = Duration::from_secs(60);
const LATE_INTERVAL: Duration = Duration::from_secs(15);

/// Pages that are read when looking back.
const PAGES: usize = 10;

/// Ids that are remembered: more than a key's rate can bring in the time that is looked back.
const SEEN: usize = 20_000;

/// A scan: a webhook's body as it would be delivered.
pub(super) struct Scan {
    body: Box<RawValue>,
    value: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: Vec<Box<RawValue>>,
    next_after: String,
}

/// Where we are in the feed.
pub(super) struct Feed {
    client: Client,
    after: String,
    /// Places that we have been at, the oldest first.
    places: VecDeque<(Instant, String)>,
    looked_back: Instant,
    seen: Seen,
}

/// The ids that came last.
#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Scan {
    fn read(body: Box<RawValue>) -> Result<Self, RequestError> {
        let value =
            serde_json::from_str(body.get()).map_err(|error| RequestError::Unreadable(error.to_string()))?;
        Ok(Self { body, value })
    }

    fn text<'a>(&'a self, path: &str) -> &'a str {
        self.value.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// The event's id.
    pub(super) fn id(&self) -> &str {
        self.text("/id")
    }

    /// Of which campaign.
    pub(super) fn campaign_id(&self) -> &str {
        self.text("/campaign/id")
    }

    /// The JSON, on one line.
    pub(super) fn body(&self) -> &str {
        self.body.get()
    }

    /// For people: when, which campaign, who, roughly where, and where it led.
    pub(super) fn line(&self) -> String {
        let joined = |paths: [&str; 2], between: &str| {
            let parts: Vec<&str> =
                paths.iter().map(|path| self.text(path)).filter(|part| !part.is_empty()).collect();
            parts.join(between)
        };
        let automated = if self.value["automated"] == true { "by a program" } else { "" };
        let parts = [
            self.text("/scanned_at").to_owned(),
            self.campaign_id().to_owned(),
            joined(["/recipient/first_name", "/recipient/last_name"], " "),
            joined(["/location/city", "/location/region"], ", "),
            self.text("/destination").to_owned(),
            automated.to_owned(),
        ];
        let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        // What a sender has sent is shown on a terminal: without its control characters.
        shown.join("  ").chars().filter(|character| !character.is_control()).collect()
    }
}

impl Feed {
    /// Begins with what comes from now on.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn open(client: Client) -> Result<Self, RequestError> {
        let page = ask(&client, None, 0).await?;
        let places = VecDeque::from([(Instant::now(), page.next_after.clone())]);
        Ok(Self {
            client,
            after: page.next_after,
            places,
            looked_back: Instant::now(),
            seen: Seen::default(),
        })
    }

    /// The next scans; none when nothing came for a while.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn next(&mut self) -> Result<Vec<Scan>, RequestError> {
        let mut scans = self.look_back().await?;
        let wait = if scans.is_empty() { WAIT_SECONDS } else { 0 };
        let page = ask(&self.client, Some(&self.after), wait).await?;
        self.after = page.next_after;
        self.places.push_back((Instant::now(), self.after.clone()));
        self.take(page.events, &mut scans)?;
        Ok(scans)
    }

    /// What was recorded behind our back since we were there.
    async fn look_back(&mut self) -> Result<Vec<Scan>, RequestError> {
        let mut scans = Vec::new();
        if self.looked_back.elapsed() < LATE_INTERVAL {
            return Ok(scans);
        }
        self.looked_back = Instant::now();
        while self.places.get(1).is_some_and(|(then, _)| then.elapsed() > LATE) {
            self.places.pop_front();
        }
        let Some((_, mut place)) = self.places.front().cloned() else { return Ok(scans) };
        for _ in 0..PAGES {
            let page = ask(&self.client, Some(&place), 0).await?;
            if page.events.is_empty() {
                break;
            }
            place = page.next_after;
            self.take(page.events, &mut scans)?;
        }
        Ok(scans)
    }

    fn take(&mut self, events: Vec<Box<RawValue>>, scans: &mut Vec<Scan>) -> Result<(), RequestError> {
        for event in events {
            let scan = Scan::read(event)?;
            if self.seen.is_new(scan.id()) {
                scans.push(scan);
            }
        }
        Ok(())
    }
}

impl Seen {
    fn is_new(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

async fn ask(client: &Client, after: Option<&str>, wait: u64) -> Result<Page, RequestError> {
    let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
    client.ask(&Request::get(format!("/api/v1/scans?wait={wait}{after}")), &Progress::none()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_is_new_once() {
        let mut seen = Seen::default();
        assert!(seen.is_new("a") && !seen.is_new("a"));
        for number in 0..SEEN {
            assert!(seen.is_new(&number.to_string()));
        }
        assert_eq!((seen.ids.len(), seen.is_new("a")), (SEEN, true));
    }

    #[test]
    fn a_line_shows_what_is_known_and_no_control_characters() {
        let json = r#"{"id":"evt_1","scanned_at":"2026-01-31T12:00:00.000Z","campaign":{"id":"PA-7K2M9Q","name":"x"},
            "recipient":{"first_name":"Ann\u001b[2J","last_name":null},"location":{"city":"Austin","region":"Texas"},
            "destination":"https://example.com/"}"#;
        let scan = Scan::read(RawValue::from_string(json.to_owned()).unwrap()).unwrap();
        assert_eq!(
            scan.line(),
            "2026-01-31T12:00:00.000Z  PA-7K2M9Q  Ann[2J  Austin, Texas  https://example.com/"
        );
    }
}
