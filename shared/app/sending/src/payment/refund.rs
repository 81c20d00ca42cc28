//! Money that goes back to a card: Stripe's refunds of a payment, in part.

use chrono::{DateTime, Utc};
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use store::OwedRefund;

use super::answer::{
    StripeAnswer, StripeErrorBody, foreign_answer, truncate_message, unreadable_answer,
};
use super::stripe::{KEY_LIFETIME, PAGE_SIZE, PAGES, StripeClient};

/// The metadata under which Stripe's refund carries ours.
const REFUND_ID: &str = "refund_id";

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct StripeRefund {
    id: String,
    status: Option<String>,
    #[serde(default)]
    metadata: RefundMetadata,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct RefundMetadata {
    /// Named as in [`REFUND_ID`].
    refund_id: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct RefundPage {
    data: Vec<StripeRefund>,
    has_more: bool,
}

impl StripeClient {
    /// Gives the money back once. Returns Stripe's id of the refund; the error says why it is not certain.
    pub(super) async fn give_back(
        &self,
        owed: &OwedRefund,
        now: DateTime<Utc>,
    ) -> Result<String, String> {
        let paid_by = owed
            .paid_by
            .as_deref()
            .ok_or_else(|| "the charge has no payment at Stripe".to_owned())?;
        let refund_id = owed.refund_id.to_string();
        // Stripe has forgotten the key of a first try by now.
        if now - owed.created_at >= KEY_LIFETIME
            && let Some(found) = self.find_earlier_refund(owed, paid_by, &refund_id).await?
        {
            return Ok(found);
        }
        let form = [
            ("payment_intent".to_owned(), paid_by.to_owned()),
            ("amount".to_owned(), owed.amount_cents.to_string()),
            (format!("metadata[{REFUND_ID}]"), refund_id.clone()),
        ];
        let request = || {
            let request = self.http.post(self.refunds.clone());
            request.header("Idempotency-Key", &refund_id).form(&form)
        };
        self.ask_until_certain(owed.charge_id, request, parse_refund)
            .await
    }

    /// The refund that an earlier try made; `None` when it made none.
    async fn find_earlier_refund(
        &self,
        owed: &OwedRefund,
        paid_by: &str,
        refund_id: &str,
    ) -> Result<Option<String>, String> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let url = self.refund_page_url(paid_by, after.as_deref());
            let request = || self.http.get(url.clone());
            let page: RefundPage = self
                .ask_until_certain(owed.charge_id, request, parse_page)
                .await?;
            let is_ours =
                |refund: &&StripeRefund| refund.metadata.refund_id.as_deref() == Some(refund_id);
            match (page.data.iter().find(is_ours), page.data.last()) {
                (Some(found), _) => return found.to_result().map(Some),
                (None, Some(last)) if page.has_more => after = Some(last.id.clone()),
                _ => return Ok(None),
            }
        }
        Err("the payment has too many refunds to look through at Stripe".to_owned())
    }

    fn refund_page_url(&self, paid_by: &str, after: Option<&str>) -> Url {
        let mut url = self.refunds.clone();
        url.query_pairs_mut()
            .extend_pairs([("payment_intent", paid_by), ("limit", PAGE_SIZE)])
            .extend_pairs(after.map(|after| ("starting_after", after)));
        url
    }
}

impl StripeRefund {
    /// Stripe's id, when the money is on its way.
    fn to_result(&self) -> Result<String, String> {
        match self.status.as_deref() {
            Some("succeeded" | "pending") => Ok(self.id.clone()),
            other => Err(format!(
                "Stripe's refund {} is {:?}",
                truncate_message(&self.id),
                other.unwrap_or("without a status")
            )),
        }
    }
}

/// The answer to making a refund.
fn parse_refund(status: StatusCode, body: &[u8]) -> StripeAnswer<String> {
    if !status.is_success() {
        return to_failure(status, body);
    }
    match serde_json::from_slice::<StripeRefund>(body) {
        Ok(refund) => match refund.to_result() {
            Ok(id) => StripeAnswer::Final(id),
            Err(reason) => StripeAnswer::Unclear(reason),
        },
        Err(_) => unreadable_answer(status),
    }
}

/// The answer to listing a payment's refunds.
fn parse_page(status: StatusCode, body: &[u8]) -> StripeAnswer<RefundPage> {
    if !status.is_success() {
        return to_failure(status, body);
    }
    serde_json::from_slice(body).map_or_else(|_| unreadable_answer(status), StripeAnswer::Final)
}

fn to_failure<T>(status: StatusCode, body: &[u8]) -> StripeAnswer<T> {
    match serde_json::from_slice::<StripeErrorBody>(body) {
        Ok(StripeErrorBody { error }) => error.to_answer(status),
        Err(_) => foreign_answer(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_that_is_on_its_way_is_given_back_and_nothing_else_is() {
        let parse = |body: &str| parse_refund(StatusCode::OK, body.as_bytes());
        for status in ["succeeded", "pending"] {
            let body = format!(r#"{{"id": "re_1", "status": "{status}"}}"#);
            assert_eq!(parse(&body), StripeAnswer::Final("re_1".to_owned()));
        }
        for body in [
            r#"{"id": "re_1", "status": "failed"}"#,
            r#"{"id": "re_1", "status": null}"#,
        ] {
            assert!(matches!(parse(body), StripeAnswer::Unclear(_)), "{body}");
        }
        assert!(matches!(parse("{"), StripeAnswer::Again(_)));
        let refused =
            r#"{"error": {"type": "invalid_request_error", "code": "charge_already_refunded"}}"#;
        let answer = parse_refund(StatusCode::BAD_REQUEST, refused.as_bytes());
        assert!(matches!(answer, StripeAnswer::Unclear(_)));
        let busy = parse_refund(StatusCode::INTERNAL_SERVER_ERROR, b"");
        assert!(matches!(busy, StripeAnswer::Again(_)));
    }
}
