//! The settings of the console.

use ipnet::IpNet;
use serde::Deserialize;

use super::networks;

/// The console.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// Address and port.
    pub listen: String,
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
    /// Milliseconds from the end of a request's headers to the end of its body.
    pub body_timeout_ms: u64,
    /// Bytes of forms and files in memory at a time.
    pub body_memory_bytes: usize,
    /// Bytes of unread pages and pictures in memory at a time.
    pub answer_memory_bytes: usize,
    /// Milliseconds that 64 KB of an answer may wait for their reader.
    pub write_timeout_ms: u64,
    /// Whether cookies go over TLS only.
    pub secure_cookies: bool,
    /// Where people reach the console: actions must come from its pages there, and links that they hand on lead there.
    pub url: String,
    /// Where the gateway answers to the public.
    pub public_url: String,
    /// Minutes after which a session that is not used ends.
    pub session_idle_minutes: i64,
    /// Hours after which any session ends.
    pub session_longest_hours: i64,
    /// Hours in which a link that sets a password can be used.
    pub password_link_hours: i64,
    /// Minutes in which sign-ins are counted.
    pub sign_in_window_minutes: i64,
    /// Failed sign-ins with an e-mail address in a window, from sources that have not signed in with it before.
    pub sign_ins_per_account: i32,
    /// Failed sign-ins from a source address in a window.
    pub sign_ins_per_source: i32,
}
