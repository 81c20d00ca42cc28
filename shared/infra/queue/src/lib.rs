//! RabbitMQ: one connection for a process, calls with a deadline, consumers that answer them, and hints.
//!
//! The broker carries work, Postgres holds it: whatever the broker loses is either still in the caller's
//! hands (who answers an error) or already in a table (and is finished from there). So nothing here
//! retries a message on its own; a lost connection is reported to whoever waited on it.
//!
//! A call in reading order: [`caller`] → [`topology`] (its queue) → [`server`] → [`turns`] and [`lanes`] (when is its team's
//! turn?) → its handler → the reply. One that nobody finishes: [`dead_letters`] → [`parked`].

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod announce;
mod broker;
mod call;
mod caller;
mod dead_letters;
mod encoding;
mod lanes;
mod parked;
mod server;
mod topology;
mod transport;
mod turns;

pub use announce::{Announcer, listen_for_announcements};
pub use broker::{Broker, BrokerSettings, QueueDepth};
pub use call::{CallError, QueueCall, QueueReply};
pub use caller::QueueCaller;
pub use dead_letters::sort_dead_letters;
pub use parked::{PARKED_AT_A_TIME, ParkedMessage, delete_parked_messages, list_parked_messages};
pub use server::{CallHandler, ConsumerOptions, serve_calls};
pub use turns::{CallRefusedError, SlotPermit, SlotScheduler, WaitingCall};
