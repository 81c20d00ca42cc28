//! GET /api/v1/campaigns and /api/v1/campaigns/{id}.

use pillarbox_tests::{CAMPAIGN, TestStack, build_recipients};
use serde_json::json;

use super::{ListReader, add_another_team, claim_run, ids_of, read_ok, refused};

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_are_listed_by_their_ids_page_by_page() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    stack
        .sql
        .batch_execute(
            "INSERT INTO campaigns (campaign_id, team_id, name, status, audience, created_at, updated_at)
             SELECT 'PA-ZZZ00' || number, team_id, 'More ' || number, 'paused', 'api', now(), now()
             FROM (SELECT team_id FROM campaigns WHERE campaign_id <> 'PA-OTHER1') mine, generate_series(1, 4) AS number",
        )
        .await
        .unwrap();
    let mut reader = ListReader::new(&stack, "/api/v1/campaigns?limit=2", "campaigns");
    let listed = reader.rest().await;
    let mut expected: Vec<String> = (1..5).map(|number| format!("PA-ZZZ00{number}")).collect();
    expected.push(CAMPAIGN.to_owned());
    expected.sort();
    assert_eq!(ids_of(&listed), expected);
    assert_eq!(reader.next().await.items.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_tells_its_settings_and_what_happened_to_it() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"budget": "$100.00"})).await;
    let mut recipients = build_recipients(1..5);
    recipients[0]["address_1"] = json!("");
    stack.send_recipients(&recipients).await;
    let path = format!("/api/v1/campaigns/{CAMPAIGN}");
    let answer = read_ok(&stack, &path).await;
    let spent = stack
        .query_count("SELECT sum(price_cents)::bigint FROM mailpieces")
        .await;
    assert_eq!(answer["campaign"]["id"], CAMPAIGN);
    assert_eq!(answer["campaign"]["status"], "active");
    assert_eq!(answer["campaign"]["held"], false);
    assert_eq!(answer["campaign"]["budget_cents"], 10_000);
    assert_eq!(answer["campaign"]["committed_cents"], spent);
    assert_eq!(answer["steps"][0]["postage"], "standard");
    let counts = json!({
        "requests": 1,
        "mailpieces": 3,
        "scans": 0,
        "outcomes": {"mailed": 3, "invalid_address": 1},
        "states": {},
    });
    assert_eq!(answer["figures"]["total"], counts);
    let days = answer["figures"]["days"].as_array().unwrap();
    assert_eq!((days.len(), &days[0]["counts"]), (1, &counts));
    let lease = claim_run(&stack).await;
    stack
        .store
        .complete_print_run(lease, &[], stack.now())
        .await
        .unwrap();
    let printed = read_ok(&stack, &path).await;
    assert_eq!(printed["figures"]["total"]["states"], json!({"printed": 3}));
    let before = read_ok(&stack, &format!("{path}?from=2020-01-01&to=2020-01-31")).await;
    assert_eq!(before["figures"]["days"], json!([]));
    for days in ["from=2020-01-01", "from=2020-01-02&to=2020-01-01", "to=x"] {
        let refusal = refused(&stack, &format!("{path}?{days}")).await;
        assert_eq!(refusal, (422, "invalid_payload".to_owned()), "{days}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_teams_campaign_is_not_found() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    for id in ["PA-OTHER1", "PA-NOBODY", "7"] {
        assert_eq!(
            refused(&stack, &format!("/api/v1/campaigns/{id}")).await,
            (404, "campaign_not_found".to_owned()),
            "{id}"
        );
    }
}
