//! Campaigns made, changed, duplicated and archived by a member, with what is set taking effect through the API.

use model::id::CampaignId;
use pillarbox_tests::{CAMPAIGN, ConsoleClient, ConsoleResponse, TestStack, build_recipient};
use serde_json::json;
use store::{CampaignStatus, MemberRole, StoredCampaignSettings};

use super::{console, member};

/// Makes a draft of this name; the path of its pages.
async fn make_draft(person: &ConsoleClient, name: &str) -> String {
    let form = [("name", name), ("kind", "audience")];
    let made = person.post("/campaigns", &form).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let path = made.location().strip_suffix("/audience");
    path.expect("the draft's first page").to_owned()
}

fn id_of(path: &str) -> &str {
    path.rsplit('/').next().expect("an id")
}

async fn settings_of(stack: &TestStack, path: &str) -> StoredCampaignSettings {
    let team = stack.store.find_team_by_name("Test").await.unwrap();
    let id: CampaignId = id_of(path).parse().unwrap();
    let found = stack.store.find_campaign_settings(team.team_id, &id).await;
    found.unwrap()
}

async fn design_id(stack: &TestStack) -> String {
    let sql = "SELECT design_id::text FROM designs WHERE name = 'Card'";
    stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

/// Saves the form of one of a campaign's pages as it stands there, with these fields.
async fn save(person: &ConsoleClient, page: &str, fields: &[(&str, &str)]) -> ConsoleResponse {
    person.save_form(page, page, fields).await
}

async fn choose_card(stack: &TestStack, person: &ConsoleClient, path: &str) {
    let design = design_id(stack).await;
    let step = [
        ("do", "next"),
        ("step.0.design", design.as_str()),
        ("step.0.postage", "standard"),
        ("step.0.delay", "0"),
    ];
    let saved = save(person, &format!("{path}/creative"), &step).await;
    assert_eq!(
        saved.location(),
        format!("{path}/schedule"),
        "{}",
        saved.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_is_made_set_up_and_launched_here_and_mails() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let path = make_draft(&admin, "Autumn").await;
    let send = async |number| {
        stack
            .send_recipients_to(id_of(&path), &[build_recipient(number)])
            .await
    };
    assert_eq!(
        send(1).await.error(),
        (409, "campaign_not_active".to_owned())
    );
    assert!(
        settings_of(&stack, &path)
            .await
            .cancellation
            .cancels_unwanted
    );
    let review = admin.get(&format!("{path}/review")).await.html;
    assert!(
        review.contains("One thing is missing") && review.contains("Add a step"),
        "{review}"
    );
    let early = admin.post(&format!("{path}/launch"), &[]).await;
    assert!(
        early.status == 422 && early.html.contains("Add a step"),
        "{}",
        early.html
    );
    let audience = [
        ("do", "next"),
        ("name", "Autumn offer"),
        ("source", "api"),
        ("kind", "audience"),
        ("strictness", "zip"),
        ("resend_protection", "30"),
    ];
    let saved = save(&admin, &format!("{path}/audience"), &audience).await;
    assert_eq!(
        saved.location(),
        format!("{path}/creative"),
        "{}",
        saved.html
    );
    choose_card(&stack, &admin, &path).await;
    let schedule = [("do", "next"), ("budget", "$0.50"), ("cancel_minutes", "0")];
    let saved = save(&admin, &format!("{path}/schedule"), &schedule).await;
    assert_eq!(saved.location(), format!("{path}/review"), "{}", saved.html);
    let review = admin.get(&format!("{path}/review")).await.html;
    assert!(
        review.contains("The budget pays for no mailpiece: one costs $0.79"),
        "{review}"
    );
    let schedule = [("do", "save"), ("budget", "$1.60"), ("cancel_minutes", "0")];
    save(&admin, &format!("{path}/schedule"), &schedule).await;
    let review = admin.get(&format!("{path}/review")).await.html;
    for shown in [
        "Nothing is missing",
        "pays for 2 mailpieces",
        "An address once in 30 days",
        "Drop date",
    ] {
        assert!(review.contains(shown), "{shown}: {review}");
    }
    let launched = admin.post(&format!("{path}/launch"), &[]).await;
    assert_eq!(
        launched.location(),
        format!("{path}?notice=campaign-launched"),
        "{}",
        launched.html
    );
    assert_eq!(send(1).await.reasons(), ["mailed"]);
    let settings = settings_of(&stack, &path).await;
    assert_eq!(
        (
            settings.name.as_str(),
            settings.status,
            settings.budget_cents,
            settings.resend_protection_days
        ),
        ("Autumn offer", CampaignStatus::Active, Some(160), Some(30))
    );
    assert_eq!(settings.cancellation.minutes, Some(0));
    assert!(
        !settings.cancellation.cancels_unwanted,
        "the box was not ticked"
    );
    let log = admin.get("/activity").await.html;
    for action in ["campaign.created", "campaign.changed", "campaign.launched"] {
        assert!(log.contains(action), "{action}: {log}");
    }
    // Sent again, nothing more comes of it.
    let again = admin.post(&format!("{path}/launch"), &[]).await;
    assert_eq!(again.status, 303);
    let sql = "SELECT count(*) FROM activities WHERE action = 'campaign.launched'";
    assert_eq!(stack.query_count(sql).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_stays_beside_what_is_wrong_with_it() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    for (name, problem) in [
        ("", "1 to 200 characters"),
        ("Test", "a campaign of this name"),
    ] {
        let refused = admin
            .post("/campaigns", &[("name", name), ("kind", "neighborhood")])
            .await;
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains(problem), "{}", refused.html);
        assert!(
            refused.html.contains("value=\"neighborhood\" checked"),
            "{}",
            refused.html
        );
    }
    let path = make_draft(&admin, "Winter").await;
    let audience = [
        ("do", "save"),
        ("name", "Test"),
        ("kind", "neighborhood"),
        ("radius", "a mile"),
        ("homes", "10001"),
        ("resend_protection", "9999"),
        ("strictness", "zip"),
    ];
    let refused = save(&admin, &format!("{path}/audience"), &audience).await;
    assert_eq!(refused.status, 422);
    let kept = [
        "a mile",
        "10001",
        "9999",
        "value=\"zip\" selected",
        "whole number",
        "from 1 to 10,000.",
        "from 1 to 3,653.",
    ];
    for shown in kept {
        assert!(refused.html.contains(shown), "{shown}: {}", refused.html);
    }
    let focused = refused.html.find("autofocus").expect("a field in focus");
    assert!(
        refused.html[..focused]
            .ends_with("aria-invalid=\"true\" aria-describedby=\"radius-problem\" ")
    );
    let taken = [("name", "Test"), ("kind", "audience")];
    let refused = save(&admin, &format!("{path}/audience"), &taken).await;
    assert!(
        refused.status == 422 && refused.html.contains("a campaign of this name"),
        "{}",
        refused.html
    );
    let schedule = [("budget", "much"), ("cancel_minutes", "-5")];
    let refused = save(&admin, &format!("{path}/schedule"), &schedule).await;
    assert!(
        refused.status == 422 && refused.html.contains("value=\"much\""),
        "{}",
        refused.html
    );
    assert!(
        refused.html.contains("amount of dollars") && refused.html.contains("from 0 to 10,080.")
    );
    let foreign = uuid::Uuid::now_v7().to_string();
    let steps = [
        ("step.0.design", foreign.as_str()),
        ("step.0.postage", "first_class"),
        ("step.0.delay", "0"),
        ("step.1.design", ""),
        ("step.1.delay", "0"),
    ];
    let refused = save(&admin, &format!("{path}/creative"), &steps).await;
    assert!(
        refused.status == 422 && refused.html.contains("more than the step before"),
        "{}",
        refused.html
    );
    let refused = save(&admin, &format!("{path}/creative"), &steps[..3]).await;
    assert!(
        refused.status == 422 && refused.html.contains("no longer has this design"),
        "{}",
        refused.html
    );
    let settings = settings_of(&stack, &path).await;
    assert_eq!(
        (settings.name.as_str(), settings.steps.len()),
        ("Winter", 0)
    );
    assert_eq!((settings.neighborhood, settings.budget_cents), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_come_and_go_by_round_trips_and_only_saving_keeps_them() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let path = make_draft(&admin, "Winter").await;
    let (page, design) = (format!("{path}/creative"), design_id(&stack).await);
    let first = [
        ("step.0.design", design.as_str()),
        ("step.0.postage", "first_class"),
        ("step.0.delay", "0"),
    ];
    let added = save(&admin, &page, &[&[("do", "add")], &first[..]].concat()).await;
    assert_eq!(added.status, 200);
    assert!(
        added.html.contains("name=\"step.1.delay\"") && added.html.contains("value=\"14\""),
        "{}",
        added.html
    );
    assert!(
        added
            .html
            .contains(&format!("/designs/{design}/versions/1/front\" width=\"")),
        "{}",
        added.html
    );
    assert_eq!(settings_of(&stack, &path).await.steps.len(), 0);
    let second = [
        ("do", "save"),
        ("step.1.design", design.as_str()),
        ("step.1.postage", "standard"),
        ("step.1.delay", "10"),
    ];
    let saved = save(&admin, &page, &[&first[..], &second[..]].concat()).await;
    assert_eq!(
        saved.location(),
        format!("{page}?notice=campaign-saved"),
        "{}",
        saved.html
    );
    let delays: Vec<i32> = settings_of(&stack, &path)
        .await
        .steps
        .iter()
        .map(|step| step.delay_days)
        .collect();
    assert_eq!(delays, [0, 10]);
    let shorter = save(
        &admin,
        &page,
        &[&[("do", "remove:0")], &first[..], &second[1..]].concat(),
    )
    .await;
    assert!(!shorter.html.contains("step.1.delay"), "{}", shorter.html);
    // A live campaign keeps at least one step.
    let live = format!("/campaigns/{CAMPAIGN}/creative");
    let emptied = save(&admin, &live, &[("do", "save")]).await;
    assert!(
        emptied.status == 422 && emptied.html.contains("1 to 20 steps"),
        "{}",
        emptied.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_saves_over_another_s_change_is_told_first() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let page = format!("/campaigns/{CAMPAIGN}/schedule");
    let seen = admin.get(&page).await.seen_token();
    stack.save_campaign(json!({"budget": "$5.00"})).await;
    let form = |seen: String| [("seen", seen), ("budget", "$7.00".to_owned())];
    let post = async |seen: String| {
        let form = form(seen);
        let fields: Vec<_> = form
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        admin.post(&page, &fields).await
    };
    let overtaken = post(seen).await;
    assert!(
        overtaken.status == 422 && overtaken.html.contains("somebody changed this campaign"),
        "{}",
        overtaken.html
    );
    assert!(overtaken.html.contains("$7.00"), "{}", overtaken.html);
    let saved = post(overtaken.seen_token()).await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let settings = settings_of(&stack, &format!("/campaigns/{CAMPAIGN}")).await;
    assert_eq!(settings.budget_cents, Some(700));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_campaign_takes_no_sends_until_it_is_restored_and_activated() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let path = format!("/campaigns/{CAMPAIGN}");
    let archived = admin.post(&format!("{path}/archive"), &[]).await;
    assert_eq!(
        archived.location(),
        format!("{path}?notice=campaign-archived")
    );
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.error(),
        (409, "campaign_not_active".to_owned())
    );
    let link = format!("href=\"{path}\"");
    assert!(!admin.get("/campaigns").await.html.contains(&link));
    assert!(
        admin
            .get("/campaigns?archived=true")
            .await
            .html
            .contains(&link)
    );
    let early = admin.post(&format!("{path}/activate"), &[]).await;
    assert!(
        early.status == 422 && early.html.contains("restore it first"),
        "{}",
        early.html
    );
    admin.post(&format!("{path}/restore"), &[]).await;
    assert!(admin.get("/campaigns").await.html.contains(&link));
    assert!(admin.get(&path).await.html.contains("Paused"));
    admin.post(&format!("{path}/activate"), &[]).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("campaign.archived") && log.contains("campaign.restored"),
        "{log}"
    );
    // A file in which it is active restores it, too.
    admin.post(&format!("{path}/archive"), &[]).await;
    stack.save_campaign(json!({})).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(2)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_has_all_that_was_set_and_nobody_who_was_mailed() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let area = json!({ "type": "Polygon", "coordinates": [[[-98, 30], [-97, 30], [-97, 31], [-98, 31], [-98, 30]]] });
    let conditions = json!({ "all": [{ "column": "state", "operator": "is", "value": "TX" }] });
    stack
        .save_campaign(json!({
            "budget": "$9.00", "resend_protection_days": 7, "area": area, "conditions": conditions,
            "strictness": "zip", "cancel_minutes": 5, "cancels_unwanted": true,
        }))
        .await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let copied = admin
        .post(&format!("/campaigns/{CAMPAIGN}/duplicate"), &[])
        .await;
    let (path, _) = copied
        .location()
        .split_once("/audience")
        .expect("the copy's page");
    let original = settings_of(&stack, &format!("/campaigns/{CAMPAIGN}")).await;
    let copy = settings_of(&stack, path).await;
    let expected = StoredCampaignSettings {
        name: "Test copy".to_owned(),
        status: CampaignStatus::Draft,
        ..original.clone()
    };
    assert_eq!(copy, expected);
    assert!(original.cancellation.cancels_unwanted && original.cancellation.minutes == Some(5));
    assert_eq!(admin.post(&format!("{path}/launch"), &[]).await.status, 303);
    let sent = stack
        .send_recipients_to(id_of(path), &[build_recipient(1)])
        .await;
    assert_eq!(sent.reasons(), ["mailed"], "it has mailed nobody yet");
    let again = admin
        .post(&format!("/campaigns/{CAMPAIGN}/duplicate"), &[])
        .await;
    let (path, _) = again
        .location()
        .split_once("/audience")
        .expect("the copy's page");
    assert_eq!(settings_of(&stack, path).await.name, "Test copy 2");
    // A file that says nothing of cancelling keeps what was set.
    stack.save_campaign(json!({"budget": "$9.00"})).await;
    let kept = settings_of(&stack, &format!("/campaigns/{CAMPAIGN}"))
        .await
        .cancellation;
    assert_eq!((kept.minutes, kept.cancels_unwanted), (Some(5), true));
}
