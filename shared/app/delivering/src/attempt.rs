//! One attempt: a POST, signed for endpoints that have asked for it (Standard Webhooks 1.0, symmetric), its answer, and what
//! follows from that (contract: Delivery rules 1, 2, 4 and 5).

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use contract::webhook::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use hmac::{Hmac, KeyInit, Mac};
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use model::limits::ANSWER_BYTES;
use outbound::{OutboundError, OutboundResponse, TargetUrl, TargetUrlError};
use runtime::config::DispatcherSettings;
use runtime::trace::TraceContext;
use runtime::{fail_point, task};
use sha2::Sha256;
use store::{AttemptOutcome, DeliveryAttempt, DeliveryKind, LeasedDelivery};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::lanes::AttemptEnding;
use crate::state::EventDispatcher;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("Pillarbox/", env!("CARGO_PKG_VERSION")));

/// Characters of an error that are kept.
const ERROR_CHARS: usize = 300;

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
enum AttemptError {
    #[error(transparent)]
    Target(#[from] TargetUrlError),
    #[error(transparent)]
    Request(#[from] OutboundError),
}

/// Posts a delivery and says what follows, and whether the endpoint has let it hang.
pub(crate) async fn make_attempt(
    dispatcher: &EventDispatcher,
    delivery: LeasedDelivery,
) -> (DeliveryAttempt, AttemptEnding) {
    fail_point::fail_if_chosen("delivery.posting");
    let clock = &dispatcher.process.clock;
    let (attempted_at, begun) = (clock.now(), Instant::now());
    let span = span(&delivery);
    let answer = post(dispatcher, &delivery, attempted_at.timestamp())
        .instrument(span.clone())
        .await;
    let elapsed = begun.elapsed();
    let error = failure(&answer);
    note(&span, &answer);
    dispatcher.tally.count(result(&answer));
    metrics::histogram!("pillarbox_webhook_attempt_duration_seconds").record(elapsed.as_secs_f64());
    metrics::counter!("pillarbox_webhook_attempts_total", "result" => result(&answer)).increment(1);
    let chance = task::jitter(0.0..=1.0);
    let after = dispatcher.schedule.after(
        delivery.kind,
        delivery.attempts,
        error.is_none(),
        clock.now(),
        chance,
    );
    let ending = ending(&answer);
    let answer = answer.ok();
    let made = DeliveryAttempt {
        delivery,
        attempted_at,
        duration_ms: i32::try_from(elapsed.as_millis()).unwrap_or(i32::MAX),
        // Statuses have three digits.
        status: answer
            .as_ref()
            .and_then(|answer| i16::try_from(answer.status).ok()),
        answer: answer.map(|answer| text_of(&answer.body)),
        error,
        after,
        is_shown: true,
    };
    (made, ending)
}

/// The span of an attempt below that of the scan, however much later; none where the scan has none.
fn span(delivery: &LeasedDelivery) -> Span {
    let Some(scan) = delivery
        .traceparent
        .as_deref()
        .and_then(TraceContext::parse)
    else {
        return Span::none();
    };
    let span = tracing::debug_span!(
        "attempt",
        otel.name = "POST",
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = "POST",
        http.request.resend_count = delivery.attempts,
        http.response.status_code = Empty,
        error.type = Empty,
        team_id = %delivery.team_id,
        endpoint_id = %delivery.lane.endpoint_id,
        delivery_id = %delivery.delivery_id,
    );
    scan.set_as_parent(&span);
    span
}

fn note(span: &Span, answer: &Result<OutboundResponse, AttemptError>) {
    if let Ok(answer) = answer {
        span.record("http.response.status_code", answer.status);
    }
    if failure(answer).is_some() {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", result(answer));
    }
}

async fn post(
    dispatcher: &EventDispatcher,
    delivery: &LeasedDelivery,
    timestamp: i64,
) -> Result<OutboundResponse, AttemptError> {
    let timeout = Duration::from_millis(dispatcher.process.config.dispatcher.timeout_ms);
    let target = TargetUrl::parse(&delivery.url)?;
    let headers = headers(delivery, timestamp);
    let body = Bytes::from(delivery.body.clone());
    Ok(dispatcher
        .client
        .post(&target, headers, body, ANSWER_BYTES, timeout)
        .await?)
}

/// The headers of the contract, and a signature only for an endpoint that has asked for it.
fn headers(delivery: &LeasedDelivery, timestamp: i64) -> HeaderMap {
    let id = delivery.event_id.to_string();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    headers.insert(
        HeaderName::from_static(TIMESTAMP_HEADER),
        HeaderValue::from(timestamp),
    );
    let signature = sign(&delivery.secrets, &id, timestamp, &delivery.body);
    for (name, value) in [(ID_HEADER, Some(id)), (SIGNATURE_HEADER, signature)] {
        // Ids and base64 can stand in a header.
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

/// Why an attempt has failed: any 2xx is a success (contract: Delivery rules 1).
fn failure(answer: &Result<OutboundResponse, AttemptError>) -> Option<String> {
    match answer {
        Ok(answer) if (200..300).contains(&answer.status) => None,
        Ok(answer) if (300..400).contains(&answer.status) => Some(format!(
            "answered with {}; redirects are not followed",
            answer.status
        )),
        Ok(answer) => Some(format!("answered with {}", answer.status)),
        Err(error) => Some(error.to_string().chars().take(ERROR_CHARS).collect()),
    }
}

/// What came of an attempt, for the metrics.
fn result(answer: &Result<OutboundResponse, AttemptError>) -> &'static str {
    match answer {
        Ok(answer) if (200..300).contains(&answer.status) => "delivered",
        Ok(_) => "refused",
        Err(AttemptError::Request(OutboundError::Timeout(_))) => "timed_out",
        Err(_) => "unreachable",
    }
}

fn ending(answer: &Result<OutboundResponse, AttemptError>) -> AttemptEnding {
    match answer {
        Err(AttemptError::Request(OutboundError::Timeout(_))) => AttemptEnding::TimedOut,
        _ => AttemptEnding::Answered,
    }
}

/// What can be stored and shown as text.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// The value of the header: one signature for each key, separated by spaces.
fn sign(secrets: &[Vec<u8>], id: &str, timestamp: i64, body: &str) -> Option<String> {
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| {
            // HMAC takes keys of any length.
            let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body.as_bytes());
            Some(format!(
                "v1,{}",
                STANDARD.encode(mac.finalize().into_bytes())
            ))
        })
        .collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

/// The pauses between attempts.
#[derive(Debug, Clone)]
pub(crate) struct RetrySchedule {
    delays: Vec<TimeDelta>,
    jitter_percent: f64,
}

impl RetrySchedule {
    pub(crate) fn new(settings: &DispatcherSettings) -> Self {
        Self {
            delays: settings
                .retry_delays_seconds
                .iter()
                .map(|delay| TimeDelta::seconds((*delay).into()))
                .collect(),
            jitter_percent: settings.retry_jitter_percent.into(),
        }
    }

    /// What follows an attempt that ended at `now`, `attempts_before` others having been made. `chance` is from 0 to 1.
    pub(crate) fn after(
        &self,
        kind: DeliveryKind,
        attempts_before: i16,
        is_success: bool,
        now: DateTime<Utc>,
        chance: f64,
    ) -> AttemptOutcome {
        if is_success {
            return AttemptOutcome::Delivered;
        }
        let delay = usize::try_from(attempts_before)
            .ok()
            .and_then(|made| self.delays.get(made));
        match (kind, delay) {
            (DeliveryKind::Event, Some(delay)) => {
                AttemptOutcome::Retry(now + self.with_jitter(*delay, chance))
            }
            _ => AttemptOutcome::Failed,
        }
    }

    fn with_jitter(&self, delay: TimeDelta, chance: f64) -> TimeDelta {
        let longer = delay.as_seconds_f64() * 1_000.0 * self.jitter_percent / 100.0 * chance;
        // A pause of hours is far from the limits of the type.
        delay + TimeDelta::milliseconds(longer as i64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn failure_of(status: u16) -> Option<String> {
        failure(&Ok(OutboundResponse {
            status,
            body: Vec::new(),
        }))
    }

    #[test]
    fn any_2xx_is_delivered_and_everything_else_failed() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(failure_of(status), None, "{status}");
        }
        for status in [
            100, 199, 300, 301, 302, 304, 307, 400, 404, 410, 429, 500, 503, 999,
        ] {
            assert!(failure_of(status).is_some(), "{status}");
        }
        let timeout = Err(AttemptError::Request(OutboundError::Timeout(
            Duration::from_secs(10),
        )));
        assert_eq!(
            (ending(&timeout), result(&timeout)),
            (AttemptEnding::TimedOut, "timed_out")
        );
        assert_eq!(
            failure(&timeout).as_deref(),
            Some("no answer within 10 seconds")
        );
    }

    #[test]
    fn an_answer_is_kept_as_text_that_the_database_takes() {
        assert_eq!(text_of(b"ok\0\xff<b>"), "ok\u{fffd}\u{fffd}<b>");
    }

    #[test]
    fn the_signature_is_that_of_the_specification() {
        // The example of the Standard Webhooks reference libraries' tests.
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let sign = |secrets: &[Vec<u8>]| {
            sign(
                secrets,
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#,
            )
        };
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(
            sign(std::slice::from_ref(&secret)).as_deref(),
            Some(expected)
        );
        let both = sign(&[vec![7; 32], secret]).unwrap();
        assert!(both.ends_with(&format!(" {expected}")) && both.matches("v1,").count() == 2);
        assert_eq!(sign(&[]), None);
    }

    fn schedule() -> RetrySchedule {
        RetrySchedule::new(&runtime::Config::with(HashMap::new()).unwrap().dispatcher)
    }

    #[test]
    fn five_attempts_at_about_5_minutes_15_minutes_1_hour_and_6_hours() {
        let now = Utc::now();
        let minutes: Vec<i64> = (0..6)
            .map_while(
                |made| match schedule().after(DeliveryKind::Event, made, false, now, 0.0) {
                    AttemptOutcome::Retry(due_at) => Some((due_at - now).num_minutes()),
                    other => {
                        assert_eq!((other, made), (AttemptOutcome::Failed, 4));
                        None
                    }
                },
            )
            .collect();
        assert_eq!(minutes, [5, 15, 60, 360]);
    }

    proptest! {
        #[test]
        fn a_pause_is_at_the_most_a_tenth_longer(made in 0_i16..4, chance in 0.0..=1.0) {
            let (schedule, now) = (schedule(), Utc::now());
            let AttemptOutcome::Retry(due_at) = schedule.after(DeliveryKind::Event, made, false, now, chance) else {
                panic!("it is tried again");
            };
            let delay = schedule.delays[usize::try_from(made).unwrap()];
            prop_assert!(due_at - now >= delay && due_at - now <= delay * 11 / 10);
        }

        #[test]
        fn success_ends_it_and_neither_test_nor_redelivery_is_retried(made in 0_i16..10, chance in 0.0..=1.0) {
            let (schedule, now) = (schedule(), Utc::now());
            for kind in [DeliveryKind::Event, DeliveryKind::Redelivery, DeliveryKind::Test] {
                prop_assert_eq!(schedule.after(kind, made, true, now, chance), AttemptOutcome::Delivered);
            }
            for kind in [DeliveryKind::Redelivery, DeliveryKind::Test] {
                prop_assert_eq!(schedule.after(kind, made, false, now, chance), AttemptOutcome::Failed);
            }
        }
    }
}
