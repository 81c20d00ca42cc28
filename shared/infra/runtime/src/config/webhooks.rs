//! Settings of scans, their delivery, and what goes out of the house.

use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer};

use super::networks;

/// Scans.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanSettings {
    /// MaxMind-format files. In the environment: separated by commas.
    #[serde(deserialize_with = "paths")]
    pub location_files: Vec<PathBuf>,
    /// Scans on their way into the database.
    pub waiting: usize,
    /// Milliseconds that a phone waits for its record.
    pub patience_ms: u64,
    /// Days that scans are kept.
    pub retention_days: i64,
    /// The folder of the store of files in which the post's files are looked for; empty for none.
    pub inbox: String,
    /// The mapping file for what is found there; empty for the defaults.
    pub mapping_file: PathBuf,
    /// Milliseconds between looks there.
    pub inbox_interval_ms: u64,
    /// Hours without a scan of the post after which a mailpiece counts as stalled.
    pub stalled_hours: i32,
    /// Milliseconds between looks for those.
    pub stalled_interval_ms: u64,
}

/// The dispatcher.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatcherSettings {
    /// Attempts at a time.
    pub concurrency: usize,
    /// Attempts at a time at one endpoint.
    pub concurrency_per_endpoint: usize,
    /// Milliseconds for the whole answer.
    pub timeout_ms: u64,
    /// Seconds before the second, third, ... attempt. In the environment: separated by commas.
    #[serde(deserialize_with = "numbers")]
    pub retry_delays_seconds: Vec<u32>,
    /// Percent of a pause.
    pub retry_jitter_percent: u32,
    /// Failed attempts in a row before the warning.
    pub warn_after: i32,
    /// Failed attempts in a row before the end.
    pub disable_after: i32,
    /// Milliseconds.
    pub lease_ms: i64,
    /// Milliseconds between looks for due deliveries.
    pub sweep_interval_ms: u64,
    /// Days that deliveries are kept.
    pub retention_days: i64,
    /// Hours that the earlier key signs as well.
    pub earlier_secret_hours: i64,
}

/// Requests to addresses that somebody typed in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutboundSettings {
    /// Networks besides the public internet. In the environment: separated by commas.
    #[serde(deserialize_with = "networks")]
    pub allowed_networks: Vec<IpNet>,
}

/// E-mail.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    /// Where e-mails are sent through; empty for the folder. It may hold a password.
    pub smtp_url: String,
    /// Where they are written.
    pub outbox_folder: PathBuf,
    /// Whom they are from.
    pub from: String,
    /// Tries of one e-mail.
    pub attempts: i32,
    /// Milliseconds between them.
    pub pause_ms: i64,
}

impl std::fmt::Debug for EmailSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Email")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl DispatcherSettings {
    /// What types cannot say; the error is a sentence.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.concurrency == 0 || self.concurrency_per_endpoint == 0 {
            return Err("dispatcher.concurrency and concurrency_per_endpoint must be one or more");
        }
        if u64::try_from(self.lease_ms).is_ok_and(|lease| lease > self.timeout_ms) {
            Ok(())
        } else {
            Err("dispatcher.lease_ms must be longer than dispatcher.timeout_ms")
        }
    }
}

fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    Ok(texts(deserializer)?
        .into_iter()
        .map(PathBuf::from)
        .collect())
}

/// Texts as a list, or in one text separated by commas.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextList {
        Many(Vec<String>),
        One(String),
    }
    Ok(match TextList::deserialize(deserializer)? {
        TextList::Many(texts) => texts,
        TextList::One(text) => parts(&text).map(str::to_owned).collect(),
    })
}

fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberList {
        Many(Vec<u32>),
        Single(u32),
        One(String),
    }
    match NumberList::deserialize(deserializer)? {
        NumberList::Many(numbers) => Ok(numbers),
        NumberList::Single(number) => Ok(vec![number]),
        NumberList::One(text) => parts(&text)
            .map(|part| {
                part.parse()
                    .map_err(|_| serde::de::Error::custom(format!("{part} is not a number")))
            })
            .collect(),
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}
