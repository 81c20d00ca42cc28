//! RabbitMQ: one connection for a process, calls with a deadline, consumers that answer them, and hints.
//!
//! The broker carries work, Postgres holds it: whatever the broker loses is either still in the caller's
//! hands (who answers an error) or already in a table (and is finished from there). So nothing here
//! retries a message on its own; a lost connection is reported to whoever waited on it.

mod announce;
mod broker;
mod call;
mod caller;
mod encoding;
mod server;
mod topology;

pub use announce::{Announcer, listen};
pub use broker::{Broker, QueueDepth, Settings};
pub use call::{Call, CallError, Reply};
pub use caller::Caller;
pub use server::{Consumption, Handler, serve};
