//! The contract: what clients send and receive over HTTP, what endpoints are posted, what agents are told over MCP.
//!
//! Everything here is data. Nothing here knows how it is transported or stored.

pub mod mcp;
pub mod push;
pub mod read;
pub mod send;
pub mod webhook;
pub mod withhold;
