//! What the end-to-end tests and the benchmarks share: databases of their own, the processes in this process or
//! as real ones, and people to mail.

#![allow(
    clippy::disallowed_methods,
    reason = "tests have their own time and tasks"
)]

mod between;
mod borrowed;
mod browser;
mod chaos;
mod cluster;
mod compress;
mod crm;
mod database;
mod designs;
mod documented;
mod fleet;
mod full_disk;
mod load;
mod logs;
mod people;
mod picture_host;
mod points;
mod processes;
mod sink;
mod smtp;
mod stack;
mod tool_schema;
mod verifiers;
mod visitor;
mod webhooks;

pub use between::{FaultyProxy, ProxiedRequest, ProxyBehavior};
pub use borrowed::{LoadBalancer, PgBouncer};
pub use browser::Browser;
pub use chaos::{ChaosFault, ChaosFleet, PrivateServers};
pub use cluster::RabbitmqCluster;
pub use compress::{COMPRESSIONS, compress_gzip, compress_zstd};
pub use crm::{CrmClient, INTEGRATION_KEY};
pub use database::{TestDatabase, settings_for};
pub use designs::{fixed_picture, postcard_design, text_box, variable_picture};
pub use fleet::FleetProcess;
pub use full_disk::FullDisk;
pub use load::{LoadGenerator, LoadReport, LoadRetryPolicy, LoadTally};
pub use logs::KeptLog;
pub use people::{ADDRESS, build_recipient, build_recipients};
pub use picture_host::{PictureHost, SecurePictureHost};
pub use points::{MAIN_STREET, PointFile, build_center};
pub use processes::{
    PrivateServer, ServerKind, SpawnedProcess, binary_path, find_free_port, run_operator_command,
    tool_folder,
};
pub use sink::{EndpointReaction, ReceivedEvent, WebhookSink};
pub use smtp::{ReceivedEmail, SmtpSecurity, SmtpServer};
pub use stack::{ApiResponse, StackOptions, TestStack, build_settings, wait_until};
pub use tool_schema::{assert_tool_result, unportable_parts};
pub use verifiers::{GatedVerifier, SlowVerifier, UnavailableVerifier};
pub use visitor::{ConsoleClient, ConsoleResponse, PASSWORD};
pub use webhooks::{list_codes, with_qr_codes, with_qr_codes_on};

/// The key that every test's team holds.
pub const KEY: &str = "pk_live_TestTestTestTestTestTe";

/// The campaign that most tests use.
pub const CAMPAIGN: &str = "PA-TEST01";
