//! Teams with cards, and phones that scan them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use chrono::Utc;
use pillarbox_tests::KEY;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};

use crate::database::Database;
use crate::load::{self, People, Sender, body};
use crate::webhooks::sink::Line;

/// The campaign of which the sink hears.
pub const HEALTHY: &str = "PA-HEALTH";

/// Campaigns whose endpoints hang: of the same team, and of another one.
pub const HANGING: [&str; 2] = ["PA-HANGS1", "PA-HANGS2"];

const OTHER_KEY: &str = "pk_live_OtherOtherOtherOtherOth1";

/// Cards of each campaign.
pub const CARDS: usize = 3_000;

/// A printed card.
#[derive(Debug, Clone)]
pub struct Card {
    /// Whose campaign.
    pub campaign: String,
    /// The path of its QR code.
    pub path: String,
    /// The recipient's last name, of which there is one in a campaign.
    pub last_name: String,
}

fn team(name: &str, key: &str, campaigns: &[&str], endpoints: &Value) -> Value {
    let code = json!({"id": "code", "kind": "qr_code", "area": {"x": 20, "y": 100, "width": 80, "height": 80},
        "destination": "https://example.com/?name={{first_name}}", "fallback_link": "https://example.com/"});
    let campaigns: Vec<Value> = campaigns
        .iter()
        .map(|id| json!({"id": id, "name": id, "steps": [{"design": "Card", "postage": "standard"}]}))
        .collect();
    json!({
        "name": name,
        "keys": [{"kind": "full_access", "name": "Bench", "key": key}],
        "designs": [{"name": "Card", "document": {"product": "postcard_4x6", "front": {"elements": [code]},
            "back": {"elements": []}}}],
        "campaigns": campaigns,
        "endpoints": endpoints,
        "top_up": {"amount": "$1000000.00", "reference": "bench"},
    })
}

/// Two teams: one whose healthy campaign goes to `url`; endpoints that hang come later.
pub async fn provision(database: &Database, url: &str) -> anyhow::Result<()> {
    apply(
        database,
        &json!([{"url": url, "campaigns": [HEALTHY]}]),
        &json!([]),
    )
    .await
}

/// The same with these endpoints of the one and the other team.
pub async fn apply(database: &Database, one: &Value, other: &Value) -> anyhow::Result<()> {
    let file = json!({"teams": [
        team("One", KEY, &[HEALTHY, HANGING[0]], one),
        team("Other", OTHER_KEY, &[HANGING[1]], other),
    ]});
    let policy = outbound::TargetPolicy::new(&["127.0.0.0/8".parse()?]);
    let store = load::store(database)?;
    pillarbox::apply::apply_text(
        &store,
        &file.to_string(),
        Path::new("."),
        &policy,
        Utc::now(),
    )
    .await?;
    Ok(())
}

/// Mails the cards of all campaigns.
pub async fn mail(database: &Database, url: &str) -> anyhow::Result<Vec<Card>> {
    let (mine, other) = (Sender::new(url)?, Sender::with_key(url, OTHER_KEY)?);
    for (campaign, sender) in [(HEALTHY, &mine), (HANGING[0], &mine), (HANGING[1], &other)] {
        let people = People::default().take(CARDS);
        sender
            .send_until_answered(body(campaign, &people), CARDS)
            .await?;
    }
    let client = database.client().await?;
    client.batch_execute("VACUUM ANALYZE").await?;
    let rows = client
        .query(
            "SELECT campaign_id, code, last_name FROM mailpieces ORDER BY mailpiece_id",
            &[],
        )
        .await?;
    Ok(rows
        .iter()
        .map(|row| Card {
            campaign: row.get(0),
            path: format!("/q/{}", row.get::<_, &str>(1)),
            last_name: row.get(2),
        })
        .collect())
}

/// Scans cards over so many connections as fast as they are answered.
pub async fn scan_all(url: &str, paths: Vec<String>, connections: usize) -> anyhow::Result<()> {
    let paths = Arc::new(Mutex::new(paths.into_iter()));
    let mut phones = Vec::new();
    for _ in 0..connections {
        let (mut line, paths) = (Line::open(url).await?, paths.clone());
        phones.push(tokio::spawn(async move {
            loop {
                let Some(path) = paths.lock().await.next() else {
                    return anyhow::Ok(());
                };
                let status = line.ask("GET", &path, Bytes::new()).await?;
                ensure!(status == 302, "the answer is {status}");
            }
        }));
    }
    for phone in phones {
        phone.await??;
    }
    Ok(())
}

/// Scans cards at a steady rate, whatever the answers take, over as many connections as that needs. Returns for each
/// card when it was to be scanned, and how long its redirect took.
pub async fn scan_steadily(
    url: &str,
    paths: Vec<String>,
    per_second: usize,
    connections: usize,
) -> anyhow::Result<Vec<(Instant, Duration)>> {
    let count = paths.len();
    let (sender, queue) = mpsc::channel::<(usize, String, Instant)>(count.max(1));
    let queue = Arc::new(Mutex::new(queue));
    let mut phones = Vec::new();
    for _ in 0..connections {
        let (mut line, queue) = (Line::open(url).await?, queue.clone());
        phones.push(tokio::spawn(async move {
            let mut took = Vec::new();
            loop {
                let Some((index, path, due)) = queue.lock().await.recv().await else {
                    return anyhow::Ok(took);
                };
                let status = line.ask("GET", &path, Bytes::new()).await?;
                ensure!(status == 302, "the answer is {status}");
                took.push((index, due, due.elapsed()));
            }
        }));
    }
    let begun = Instant::now();
    let pause = Duration::from_secs(1) / u32::try_from(per_second)?;
    for (index, path) in paths.into_iter().enumerate() {
        let due = begun + pause * u32::try_from(index)?;
        tokio::time::sleep_until(due.into()).await;
        sender.send((index, path, Instant::now())).await?;
    }
    drop(sender);
    let mut all = Vec::new();
    for phone in phones {
        all.extend(phone.await??);
    }
    all.sort_unstable_by_key(|(index, _, _)| *index);
    Ok(all.into_iter().map(|(_, due, took)| (due, took)).collect())
}
