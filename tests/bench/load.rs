//! A team with campaigns, people to mail, and requests.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use chrono::Utc;
use pillarbox_tests::KEY;
use runtime::Config;
use serde_json::{Value, json};
use store::Store;

use crate::database::Database;

/// The campaigns, all alike.
pub const CAMPAIGNS: [&str; 8] = [
    "PA-BENCH0",
    "PA-BENCH1",
    "PA-BENCH2",
    "PA-BENCH3",
    "PA-BENCH4",
    "PA-BENCH5",
    "PA-BENCH6",
    "PA-BENCH7",
];

/// Longer than the gateway waits for a mailer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(150);

/// Pause before a request that found no worker, or was left open, is sent again.
const RESEND_PAUSE: Duration = Duration::from_millis(200);

/// Times that a request is sent.
const SENDINGS: usize = 20;

const STREETS: [&str; 8] = [
    "Main St",
    "Oak Ave",
    "Cedar Ln",
    "Elm St",
    "Park Blvd",
    "Lake Dr",
    "Hill Rd",
    "Mill Ct",
];

const TIERS: [&str; 3] = ["bronze", "silver", "gold"];

/// ZIPs around Austin: what a business sends at a time is of its region.
const REGION: RangeInclusive<u32> = 78_600..=78_799;

/// The database through our own statements.
pub fn store(database: &Database) -> anyhow::Result<Store> {
    let settings = [("PILLARBOX__DATABASE__URL".to_owned(), database.url.clone())];
    Ok(Store::new(&Config::with(settings.into())?.database)?)
}

/// Provisions a team that holds [`KEY`], with money and [`CAMPAIGNS`] without filters.
pub async fn provision(database: &Database) -> anyhow::Result<()> {
    let campaigns: Vec<Value> = CAMPAIGNS
        .iter()
        .map(|id| json!({"id": id, "name": id, "steps": [{"design": "Card", "postage": "standard"}]}))
        .collect();
    let file = json!({"teams": [{
        "name": "Bench",
        "time_zone": "America/New_York",
        "keys": [{"kind": "full_access", "name": "Bench", "key": KEY}],
        "designs": [{"name": "Card", "document": {
            "product": "postcard_4x6",
            "front": {"elements": []},
            "back": {"elements": []},
        }}],
        "campaigns": campaigns,
        "top_up": {"amount": "$10000000.00", "reference": "bench"},
    }]});
    let policy = outbound::TargetPolicy::new(&["127.0.0.0/8".parse()?]);
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

/// A ZIP with its post office.
#[derive(Debug, Clone)]
pub struct Place {
    /// The post office's name.
    pub city: &'static str,
    /// Two letters.
    pub state: &'static str,
    /// Five digits.
    pub zip: String,
}

/// The places of the ZIPs that are in use.
pub fn places(zips: impl Iterator<Item = u32>) -> Vec<Place> {
    let place = |number| {
        let zip = format!("{number:05}");
        let (city, state) =
            address::find_city_and_state(&zip).filter(|(city, _)| !city.is_empty())?;
        Some(Place { city, state, zip })
    };
    zips.filter_map(place).collect()
}

/// People nobody has mailed yet, each at an address of its own.
pub struct People {
    places: Vec<Place>,
    given: usize,
}

impl Default for People {
    /// All of one region.
    fn default() -> Self {
        Self {
            places: places(REGION),
            given: 0,
        }
    }
}

impl People {
    /// From all over the country, but not from the region.
    pub fn nationwide() -> Self {
        Self {
            places: places((1..100_000).filter(|zip| !REGION.contains(zip))),
            given: 0,
        }
    }

    /// The next ones: built-in fields and three custom columns.
    pub fn take(&mut self, count: usize) -> Vec<Value> {
        let first = self.given;
        self.given += count;
        (first..self.given)
            .map(|number| person(number, &self.places))
            .collect()
    }

    /// The next ones, with a note of so many characters each.
    pub fn take_with_notes(&mut self, count: usize, note_length: usize) -> Vec<Value> {
        let mut people = self.take(count);
        for person in &mut people {
            person["note"] = "n".repeat(note_length).into();
        }
        people
    }
}

fn person(number: usize, places: &[Place]) -> Value {
    let Place { city, state, zip } = &places[number % places.len()];
    let street = STREETS[number / places.len() % STREETS.len()];
    let house = 1 + number / (STREETS.len() * places.len());
    json!({
        "reference": format!("customer-{number}"),
        "first_name": "Pat",
        "last_name": format!("Reader{number}"),
        "email": format!("reader{number}@example.com"),
        "address_1": format!("{house} {street}"),
        "city": city,
        "state": state,
        "zip": zip,
        "loyalty_tier": TIERS[number % TIERS.len()],
        "visits": (number % 40).to_string(),
        "last_visit": format!("2025-{:02}-{:02}", 1 + number % 12, 1 + number % 28),
    })
}

/// The body of a request.
pub fn body(campaign: &str, recipients: &[Value]) -> String {
    json!({"campaign_id": campaign, "recipients": recipients}).to_string()
}

/// What comes with one key over kept connections.
#[derive(Clone)]
pub struct Sender {
    client: reqwest::Client,
    url: String,
    key: &'static str,
}

impl Sender {
    /// To the gateway at this URL.
    pub fn new(url: &str) -> anyhow::Result<Self> {
        Self::with_key(url, KEY)
    }

    /// The same with another key than [`KEY`].
    pub fn with_key(url: &str, key: &'static str) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(ANSWER_TIMEOUT)
            .tcp_nodelay(true)
            .build()?;
        Ok(Self {
            client,
            url: format!("{url}/api/v1/recipients"),
            key,
        })
    }

    async fn post(&self, body: String) -> anyhow::Result<(u16, String)> {
        let request = self.client.post(&self.url).bearer_auth(self.key).body(body);
        let answer = request.send().await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }

    /// Posts a body, all of whose recipients are to be mailed, and returns how long the answer took.
    pub async fn send(&self, body: String, recipients: usize) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let (status, text) = self.post(body).await?;
        let took = begun.elapsed();
        check_answer(status, &text, recipients)?;
        Ok(took)
    }

    /// As [`ConnectionSender::send`], but sends again as a client does that was told to, or lost the connection.
    pub async fn send_until_answered(&self, body: String, recipients: usize) -> anyhow::Result<()> {
        for _ in 0..SENDINGS {
            if let Ok((status, text)) = self.post(body.clone()).await
                && status < 500
            {
                return check_answer(status, &text, recipients);
            }
            tokio::time::sleep(RESEND_PAUSE).await;
        }
        anyhow::bail!("no answer after {SENDINGS} requests")
    }
}

fn check_answer(status: u16, text: &str, recipients: usize) -> anyhow::Result<()> {
    let start: String = text.chars().take(300).collect();
    ensure!(status == 200, "the answer is {status}: {start}");
    let answer: Value = serde_json::from_str(text).context("the answer is no JSON")?;
    let mailed = answer["summary"]["mailed"].as_u64();
    ensure!(
        mailed == Some(recipients as u64),
        "not all {recipients} recipients were mailed: {start}"
    );
    Ok(())
}
