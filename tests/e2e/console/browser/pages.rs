//! Every page: everybody can use it, and a picture of it when one is asked for.

use std::path::{Path, PathBuf};

use console::router;
use pillarbox_tests::{Browser, ConsoleClient};
use reqwest::Method;
use store::MemberRole;

use super::furnished::Furnished;

/// Names the folder that gets pictures of the pages. `./dev screenshots` sets it.
const SCREENSHOTS: &str = "PILLARBOX_SCREENSHOTS";

/// What a picture of a page is called: the words of its route.
fn name(route: &str) -> String {
    let words: Vec<&str> = route
        .split(['/', '{', '}'])
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        "home".to_owned()
    } else {
        words.join("-")
    }
}

/// The address of a route's page.
async fn address(world: &Furnished, route: &str) -> String {
    let mut address = String::new();
    for part in route.split_inclusive(['{', '}']) {
        match part.strip_suffix('}') {
            Some(parameter) => address.push_str(&world.value(parameter).await),
            None => address.push_str(part.trim_end_matches('{')),
        }
    }
    address
}

/// The routes of pages that are read in a browser: no pictures and no files.
async fn pages(world: &Furnished, visitor: &ConsoleClient) -> Vec<(&'static str, String)> {
    let mut pages = Vec::new();
    for route in router::console_routes()
        .into_iter()
        .filter(|route| route.method == Method::GET)
    {
        let address = address(world, route.path).await;
        let page = visitor.get(&address).await;
        if page.status.is_redirection() {
            // Who is signed in needs no sign-in.
            continue;
        }
        assert!(
            page.status.is_success() || route.path.contains("token"),
            "{address}: {}",
            page.status
        );
        if page.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
        {
            pages.push((route.path, address));
        }
    }
    pages
}

/// What keeps people from using the page that is shown, with its route; takes a picture when there is a folder for it.
async fn look(route: &str, browser: &Browser, folder: Option<&Path>) -> Vec<String> {
    if let Some(folder) = folder {
        browser.save_screenshot(folder, &name(route)).await;
    }
    let barriers = browser.find_barriers().await;
    barriers
        .into_iter()
        .map(|barrier| format!("{route}: {barrier}"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_can_be_read_reached_by_keyboard_and_used_on_a_phone() {
    let world = Furnished::new().await;
    let visitor = ConsoleClient::new(
        &world.stack,
        &world.url,
        world.team.team_id,
        MemberRole::Owner,
    )
    .await;
    let screenshots = std::env::var_os(SCREENSHOTS).map(PathBuf::from);
    let stranger = Browser::open(&world.url).await;
    stranger.open_page("/sign-in").await;
    let mut barriers = look("/sign-in", &stranger, screenshots.as_deref()).await;
    drop(stranger);
    let browser = world.browser(MemberRole::Owner).await;
    for (route, address) in pages(&world, &visitor).await {
        browser.open_page(&address).await;
        barriers.extend(look(route, &browser, screenshots.as_deref()).await);
    }
    assert!(barriers.is_empty(), "{}", barriers.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_pages_can_be_used_by_everybody_too() {
    let (stack, url) = super::stack(pillarbox_tests::StackOptions::default()).await;
    let owner = super::signed_in(&stack, &url, MemberRole::Owner).await;
    let mut barriers = Vec::new();
    let is_list =
        |route: &router::ConsoleRoute| route.method == Method::GET && !route.path.contains('{');
    for route in router::console_routes().into_iter().filter(is_list) {
        owner.open_page(route.path).await;
        barriers.extend(look(route.path, &owner, None).await);
    }
    assert!(barriers.is_empty(), "{}", barriers.join("\n"));
}
