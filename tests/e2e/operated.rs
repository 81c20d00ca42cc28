//! What the operator changes stands in the activity log of the team, as what its people change does.

use pillarbox_tests::{
    ADDRESS, CAMPAIGN, CrmClient, TestStack, build_recipients, run_operator_command,
};
use serde_json::{Value, json};
use store::{ActivityFilter, Actor};

/// Entries of the log of the tests' team that are about one of these kinds of things, the oldest first: who, what, to what.
async fn entries(stack: &TestStack, kinds: &[&str]) -> Vec<[String; 3]> {
    let team_id = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let listed = stack
        .store
        .list_activities(team_id, &ActivityFilter::default(), None, 1_000)
        .await
        .unwrap();
    let kind = |action: &str| action.split('.').next().unwrap().to_owned();
    let listed = listed.into_iter().rev();
    let wanted = listed.filter(|entry| kinds.contains(&kind(&entry.action).as_str()));
    wanted
        .map(|entry| [entry.user_name, entry.action, entry.subject])
        .collect()
}

/// The entries that the log has beyond those of before.
async fn added_to(before: &[[String; 3]], stack: &TestStack, kinds: &[&str]) -> Vec<[String; 3]> {
    let now = entries(stack, kinds).await;
    assert_eq!(now[..before.len()], *before);
    now[before.len()..].to_vec()
}

fn by_operator(expected: &[(&str, &str)]) -> Vec<[String; 3]> {
    let line = |(action, subject): &(&str, &str)| {
        [
            "Operator".to_owned(),
            (*action).to_owned(),
            (*subject).to_owned(),
        ]
    };
    expected.iter().map(line).collect()
}

const CAMPAIGNS: [&str; 5] = [
    "campaign",
    "campaign_area",
    "campaign_conditions",
    "do_not_mail",
    "recipient",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_that_the_operator_pauses_and_activates_is_in_the_log() {
    let stack = TestStack::start().await;
    let before = entries(&stack, &CAMPAIGNS).await;
    run_operator_command(&["campaign", "pause", CAMPAIGN], &stack.settings);
    run_operator_command(&["campaign", "activate", CAMPAIGN], &stack.settings);
    assert_eq!(
        added_to(&before, &stack, &CAMPAIGNS).await,
        by_operator(&[("campaign.paused", "Test"), ("campaign.activated", "Test")])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_the_operator_removes_is_in_the_log_once() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1]))
            .await
            .reasons(),
        ["mailed"]
    );
    let before = entries(&stack, &CAMPAIGNS).await;
    let sql = "SELECT address FROM recipients";
    let address: String = stack.sql.query_one(sql, &[]).await.unwrap().get(0);
    for _ in 0..2 {
        let said = run_operator_command(
            &["recipient", "remove", CAMPAIGN, &address],
            &stack.settings,
        );
        assert!(said.contains('1'), "{said}");
    }
    assert_eq!(
        added_to(&before, &stack, &CAMPAIGNS).await,
        by_operator(&[("recipient.removed", &format!("Test: {address}"))])
    );
}

/// The tests' team with its campaign set so.
fn file(campaign: Value) -> Value {
    json!({"teams": [{"name": "Test", "campaigns": [campaign]}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_in_the_log_with_what_it_changes_of_campaigns_and_no_more() {
    let stack = TestStack::start().await;
    let before = entries(&stack, &CAMPAIGNS).await;
    let spring = json!({"id": "PA-SPRING", "name": "Spring", "steps": [{}]});
    stack.apply_team(file(spring.clone())).await;
    stack.apply_team(file(spring)).await;
    let made = by_operator(&[("campaign.created", "Spring")]);
    assert_eq!(added_to(&before, &stack, &CAMPAIGNS).await, made);

    let changed = json!({
        "id": "PA-SPRING",
        "name": "Spring",
        "status": "paused",
        "budget": "$10.00",
        "conditions": {"column": "city", "operator": "is", "value": "Austin"},
        "do_not_mail": [ADDRESS],
        "steps": [{}],
    });
    let before = entries(&stack, &CAMPAIGNS).await;
    stack.apply_team(file(changed.clone())).await;
    stack.apply_team(file(changed)).await;
    let added = added_to(&before, &stack, &CAMPAIGNS).await;
    assert_eq!(
        added[..3],
        by_operator(&[
            ("campaign.changed", "Spring: budget"),
            (
                "campaign_conditions.changed",
                "Spring, before: everybody; now: All of these: city is Austin"
            ),
            ("campaign.paused", "Spring"),
        ])
    );
    assert_eq!(added.len(), 4, "{added:?}");
    assert_eq!(added[3][1], "do_not_mail.added");
}

/// What fails leaves neither the change nor its entry.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_refused_leaves_nothing_in_the_log() {
    let stack = TestStack::start().await;
    let before = entries(&stack, &CAMPAIGNS).await;
    let campaigns = [
        json!({"id": "PA-SPRING", "name": "Spring", "steps": [{}]}),
        json!({"id": "PA-SUMMER", "name": "Summer", "steps": [{"design": "No such design"}]}),
    ];
    let file = json!({"teams": [{"name": "Test", "campaigns": campaigns}]}).to_string();
    let (folder, policy) = (std::path::Path::new("."), stack.target_policy());
    pillarbox::apply::apply_text(&stack.store, &file, folder, &policy, stack.now())
        .await
        .unwrap_err();
    assert!(added_to(&before, &stack, &CAMPAIGNS).await.is_empty());
    let campaign = "PA-SPRING".parse().unwrap();
    let team_id = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let paused = campaigns::pause_campaign(
        &stack.store,
        Actor::Operator,
        team_id,
        &campaign,
        stack.now(),
    );
    assert!(paused.await.is_err(), "there is no such campaign");
    assert!(added_to(&before, &stack, &CAMPAIGNS).await.is_empty());
}

const INTEGRATIONS: [&str; 2] = ["integration", "key"];

#[tokio::test(flavor = "multi_thread")]
async fn what_the_operator_does_with_an_integration_is_in_the_log() {
    let crm = CrmClient::start().await;
    let record = |id: &str| json!({"external_id": id, "fields": {"first": "Ann"}});
    crm.run_sync("full", &["a", "b", "c"].map(record)).await;
    crm.run_sync("full", &["a", "b"].map(record)).await;
    let stack = &crm.stack;
    let before = entries(stack, &INTEGRATIONS).await;
    for command in ["pause", "disconnect", "resume"] {
        run_operator_command(&["integration", command, "Test", "CRM"], &stack.settings);
    }
    run_operator_command(&["sync", "undo-removal", "Test", "CRM"], &stack.settings);
    run_operator_command(&["integration", "remove", "Test", "CRM"], &stack.settings);
    assert_eq!(
        added_to(&before, stack, &INTEGRATIONS).await,
        by_operator(&[
            ("integration.paused", "CRM"),
            ("integration.disconnected", "CRM"),
            ("integration.resumed", "CRM"),
            ("integration.removal_undone", "CRM"),
            ("integration.removed", "CRM"),
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_in_the_log_with_what_it_changes_of_integrations_and_no_more() {
    let stack = TestStack::start().await;
    let file =
        |integration: Value| json!({"teams": [{"name": "Test", "integrations": [integration]}]});
    let before = entries(&stack, &INTEGRATIONS).await;
    let keys = json!([{"name": "Nightly"}]);
    for _ in 0..2 {
        let integration = json!({"name": "CRM", "keys": keys});
        stack.apply_team(file(integration)).await;
    }
    for _ in 0..2 {
        let paused = json!({
            "name": "CRM",
            "availability": "paused",
            "removal_guard_percent": 40,
            "keys": keys,
        });
        stack.apply_team(file(paused)).await;
    }
    assert_eq!(
        added_to(&before, &stack, &INTEGRATIONS).await,
        by_operator(&[
            ("integration.created", "CRM"),
            ("key.created", "Nightly of CRM"),
            ("integration.paused", "CRM"),
            ("integration.guarded", "CRM, before: 20 %; now: 40 %"),
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_in_the_log_with_what_it_changes_of_designs_and_columns_and_no_more() {
    let stack = TestStack::start().await;
    let kinds = ["design", "column", "formula"];
    let before = entries(&stack, &kinds).await;
    let file = |background: &str, formula: &str, column_type: &str| {
        let document = json!({
            "product": "postcard_4x6",
            "front": {"background": background},
            "back": {},
        });
        json!({"teams": [{
            "name": "Test",
            "columns": [
                {"name": "Visits", "type": column_type},
                {"name": "Greeting", "formula": formula},
            ],
            "designs": [{"name": "Spring", "document": document}],
        }]})
    };
    for _ in 0..2 {
        stack
            .apply_team(file("#ffffff", "PROPER(first_name)", "text"))
            .await;
    }
    for _ in 0..2 {
        stack
            .apply_team(file("#eeeeee", "UPPER(first_name)", "number"))
            .await;
    }
    assert_eq!(
        added_to(&before, &stack, &kinds).await,
        by_operator(&[
            ("column.created", "Visits"),
            ("formula.saved", "Greeting"),
            ("design.created", "Spring"),
            ("column.changed", "Visits"),
            ("formula.saved", "Greeting"),
            ("design.saved", "Spring, version 2"),
        ])
    );
}
