//! The answer to a dry run: POST /api/v1/recipients?validate=1, an addition to the contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::response::{RecipientOutcome, SendResponse, write_bounded};

/// What would become of a send: as its response, but nothing in it says that anything was mailed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendValidation {
    summary: ValidationSummary,
    price: SendPrice,
    results: Vec<RecipientOutcome>,
}

/// The `summary` of a dry run; it counts every recipient, also in a truncated one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationSummary {
    /// Recipients in the request.
    pub received: usize,
    /// Of these, those that would be mailed.
    pub would_mail: usize,
    /// Of these, those that would not.
    pub not_mailed: usize,
    /// What the cards would cost together, in whole US cents, also when the payment would fail.
    pub cost_cents: i64,
    /// Custom values that do not fit their column's type.
    #[serde(skip_serializing_if = "super::response::is_zero")]
    pub unparseable_typed_values: usize,
    /// Values sent for formula or AI columns.
    #[serde(skip_serializing_if = "super::response::is_zero")]
    pub computed_fields_ignored: usize,
    /// Fields, and entries of `field_types`, that are left out because their name is longer than 200 characters.
    #[serde(skip_serializing_if = "super::response::is_zero")]
    pub long_names_ignored: usize,
    /// Birthdays that cannot be read whole.
    #[serde(skip_serializing_if = "super::response::is_zero")]
    pub birthdays_not_read: usize,
}

/// What a send would cost, and what it would leave. Amounts are whole US cents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendPrice {
    /// Of one card: of each recipient that would be mailed, or of each of its homes on a Neighborhood Mail campaign.
    pub per_card_cents: i64,
    /// Of all cards that would be mailed if the payment succeeds. A send with this as its `expect_total` is refused when it would
    /// cost another sum.
    pub total_cents: i64,
    /// What the send would leave of the team's prepaid balance; null for a team that pays by card.
    pub balance_after_cents: Option<i64>,
    /// What the send would leave of the campaign's budget; null for a campaign without one.
    pub budget_after_cents: Option<i64>,
    #[serde(skip)]
    is_covered: bool,
}

impl SendPrice {
    /// The price of so many cards, of which a balance that does not cover them all buys none. `balance` is `None` of a team that pays by
    /// card, `budget` of a campaign without one.
    pub fn of_cards(
        cards: usize,
        per_card_cents: i64,
        balance: Option<i64>,
        budget: Option<i64>,
    ) -> Self {
        // A request is bounded, and so is its number of cards.
        let total_cents = per_card_cents * cards as i64;
        let is_covered = balance.is_none_or(|cents| cents >= total_cents);
        let left = |cents: i64| {
            if is_covered {
                cents - total_cents
            } else {
                cents
            }
        };
        Self {
            per_card_cents,
            total_cents,
            balance_after_cents: balance.map(left),
            budget_after_cents: budget.map(left),
            is_covered,
        }
    }

    /// Whether the balance pays for all cards. Whether a card at a payment provider would, only the provider can say.
    pub const fn is_covered(self) -> bool {
        self.is_covered
    }
}

/// What would become of a request: the answer to a dry run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SendValidation")]
struct SendValidationBody<'a> {
    /// Always true.
    #[schemars(extend("const" = true))]
    validated: bool,
    /// Counts every recipient, whatever `results` lists.
    summary: ValidationSummary,
    /// What the cards would cost, and what that would leave.
    price: SendPrice,
    /// One result for each recipient, in the order sent.
    results: &'a [&'a RecipientOutcome],
    /// As in a send's response.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    results_truncated: bool,
}

impl JsonSchema for SendValidation {
    fn schema_name() -> Cow<'static, str> {
        SendValidationBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SendValidationBody::json_schema(generator)
    }
}

impl SendValidation {
    /// The dry run of the send that would be answered so, at this price.
    pub fn new(response: SendResponse, price: SendPrice) -> Self {
        let SendResponse { summary, results } = response;
        let summary = ValidationSummary {
            received: summary.received,
            would_mail: summary.mailed,
            not_mailed: summary.not_mailed,
            cost_cents: price.total_cents,
            unparseable_typed_values: summary.unparseable_typed_values,
            computed_fields_ignored: summary.computed_fields_ignored,
            long_names_ignored: summary.long_names_ignored,
            birthdays_not_read: summary.birthdays_not_read,
        };
        Self {
            summary,
            price,
            results: results
                .into_iter()
                .map(RecipientOutcome::into_dry_run)
                .collect(),
        }
    }
}

/// The bytes of a dry run's answer, bounded as those of a send.
///
/// # Errors
/// Only what serde_json gives for a value that cannot be written, which these types do not hold.
pub fn write_validation(validation: &SendValidation) -> Result<Vec<u8>, serde_json::Error> {
    write_bounded(&validation.results, |results, results_truncated| {
        serde_json::to_vec(&SendValidationBody {
            validated: true,
            summary: validation.summary,
            price: validation.price,
            results,
            results_truncated,
        })
    })
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use serde_json::{Value, json};

    use super::*;
    use crate::send::{NotMailedReason, Postage};
    use model::limits::RESPONSE_BYTES;

    fn mailed_outcome(reference: &str) -> RecipientOutcome {
        let day = NaiveDate::from_ymd_opt(2026, 11, 25).unwrap();
        RecipientOutcome::mailed(
            Some(reference.to_owned()),
            "1 Main St".to_owned(),
            "letter",
            Postage::Standard,
            day,
        )
    }

    fn write_and_parse(response: SendResponse) -> Value {
        let price = SendPrice::of_cards(1, 79, Some(100), None);
        let bytes = write_validation(&SendValidation::new(response, price)).unwrap();
        assert!(bytes.len() <= RESPONSE_BYTES);
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_dry_run_says_nowhere_that_anything_was_mailed() {
        let listed = RecipientOutcome::not_mailed(
            None,
            "x".to_owned(),
            NotMailedReason::DoNotMail,
            "Listed.".to_owned(),
        );
        let center = mailed_outcome("center").with_homes(5, 3);
        let answer = write_and_parse(SendResponse::new(
            vec![mailed_outcome("a"), listed, center],
            2,
            0,
        ));
        assert_eq!(
            answer["summary"],
            json!({"received": 3, "wouldMail": 2, "notMailed": 1, "costCents": 79, "unparseableTypedValues": 2})
        );
        assert_eq!(
            answer["price"],
            json!({"perCardCents": 79, "totalCents": 79, "balanceAfterCents": 21, "budgetAfterCents": null})
        );
        assert_eq!(
            (&answer["validated"], &answer["results_truncated"]),
            (&json!(true), &Value::Null)
        );
        let statuses: Vec<_> = (0..3)
            .map(|at| answer["results"][at]["status"].as_str().unwrap())
            .collect();
        assert_eq!(statuses, ["would_mail", "not_mailed", "would_mail"]);
        assert_eq!(
            answer["results"][0]["detail"],
            "A card would print, to mail by 2026-11-25."
        );
        assert_eq!(
            answer["results"][2]["detail"],
            "3 cards would print for 5 homes inside the radius, to mail by 2026-11-25."
        );
    }

    #[test]
    fn a_price_tells_what_it_leaves_and_a_balance_that_does_not_cover_it_stays() {
        let left = |balance, budget| {
            let price = SendPrice::of_cards(3, 79, balance, budget);
            assert_eq!((price.per_card_cents, price.total_cents), (79, 237));
            let left = (price.balance_after_cents, price.budget_after_cents);
            (price.is_covered(), left)
        };
        assert_eq!(left(Some(237), Some(300)), (true, (Some(0), Some(63))));
        assert_eq!(left(Some(236), Some(300)), (false, (Some(236), Some(300))));
        assert_eq!(
            left(None, Some(237)),
            (true, (None, Some(0))),
            "a card may pay"
        );
        assert_eq!(left(Some(1_000), None), (true, (Some(763), None)));
    }

    #[test]
    fn a_payment_that_would_fail_is_foreseen() {
        let answer =
            write_and_parse(SendResponse::new(vec![mailed_outcome("a")], 0, 0).into_declined(&[]));
        assert_eq!(answer["results"][0]["reason"], "payment_failed");
        assert_eq!(
            answer["results"][0]["detail"],
            "The payment would be declined, so no card would be mailed."
        );
        assert_eq!(answer["summary"]["costCents"], 79);
    }

    #[test]
    fn a_dry_run_is_truncated_as_a_response_is() {
        let mut results: Vec<_> = (0..5000)
            .map(|_| mailed_outcome(&"r".repeat(1200)))
            .collect();
        results[17] = RecipientOutcome::not_mailed(
            None,
            "x".to_owned(),
            NotMailedReason::DoNotMail,
            "Listed.".to_owned(),
        );
        let answer = write_and_parse(SendResponse::new(results, 0, 0));
        assert_eq!(answer["results_truncated"], true);
        assert_eq!(answer["results"].as_array().unwrap().len(), 1);
        assert_eq!(answer["summary"]["wouldMail"], 4999);
    }
}
