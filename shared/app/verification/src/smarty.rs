//! The provider Smarty: its US Street API over HTTPS.

mod answer;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use address::{AddressInput, AddressVerdict, CheckedAddress, VerificationStrictness};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use runtime::measure::{ProviderOutcome, provider_call};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::breaker::CircuitBreaker;
use crate::cached::VerificationProvider;

/// Addresses of one batch, the most that the API takes.
const BATCH: usize = 100;

/// Bytes of an answer: a batch of candidates is about a tenth of it.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Pause after the first failed try; doubled at each further one, and up to half as long again by chance.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The longest pause that the provider is granted when it asks for one.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Why the provider cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum SmartySettingsError {
    /// The account is missing.
    #[error("smarty.auth_id and smarty.auth_token are not set")]
    Account,
    /// Secrets travel in it.
    #[error("smarty.url is not an https URL")]
    Url,
    /// No client can be made.
    #[error("no HTTP client can be made")]
    Client(#[source] reqwest::Error),
}

/// A client of the US Street API.
pub struct SmartyClient {
    http: Client,
    /// With the account in it: never logged.
    url: Url,
    attempts: u32,
    first_pause: Duration,
    concurrency: usize,
    /// Batches under way, of all requests.
    permits: Semaphore,
    breaker: Mutex<CircuitBreaker>,
}

/// One address as the API takes it.
#[derive(Serialize)]
struct SmartyLookup<'a> {
    street: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    street2: &'a str,
    city: &'a str,
    state: &'a str,
    zipcode: &'a str,
    candidates: u8,
}

/// Why a try gave no answers.
enum SmartyError {
    /// The same may succeed later, at the earliest after this pause.
    Again(String, Option<Duration>),
    /// It will not.
    ForGood(String),
}

impl SmartyClient {
    /// A client with these settings.
    ///
    /// # Errors
    /// When they cannot be used. Plain HTTP is for this machine only.
    pub fn new(settings: &runtime::config::SmartySettings) -> Result<Self, SmartySettingsError> {
        if settings.auth_id.is_empty() || settings.auth_token.is_empty() {
            return Err(SmartySettingsError::Account);
        }
        let mut url = Url::parse(&format!(
            "{}/street-address",
            settings.url.trim_end_matches('/')
        ))
        .map_err(|_| SmartySettingsError::Url)?;
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(SmartySettingsError::Url);
        }
        url.query_pairs_mut()
            .append_pair("auth-id", &settings.auth_id)
            .append_pair("auth-token", &settings.auth_token);
        #[expect(
            clippy::disallowed_methods,
            reason = "it asks the provider in the operator's settings"
        )]
        let http = Client::builder()
            .user_agent(concat!("Pillarbox/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .timeout(Duration::from_millis(settings.timeout_ms))
            .build()
            .map_err(SmartySettingsError::Client)?;
        let rest = Duration::from_millis(settings.breaker_rest_ms);
        Ok(Self {
            http,
            url,
            attempts: settings.attempts,
            first_pause: FIRST_PAUSE,
            concurrency: settings.concurrency,
            permits: Semaphore::new(settings.concurrency),
            breaker: Mutex::new(CircuitBreaker::new(settings.breaker_failures, rest)),
        })
    }

    /// The answers for one batch, tried a bounded number of times.
    async fn ask_batch(&self, inputs: &[AddressInput<'_>]) -> Result<Vec<Value>, String> {
        // The semaphore is never closed.
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|error| error.to_string())?;
        let mut pause = self.first_pause;
        for attempt in 1.. {
            if !self.with_breaker(|breaker| breaker.allows_requests(Instant::now())) {
                return Err(
                    "the provider failed again and again, and is left alone for a while".to_owned(),
                );
            }
            let tried = provider_call("smarty", self.try_batch(inputs), |tried| match tried {
                Ok(_) => ProviderOutcome::Ok,
                Err(SmartyError::Again(..)) => ProviderOutcome::Failed,
                Err(SmartyError::ForGood(_)) => ProviderOutcome::Refused,
            });
            let (reason, wanted_pause) = match tried.await {
                Ok(answers) => {
                    self.with_breaker(CircuitBreaker::record_success);
                    return Ok(answers);
                }
                Err(SmartyError::Again(reason, wanted)) if attempt < self.attempts => {
                    (reason, wanted)
                }
                Err(SmartyError::Again(reason, _) | SmartyError::ForGood(reason)) => {
                    self.with_breaker(|breaker| breaker.record_failure(Instant::now()));
                    return Err(reason);
                }
            };
            tracing::warn!(attempt, reason, "the address provider gave no answer");
            let wait = pause
                .mul_f64(runtime::task::jitter(1.0..=1.5))
                .max(wanted_pause.unwrap_or_default());
            tokio::time::sleep(wait.min(PAUSE_MAX)).await;
            pause *= 2;
        }
        Err("the provider was not asked".to_owned())
    }

    async fn try_batch(&self, inputs: &[AddressInput<'_>]) -> Result<Vec<Value>, SmartyError> {
        let lookups: Vec<SmartyLookup<'_>> = inputs.iter().map(new_lookup).collect();
        let failed =
            |error: reqwest::Error| SmartyError::Again(describe_causes(&error.without_url()), None);
        let response = self
            .http
            .post(self.url.clone())
            .json(&lookups)
            .send()
            .await
            .map_err(failed)?;
        let status = response.status();
        let pause = parse_retry_after(&response);
        let reason = format!("the provider answered {}", status.as_u16());
        match status {
            StatusCode::OK => {}
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                return Err(SmartyError::Again(reason, pause));
            }
            status if status.is_server_error() => return Err(SmartyError::Again(reason, pause)),
            _ => return Err(SmartyError::ForGood(reason)),
        }
        let body = read_bounded_body(response).await?;
        answer::parse_answers(&body, inputs.len())
            .map_err(|reason| SmartyError::Again(reason, None))
    }

    fn with_breaker<T>(&self, act: impl FnOnce(&mut CircuitBreaker) -> T) -> T {
        act(&mut runtime::task::lock_mutex(&self.breaker))
    }
}

impl VerificationProvider for SmartyClient {
    fn name(&self) -> &'static str {
        "smarty"
    }

    fn look_up<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
    ) -> BoxFuture<'a, (Vec<Option<Value>>, Option<String>)> {
        Box::pin(async move {
            let batches: Vec<_> = inputs.chunks(BATCH).collect();
            let asked: Vec<_> = batches
                .iter()
                .map(|batch| self.ask_batch(batch).boxed())
                .collect();
            let mut results = stream::iter(asked)
                .buffered(self.concurrency)
                .zip(stream::iter(&batches));
            let (mut answers, mut failure) = (Vec::with_capacity(inputs.len()), None);
            while let Some((result, batch)) = results.next().await {
                match result {
                    Ok(answered) => answers.extend(answered.into_iter().map(Some)),
                    Err(reason) => {
                        answers.extend(std::iter::repeat_n(None, batch.len()));
                        failure.get_or_insert(reason);
                    }
                }
            }
            (answers, failure)
        })
    }

    fn judge(
        &self,
        reading: CheckedAddress,
        answer: &Value,
        strictness: Option<VerificationStrictness>,
    ) -> AddressVerdict {
        answer::judge_answer(
            reading,
            answer,
            strictness.unwrap_or(VerificationStrictness::DeliveryPoint),
        )
    }
}

fn new_lookup<'a>(input: &AddressInput<'a>) -> SmartyLookup<'a> {
    SmartyLookup {
        street: input.address_1.trim(),
        street2: input.address_2.trim(),
        city: input.city.trim(),
        state: input.state.trim(),
        zipcode: input.zip.trim(),
        candidates: 1,
    }
}

/// The body of an answer, as far as it is not too long.
async fn read_bounded_body(mut response: Response) -> Result<Vec<u8>, SmartyError> {
    let failed =
        |error: reqwest::Error| SmartyError::Again(describe_causes(&error.without_url()), None);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            return Err(SmartyError::ForGood(
                "the provider's answer is too long".to_owned(),
            ));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The pause that the provider asks for, in whole seconds.
fn parse_retry_after(response: &Response) -> Option<Duration> {
    let seconds = response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

/// An error with what caused it.
fn describe_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
