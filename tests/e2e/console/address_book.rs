//! The address book: who is in it, where values came from, and that columns do what the page says.

use pillarbox_tests::{CAMPAIGN, ConsoleClient, CrmClient, TestStack, build_recipient, wait_until};
use serde_json::{Value, json};
use store::MemberRole;

use super::{console, member};

/// A recipient with this name and these fields, at a house of its own.
fn named(number: usize, first: &str, last: &str, fields: Value) -> Value {
    let mut recipient = build_recipient(number);
    recipient["first_name"] = first.into();
    recipient["last_name"] = last.into();
    recipient
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    recipient
}

/// Waits until whoever was received can be found.
pub(super) async fn until_findable(stack: &TestStack) {
    let sql = "SELECT count(*) FROM recipients_unsearched";
    wait_until("all can be found", async || {
        stack.query_count(sql).await == 0
    })
    .await;
}

/// The names that a list shows, in its order.
fn names(html: &str) -> Vec<String> {
    let rows = html.split("/address-book/entries/").skip(1);
    rows.map(|row| {
        row.split_once('>')
            .unwrap()
            .1
            .split('<')
            .next()
            .unwrap()
            .to_owned()
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_found_by_the_beginning_of_their_names_in_any_case() {
    let (stack, url) = console().await;
    let people = [
        named(1, "Ada", "Miles", json!({})),
        named(2, "Bo", "miles", json!({})),
        named(3, "Cy", "Milestone", json!({})),
        named(4, "Di", "Émile", json!({})),
    ];
    assert_eq!(
        stack.send_recipients(&people).await.reasons(),
        ["mailed"; 4]
    );
    until_findable(&stack).await;
    let visitor = member(&stack, &url, MemberRole::Member).await;
    let found = async |search: &str| {
        names(
            &visitor
                .get(&format!("/address-book?search={search}"))
                .await
                .html,
        )
    };
    assert_eq!(
        found("MILES").await,
        ["Ada Miles", "Bo miles", "Cy Milestone"]
    );
    assert_eq!(found("miles,+b").await, ["Bo miles"]);
    assert_eq!(found("%C3%89mi").await, ["Di Émile"]);
    assert_eq!(found("Zz").await, [""; 0]);
    assert_eq!(found("").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_paged_by_its_order_without_a_gap_or_a_repetition() {
    let (stack, url) = console().await;
    let people: Vec<Value> = (1..=120)
        .map(|number| named(number, "Pat", "Same", json!({})))
        .collect();
    stack.send_recipients(&people).await;
    until_findable(&stack).await;
    let visitor = member(&stack, &url, MemberRole::Member).await;
    let (mut path, mut seen) = ("/address-book?search=same".to_owned(), Vec::new());
    loop {
        let html = visitor.get(&path).await.html;
        let ids = html
            .split("/address-book/entries/")
            .skip(1)
            .map(|row| row[..36].to_owned());
        seen.extend(ids);
        let Some(next) = html
            .split("rel=\"next\"")
            .next()
            .filter(|_| html.contains("rel=\"next\""))
        else {
            break;
        };
        let href = next
            .rsplit("href=\"")
            .next()
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        path = href.replace("&#38;", "&").replace("&amp;", "&");
    }
    assert_eq!(seen.len(), 120);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_is_shown_with_every_value_and_where_it_came_from() {
    let (stack, url) = console().await;
    let columns = json!([{"name": "Spent", "type": "number"}, {"name": "Tier", "formula": "IF(Spent > 5, \"VIP\", \"\")"}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
    stack
        .send_recipients(&[named(
            1,
            "Ada",
            "<b>Miles</b>",
            json!({"Spent": "7", "Pet": "cat"}),
        )])
        .await;
    until_findable(&stack).await;
    let visitor = member(&stack, &url, MemberRole::Member).await;
    let list = visitor.get("/address-book").await.html;
    let id = list.split("/address-book/entries/").nth(1).unwrap()[..36].to_owned();
    let page = visitor
        .get(&format!("/address-book/entries/{id}"))
        .await
        .html;
    for shown in [
        "Sent; your team made the column",
        "Sent; a request made the column",
        "VIP",
        "Computed: IF(Spent",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("&#60;b&#62;Miles") && !page.contains("<b>Miles"));
    let foreigner = super::foreigner(&stack, &url).await;
    assert_eq!(
        foreigner
            .get(&format!("/address-book/entries/{id}"))
            .await
            .status,
        404
    );
    assert!(names(&foreigner.get("/address-book").await.html).is_empty());
}

/// The status of a declaration of the field `score` with this type.
async fn declared(crm: &CrmClient, field_type: &str) -> u16 {
    crm.declare_fields(json!([{"key": "score", "type": field_type}]))
        .await
        .status
        .as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_column_refuses_another_type_and_an_unlocked_one_takes_it() {
    let mut crm = CrmClient::with_settings(Vec::new()).await;
    let url = crm.stack.start_console().await;
    let admin = member(&crm.stack, &url, MemberRole::Admin).await;
    let made = admin
        .post(
            "/address-book/columns",
            &[("name", "Score"), ("type", "number")],
        )
        .await;
    assert_eq!(made.location(), "/address-book/columns?notice=column-saved");
    assert_eq!(declared(&crm, "text").await, 409);
    let unlocked = admin
        .post("/address-book/columns/unlock", &[("column", "score")])
        .await;
    assert_eq!(
        unlocked.location(),
        "/address-book/columns?notice=column-unlocked"
    );
    assert_eq!(declared(&crm, "text").await, 200);
    admin
        .post("/address-book/columns/lock", &[("column", "score")])
        .await;
    assert_eq!(declared(&crm, "number").await, 409);
    let missing = admin
        .post("/address-book/columns/lock", &[("column", "nothing")])
        .await;
    assert_eq!(missing.status, 404);
    let twice = admin
        .post(
            "/address-book/columns",
            &[("name", "score"), ("type", "text")],
        )
        .await;
    assert!(
        twice
            .html
            .contains("There is a column of this name already."),
        "{}",
        twice.html
    );
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("column.created")
            && log.contains("column.unlocked")
            && log.contains("column.locked")
    );
}

async fn preview(visitor: &ConsoleClient, name: &str, formula: &str) -> String {
    let form = [("name", name), ("formula", formula)];
    visitor
        .post("/address-book/formula/preview", &form)
        .await
        .html
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formula_is_previewed_with_people_saved_and_mails_by_its_result() {
    let (stack, url) = console().await;
    stack
        .send_recipients(&[named(1, "ada", "Miles", json!({}))])
        .await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let formula = "PROPER(first_name) + \"!\"";
    assert!(preview(&admin, "", formula).await.contains("<td>Ada!</td>"));
    let wrong = preview(&admin, "", "PROPR(first_name)").await;
    assert!(
        wrong.contains("Character 1") && wrong.contains("PROPER"),
        "{wrong}"
    );
    let form = [("name", "Hello"), ("formula", "PROPR(first_name)")];
    assert!(
        admin
            .post("/address-book/formula", &form)
            .await
            .html
            .contains("Character 1")
    );
    let saved = admin
        .post(
            "/address-book/formula",
            &[("name", "Hello"), ("formula", formula)],
        )
        .await;
    assert_eq!(
        saved.location(),
        "/address-book/columns?notice=column-saved",
        "{}",
        saved.html
    );
    let page = admin.get("/address-book/formula?name=hello").await.html;
    assert!(
        page.contains("Ada!") && page.contains("Ada Marsh"),
        "who changed it is shown: {page}"
    );
    let conditions = json!({"all": [{"column": "Hello", "operator": "is", "value": "Ada!"}]});
    stack.save_campaign(json!({"conditions": conditions})).await;
    let sent = stack
        .send_recipients_to(
            CAMPAIGN,
            &[
                named(2, "ada", "Else", json!({})),
                named(3, "bo", "Else", json!({})),
            ],
        )
        .await;
    assert_eq!(sent.reasons(), ["mailed", "filtered_conditions"]);
    let taken = admin
        .post(
            "/address-book/formula",
            &[("name", "hello"), ("formula", "LEN(first_name)")],
        )
        .await;
    assert!(
        taken.status == 422 && taken.html.contains("has a column named Hello already"),
        "{}",
        taken.html
    );
    let form = [("name", "Hello"), ("formula", "LEN(first_name)")];
    let lost = admin
        .save_form(
            "/address-book/formula?name=hello",
            "/address-book/formula",
            &form,
        )
        .await;
    assert!(
        lost.html.contains("Campaigns filter on the column"),
        "{}",
        lost.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn contacts_of_an_integration_are_listed_and_found_by_their_id() {
    let mut crm = CrmClient::start().await;
    let url = crm.stack.start_console().await;
    let record = json!({"external_id": "a/b?1", "fields": {"first": "Ann", "score": 3}});
    crm.run_sync("full", &[record]).await;
    let visitor = member(&crm.stack, &url, MemberRole::Member).await;
    let team_id = crm.stack.store.list_teams("", 1).await.unwrap()[0].team_id;
    let integration = crm.stack.store.list_integrations(team_id).await.unwrap()[0].integration_id;
    let address = format!("/address-book/contacts/{integration}");
    let list = visitor.get(&address).await.html;
    assert!(
        list.contains("/contact?id=a%2Fb%3F1") && list.contains("Ann"),
        "{list}"
    );
    let contact = visitor
        .get(&format!("{address}/contact?id=a%2Fb%3F1"))
        .await
        .html;
    assert!(
        contact.contains("first_name") && contact.contains("<code>first</code>"),
        "{contact}"
    );
    assert!(
        visitor
            .get(&format!("{address}/contact?id=other"))
            .await
            .html
            .contains("no contact with the id")
    );
    let foreigner = super::foreigner(&crm.stack, &url).await;
    assert_eq!(foreigner.get(&address).await.status, 404);
    assert_eq!(
        foreigner
            .get(&format!("{address}/contact?id=a"))
            .await
            .status,
        404
    );
}
