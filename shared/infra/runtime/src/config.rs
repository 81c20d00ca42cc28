//! The configuration of all processes: embedded defaults, an optional file, the environment.

mod cards;
mod console;
mod language_model;
mod printing;
mod traces;
mod webhooks;

use std::collections::HashMap;
use std::ops::RangeInclusive;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use config::{Environment, File, FileFormat};
use contract::send::Postage;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer};

pub use cards::{PictureSettings, ReturnAddressSettings};
pub use console::ConsoleSettings;
pub use language_model::LanguageModelSettings;
pub use printing::{PermitSettings, PrintSettings, TextByPostage};
pub use traces::TraceSettings;
pub use webhooks::{DispatcherSettings, EmailSettings, OutboundSettings, ScanSettings};

/// The defaults, which are also the reference of every setting.
pub const DEFAULT: &str = include_str!("../default.toml");

/// How long anything may be kept, in days: less than one would forget what is still being worked on.
const RETENTION_DAYS: RangeInclusive<i64> = 1..=36_500;

/// Variable that names a file to be read over the defaults.
const FILE_VARIABLE: &str = "PILLARBOX_CONFIG";

/// What variables with settings begin with.
const PREFIX: &str = "PILLARBOX";

/// Every setting. `default.toml` describes each.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Postgres.
    pub database: store::StoreSettings,
    /// RabbitMQ.
    pub broker: queue::BrokerSettings,
    /// Logs.
    pub log: LogSettings,
    /// Traces.
    pub traces: TraceSettings,
    /// Health and metrics.
    pub admin: AdminSettings,
    /// The stop.
    pub shutdown: ShutdownSettings,
    /// The gateway.
    pub gateway: GatewaySettings,
    /// The mailer.
    pub mailer: MailerSettings,
    /// The syncer.
    pub syncer: SyncerSettings,
    /// Cents for one card, by product.
    pub prices: HashMap<String, PriceByPostage>,
    /// Payment by card.
    pub stripe: StripeSettings,
    /// How addresses are verified.
    pub verification: VerificationSettings,
    /// The provider that verifies addresses.
    pub smarty: SmartySettings,
    /// Scans of cards.
    pub scans: ScanSettings,
    /// The dispatcher.
    pub dispatcher: DispatcherSettings,
    /// Requests to addresses that somebody typed in.
    pub outbound: OutboundSettings,
    /// Where pictures and print files are kept.
    pub storage: storage::StorageSettings,
    /// Pictures that cards print.
    pub pictures: PictureSettings,
    /// Return addresses with fields in them.
    pub return_addresses: ReturnAddressSettings,
    /// Printing.
    pub print: PrintSettings,
    /// E-mail.
    pub email: EmailSettings,
    /// The console.
    pub console: ConsoleSettings,
    /// The language model that writes AI columns.
    pub language_model: LanguageModelSettings,
}

impl SyncerSettings {
    /// Since when removals by full syncs can be taken back.
    pub fn removals_undone_since(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        now - TimeDelta::days(self.removal_undo_days)
    }
}

/// Logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// For whom.
    pub format: LogFormat,
    /// Which.
    pub filter: String,
}

/// For whom logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Collectors.
    Json,
    /// People.
    Text,
}

/// Health and metrics.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminSettings {
    /// Address and port.
    pub listen: String,
}

/// The stop.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShutdownSettings {
    /// Milliseconds that the process goes on after it has said that it is not ready.
    pub drain_ms: u64,
    /// Milliseconds that what has begun may take.
    pub grace_ms: u64,
}

/// The gateway.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewaySettings {
    /// Address and port.
    pub listen: String,
    /// Where clients reach the gateways, for the OpenAPI document; empty for where it was asked.
    pub public_url: String,
    /// Networks whose `X-Forwarded-For` is believed. In the environment: separated by commas.
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Connections at a time.
    pub max_connections: usize,
    /// Connections at a time from one source address.
    pub connections_per_source: usize,
    /// Milliseconds for a connection's first headers.
    pub first_header_timeout_ms: u64,
    /// Milliseconds for a request's headers, and for an idle connection.
    pub header_timeout_ms: u64,
    /// Milliseconds for a request's body, and for a body to wait for memory.
    pub body_timeout_ms: u64,
    /// Bytes of bodies in memory at a time.
    pub body_memory_bytes: usize,
    /// Bytes of unread answers in memory at a time.
    pub answer_memory_bytes: usize,
    /// Milliseconds that 64 KB of an answer may wait for their reader.
    pub write_timeout_ms: u64,
    /// Milliseconds for the worker's answer.
    pub call_deadline_ms: u64,
    /// Requests of a key in a minute.
    pub requests_per_minute_per_key: i32,
    /// Requests of a source address in a minute.
    pub requests_per_minute_per_source: i32,
    /// Requests of a source address to the push API in a minute.
    pub push_requests_per_minute_per_source: i32,
    /// Requests of a key to the Formula MCP server in a minute.
    pub formula_requests_per_minute_per_key: i32,
    /// Requests of a source address to the Formula MCP server in a minute.
    pub formula_requests_per_minute_per_source: i32,
    /// Milliseconds for the worker's answer to a tool's call.
    pub mcp_call_deadline_ms: u64,
    /// Origins of web pages that may call the MCP servers. In the environment: separated by commas.
    #[serde(deserialize_with = "webhooks::texts")]
    pub mcp_allowed_origins: Vec<String>,
}

/// The mailer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailerSettings {
    /// Requests at a time.
    pub concurrency: u16,
    /// Calls of formula tools at a time.
    pub formula_concurrency: u16,
    /// Milliseconds of silence before another worker goes on.
    pub lease_ms: i64,
    /// Minutes of the replay window.
    pub replay_window_minutes: i64,
    /// Days of the duplicate window.
    pub duplicate_window_days: i32,
    /// Custom columns that one request may create.
    pub new_columns_per_request: usize,
    /// Columns made over the API that a team may have.
    pub api_columns_per_team: usize,
    /// Time of the team's day after which a request counts from tomorrow.
    #[serde(deserialize_with = "time_of_day")]
    pub cut_off: NaiveTime,
    /// Business days from the request to the mail-by date.
    pub production_days: ProductionDays,
    /// Hour of the team's day of the re-check.
    pub recheck_hour: u32,
    /// Milliseconds between looks for due work.
    pub job_interval_ms: u64,
    /// Tries of a job without progress.
    pub job_attempts: i32,
    /// Milliseconds that a failed job rests.
    pub job_pause_ms: i64,
    /// Days that requests and their responses are kept.
    pub request_retention_days: i64,
    /// Days that what happened to single mailpieces is kept.
    pub mailpiece_event_days: i64,
}

/// The syncer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncerSettings {
    /// Requests at a time.
    pub concurrency: u16,
    /// Hours until an open sync expires.
    pub sync_expiry_hours: i64,
    /// Days that the answer to a request is kept.
    pub idempotency_key_days: i64,
    /// Days that ended syncs are kept.
    pub sync_retention_days: i64,
    /// Days in which the removal by a full sync can be taken back; then its contacts are erased.
    pub removal_undo_days: i64,
    /// Days after which the contacts of a removed integration are erased.
    pub removed_integration_days: i64,
    /// Milliseconds between looks for what is due.
    pub job_interval_ms: u64,
}

/// Business days by postage.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductionDays {
    /// USPS Marketing Mail.
    pub standard: u32,
    /// First-Class Mail.
    pub first_class: u32,
}

/// Cents by postage.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceByPostage {
    /// USPS Marketing Mail.
    pub standard: i64,
    /// First-Class Mail.
    pub first_class: i64,
}

/// Payment by card.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripeSettings {
    /// Where the API is.
    pub url: String,
    /// The account's secret key.
    pub secret_key: String,
    /// The version of the API that we speak.
    pub api_version: String,
    /// Milliseconds for one request.
    pub timeout_ms: u64,
}

impl std::fmt::Debug for StripeSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Stripe")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// How addresses are verified.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerificationSettings {
    /// By whom.
    pub verifier: VerifierKind,
    /// Points that make a ZIP covered.
    pub coverage_points: i64,
    /// Days that a provider's answer is kept.
    pub answer_days: i64,
}

/// Who verifies addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifierKind {
    /// The program itself.
    Local,
    /// The provider.
    Smarty,
}

/// The provider that verifies addresses.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmartySettings {
    /// Where the API is.
    pub url: String,
    /// The account's id.
    pub auth_id: String,
    /// The account's secret.
    pub auth_token: String,
    /// Milliseconds for one try of one batch.
    pub timeout_ms: u64,
    /// Batches at a time.
    pub concurrency: usize,
    /// Tries of a batch.
    pub attempts: u32,
    /// Failed batches in a row that open the circuit breaker.
    pub breaker_failures: u32,
    /// Milliseconds that it stays open.
    pub breaker_rest_ms: u64,
}

impl std::fmt::Debug for SmartySettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Smarty")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl PriceByPostage {
    /// Cents with this postage.
    pub fn with(self, postage: Postage) -> i64 {
        match postage {
            Postage::Standard => self.standard,
            Postage::FirstClass => self.first_class,
        }
    }
}

impl ProductionDays {
    /// Business days with this postage.
    pub fn with(self, postage: Postage) -> u32 {
        match postage {
            Postage::Standard => self.standard,
            Postage::FirstClass => self.first_class,
        }
    }
}

impl Config {
    /// Reads the defaults, the file that `PILLARBOX_CONFIG` names, and the environment.
    ///
    /// # Errors
    /// A sentence that names the setting which is unknown or has a wrong value.
    pub fn load() -> Result<Self, config::ConfigError> {
        let mut builder =
            config::Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml));
        if let Ok(path) = std::env::var(FILE_VARIABLE) {
            builder = builder.add_source(File::new(&path, FileFormat::Toml));
        }
        Self::build(builder, None)
    }

    /// The defaults with these settings over them, named as in the environment (`PILLARBOX__GATEWAY__LISTEN`).
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn with(settings: HashMap<String, String>) -> Result<Self, config::ConfigError> {
        Self::build(
            config::Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml)),
            Some(settings),
        )
    }

    fn build(
        builder: config::ConfigBuilder<config::builder::DefaultState>,
        variables: Option<HashMap<String, String>>,
    ) -> Result<Self, config::ConfigError> {
        let environment = Environment::with_prefix(PREFIX)
            .prefix_separator("__")
            .separator("__")
            .try_parsing(true);
        let config: Self = builder
            .add_source(environment.source(variables))
            .build()?
            .try_deserialize()?;
        config.check()?;
        Ok(config)
    }

    /// What types cannot say.
    fn check(&self) -> Result<(), config::ConfigError> {
        let refuse = |message: &str| Err(config::ConfigError::Message(message.to_owned()));
        if self
            .prices
            .values()
            .any(|price| price.standard < 1 || price.first_class < 1)
        {
            return refuse("prices must be one cent or more");
        }
        let slots = [
            self.mailer.concurrency,
            self.mailer.formula_concurrency,
            self.syncer.concurrency,
        ];
        if slots.contains(&0) || self.database.pool_size == 0 {
            return refuse("concurrencies and database.pool_size must be one or more");
        }
        if self.gateway.body_memory_bytes < model::limits::BODY_BYTES {
            return refuse(
                "gateway.body_memory_bytes must hold one body of the largest size at least",
            );
        }
        if self.gateway.connections_per_source == 0 || self.console.connections_per_source == 0 {
            return refuse("connections_per_source must be one or more");
        }
        if self.mailer.recheck_hour > 23 {
            return refuse("mailer.recheck_hour must be 0 to 23");
        }
        if self.smarty.concurrency == 0
            || self.smarty.attempts == 0
            || self.smarty.breaker_failures == 0
        {
            return refuse("smarty.concurrency, attempts and breaker_failures must be one or more");
        }
        if self.verification.answer_days < 0 || self.verification.coverage_points < 1 {
            return refuse(
                "verification.answer_days must not be negative, coverage_points one or more",
            );
        }
        if self.scans.waiting == 0 {
            return refuse("scans.waiting must be one or more");
        }
        let retentions = [
            self.mailer.request_retention_days,
            self.mailer.mailpiece_event_days,
            self.syncer.idempotency_key_days,
            self.syncer.sync_retention_days,
            self.syncer.removal_undo_days,
            self.syncer.removed_integration_days,
            self.dispatcher.retention_days,
            self.scans.retention_days,
        ];
        if retentions.iter().any(|days| !RETENTION_DAYS.contains(days)) {
            return refuse("every retention must be 1 to 36500 days");
        }
        self.pictures.check().or_else(refuse)?;
        self.print.check().or_else(refuse)?;
        self.dispatcher.check().or_else(refuse)
    }
}

fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NetworkList {
        Many(Vec<IpNet>),
        One(String),
    }
    match NetworkList::deserialize(deserializer)? {
        NetworkList::Many(networks) => Ok(networks),
        NetworkList::One(text) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                part.parse()
                    .map_err(|_| serde::de::Error::custom(format!("{part} is not a network")))
            })
            .collect(),
    }
}

fn time_of_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    NaiveTime::parse_from_str(&text, "%H:%M")
        .map_err(|_| serde::de::Error::custom(format!("{text} is not a time of day like 15:00")))
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
