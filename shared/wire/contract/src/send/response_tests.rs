use super::super::verification::{CorrectedPart, VerificationLevel};
use super::*;

fn mailed_outcome(reference: &str) -> RecipientOutcome {
    RecipientOutcome::mailed(
        Some(reference.to_owned()),
        "1 Main St, Austin, TX 78701".to_owned(),
        "postcard_4x6",
        Postage::Standard,
        NaiveDate::from_ymd_opt(2026, 11, 25).unwrap(),
    )
}

fn refused_outcome(reference: &str) -> RecipientOutcome {
    RecipientOutcome::not_mailed(
        Some(reference.to_owned()),
        "x".to_owned(),
        NotMailedReason::BudgetExceeded,
        "Spent.".to_owned(),
    )
}

#[test]
fn an_outcome_shows_only_the_fields_of_its_status() {
    assert_eq!(
        serde_json::to_value(mailed_outcome("a")).unwrap(),
        serde_json::json!({"reference": "a", "address": "1 Main St, Austin, TX 78701", "status": "mailed",
            "detail": "The card is queued to print and mails by 2026-11-25.",
            "product_type": "postcard_4x6", "postage": "standard", "mail_by_date": "2026-11-25"})
    );
    assert_eq!(
        serde_json::to_value(RecipientOutcome::not_mailed(
            None,
            "x".into(),
            NotMailedReason::DoNotMail,
            "Listed.".into()
        ))
        .unwrap(),
        serde_json::json!({"reference": null, "address": "x", "status": "not_mailed", "reason": "do_not_mail",
            "detail": "Listed."})
    );
}

#[test]
fn a_card_with_fallbacks_says_which() {
    let warning = RecipientWarning {
        code: "variable_image_blank".to_owned(),
        field: "photo".to_owned(),
        detail: "Blank.".to_owned(),
    };
    let reason = ReturnAddressReason::MissingTokenValue;
    let result =
        serde_json::to_value(mailed_outcome("a").with_fallbacks(vec![warning], Some(reason)))
            .unwrap();
    let warnings = serde_json::json!([
        {"code": "variable_image_blank", "field": "photo", "detail": "Blank."}
    ]);
    assert_eq!(result["warnings"], warnings);
    assert_eq!(result["return_address_fallback"], true);
    assert_eq!(result["return_address_reason"], "missing_token_value");
    let plain = serde_json::to_value(mailed_outcome("a").with_fallbacks(Vec::new(), None)).unwrap();
    assert_eq!(plain, serde_json::to_value(mailed_outcome("a")).unwrap());
}

#[test]
fn a_result_tells_how_far_its_address_was_verified_also_when_the_payment_failed() {
    let verification = AddressVerification {
        level: VerificationLevel::DeliveryPoint,
        plus4: Some("1234".to_owned()),
        corrected: vec![CorrectedPart {
            field: "zip".to_owned(),
            from: "78702".to_owned(),
            to: "78701".to_owned(),
        }],
    };
    let mailed = mailed_outcome("a").with_verification(Some(verification));
    let shown = serde_json::json!({"level": "delivery_point", "plus4": "1234",
        "corrected": [{"field": "zip", "from": "78702", "to": "78701"}]});
    assert_eq!(
        serde_json::to_value(&mailed).unwrap()["verification"],
        shown
    );
    assert_eq!(
        serde_json::to_value(mailed.into_declined()).unwrap()["verification"],
        shown
    );
    let plain = AddressVerification {
        level: VerificationLevel::Zip,
        plus4: None,
        corrected: Vec::new(),
    };
    assert_eq!(
        serde_json::to_value(plain).unwrap(),
        serde_json::json!({"level": "zip"})
    );
}

#[test]
fn a_center_shows_its_homes_and_no_product_also_when_the_payment_failed() {
    let center = mailed_outcome("a").with_homes(5, 3);
    assert_eq!(
        serde_json::to_value(&center).unwrap(),
        serde_json::json!({"reference": "a", "address": "1 Main St, Austin, TX 78701", "status": "mailed",
            "detail": "3 cards are queued to print for 5 homes inside the radius, to mail by 2026-11-25.",
            "homesFound": 5, "homesMailed": 3, "postage": "standard", "mail_by_date": "2026-11-25"})
    );
    let declined = serde_json::to_value(center.into_declined()).unwrap();
    assert_eq!(
        (&declined["homesFound"], &declined["homesMailed"]),
        (&5.into(), &0.into())
    );
}

#[test]
fn reasons_are_written_alike_on_the_wire_and_in_the_database() {
    for reason in NotMailedReason::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
}

#[test]
fn a_decline_turns_the_mailed_and_their_copies_into_payment_failed() {
    let copy = RecipientOutcome::not_mailed(
        None,
        "x".into(),
        NotMailedReason::DuplicateRecent,
        "Twice.".into(),
    );
    let response = SendResponse::new(
        vec![
            mailed_outcome("a"),
            copy.clone(),
            copy,
            refused_outcome("d"),
        ],
        2,
        0,
    )
    .into_declined(&[1]);
    let reasons: Vec<_> = response
        .results
        .iter()
        .map(|outcome| outcome.reason().unwrap())
        .collect();
    use NotMailedReason::{BudgetExceeded, DuplicateRecent, PaymentFailed};
    assert_eq!(
        reasons,
        [
            PaymentFailed,
            PaymentFailed,
            DuplicateRecent,
            BudgetExceeded
        ]
    );
    assert_eq!(
        (response.summary.mailed, response.summary.not_mailed),
        (0, 4)
    );
    assert_eq!(response.summary.unparseable_typed_values, 2);
}

#[test]
fn results_truncated_past_4_mb_lists_what_needs_attention_as_far_as_it_fits() {
    let long = "r".repeat(600);
    let mut results: Vec<_> = (0..5000).map(|_| mailed_outcome(&long)).collect();
    results[17] = refused_outcome("seventeen");
    let response = SendResponse::new(results, 0, 0);
    assert!(serde_json::to_vec(&response).unwrap().len() > RESPONSE_BYTES - 600_000);
    let body = write_response(&response).unwrap();
    assert!(body.len() <= RESPONSE_BYTES);

    let longer = "r".repeat(1200);
    let mut results: Vec<_> = (0..5000).map(|_| refused_outcome(&longer)).collect();
    results[0] = mailed_outcome("first");
    let body = write_response(&SendResponse::new(results, 0, 0)).unwrap();
    assert!(body.len() <= RESPONSE_BYTES && body.len() > RESPONSE_BYTES - 2000);
    let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(value["results_truncated"], true);
    assert_eq!(
        value["summary"],
        serde_json::json!({"received": 5000, "mailed": 1, "notMailed": 4999})
    );
    assert_eq!(value["results"][0]["reason"], "budget_exceeded");
}
