//! The API as its users meet it: requests with a key, repeated while that can help.

mod retry;

use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use contract::send::COST_HEADER;
use model::limits::RESPONSE_BYTES;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Method, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::retry::{RequestAttempt, RetryDecision, RetryPolicy};
use crate::sender_command::ServiceArgs;
use crate::upload::UploadProgress;

/// The header of an answer that was stored when the same request came before.
const REPLAYED: &str = "idempotency-replayed";

/// How long to try to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for the whole answer: longer than the gateway waits for its worker by default.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(150);

/// A gateway and the key to it.
pub(crate) struct GatewayClient {
    http: reqwest::Client,
    base: Url,
    key: String,
    patience: RetryPolicy,
}

/// One request. It is the same one however often it is sent.
#[derive(Clone)]
pub(crate) struct GatewayRequest {
    method: Method,
    path: String,
    body: Bytes,
    idempotency_key: Option<String>,
}

/// Why there is no answer to work with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GatewayError {
    /// The service said no, and would again. Nothing of the request was done.
    #[error("{status} {code}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// One of the contract's error codes.
        code: String,
        /// A sentence.
        message: String,
        /// What the push API adds to some errors; else null.
        details: serde_json::Value,
        /// Whether an earlier attempt of the same request may have been carried out.
        after_lost_answer: bool,
    },
    /// It was tried again and again.
    #[error("gave up after {attempts} attempts; the last one ended with: {last}")]
    GaveUp {
        /// How many.
        attempts: u32,
        /// What came of the last one.
        last: String,
        /// Whether an attempt may have been carried out.
        after_lost_answer: bool,
    },
    /// The answer cannot be read.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
}

/// The two envelopes of errors, of the Dynamic Audience API and of the push API.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ServiceErrorEnvelope {
    Push { error: ServiceErrorBody },
    Dynamic(ServiceErrorBody),
}

#[derive(Debug, Deserialize)]
struct ServiceErrorBody {
    code: String,
    message: String,
    #[serde(default)]
    details: serde_json::Value,
}

impl GatewayError {
    /// Whether the request may have been carried out all the same.
    pub(crate) const fn may_be_done(&self) -> bool {
        match self {
            Self::Refused {
                after_lost_answer, ..
            }
            | Self::GaveUp {
                after_lost_answer, ..
            } => *after_lost_answer,
            Self::Unreadable(_) => true,
        }
    }
}

/// An answer with status 200.
pub(crate) struct GatewayResponse<T> {
    /// What it says.
    pub(crate) body: T,
    /// What the request has cost, in US cents, when the service tells.
    pub(crate) cost_cents: Option<i64>,
    /// Whether it is the stored answer of an attempt before.
    pub(crate) is_replayed: bool,
    /// Whether an attempt before may have been carried out without our knowing.
    pub(crate) after_lost_answer: bool,
}

impl GatewayRequest {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: Bytes::new(),
            idempotency_key: None,
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method: Method::POST,
            path: path.into(),
            body: body.into(),
            idempotency_key: None,
        }
    }

    pub(crate) fn patch(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method: Method::PATCH,
            ..Self::post(path, body)
        }
    }

    /// The same request with a key by which the service knows it again.
    #[must_use]
    pub(crate) fn with_idempotency_key(self, idempotency_key: String) -> Self {
        Self {
            idempotency_key: Some(idempotency_key),
            ..self
        }
    }
}

impl GatewayClient {
    /// A client for the service at `service.url`.
    ///
    /// # Errors
    /// When the address is none, or the key holds characters that a header cannot.
    pub(crate) fn new(service: &ServiceArgs) -> anyhow::Result<Self> {
        let base: Url = service
            .url
            .parse()
            .with_context(|| format!("{} is not a URL", service.url))?;
        if !matches!(base.scheme(), "http" | "https") {
            bail!("{base} must begin with https:// or http://");
        }
        if service.key.is_empty() || !service.key.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!(
                "the key is empty or holds blanks: give it as it was shown, in PILLARBOX_KEY or --key"
            );
        }
        runtime::install_crypto();
        #[expect(
            clippy::disallowed_methods,
            reason = "it asks the service that the sender names"
        )]
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            // A redirect would turn a POST into a GET.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("pillarbox/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let patience = RetryPolicy {
            tries: service.tries,
            pause: Duration::from_millis(service.pause_ms),
        };
        Ok(Self {
            http,
            base,
            key: service.key.clone(),
            patience,
        })
    }

    /// Where the service is, as the journal notes it.
    pub(crate) fn base_url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Sends a request until there is an answer with status 200, and reads it. Attempts whose end is not known, that the
    /// service could not carry out or that came too early are repeated, always with the same bytes and the same key.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        request: &GatewayRequest,
        progress: &UploadProgress,
    ) -> Result<T, GatewayError> {
        Ok(self.send_with_cost(request, progress).await?.body)
    }

    /// As [`GatewayClient::send`], with what the request has cost.
    pub(crate) async fn send_with_cost<T: DeserializeOwned>(
        &self,
        request: &GatewayRequest,
        progress: &UploadProgress,
    ) -> Result<GatewayResponse<T>, GatewayError> {
        let GatewayResponse {
            body,
            cost_cents,
            is_replayed,
            after_lost_answer,
        } = self.send_with_retries(request, progress).await?;
        let body = serde_json::from_slice(&body)
            .map_err(|error| GatewayError::Unreadable(error.to_string()))?;
        Ok(GatewayResponse {
            body,
            cost_cents,
            is_replayed,
            after_lost_answer,
        })
    }

    async fn send_with_retries(
        &self,
        request: &GatewayRequest,
        progress: &UploadProgress,
    ) -> Result<GatewayResponse<Vec<u8>>, GatewayError> {
        let mut course = retry::RetryState::new(self.patience);
        loop {
            let attempt = self.send_once(request).await;
            match course.record_attempt(&attempt) {
                RetryDecision::Take => match attempt {
                    RequestAttempt::Answered {
                        body,
                        cost_cents,
                        is_replayed,
                        ..
                    } => {
                        let after_lost_answer = course.has_lost_an_answer();
                        return Ok(GatewayResponse {
                            body,
                            cost_cents,
                            is_replayed,
                            after_lost_answer,
                        });
                    }
                    RequestAttempt::Lost(why) => return Err(GatewayError::Unreadable(why)),
                },
                RetryDecision::Stop => {
                    return Err(to_gateway_error(&attempt, course.has_lost_an_answer()));
                }
                RetryDecision::GiveUp => {
                    let (attempts, after_lost_answer) =
                        (course.attempts(), course.has_lost_an_answer());
                    return Err(GatewayError::GaveUp {
                        attempts,
                        last: describe_attempt(&attempt),
                        after_lost_answer,
                    });
                }
                RetryDecision::Again(pause) => {
                    progress.show_wait(&describe_attempt(&attempt), pause);
                    tokio::time::sleep(pause).await;
                    progress.clear_wait();
                }
            }
        }
    }

    /// Sends a request once.
    async fn send_once(&self, request: &GatewayRequest) -> RequestAttempt {
        let url = format!("{}{}", self.base_url(), request.path);
        let mut builder = self
            .http
            .request(request.method.clone(), url)
            .bearer_auth(&self.key);
        if request.method != Method::GET {
            builder = builder
                .header(CONTENT_TYPE, "application/json")
                .body(request.body.clone());
        }
        if let Some(key) = &request.idempotency_key {
            builder = builder.header("idempotency-key", key);
        }
        match builder.send().await {
            Ok(response) => {
                let (status, headers) = (response.status().as_u16(), response.headers());
                let (retry_after, cost_cents) = (retry_after(headers), cost_cents(headers));
                let is_replayed = headers.contains_key(REPLAYED);
                match bounded_body(response).await {
                    Ok(body) => RequestAttempt::Answered {
                        status,
                        retry_after,
                        cost_cents,
                        is_replayed,
                        body,
                    },
                    Err(why) => RequestAttempt::Lost(why),
                }
            }
            Err(error) => RequestAttempt::Lost(format_error_chain(&error)),
        }
    }
}

/// Seconds that the service asks to wait; a date, which the contract never gives, counts as absent.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
}

fn cost_cents(headers: &HeaderMap) -> Option<i64> {
    headers.get(COST_HEADER)?.to_str().ok()?.parse().ok()
}

async fn bounded_body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| format_error_chain(&error))?
    {
        if body.len() + chunk.len() > RESPONSE_BYTES {
            return Err(format!("the answer is longer than {RESPONSE_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, down to its cause.
fn format_error_chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn parse_error_body(body: &[u8]) -> Option<ServiceErrorBody> {
    match serde_json::from_slice(body).ok()? {
        ServiceErrorEnvelope::Push { error } => Some(error),
        ServiceErrorEnvelope::Dynamic(told) => Some(told),
    }
}

fn to_gateway_error(attempt: &RequestAttempt, after_lost_answer: bool) -> GatewayError {
    let RequestAttempt::Answered { status, body, .. } = attempt else {
        return GatewayError::Unreadable(describe_attempt(attempt));
    };
    match parse_error_body(body) {
        Some(ServiceErrorBody {
            code,
            message,
            details,
        }) => GatewayError::Refused {
            status: *status,
            code,
            message,
            details,
            after_lost_answer,
        },
        None => GatewayError::Unreadable(describe_attempt(attempt)),
    }
}

fn describe_attempt(attempt: &RequestAttempt) -> String {
    match attempt {
        RequestAttempt::Lost(why) => why.clone(),
        RequestAttempt::Answered { status, body, .. } => match parse_error_body(body) {
            Some(ServiceErrorBody { code, message, .. }) => format!("{status} {code}: {message}"),
            None => {
                let name = StatusCode::from_u16(*status)
                    .ok()
                    .and_then(|status| status.canonical_reason());
                format!(
                    "{status} {}, not in Pillarbox's words: is the URL right?",
                    name.unwrap_or_default()
                )
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_answer(status: u16, body: &str) -> RequestAttempt {
        let body = body.as_bytes().to_vec();
        RequestAttempt::Answered {
            status,
            retry_after: None,
            cost_cents: None,
            is_replayed: false,
            body,
        }
    }

    #[test]
    fn both_envelopes_of_errors_are_read() {
        let dynamic = build_answer(
            401,
            r#"{"code": "invalid_api_key", "message": "The API key is wrong."}"#,
        );
        assert_eq!(
            describe_attempt(&dynamic),
            "401 invalid_api_key: The API key is wrong."
        );
        let push = build_answer(
            409,
            r#"{"error": {"code": "no_open_sync", "message": "None."}}"#,
        );
        assert_eq!(describe_attempt(&push), "409 no_open_sync: None.");
        assert!(describe_attempt(&build_answer(502, "<html>")).contains("is the URL right?"));
    }

    #[test]
    fn an_address_or_a_key_that_cannot_be_used_is_told() {
        let client = |url: &str, key: &str| {
            let service = ServiceArgs {
                url: url.to_owned(),
                key: key.to_owned(),
                tries: 1,
                pause_ms: 1,
            };
            GatewayClient::new(&service)
                .map(|client| client.base_url().to_owned())
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            client("https://mail.example.com/", "pk_live_1"),
            Ok("https://mail.example.com".to_owned())
        );
        assert!(
            client("mail.example.com", "pk_live_1")
                .unwrap_err()
                .contains("is not a URL")
        );
        assert!(
            client("ftp://mail.example.com", "pk_live_1")
                .unwrap_err()
                .contains("https://")
        );
        assert!(
            client("https://mail.example.com", "pk live")
                .unwrap_err()
                .contains("PILLARBOX_KEY")
        );
    }
}
