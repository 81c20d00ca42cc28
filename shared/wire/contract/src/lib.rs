//! The wire: what clients send and receive over HTTP, what processes say to each other over
//! the broker, and the codes and limits that the API contract fixes; and what people type, read alike wherever they
//! type it.
//!
//! Everything here is data. Nothing here knows how it is transported or stored.

pub mod id;
pub mod idempotency;
pub mod key;
pub mod limits;
pub mod mcp;
pub mod message;
pub mod money;
pub mod name;
pub mod push;
pub mod scan;
pub mod send;
pub mod webhook;
