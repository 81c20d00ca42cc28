//! A marketing team's first campaign, with a real browser; and what a phone shows.

use pillarbox_tests::{StackOptions, build_recipient};
use store::MemberRole;

use super::furnished::Furnished;

#[tokio::test(flavor = "multi_thread")]
async fn a_first_campaign_is_begun_left_resumed_and_launched() {
    let (stack, url) = super::stack(StackOptions::default()).await;
    let browser = super::signed_in(&stack, &url, MemberRole::Admin).await;
    browser.resize_to_phone().await;
    browser.follow_link("Campaigns").await;
    browser.follow_link("New campaign").await;
    browser.fill_field("Name", "Autumn").await;
    browser.press_button("Make the draft").await;
    browser.wait_for_text("Who of them is mailed").await;
    browser
        .fill_field("Re-send protection, in days", "many")
        .await;
    browser.press_button("Save and go on").await;
    browser.wait_for_text("Write a whole number").await;
    assert_eq!(browser.focused_id().await, "resend-protection");
    browser
        .fill_field("Re-send protection, in days", "30")
        .await;
    browser.press_button("Save and go on").await;
    browser.wait_for_text("Each step mails one design").await;
    // Left and resumed.
    browser.follow_link("Campaigns").await;
    browser.follow_link("Autumn").await;
    browser.follow_link("Go on setting it up").await;
    assert_eq!(
        browser.field_value("Re-send protection, in days").await,
        "30"
    );
    browser.follow_link("Creative").await;
    browser.choose_option("Design of step 1", "Card").await;
    browser.press_button("Show the designs chosen").await;
    browser.wait_for_text("Open the design Card").await;
    assert_eq!(browser.count_unsized_pictures().await, 0);
    browser.press_button("Save and go on").await;
    browser.fill_field("Budget", "$100").await;
    browser.press_button("Save and go on").await;
    browser.wait_for_text("Nothing is missing").await;
    browser.press_button("Launch the campaign").await;
    browser.wait_for_text("Campaign launched.").await;
    let path = browser.current_path().await;
    let id = path["/campaigns/".len()..]
        .split('?')
        .next()
        .unwrap_or_default();
    let sent = stack.send_recipients_to(id, &[build_recipient(1)]).await;
    assert_eq!(sent.reasons(), ["mailed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_shows_where_one_is_and_letters_that_can_be_read() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Admin).await;
    browser.resize_to_phone().await;
    for page in ["/", "/activity", "/team"] {
        browser.open_page(page).await;
        assert!(
            browser.is_across_screen(".parts a[aria-current]").await,
            "{page}"
        );
    }
    browser.open_page("/").await;
    let letters = browser.smallest_letters(".chart-label").await;
    assert!(letters >= 11.0, "{letters}");
    browser.open_page("/campaigns/PA-SPRING/recipients").await;
    assert!(
        browser.is_across_screen("main tbody td").await,
        "the outcome"
    );
    browser.open_page("/campaigns/PA-SPRING").await;
    assert_eq!(browser.count_unsized_pictures().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_refused_field_of_a_form_has_the_focus() {
    let world = Furnished::new().await;
    let browser = world.browser(MemberRole::Owner).await;
    browser.open_page("/campaigns/PA-SPRING/do-not-mail").await;
    browser.fill_field("Address on one line", "nowhere").await;
    browser.press_button("Add").await;
    browser.wait_for_text("cannot be mailed").await;
    assert_eq!(browser.focused_id().await, "address");
    browser.open_page("/campaigns/PA-SPRING/area").await;
    browser.fill_field("or its content", "[]").await;
    browser.press_button("Change the area").await;
    browser.wait_for_text("Nothing was changed").await;
    assert_eq!(browser.focused_id().await, "text");
}
