use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn parse_payment_json(status: u16, body: &Value) -> StripeAnswer<PaymentOutcome> {
    parse_payment(
        StatusCode::from_u16(status).unwrap(),
        body.to_string().as_bytes(),
    )
}

fn stripe_error(kind: &str, code: &str, param: &str) -> Value {
    json!({ "error": { "type": kind, "code": code, "param": param, "message": "In Stripe's words." } })
}

fn declined_answer(detail: &str) -> StripeAnswer<PaymentOutcome> {
    StripeAnswer::Final(PaymentOutcome::Declined {
        detail: detail.to_owned(),
    })
}

#[test]
fn only_a_succeeded_payment_is_paid() {
    let intent = |status: &str| parse_payment_json(200, &json!({ "id": "pi_1", "status": status }));
    assert_eq!(
        intent("succeeded"),
        StripeAnswer::Final(PaymentOutcome::Paid {
            reference: Some("pi_1".to_owned())
        })
    );
    for status in [
        "requires_action",
        "requires_confirmation",
        "requires_payment_method",
        "canceled",
    ] {
        assert_eq!(
            intent(status),
            declined_answer("The card cannot be charged."),
            "{status}"
        );
    }
    for status in ["processing", "requires_capture", "new_status"] {
        assert!(
            matches!(intent(status), StripeAnswer::Unclear(_)),
            "{status}"
        );
    }
}

#[test]
fn a_decline_says_why_in_stripes_words() {
    assert_eq!(
        parse_payment_json(402, &stripe_error("card_error", "card_declined", "")),
        declined_answer("In Stripe's words.")
    );
    let failed = json!({ "id": "pi_1", "status": "requires_payment_method",
        "last_payment_error": { "type": "card_error", "message": "Your card has expired." } });
    assert_eq!(
        parse_payment_json(200, &failed),
        declined_answer("Your card has expired.")
    );
}

#[test]
fn an_order_that_can_never_be_paid_is_a_decline_but_our_own_fault_is_not() {
    for param in ["amount", "customer", "payment_method"] {
        assert_eq!(
            parse_payment_json(400, &stripe_error("invalid_request_error", "", param)),
            declined_answer("In Stripe's words.")
        );
    }
    for body in [
        stripe_error("invalid_request_error", "parameter_unknown", "confirm"),
        stripe_error("idempotency_error", "", ""),
    ] {
        assert!(
            matches!(parse_payment_json(400, &body), StripeAnswer::Unclear(_)),
            "{body}"
        );
    }
}

#[test]
fn what_passes_is_tried_again() {
    for (status, body) in [
        (429, stripe_error("invalid_request_error", "rate_limit", "")),
        (
            409,
            stripe_error("idempotency_error", "idempotency_key_in_use", ""),
        ),
        (
            400,
            stripe_error("idempotency_error", "idempotency_key_in_use", ""),
        ),
        (500, stripe_error("api_error", "", "")),
        (503, json!("Service Unavailable")),
        (200, json!({ "id": "pi_1" })),
    ] {
        assert!(
            matches!(parse_payment_json(status, &body), StripeAnswer::Again(_)),
            "{status} {body}"
        );
    }
}

#[test]
fn an_answer_of_something_between_us_declines_nothing() {
    for status in [301, 400, 402, 403, 404] {
        assert!(
            matches!(
                parse_payment_json(status, &json!("<html>")),
                StripeAnswer::Unclear(_)
            ),
            "{status}"
        );
    }
}

#[test]
fn a_wrong_key_is_named_but_not_quoted() {
    let body = json!({ "error": { "type": "invalid_request_error", "message": "Invalid API Key provided: sk_live_x" } });
    let StripeAnswer::Unclear(reason) = parse_payment_json(401, &body) else {
        panic!("not unclear")
    };
    assert_eq!(
        reason,
        "Stripe answered 401 (invalid_request_error): stripe.secret_key is not accepted"
    );
}

#[test]
fn a_charge_is_found_by_its_id() {
    let page = |has_more: bool| {
        let body = json!({ "has_more": has_more, "data": [
            { "id": "pi_3", "status": "succeeded", "metadata": {} },
            { "id": "pi_2", "status": "succeeded", "metadata": { "charge_id": "two" } },
            { "id": "pi_1", "status": "canceled", "metadata": { "charge_id": "one" } },
        ] });
        let StripeAnswer::Final(page) = parse_page(StatusCode::OK, body.to_string().as_bytes())
        else {
            panic!("no page")
        };
        page
    };
    let paid = StripeAnswer::Final(PaymentOutcome::Paid {
        reference: Some("pi_2".to_owned()),
    });
    assert_eq!(page(true).find_payment("two"), PaymentSearch::Payment(paid));
    assert_eq!(
        page(true).find_payment("three"),
        PaymentSearch::After("pi_1".to_owned())
    );
    assert_eq!(page(false).find_payment("three"), PaymentSearch::Nowhere);
}

proptest! {
    #[test]
    fn noise_is_never_certain(status in 100..1000_u16, body in prop::collection::vec(any::<u8>(), 0..60)) {
        let status = StatusCode::from_u16(status).unwrap();
        prop_assert!(!matches!(parse_payment(status, &body), StripeAnswer::Final(_)));
        prop_assert!(!matches!(parse_page(status, &body), StripeAnswer::Final(_)));
    }

    #[test]
    fn any_cut_of_an_answer_is_never_certain(length in 0_usize..100) {
        let body = json!({ "id": "pi_1", "status": "succeeded", "metadata": { "charge_id": "one" } }).to_string();
        prop_assume!(length < body.len());
        prop_assert!(matches!(parse_payment(StatusCode::OK, &body.as_bytes()[..length]), StripeAnswer::Again(_)));
    }
}
