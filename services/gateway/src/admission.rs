//! Letting a request in: who asks, and have they asked too often?

use std::net::IpAddr;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use contract::id::TeamId;
use contract::key::{KeyKind, PresentedKey};
use contract::send::SendError;
use service::{Clock, Process};
use store::{Admission, Store};

use crate::shield::Shield;
use crate::source::subject;

/// The length of a rate window. Windows begin with the minute.
const WINDOW: TimeDelta = TimeDelta::minutes(1);

/// Proof that the request carried a Full access key of this team.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FullAccess {
    pub(crate) team_id: TeamId,
}

/// Counts requests and looks keys up.
pub(crate) struct Gate {
    store: Store,
    clock: Clock,
    shield: Shield,
    per_source: i32,
    per_key: i32,
}

impl Gate {
    pub(crate) fn new(process: &Process) -> Self {
        Self {
            store: process.store.clone(),
            clock: process.clock.clone(),
            shield: Shield::default(),
            per_source: process.config.gateway.requests_per_minute_per_source,
            per_key: process.config.gateway.requests_per_minute_per_key,
        }
    }

    /// Refuses a source that is known to be over its limit, without asking the database.
    pub(crate) fn check_shield(&self, source: IpAddr) -> Result<(), SendError> {
        self.check_subject(&subject(source))
    }

    fn check_subject(&self, subject: &[u8]) -> Result<(), SendError> {
        if self.shield.refuses(subject, self.clock.now()) {
            metrics::counter!("gateway_shield_refusals_total").increment(1);
            return Err(SendError::RateLimited);
        }
        Ok(())
    }

    /// Counts a request for its source and its key, and finds the key, in one round trip. `too_large` tells
    /// that the body is known to be over the limit. The contract's order of refusals: source 429, body 413,
    /// key 401, key 429.
    pub(crate) async fn admit(
        &self,
        source: IpAddr,
        key: Option<&PresentedKey>,
        too_large: Option<SendError>,
    ) -> Result<FullAccess, SendError> {
        let now = self.clock.now();
        let window_start = now.duration_trunc(WINDOW).unwrap_or(now);
        let hash = key.map(PresentedKey::hash);
        let (source_subject, key_subject) = (subject(source), key_subject(key));
        if key.is_some() {
            // Over the limit a moment ago, and so still: a flood under one key stops here.
            self.check_subject(&key_subject)?;
        }
        let admission =
            Admission { source: &source_subject, key: hash, key_subject: &key_subject, window_start };
        let admitted = self.store.request_admit(admission).await.map_err(|error| {
            tracing::error!(%error, "cannot admit a request");
            SendError::InternalError
        })?;
        if admitted.source_requests > self.per_source {
            return Err(self.limited(source_subject, window_start, now));
        }
        if let Some(error) = too_large {
            return Err(error);
        }
        let key =
            admitted.key.filter(|key| key.kind == KeyKind::FullAccess).ok_or(SendError::InvalidApiKey)?;
        if key.requests > self.per_key {
            return Err(self.limited(key_subject, window_start, now));
        }
        Ok(FullAccess { team_id: key.team_id })
    }

    fn limited(&self, subject: Vec<u8>, window_start: DateTime<Utc>, now: DateTime<Utc>) -> SendError {
        self.shield.refuse(subject, window_start + WINDOW, now);
        SendError::RateLimited
    }
}

/// What a key's rate window is called; no source address is called so.
fn key_subject(key: Option<&PresentedKey>) -> Vec<u8> {
    key.map(|key| [b"key:", &key.hash().0[..]].concat()).unwrap_or_default()
}
