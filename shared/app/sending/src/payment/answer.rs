//! What Stripe's answers mean. Pure: a status and a body in, a decision out.

use reqwest::StatusCode;
use serde::Deserialize;

use super::PaymentOutcome;

/// Characters of Stripe's own words that are passed on.
const MESSAGE_CHARS: usize = 200;

/// The metadata under which a payment carries its charge's id.
pub(super) const CHARGE_ID: &str = "charge_id";

/// What to do after an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StripeAnswer<T> {
    /// It is certain.
    Final(T),
    /// Ask again with the same idempotency key; the text says why.
    Again(String),
    /// Asking again now would change nothing; the text says why.
    Unclear(String),
}

/// A part of a customer's payments, the newest first.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct PaymentPage {
    data: Vec<PaymentIntent>,
    has_more: bool,
}

/// Where to look on after a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PaymentSearch {
    /// The charge's payment.
    Payment(StripeAnswer<PaymentOutcome>),
    /// It would be after the payment with this id.
    After(String),
    /// There is none.
    Nowhere,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct PaymentIntent {
    id: String,
    status: String,
    #[serde(default)]
    metadata: PaymentMetadata,
    #[serde(default)]
    last_payment_error: Option<StripeError>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct PaymentMetadata {
    /// Named as in [`CHARGE_ID`].
    charge_id: Option<String>,
}

/// The body of a failure.
#[derive(Deserialize)]
pub(super) struct StripeErrorBody {
    pub(super) error: StripeError,
}

/// What Stripe says of a failure.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct StripeError {
    #[serde(default, rename = "type")]
    kind: String,
    code: Option<String>,
    param: Option<String>,
    message: Option<String>,
}

/// The answer to creating and confirming a payment.
pub(super) fn parse_payment(status: StatusCode, body: &[u8]) -> StripeAnswer<PaymentOutcome> {
    if status.is_success() {
        return match serde_json::from_slice::<PaymentIntent>(body) {
            Ok(intent) => intent.to_answer(),
            Err(_) => unreadable_answer(status),
        };
    }
    match serde_json::from_slice::<StripeErrorBody>(body) {
        Ok(StripeErrorBody { error }) if error.is_decline_of(status) => {
            StripeAnswer::Final(error.to_declined())
        }
        Ok(StripeErrorBody { error }) => error.to_answer(status),
        Err(_) => foreign_answer(status),
    }
}

/// The answer to listing a customer's payments.
pub(super) fn parse_page(status: StatusCode, body: &[u8]) -> StripeAnswer<PaymentPage> {
    if status.is_success() {
        return match serde_json::from_slice(body) {
            Ok(page) => StripeAnswer::Final(page),
            Err(_) => unreadable_answer(status),
        };
    }
    match serde_json::from_slice::<StripeErrorBody>(body) {
        Ok(StripeErrorBody { error }) => error.to_answer(status),
        Err(_) => foreign_answer(status),
    }
}

impl PaymentPage {
    /// Where the payment of this charge is.
    pub(super) fn find_payment(&self, charge_id: &str) -> PaymentSearch {
        let is_wanted =
            |intent: &&PaymentIntent| intent.metadata.charge_id.as_deref() == Some(charge_id);
        match (self.data.iter().find(is_wanted), self.data.last()) {
            (Some(intent), _) => PaymentSearch::Payment(intent.to_answer()),
            (None, Some(last)) if self.has_more => PaymentSearch::After(last.id.clone()),
            _ => PaymentSearch::Nowhere,
        }
    }
}

impl PaymentIntent {
    fn to_answer(&self) -> StripeAnswer<PaymentOutcome> {
        match self.status.as_str() {
            "succeeded" => StripeAnswer::Final(PaymentOutcome::Paid {
                reference: Some(self.id.clone()),
            }),
            // Nobody is there to go through an action, and a refused card is not replaced in time.
            "requires_action"
            | "requires_confirmation"
            | "requires_payment_method"
            | "canceled" => {
                let failure = self.last_payment_error.as_ref();
                StripeAnswer::Final(failure.map_or_else(
                    || StripeError::default().to_declined(),
                    StripeError::to_declined,
                ))
            }
            other => StripeAnswer::Unclear(format!(
                "Stripe's payment {} is {other:?}",
                truncate_message(&self.id)
            )),
        }
    }
}

impl StripeError {
    /// Whether Stripe says that it took nothing, because of the card or of what was asked of it. A fault of
    /// ours, such as a wrong key, is no decline: it would turn away every team's cards.
    fn is_decline_of(&self, status: StatusCode) -> bool {
        let is_cards_fault = self.kind == "card_error" || status == StatusCode::PAYMENT_REQUIRED;
        let is_orders_fault = self.kind == "invalid_request_error"
            && matches!(
                self.param.as_deref(),
                Some("amount" | "customer" | "payment_method")
            );
        status.is_client_error() && (is_cards_fault || is_orders_fault)
    }

    fn to_declined(&self) -> PaymentOutcome {
        let detail = self.message.as_deref().map(truncate_message);
        PaymentOutcome::Declined {
            detail: detail.unwrap_or_else(|| "The card cannot be charged.".to_owned()),
        }
    }

    pub(super) fn to_answer<T>(&self, status: StatusCode) -> StripeAnswer<T> {
        // Stripe's message is left out: for a wrong key it quotes the key.
        let code = self.code.as_deref().unwrap_or(&self.kind);
        let reason = format!(
            "Stripe answered {} ({})",
            status.as_u16(),
            truncate_message(code)
        );
        if is_temporary(status) || code == "idempotency_key_in_use" {
            return StripeAnswer::Again(reason);
        }
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                StripeAnswer::Unclear(format!("{reason}: stripe.secret_key is not accepted"))
            }
            _ => StripeAnswer::Unclear(reason),
        }
    }
}

/// An answer that is not Stripe's own, but of something between us.
pub(super) fn foreign_answer<T>(status: StatusCode) -> StripeAnswer<T> {
    let reason = format!("Stripe answered {} without saying why", status.as_u16());
    if is_temporary(status) {
        StripeAnswer::Again(reason)
    } else {
        StripeAnswer::Unclear(reason)
    }
}

/// A success whose body is damaged: the stored answer comes again with the same key.
pub(super) fn unreadable_answer<T>(status: StatusCode) -> StripeAnswer<T> {
    StripeAnswer::Again(format!(
        "Stripe's answer {} cannot be read",
        status.as_u16()
    ))
}

fn is_temporary(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT | StatusCode::REQUEST_TIMEOUT
        )
}

pub(super) fn truncate_message(text: &str) -> String {
    text.chars().take(MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests;
