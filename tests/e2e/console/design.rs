//! Designs: mistakes are told beside the document, versions are kept, and what is shown is what prints.

use model::id::DesignId;
use pillarbox_tests::{
    ConsoleClient, ConsoleResponse, TestStack, build_recipient, postcard_design, text_box,
};
use serde_json::Value;
use store::MemberRole;

use super::{console, member};

/// The id of the design that an action led to.
fn id_of(location: &str) -> DesignId {
    let id = location
        .trim_start_matches("/designs/")
        .split('?')
        .next()
        .unwrap();
    id.parse()
        .unwrap_or_else(|_| panic!("no design in {location:?}"))
}

async fn team_id(stack: &TestStack) -> model::id::TeamId {
    stack.store.list_teams("", 1).await.unwrap()[0].team_id
}

fn greeting(text: &str) -> String {
    postcard_design(&[text_box("greeting", text)]).to_string()
}

async fn made(admin: &ConsoleClient, name: &str, text: &str) -> DesignId {
    let page = admin
        .upload_form("/designs", &[("name", name), ("document", &greeting(text))])
        .await;
    assert_eq!(page.status, 303, "{}", page.html);
    id_of(page.location())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_design_that_cannot_print_is_told_with_item_and_surface_and_nothing_typed_is_lost() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let wrong = greeting("{{first_name");
    let page = admin
        .upload_form("/designs", &[("name", "Hello <you>"), ("document", &wrong)])
        .await;
    assert_eq!(page.status, 422);
    assert!(
        page.html
            .contains("On the front, item &#34;greeting&#34; cannot print"),
        "{}",
        page.html
    );
    assert!(page.html.contains("Hello &#60;you&#62;") && page.html.contains("{{first_name"));
    let page = admin
        .upload_form("/designs", &[("name", ""), ("document", "{")])
        .await;
    assert!(
        page.html.contains("The name must be 1 to 200 characters"),
        "{}",
        page.html
    );
    assert!(page.html.contains("This is not JSON: line 1, column 1"));
    let page = admin
        .upload_form(
            "/designs",
            &[("name", "Card"), ("document", &greeting("Hi"))],
        )
        .await;
    assert!(page.html.contains("has a design of this name already"));
    assert_eq!(
        stack.query_count("SELECT count(*) FROM designs").await,
        1,
        "nothing was saved"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_save_is_a_version_of_somebody_and_going_back_makes_another() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let design_id = made(&admin, "Greeting", "One").await;
    let address = format!("/designs/{design_id}");
    let second = greeting("Two");
    let saved = admin
        .upload_form(
            &address,
            &[("version", "1"), ("document", ""), ("file", &second)],
        )
        .await;
    assert_eq!(
        saved.location(),
        format!("{address}?notice=design-saved"),
        "{}",
        saved.html
    );
    let late = admin
        .upload_form(
            &address,
            &[("version", "1"), ("document", &greeting("Three"))],
        )
        .await;
    assert!(
        late.html.contains("somebody saved version 2") && late.html.contains("Three"),
        "{}",
        late.html
    );
    let back = admin
        .post(&format!("{address}/versions/1/restore"), &[])
        .await;
    assert_eq!(back.location(), format!("{address}?notice=design-restored"));
    let team_id = team_id(&stack).await;
    let stored = stack.store.find_design(team_id, design_id).await.unwrap();
    assert_eq!(stored.summary.version, 3);
    assert_eq!(
        stored.document,
        serde_json::from_str::<Value>(&greeting("One")).unwrap()
    );
    let versions = stack
        .store
        .list_design_versions(team_id, design_id, i32::MAX, 10)
        .await
        .unwrap();
    let saved: Vec<_> = versions
        .iter()
        .map(|line| (line.version, line.saved_by.as_deref()))
        .collect();
    assert_eq!(
        saved,
        [
            (3, Some("Ada Marsh")),
            (2, Some("Ada Marsh")),
            (1, Some("Ada Marsh"))
        ]
    );
    let page = admin.get(&format!("{address}/versions/2")).await;
    assert!(
        page.html.contains("Two") && page.html.contains("by Ada Marsh"),
        "{}",
        page.html
    );
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("design.created")
            && log.contains("design.saved")
            && log.contains("design.restored")
    );
}

/// The version that the form of a page goes on from.
fn begun_with(page: &ConsoleResponse) -> &str {
    let (_, rest) = page.html.split_once("name=\"version\" value=\"").unwrap();
    rest.split('"').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_design_is_saved_over_only_by_who_was_told_of_the_version_that_stands() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let address = format!("/designs/{}", made(&admin, "Greeting", "One").await);
    let save = async |version: &str, document: &str| {
        admin
            .upload_form(&address, &[("version", version), ("document", document)])
            .await
    };
    let mistake = save("1", "{").await;
    assert!(
        mistake.status == 422 && mistake.html.contains("This is not JSON"),
        "{}",
        mistake.html
    );
    assert_eq!(save("1", &greeting("Two")).await.status, 303);
    // Whoever goes on from the mistake began with the first version still.
    for late in ["{", &greeting("Three")] {
        let told = save(begun_with(&mistake), late).await;
        assert_eq!(told.status, 422);
        assert!(
            told.html
                .contains("Nothing was saved: somebody saved version 2"),
            "{}",
            told.html
        );
        assert!(
            told.html.contains("Two"),
            "what stands is shown: {}",
            told.html
        );
        assert_eq!(begun_with(&told), "2");
    }
    for nothing in ["", "x"] {
        assert_eq!(
            save(nothing, &greeting("Three")).await.status,
            422,
            "a form of nothing"
        );
    }
    assert_eq!(
        save("2", &greeting("Three")).await.status,
        303,
        "who was told may"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_drawn_with_samples_with_values_typed_and_with_somebody_s_own() {
    let (stack, url) = console().await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    super::address_book::until_findable(&stack).await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let design_id = made(&admin, "Greeting", "{{last_name|you}}").await;
    let entry: uuid::Uuid = stack
        .sql
        .query_one("SELECT entry_id FROM address_entries", &[])
        .await
        .unwrap()
        .get(0);
    let page = admin
        .get(&format!("/designs/{design_id}?search=read"))
        .await;
    assert!(
        page.html.contains(&format!("?entry={entry}")),
        "{}",
        page.html
    );
    assert!(
        admin
            .get(&format!("/designs/{design_id}?entry={entry}"))
            .await
            .html
            .contains("Pat Reader1")
    );
    let mut tags = Vec::new();
    for query in ["", "?value.last_name=Nobody", &format!("?entry={entry}")] {
        for side in ["front", "back"] {
            let picture = admin
                .get(&format!("/designs/{design_id}/versions/1/{side}{query}"))
                .await;
            assert_eq!(picture.status, 200, "{}", picture.html);
            assert_eq!(picture.headers["content-type"], "image/png");
            tags.push(picture.headers["etag"].to_str().unwrap().to_owned());
        }
    }
    let count = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), count, "each is another picture");
    assert_eq!(
        admin
            .get(&format!("/designs/{design_id}/versions/1/middle"))
            .await
            .status,
        404
    );
    assert_eq!(
        admin
            .get(&format!("/designs/{design_id}/versions/9/front"))
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_team_s_design_is_not_there() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let design_id = made(&admin, "Greeting", "One").await;
    let foreigner = super::foreigner(&stack, &url).await;
    let address = format!("/designs/{design_id}");
    for path in ["", "/versions", "/versions/1", "/versions/1/front"] {
        assert_eq!(
            foreigner.get(&format!("{address}{path}")).await.status,
            404,
            "{path}"
        );
    }
    let form = [("version", "1"), ("document", &*greeting("Theirs"))];
    assert_eq!(foreigner.upload_form(&address, &form).await.status, 404);
    assert_eq!(
        foreigner
            .post(&format!("{address}/versions/1/restore"), &[])
            .await
            .status,
        404
    );
    assert!(!foreigner.get("/designs").await.html.contains("Greeting"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_says_what_a_send_would_say_of_the_card() {
    let (stack, url) = console().await;
    let mut long = build_recipient(1);
    long["last_name"] = "Featherstonehaugh-Cholmondeley the Third".into();
    assert_eq!(stack.send_recipients(&[long]).await.reasons(), ["mailed"]);
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let design_id = made(&admin, "Greeting", "{{last_name|you}}").await;
    let entry: uuid::Uuid = stack
        .sql
        .query_one("SELECT entry_id FROM address_entries", &[])
        .await
        .unwrap()
        .get(0);
    let shown = async |query: String| {
        admin
            .get(&format!("/designs/{design_id}{query}"))
            .await
            .html
    };
    let person = shown(format!("?entry={entry}")).await;
    assert!(
        person.contains("This card would not be mailed (text_overflow)"),
        "{person}"
    );
    let typed = shown("?value.last_name=%F0%9F%8E%89".to_owned()).await;
    assert!(
        typed.contains("would not be mailed (unsupported_characters)"),
        "{typed}"
    );
    assert!(
        typed.contains("with the values that you typed") && !typed.contains("with sample values"),
        "{typed}"
    );
    let fits = shown("?value.last_name=Ann".to_owned()).await;
    assert!(!fits.contains("would not be mailed"), "{fits}");
    assert!(shown(String::new()).await.contains("with sample values"));
}
