//! The send response: fields, order, size.

use pillarbox_tests::{TestStack, build_recipient, build_recipients};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_result_has_the_documented_fields_in_the_order_sent() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"steps": [{"design": "Card", "postage": "first_class"}]}))
        .await;
    let mut unit = build_recipient(2);
    unit["address_1"] = "2 main street apt 4".into();
    unit["reference"] = json!(null);
    let mut second = build_recipient(3);
    second["address_2"] = "Apt 5".into();
    let mut bad = build_recipient(4);
    bad["zip"] = "".into();
    let answer = stack
        .send_recipients(&[build_recipient(1), unit, second, bad])
        .await;
    let results = answer.json()["results"].clone();
    assert_eq!(results[0]["reference"], "r1");
    assert_eq!(results[0]["address"], "1 Main St, Austin, TX 78701");
    assert_eq!(results[0]["status"], "mailed");
    assert_eq!(results[0]["product_type"], "postcard_4x6");
    assert_eq!(results[0]["postage"], "first_class");
    let date = results[0]["mail_by_date"].as_str().unwrap();
    assert!(chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").is_ok());
    assert!(results[0].get("reason").is_none());
    assert_eq!(results[1]["reference"], json!(null));
    assert_eq!(results[1]["address"], "2 Main St Apt 4, Austin, TX 78701");
    // The unit of address_2 is not shown, but printed.
    assert_eq!(results[2]["address"], "3 Main St, Austin, TX 78701");
    let line: String = stack
        .sql
        .query_one(
            "SELECT line_1 FROM mailpieces JOIN recipients USING (entry_id) WHERE reference = 'r3'",
            &[],
        )
        .await
        .unwrap()
        .get(0);
    assert_eq!(line, "3 Main St Apt 5");
    assert_eq!(results[3]["status"], "not_mailed");
    assert_eq!(results[3]["reason"], "invalid_address");
    assert!(results[3].get("mail_by_date").is_none());
    assert!(
        results
            .as_array()
            .unwrap()
            .iter()
            .all(|result| !result["detail"].as_str().unwrap().is_empty())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn status_200_also_when_every_recipient_was_not_mailed() {
    let stack = TestStack::start().await;
    let answer = stack
        .send_recipients(&[json!({}), json!({"reference": "x"})])
        .await;
    assert_eq!(answer.reasons(), ["invalid_address", "invalid_address"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_truncated_past_4_mb_and_replayed_so() {
    let stack = TestStack::start().await;
    // 600 characters, 700 bytes: the request is just small enough, its whole answer too large.
    let long = "n".repeat(500) + &"é".repeat(100);
    let mut recipients: Vec<_> = build_recipients(1..5001)
        .into_iter()
        .map(|person| {
            json!({"reference": long, "address_1": person["address_1"], "city": "Austin", "state": "TX", "zip": "78701"})
        })
        .collect();
    recipients[4000]["zip"] = "".into();
    let answer = stack.send_recipients(&recipients).await;
    assert_eq!(answer.status, 200);
    assert!(answer.text.len() <= 4_194_304);
    let json = answer.json();
    assert_eq!(json["results_truncated"], true);
    assert_eq!(
        json["summary"],
        json!({"received": 5000, "mailed": 4999, "notMailed": 1})
    );
    let results = json["results"].as_array().unwrap();
    assert_eq!(
        (results.len(), &results[0]["reason"]),
        (1, &json!("invalid_address"))
    );
    assert_eq!(stack.send_recipients(&recipients).await.text, answer.text);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        4999
    );
    stack.assert_consistent().await;
}
