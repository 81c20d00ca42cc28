//! What a person does at the console with a real browser, and that it takes effect through the API.

mod first_campaign;
mod furnished;
mod pages;

use pillarbox_tests::{
    Browser, ConsoleClient, StackOptions, TestStack, build_recipient, wait_until,
};
use serde_json::json;
use store::MemberRole;

use self::furnished::Furnished;

/// A stack with a console that a browser on this machine can sign in to.
async fn stack(options: StackOptions) -> (TestStack, String) {
    let mut settings = options.settings;
    // Plain http.
    settings.push(("CONSOLE__SECURE_COOKIES", "false".to_owned()));
    let mut stack = TestStack::with_options(StackOptions {
        settings,
        ..options
    })
    .await;
    let url = stack.start_console().await;
    (stack, url)
}

/// A browser in which a person of this role has signed in.
async fn signed_in(stack: &TestStack, url: &str, role: MemberRole) -> Browser {
    let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
    let email = ConsoleClient::create_member(stack, team.team_id, role).await;
    let browser = Browser::open(url).await;
    browser.sign_in(&email).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_makes_a_key_and_uses_it() {
    let (stack, url) = stack(StackOptions::default()).await;
    stack.save_campaign(json!({})).await;
    let browser = signed_in(&stack, &url, MemberRole::Admin).await;
    browser.follow_link("API keys").await;
    browser.fill_field("Name", "Website").await;
    browser
        .choose_option("Opens", "Full access: recipients and formulas")
        .await;
    browser.press_button("Make the key").await;
    browser.wait_for_text("Copy it now").await;
    let page = browser.page_text().await;
    let key = page
        .split_whitespace()
        .find(|word| word.starts_with("pk_live_"))
        .expect("the key is shown");
    let body =
        json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": [build_recipient(1)]})
            .to_string();
    let bearer = format!("Bearer {key}");
    let send = async || {
        stack
            .post_send_with(&[("authorization", bearer.as_str())], body.clone())
            .await
    };
    assert_eq!(send().await.reasons(), ["mailed"]);
    browser.press_button("Revoke the key Website").await;
    browser.wait_for_text("It no longer grants access").await;
    assert_eq!(send().await.error(), (401, "invalid_api_key".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_event_reaches_the_endpoint_and_a_paused_one_gets_no_scans() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Admin).await;
    let heard = async |count: usize| world.sink.count_received() == count;
    browser.follow_link("Webhooks").await;
    browser.follow_link(&world.sink.url).await;
    browser.press_button("Send test event").await;
    wait_until("the sink gets the test event", async || heard(2).await).await;
    let codes = pillarbox_tests::list_codes(&world.stack).await;
    browser.follow_link(&world.sink.url).await;
    browser.press_button("Pause").await;
    browser.wait_for_text("Resume").await;
    assert_eq!(world.stack.scan_code(&codes[1]).await.status, 302);
    let sql = "SELECT count(*) FROM deliveries";
    let made = world.stack.query_count(sql).await;
    browser.press_button("Resume").await;
    browser.wait_for_text("Pause").await;
    world.stack.scan_code(&codes[2]).await;
    wait_until("the sink hears of the scan after the pause", async || {
        heard(3).await
    })
    .await;
    assert_eq!(
        world.stack.query_count(sql).await,
        made + 1,
        "the scan during the pause is delivered to nobody"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formula_is_previewed_while_it_is_typed_and_saved() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Admin).await;
    browser.follow_link("Address book").await;
    browser.follow_link("New formula column").await;
    browser.fill_field("Column", "Salute").await;
    browser
        .fill_field("Formula", "\"Dear \" + first_name")
        .await;
    browser.wait_for_text("Dear Amelia").await;
    browser.fill_field("Formula", "PROPR(first_name)").await;
    browser.wait_for_text("PROPER").await;
    browser
        .fill_field("Formula", "\"Hello \" + first_name")
        .await;
    browser.wait_for_text("Hello Amelia").await;
    browser.press_button("Save").await;
    browser.wait_for_text("Column saved.").await;
    let stored = world
        .stack
        .store
        .find_column(world.team.team_id, "salute")
        .await
        .unwrap();
    assert_eq!(stored.formula.as_deref(), Some("\"Hello \" + first_name"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_design_is_changed_with_its_mistake_told_and_what_prints_is_seen() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Admin).await;
    browser.follow_link("Designs").await;
    browser.follow_link("Spring planting").await;
    let document = browser.field_value("Document (JSON)").await;
    browser
        .fill_field(
            "Document (JSON)",
            &document.replace("Inter Bold", "Comic Sans"),
        )
        .await;
    browser.press_button("Save as a new version").await;
    browser.wait_for_text("On the front, item").await;
    let better = browser
        .field_value("Document (JSON)")
        .await
        .replace("Comic Sans", "Lora Bold");
    browser.fill_field("Document (JSON)", &better).await;
    browser.press_button("Save as a new version").await;
    browser.wait_for_text("Design saved.").await;
    assert_eq!(
        browser.count_pictures().await,
        2,
        "front and back are drawn"
    );
    browser.press_button("Go back to version 1").await;
    browser.wait_for_text("restored, as a new version").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_is_built_filters_the_next_send() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Admin).await;
    browser.open_page("/campaigns/PA-HELLO1/conditions").await;
    browser.press_button("Add a condition").await;
    browser.fill_field("Column", "lifetime_value").await;
    browser.press_button("Show what fits").await;
    browser.choose_option("Operator", "is greater than").await;
    browser.fill_field("Value", "500").await;
    browser.press_button("Count who matches").await;
    browser
        .wait_for_text("The campaign has received nobody yet.")
        .await;
    browser.press_button("Save").await;
    browser.wait_for_text("Conditions saved.").await;
    let rich = [(901, "501"), (902, "12")].map(|(number, spent)| {
        let mut recipient = build_recipient(number);
        recipient["lifetime_value"] = spent.into();
        recipient
    });
    assert_eq!(
        world.send("PA-HELLO1", &rich).await.reasons(),
        ["mailed", "filtered_conditions"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_who_is_removed_is_not_mailed_again() {
    let world = Furnished::new().await;
    assert_eq!(
        world
            .send("PA-HELLO1", &[build_recipient(1)])
            .await
            .reasons(),
        ["mailed"]
    );
    let browser = world.browser(MemberRole::Admin).await;
    browser.open_page("/campaigns/PA-HELLO1/recipients").await;
    browser
        .press_button("Remove Pat Reader1, 1 Main St, Austin, TX 78701")
        .await;
    browser.wait_for_text("Recipient removed.").await;
    let again = world
        .send("PA-HELLO1", &[build_recipient(1), build_recipient(2)])
        .await;
    assert_eq!(again.reasons(), ["removed_by_sender", "mailed"]);
}
