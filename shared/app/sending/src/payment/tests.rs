use model::id::TeamId;
use store::{ChargeKind, ChargeState, PaymentKind};

use super::*;

fn parse_time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Payments whose database does not answer.
fn build_processor() -> PaymentProcessor {
    let database = store::StoreSettings {
        // The discard port of this machine: nothing listens there.
        url: "postgres://nobody@127.0.0.1:9/none".to_owned(),
        pool_size: 1,
        wait_timeout_ms: 1_000,
        connect_timeout_ms: 1_000,
        statement_timeout_ms: 1_000,
        pooler: store::PoolerMode::None,
    };
    let stripe = runtime::config::StripeSettings {
        url: "https://api.stripe.com".to_owned(),
        secret_key: String::new(),
        api_version: "2025-09-30.clover".to_owned(),
        timeout_ms: 1_000,
    };
    PaymentProcessor::new(Store::new(&database).unwrap(), &stripe, 1).unwrap()
}

fn build_charge(payment: PaymentKind) -> Charge {
    Charge {
        charge_id: ChargeId::new(),
        team_id: TeamId::new(),
        campaign_id: "PA-ABC123".parse().unwrap(),
        step: 1,
        kind: ChargeKind::Send,
        state: ChargeState::Reserved,
        amount_cents: 79,
        mailpieces: 1,
        payment,
        created_at: parse_time("2026-08-03T12:00:00Z"),
        scheduled_for: None,
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_not_certain_and_never_a_decline() {
    for (payment, reason) in [
        (PaymentKind::Balance, "the database cannot be reached"),
        (PaymentKind::Stripe, "stripe.secret_key is not set"),
    ] {
        let charge = build_charge(payment);
        let error = build_processor()
            .charge(&charge, parse_time("2026-08-03T12:00:01Z"))
            .await
            .unwrap_err();
        assert_eq!(error.charge_id, charge.charge_id);
        assert!(error.reason.to_string().contains(reason), "{error}");
    }
}
