//! What a person does at the console with a real browser, and that it takes effect through the API.

mod furnished;
mod pages;

use pillarbox_tests::{Browser, Options, Stack, Visitor, person};
use serde_json::json;
use store::Role;

/// A stack with a console that a browser on this machine can sign in to.
async fn stack(options: Options) -> (Stack, String) {
    let mut settings = options.settings;
    // Plain http.
    settings.push(("CONSOLE__SECURE_COOKIES", "false".to_owned()));
    let mut stack = Stack::with(Options { settings, ..options }).await;
    let url = stack.console().await;
    (stack, url)
}

/// A browser in which a person of this role has signed in.
async fn signed_in(stack: &Stack, url: &str, role: Role) -> Browser {
    let team = stack.store.team_list("", 1).await.unwrap().remove(0);
    let email = Visitor::join(stack, team.team_id, role).await;
    let browser = Browser::open(url).await;
    browser.sign_in(&email).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_makes_a_key_and_uses_it() {
    let (stack, url) = stack(Options::default()).await;
    stack.campaign(json!({})).await;
    let browser = signed_in(&stack, &url, Role::Admin).await;
    browser.follow("API keys").await;
    browser.fill("Name", "Website").await;
    browser.choose("Opens", "Everything: recipients and formulas").await;
    browser.press("Make the key").await;
    browser.until_text("Copy it now").await;
    let page = browser.text().await;
    let key = page.split_whitespace().find(|word| word.starts_with("pk_live_")).expect("the key is shown");
    let body = json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": [person(1)]}).to_string();
    let bearer = format!("Bearer {key}");
    let send = async || stack.post_with(&[("authorization", bearer.as_str())], body.clone()).await;
    assert_eq!(send().await.reasons(), ["mailed"]);
    browser.press("Revoke the key Website").await;
    browser.until_text("From now on it opens nothing").await;
    assert_eq!(send().await.error(), (401, "invalid_api_key".to_owned()));
}
