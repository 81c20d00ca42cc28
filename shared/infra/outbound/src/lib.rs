//! HTTP to strangers: a URL that somebody typed into a form must not lead into our own network.
//!
//! A [`TargetUrl`] is a URL that was read and may be asked at all; [`TargetPolicy`] says which addresses may be connected to;
//! a [`OutboundClient`] resolves the target's host on every request, and connects only to an address that it has just
//! checked. A POST follows no redirects; a GET follows a few, each to a target that is checked like
//! the first. It uses no proxy, and reads no more of an answer than it was told to.

mod address;
mod client;
mod policy;
mod pool;
mod target;

pub use address::is_public;
pub use client::{OutboundClient, OutboundError, OutboundResponse, OutboundSettingsError};
pub use policy::{TargetPolicy, TargetPolicyError};
pub use target::{TargetUrl, TargetUrlError};
