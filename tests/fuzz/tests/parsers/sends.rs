//! Bodies of POST /recipients, and ids.

use std::collections::HashSet;

use contract::send::{
    SentRecipient, check_request, find_api_key, fingerprint_request, hash_request, parse_request,
};
use fuzz::{Target, Verdict};
use model::id::{CampaignId, RequestId};
use model::idempotency::IdempotencyKey;
use model::limits::{FIELD_NAME_CHARS, RECIPIENTS_PER_REQUEST};
use model::scan::ScanTarget;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Map, Value, json};

const BODIES: [&str; 4] = [
    r#"{"campaign_id": "PA-7K2M9Q", "recipients": [{"first_name": "Nina", "address_1": "1 Main St", "zip": 78701, "vip": true}]}"#,
    r#"{"api_key": "pk_live_a", "recipients": [{"reference": "r-1", "pet": null}, {"Éa": "ü"}], "field_types": {"pet": "text", "n": "number"}}"#,
    r#"{"require_variable_images": true, "recipients": [{"a": 1.50, "b": -0e1, "c": "\ud83d\ude00"}]}"#,
    r#"{"recipients": []}"#,
];

const NAMES: [&str; 10] = [
    "\"recipients\"",
    "\"campaign_id\"",
    "\"field_types\"",
    "\"reference\"",
    "\"api_key\"",
    "\"yes_no\"",
    "{\"a\": 1}",
    "\\u0000",
    "\\ud800",
    "\"First_Name\"",
];

/// The request with these recipients, written anew.
fn written(recipients: &[SentRecipient<'_>]) -> Vec<u8> {
    let object = |recipient: &SentRecipient<'_>| {
        let reference = recipient
            .reference
            .iter()
            .map(|text| ("reference".to_owned(), json!(text)));
        let fields = recipient
            .fields
            .iter()
            .map(|(name, value)| (name.clone().into_owned(), json!(value)));
        Value::Object(fields.chain(reference).collect::<Map<_, _>>())
    };
    json!({"recipients": recipients.iter().map(object).collect::<Vec<_>>()})
        .to_string()
        .into_bytes()
}

/// What is kept of a recipient, by name: JSON objects keep no order, and names that are too long are left out.
fn kept(mut recipient: SentRecipient<'_>) -> SentRecipient<'_> {
    recipient.fields.sort();
    recipient.long_names = 0;
    recipient
}

fn is_sound(recipient: &SentRecipient<'_>) -> Verdict {
    let mut names = HashSet::new();
    for (name, value) in &recipient.fields {
        prop_assert!(
            !name.is_empty() && name.trim() == name && name.chars().count() <= FIELD_NAME_CHARS
        );
        prop_assert!(names.insert(name.to_lowercase()), "{name} twice");
        prop_assert!(value.trim() == value && !value.contains('\0'));
    }
    Ok(())
}

#[test]
fn fuzz_send_request() {
    Target::new(BODIES).words(NAMES).cases(3_000).run(|body| {
        let parsed = parse_request(body);
        prop_assert_eq!(
            parsed.as_ref().map(drop).map_err(Clone::clone),
            check_request(body)
        );
        let _ = find_api_key(body);
        let Ok(request) = parsed else { return Ok(()) };
        prop_assert!(hash_request(body).is_ok());
        prop_assert!((1..=RECIPIENTS_PER_REQUEST).contains(&request.recipients.len()));
        for recipient in &request.recipients {
            is_sound(recipient)?;
        }
        // What was read, written anew, is read the same and is the same request.
        let again = written(&request.recipients);
        let again = parse_request(&again).unwrap().recipients;
        let campaign: CampaignId = "PA-7K2M9Q".parse().unwrap();
        prop_assert_eq!(
            fingerprint_request(&campaign, &again),
            fingerprint_request(&campaign, &request.recipients)
        );
        let before: Vec<_> = request.recipients.into_iter().map(kept).collect();
        prop_assert_eq!(again.into_iter().map(kept).collect::<Vec<_>>(), before);
        Ok(())
    });
}

#[test]
fn fuzz_ids() {
    let samples = [
        "PA-7K2M9Q",
        "01938f3e-7b1c-7d33-9f00-0123456789ab",
        "aB3dE6gH9j-2",
        "order-17",
    ];
    Target::new(samples).run_text(|text| {
        if let Ok(id) = text.parse::<CampaignId>() {
            prop_assert_eq!(id.to_string(), text);
        }
        if let Ok(id) = text.parse::<RequestId>() {
            prop_assert_eq!(id.to_string().parse::<RequestId>().unwrap(), id);
        }
        if let Ok(key) = text.parse::<IdempotencyKey>() {
            prop_assert!(key.as_str() == text && text.chars().count() <= 200);
        }
        if let Some(target) = ScanTarget::parse(text) {
            prop_assert!(target.element >= 1);
            prop_assert_eq!(ScanTarget::parse(&target.to_string()), Some(target));
        }
        Ok(())
    });
}
