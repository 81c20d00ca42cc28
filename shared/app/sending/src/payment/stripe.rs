//! Payment by card: Stripe PaymentIntents, confirmed while nobody is there.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use model::id::ChargeId;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use runtime::measure::{ProviderOutcome, provider_call};

use super::answer::{self, CHARGE_ID, PaymentSearch, StripeAnswer};
use super::{PaymentOutcome, PaymentSettingsError, error_chain};

/// Tries of one request.
const ATTEMPTS: u32 = 3;

/// Pause after the first failed try; doubled at each further one, and up to half as long again by chance.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Bytes of an answer. A page of payments is the largest.
const ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// Stripe forgets an idempotency key after 24 hours at the earliest. An hour before, a charge is looked for
/// among the customer's payments before it is made again.
pub(super) const KEY_LIFETIME: TimeDelta = TimeDelta::hours(23);

/// How far Stripe's clock may be behind ours.
const CLOCK_SKEW: TimeDelta = TimeDelta::hours(1);

/// Payments on one page, the most that Stripe gives.
pub(super) const PAGE_SIZE: &str = "100";

/// Pages looked through for one charge.
pub(super) const PAGES: usize = 20;

/// What is to be paid, and how.
pub(super) struct PaymentOrder<'a> {
    /// Also the idempotency key.
    pub charge_id: ChargeId,
    /// US cents.
    pub amount_cents: i64,
    /// Stripe's id.
    pub customer: &'a str,
    /// Stripe's id.
    pub payment_method: &'a str,
    /// When the charge was made; the first try was no earlier.
    pub created_at: DateTime<Utc>,
}

/// A client of Stripe.
pub(super) struct StripeClient {
    pub(super) http: Client,
    payment_intents: Url,
    pub(super) refunds: Url,
    first_pause: Duration,
}

impl StripeClient {
    pub(super) fn new(
        settings: &runtime::config::StripeSettings,
    ) -> Result<Self, PaymentSettingsError> {
        let resource = |name: &str| {
            let url = format!("{}/v1/{name}", settings.url.trim_end_matches('/'));
            Url::parse(&url).map_err(|_| PaymentSettingsError::Url)
        };
        let (payment_intents, refunds) = (resource("payment_intents")?, resource("refunds")?);
        if payment_intents.scheme() != "https" && !is_loopback(&payment_intents) {
            return Err(PaymentSettingsError::Url);
        }
        let timeout = Duration::from_millis(settings.timeout_ms);
        #[expect(
            clippy::disallowed_methods,
            reason = "it asks the provider in the operator's settings"
        )]
        let http = Client::builder()
            .default_headers(default_headers(settings)?)
            .user_agent(concat!("Pillarbox/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .timeout(timeout)
            .build()
            .map_err(PaymentSettingsError::Client)?;
        Ok(Self {
            http,
            payment_intents,
            refunds,
            first_pause: FIRST_PAUSE,
        })
    }

    /// Takes the money once. The error says why it is not certain whether it was taken.
    pub(super) async fn charge(
        &self,
        order: &PaymentOrder<'_>,
        now: DateTime<Utc>,
    ) -> Result<PaymentOutcome, String> {
        if now - order.created_at >= KEY_LIFETIME
            && let Some(payment) = self.find_earlier_payment(order).await?
        {
            return Ok(payment);
        }
        let form = payment_form(order);
        let request = || {
            let request = self.http.post(self.payment_intents.clone());
            request
                .header("Idempotency-Key", order.charge_id.to_string())
                .form(&form)
        };
        self.ask_until_certain(order.charge_id, request, answer::parse_payment)
            .await
    }

    /// The payment that an earlier try made; `None` when it made none.
    async fn find_earlier_payment(
        &self,
        order: &PaymentOrder<'_>,
    ) -> Result<Option<PaymentOutcome>, String> {
        let charge_id = order.charge_id.to_string();
        let mut after = None;
        for _ in 0..PAGES {
            let url = self.page_url(order, after.as_deref());
            let page = self
                .ask_until_certain(
                    order.charge_id,
                    || self.http.get(url.clone()),
                    answer::parse_page,
                )
                .await?;
            match page.find_payment(&charge_id) {
                PaymentSearch::Payment(StripeAnswer::Final(payment)) => return Ok(Some(payment)),
                PaymentSearch::Payment(
                    StripeAnswer::Again(reason) | StripeAnswer::Unclear(reason),
                ) => {
                    return Err(reason);
                }
                PaymentSearch::After(last) => after = Some(last),
                PaymentSearch::Nowhere => return Ok(None),
            }
        }
        Err("the customer has too many payments to look through at Stripe".to_owned())
    }

    fn page_url(&self, order: &PaymentOrder<'_>, after: Option<&str>) -> Url {
        let mut url = self.payment_intents.clone();
        let since = (order.created_at - CLOCK_SKEW).timestamp().to_string();
        url.query_pairs_mut()
            .extend_pairs([
                ("customer", order.customer),
                ("created[gte]", &since),
                ("limit", PAGE_SIZE),
            ])
            .extend_pairs(after.map(|after| ("starting_after", after)));
        url
    }

    /// Asks until the answer is certain, a bounded number of times.
    pub(super) async fn ask_until_certain<T>(
        &self,
        charge_id: ChargeId,
        request: impl Fn() -> RequestBuilder,
        judge: impl Fn(StatusCode, &[u8]) -> StripeAnswer<T>,
    ) -> Result<T, String> {
        let mut pause = self.first_pause;
        let mut attempt = 1;
        loop {
            let tried = async {
                match read_answer(request().send().await).await {
                    Ok((status, request_id, body)) => (judge(status, &body), request_id),
                    Err(reason) => (StripeAnswer::Again(reason), String::new()),
                }
            };
            let (answer, request_id) = provider_call("stripe", tried, |(answer, _)| match answer {
                StripeAnswer::Final(_) => ProviderOutcome::Ok,
                StripeAnswer::Again(_) => ProviderOutcome::Failed,
                StripeAnswer::Unclear(_) => ProviderOutcome::Refused,
            })
            .await;
            let (reason, is_last) = match answer {
                StripeAnswer::Final(answer) => return Ok(answer),
                StripeAnswer::Again(reason) => (reason, attempt == ATTEMPTS),
                StripeAnswer::Unclear(reason) => (reason, true),
            };
            tracing::warn!(%charge_id, attempt, request_id, reason, "Stripe gave no certain answer");
            if is_last {
                return Err(reason);
            }
            tokio::time::sleep(pause.mul_f64(runtime::task::jitter(1.0..=1.5))).await;
            pause *= 2;
            attempt += 1;
        }
    }
}

fn default_headers(
    settings: &runtime::config::StripeSettings,
) -> Result<HeaderMap, PaymentSettingsError> {
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| PaymentSettingsError::Header);
    let mut authorization = value(&format!("Bearer {}", settings.secret_key))?;
    authorization.set_sensitive(true);
    Ok(HeaderMap::from_iter([
        (AUTHORIZATION, authorization),
        (
            HeaderName::from_static("stripe-version"),
            value(&settings.api_version)?,
        ),
    ]))
}

/// A payment that is confirmed at once, while the customer is not there to do anything for it.
fn payment_form(order: &PaymentOrder<'_>) -> Vec<(String, String)> {
    let fields = [
        ("amount", order.amount_cents.to_string()),
        ("currency", "usd".to_owned()),
        ("customer", order.customer.to_owned()),
        ("payment_method", order.payment_method.to_owned()),
        ("payment_method_types[]", "card".to_owned()),
        ("confirm", "true".to_owned()),
        ("off_session", "true".to_owned()),
    ];
    let metadata = (
        format!("metadata[{CHARGE_ID}]"),
        order.charge_id.to_string(),
    );
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain([metadata])
        .collect()
}

/// The status, Stripe's name of the request, and the body; the error says why there is none.
async fn read_answer(
    response: Result<Response, reqwest::Error>,
) -> Result<(StatusCode, String, Vec<u8>), String> {
    let failed = |error: reqwest::Error| error_chain(error.without_url());
    let mut response = response.map_err(failed)?;
    let request_id = response
        .headers()
        .get("request-id")
        .and_then(|value| value.to_str().ok());
    let request_id = request_id.unwrap_or_default().to_owned();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            return Err("Stripe's answer is too long".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status(), request_id, body))
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
