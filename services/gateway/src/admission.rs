//! Letting a request in: who asks, and have they asked too often?

use std::collections::HashMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};

use axum::http::{HeaderMap, HeaderValue, header};
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use model::key::{KeyKind, PresentedKey};
use runtime::allowance::RateAllowance;
use runtime::source::build_source_key;
use runtime::trace::RequestIdentity;
use runtime::{Clock, Config, Process, task};
use store::{AdmissionRequest, AdmissionResult, AdmittedKey, Store};

/// The length of a rate window. Windows begin with the minute.
const WINDOW: TimeDelta = TimeDelta::minutes(1);

/// Requests that are counted together and opened by the same kinds of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateGroup {
    name: &'static str,
    opened_by: &'static [KeyKind],
    per_source: i32,
    /// `None` when keys are not counted.
    per_key: Option<i32>,
}

impl RateGroup {
    /// POST /api/v1/recipients.
    pub(crate) fn for_sends(config: &Config) -> Self {
        Self {
            name: "send",
            opened_by: &[KeyKind::FullAccess],
            per_source: config.gateway.requests_per_minute_per_source,
            per_key: Some(config.gateway.requests_per_minute_per_key),
        }
    }

    /// GET /api/v1/scans: the limits of sends, in windows of its own, so that a listener takes no send's place.
    pub(crate) fn for_scans(config: &Config) -> Self {
        Self {
            name: "scans",
            ..Self::for_sends(config)
        }
    }

    /// GET /api/v1/requests/{id}: the limits of sends, in windows of its own, so that asking takes no send's place.
    pub(crate) fn for_requests(config: &Config) -> Self {
        Self {
            name: "requests",
            ..Self::for_sends(config)
        }
    }

    /// Cancelling, holding and releasing: the limits of sends, in windows of its own, so that stopping mail waits for no send.
    pub(crate) fn for_withholding(config: &Config) -> Self {
        Self {
            name: "withhold",
            ..Self::for_sends(config)
        }
    }

    /// What a team reads of its mailpieces, campaigns and ledger: the limits of sends, in windows of its own.
    pub(crate) fn for_reads(config: &Config) -> Self {
        Self {
            name: "reads",
            ..Self::for_sends(config)
        }
    }

    /// The push API, and the MCP server that speaks for it.
    pub(crate) fn for_pushes(config: &Config) -> Self {
        Self {
            name: "push",
            opened_by: &[KeyKind::Integration],
            per_source: config.gateway.push_requests_per_minute_per_source,
            per_key: None,
        }
    }

    /// The Formula MCP server.
    pub(crate) fn for_formulas(config: &Config) -> Self {
        Self {
            name: "formula",
            opened_by: &[KeyKind::FullAccess, KeyKind::Formulas],
            per_source: config.gateway.formula_requests_per_minute_per_source,
            per_key: Some(config.gateway.formula_requests_per_minute_per_key),
        }
    }
}

/// Why a request is refused before anybody looks into it. Each API puts it into its own error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    /// Over the requests per minute of the key or of the source address.
    RateLimited,
    /// The body is over the limit.
    BodyTooLarge,
    /// The body did not arrive whole; the text says why.
    BodyUnreadable(&'static str),
    /// The body is encoded in a way that is not taken, or several times.
    UnsupportedEncoding,
    /// The key is missing, wrong, revoked, or of a kind that does not open this.
    InvalidKey,
    /// Something on our side failed.
    Failed,
}

/// Counts the requests of one group and looks keys up.
pub(crate) struct AdmissionGate {
    group: RateGroup,
    store: Store,
    clock: Clock,
    shield: RefusalCache,
}

impl AdmissionGate {
    pub(crate) fn new(process: &Process, group: RateGroup) -> Self {
        let (store, clock) = (process.store.clone(), process.clock.clone());
        Self {
            group,
            store,
            clock,
            shield: RefusalCache::default(),
        }
    }

    /// Refuses a source that is known to be over its limit, without asking the database.
    pub(crate) fn check_refused_source(
        &self,
        identity: &RequestIdentity,
        source: IpAddr,
    ) -> Result<(), AdmissionError> {
        let (limit, now) = (self.group.per_source, self.clock.now());
        let subject = build_source_key(self.group.name, source);
        let Some(until) = self.shield.refused_until(&subject, now) else {
            return Ok(());
        };
        metrics::counter!("pillarbox_rate_limit_shielded_total").increment(1);
        identity.note_allowance(RateAllowance::from_window(limit, limit, until, now));
        Err(AdmissionError::RateLimited)
    }

    /// Counts a request for its source and its key, and finds the key, in one round trip. `refused` tells
    /// why its body is known to be of no use. The contract's order of refusals: source 429, body 413, key 401, key 429.
    pub(crate) async fn admit(
        &self,
        identity: &RequestIdentity,
        source: IpAddr,
        key: Option<&PresentedKey>,
        refused: Option<AdmissionError>,
    ) -> Result<AdmittedKey, AdmissionError> {
        let now = self.clock.now();
        let window_start = now.duration_trunc(WINDOW).unwrap_or(now);
        let source_subject = build_source_key(self.group.name, source);
        let key_subject = self
            .group
            .per_key
            .and(key)
            .map(|key| key_subject(self.group.name, key));
        // Over the limit a moment ago, and so still: it need not be counted. But whether the key is still one is asked each time.
        let is_over = key_subject
            .as_ref()
            .is_some_and(|subject| self.shield.refused_until(subject, now).is_some());
        let admission = AdmissionRequest {
            source: &source_subject,
            key: key.map(PresentedKey::hash),
            key_subject: key_subject.as_deref().filter(|_| !is_over),
            window_start,
        };
        let admitted = self.store.admit_request(admission).await.map_err(|error| {
            tracing::error!(error = &error as &dyn Error, "cannot admit a request");
            AdmissionError::Failed
        })?;
        identity.note_allowance(self.find_allowance(
            &admitted,
            is_over,
            window_start + WINDOW,
            now,
        ));
        if admitted.source_requests > self.group.per_source {
            return Err(self.rate_limited_until(source_subject, window_start, now));
        }
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        let key = admitted
            .key
            .filter(|key| self.opens(key.kind))
            .ok_or(AdmissionError::InvalidKey)?;
        if is_over {
            return Err(AdmissionError::RateLimited);
        }
        match (self.group.per_key, key_subject) {
            (Some(limit), Some(subject)) if key.requests > limit => {
                Err(self.rate_limited_until(subject, window_start, now))
            }
            _ => {
                identity.asked_by(key.team_id, key.kind.as_str());
                Ok(key)
            }
        }
    }

    /// What is left of the window that will end first. That of a key that opens nothing here is told to nobody: it would tell a key of
    /// another kind from a wrong one.
    fn find_allowance(
        &self,
        admitted: &AdmissionResult,
        is_over: bool,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> RateAllowance {
        let of_window = |limit, requests| RateAllowance::from_window(limit, requests, until, now);
        let source = of_window(self.group.per_source, admitted.source_requests);
        let key = admitted.key.as_ref().filter(|key| self.opens(key.kind));
        match (self.group.per_key, key) {
            (Some(limit), Some(_)) if is_over => source.tighter_of(of_window(limit, limit)),
            (Some(limit), Some(key)) => source.tighter_of(of_window(limit, key.requests)),
            _ => source,
        }
    }

    fn opens(&self, kind: KeyKind) -> bool {
        self.group.opened_by.contains(&kind)
    }

    fn rate_limited_until(
        &self,
        subject: Vec<u8>,
        window_start: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> AdmissionError {
        self.shield.insert(subject, window_start + WINDOW, now);
        AdmissionError::RateLimited
    }
}

/// What a key's rate window is called in a group of requests; no source address is called so.
fn key_subject(group: &str, key: &PresentedKey) -> Vec<u8> {
    [group.as_bytes(), b":key:", &key.hash().0[..]].concat()
}

/// What a client that was refused for its rate is told to wait, in seconds.
pub(crate) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("60");

/// The key in `Authorization`; an empty one when the header holds something else. `None` without the header.
pub(crate) fn bearer_key(headers: &HeaderMap) -> Option<PresentedKey> {
    let value = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .unwrap_or_default();
    let (scheme, key) = value.trim().split_once(' ').unwrap_or_default();
    Some(PresentedKey::new(
        if scheme.eq_ignore_ascii_case("bearer") {
            key
        } else {
            ""
        },
    ))
}

/// Refused subjects that are remembered; past it further ones go to Postgres.
const SUBJECTS: usize = 100_000;

/// A local brake: whom Postgres refused for the running minute is refused here until it ends. A cache of refusals, not a counter:
/// another gateway needs nothing of it, and losing it costs one query.
#[derive(Default)]
struct RefusalCache {
    refused_until: Mutex<HashMap<Vec<u8>, DateTime<Utc>>>,
}

impl RefusalCache {
    /// Until when a subject is refused; `None` when it is not refused now.
    fn refused_until(&self, subject: &[u8], now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let until = self.lock_refusals().get(subject).copied();
        until.filter(|until| now < *until)
    }

    /// Refuses a subject until the end of its window.
    fn insert(&self, subject: Vec<u8>, until: DateTime<Utc>, now: DateTime<Utc>) {
        let mut refused = self.lock_refusals();
        if refused.len() >= SUBJECTS {
            refused.retain(|_, until| now < *until);
        }
        if refused.len() < SUBJECTS {
            refused.insert(subject, until);
        }
    }

    fn lock_refusals(&self) -> MutexGuard<'_, HashMap<Vec<u8>, DateTime<Utc>>> {
        task::lock_mutex(&self.refused_until)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_refusal_ends_with_its_window_and_the_memory_is_bounded() {
        let (shield, now) = (RefusalCache::default(), Utc::now());
        let until = now + TimeDelta::seconds(30);
        for number in 0..=SUBJECTS {
            shield.insert(number.to_be_bytes().to_vec(), until, now);
        }
        assert_eq!(
            shield.refused_until(&0_usize.to_be_bytes(), now),
            Some(until)
        );
        assert_eq!(
            shield.refused_until(&SUBJECTS.to_be_bytes(), now),
            None,
            "there was no place left"
        );
        assert_eq!(shield.refused_until(&0_usize.to_be_bytes(), until), None);
        let later = until + TimeDelta::seconds(1);
        shield.insert(b"next".to_vec(), later + TimeDelta::seconds(60), later);
        assert!(
            shield.refused_until(b"next", later).is_some(),
            "what has ended makes place"
        );
    }
}
