//! Campaigns: what is set here decides what the API does.

use pillarbox_tests::{
    ADDRESS, CAMPAIGN, ConsoleClient, TestStack, build_recipient, build_recipients,
    postcard_design, text_box, wait_until,
};
use serde_json::{Value, json};
use store::MemberRole;

use super::{console, foreigner, member};

fn path(rest: &str) -> String {
    format!("/campaigns/{CAMPAIGN}{rest}")
}

/// A square around a place, in degrees.
fn square(longitude: f64, latitude: f64) -> String {
    let (west, south, east, north) = (
        longitude - 1.0,
        latitude - 1.0,
        longitude + 1.0,
        latitude + 1.0,
    );
    json!({ "type": "Polygon", "coordinates": [[[west, south], [east, south], [east, north], [west, north], [west, south]]] })
        .to_string()
}

async fn stored_conditions(stack: &TestStack) -> Option<Value> {
    let row = stack
        .sql
        .query_one("SELECT conditions FROM campaigns", &[])
        .await
        .unwrap();
    row.get(0)
}

/// A form of conditions, as the page sends it: one group with these conditions.
fn form<'a>(
    conditions: &'a [[&'a str; 4]],
    names: &'a [[String; 5]],
    pressed: &'a str,
) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("do", pressed),
        ("part.0.parent", "0"),
        ("part.0.group", "all"),
    ];
    for (names, [column, operator, value, until]) in names.iter().zip(conditions) {
        let values = ["0", column, operator, value, until];
        fields.extend(names.iter().map(String::as_str).zip(values));
    }
    fields
}

/// The names of the fields of so many conditions.
fn names(conditions: usize) -> Vec<[String; 5]> {
    let fields = ["parent", "column", "operator", "value", "until"];
    (1..=conditions)
        .map(|position| fields.map(|field| format!("part.{position}.{field}")))
        .collect()
}

async fn post_conditions(
    person: &ConsoleClient,
    conditions: &[[&str; 4]],
    pressed: &str,
) -> pillarbox_tests::ConsoleResponse {
    let (names, page) = (names(conditions.len()), path("/conditions"));
    person
        .save_form(&page, &page, &form(conditions, &names, pressed))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_paused_here_refuses_requests_until_it_is_activated_here() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    assert!(admin.get("/campaigns").await.html.contains(&path("")));
    let paused = admin.post(&path("/pause"), &[]).await;
    assert_eq!(paused.location(), path("?notice=campaign-paused"));
    assert!(
        admin
            .get(paused.location())
            .await
            .html
            .contains("Its requests are refused")
    );
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.error(),
        (409, "campaign_not_active".to_owned())
    );
    admin.post(&path("/activate"), &[]).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let page = admin.get(&path("")).await.html;
    for shown in [
        "$0.79",
        "No limit",
        "Mailed",
        "Step 1",
        "everybody is mailed",
        "Active",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let log = admin.get("/activity").await.html;
    assert!(log.contains("campaign.paused") && log.contains("campaign.activated"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_held_here_keeps_its_mailpieces_until_it_is_released_here() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let reader = member(&stack, &url, MemberRole::Member).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    assert_eq!(reader.post(&path("/hold"), &[]).await.status, 403);
    let held = admin.post(&path("/hold"), &[]).await;
    assert_eq!(held.location(), path("?notice=campaign-held"));
    let page = admin.get(held.location()).await.html;
    assert!(page.contains("Held since"), "{page}");
    assert!(page.contains("Release mailpieces"), "{page}");
    let of_campaign = "SELECT count(*) FROM mailpieces WHERE withheld = 'held'";
    wait_until("it is out of the queue", async || {
        stack.query_count(of_campaign).await == 1
    })
    .await;
    let by_member =
        "SELECT count(*) FROM mailpiece_events WHERE state = 'held' AND source = 'console'";
    assert_eq!(stack.query_count(by_member).await, 1);
    let released = admin.post(&path("/release"), &[]).await;
    assert_eq!(released.location(), path("?notice=campaign-released"));
    let page = admin.get(released.location()).await.html;
    assert!(
        page.contains("Hold mailpieces") && !page.contains("Held since"),
        "{page}"
    );
    wait_until("it is back in the queue", async || {
        stack.query_count(of_campaign).await == 0
    })
    .await;
    let log = admin.get("/activity").await.html;
    assert!(log.contains("campaign.held") && log.contains("campaign.released"));
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_built_here_by_round_trips_decide_who_waits() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    let scored = |number: usize, score: i64| {
        let mut person = build_recipient(number);
        person["score"] = score.into();
        person
    };
    assert_eq!(
        stack
            .send_recipients(&[scored(1, 5), scored(2, 50)])
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    // Nothing but saving changes the campaign.
    let added = post_conditions(&admin, &[], "add-condition:0").await;
    assert!(added.html.contains("part.1.column"), "{}", added.html);
    let fitting = post_conditions(&admin, &[["score", "between", "1", "9"]], "columns").await;
    assert!(
        fitting.html.contains("is at least") && fitting.html.contains("part.1.until"),
        "{}",
        fitting.html
    );
    let wrong = post_conditions(&admin, &[["score", "greater", "many", ""]], "save").await;
    assert!(
        wrong.html.contains("must be a number") && wrong.html.contains("value=\"many\""),
        "{}",
        wrong.html
    );
    let unknown = post_conditions(&admin, &[["shoe size", "is", "9", ""]], "save").await;
    assert!(
        unknown.html.contains("Your team has no column named"),
        "{}",
        unknown.html
    );
    assert_eq!((wrong.status.as_u16(), unknown.status.as_u16()), (422, 422));
    assert_eq!(stored_conditions(&stack).await, None);
    let counted = post_conditions(&admin, &[["score", "greater", "10", ""]], "count").await;
    assert!(
        counted
            .html
            .contains("1 of the 2 recipients received match."),
        "{}",
        counted.html
    );
    let saved = post_conditions(&admin, &[["score", "greater", "10", ""]], "save").await;
    assert_eq!(
        saved.location(),
        path("/conditions?notice=conditions-saved"),
        "{}",
        saved.html
    );
    let expected = json!({ "all": [{ "column": "score", "operator": "greater", "value": 10 }] });
    assert_eq!(stored_conditions(&stack).await, Some(expected));
    assert_eq!(
        stack
            .send_recipients(&[scored(3, 5), scored(4, 50)])
            .await
            .reasons(),
        ["filtered_conditions", "mailed"]
    );
    assert!(
        admin
            .get(&path(""))
            .await
            .html
            .contains("score is greater than 10")
    );
    // No conditions are none.
    post_conditions(&admin, &[], "save").await;
    assert_eq!(stored_conditions(&stack).await, None);
    assert_eq!(
        stack.send_recipients(&[scored(5, 5)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_groups_of_a_file_are_shown_and_kept() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let conditions = json!({ "any": [
        { "column": "state", "operator": "is_one_of", "value": ["TX", "OK"] },
        { "all": [{ "column": "birthday", "operator": "anniversary_today" }] },
    ] });
    stack
        .save_campaign(json!({ "conditions": conditions }))
        .await;
    let page = admin.get(&path("/conditions")).await.html;
    assert!(
        page.contains("TX\nOK") && page.matches("<fieldset class=\"group\">").count() == 2,
        "{page}"
    );
    let fields = [
        ("do", "save"),
        ("part.0.parent", "0"),
        ("part.0.group", "any"),
        ("part.1.parent", "0"),
        ("part.1.column", "state"),
        ("part.1.operator", "is_one_of"),
        ("part.1.value", "TX\r\nOK\r\n"),
        ("part.2.parent", "0"),
        ("part.2.group", "all"),
        ("part.3.parent", "2"),
        ("part.3.column", "birthday"),
        ("part.3.operator", "anniversary_today"),
    ];
    let saved = admin
        .save_form(&path("/conditions"), &path("/conditions"), &fields)
        .await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    assert_eq!(stored_conditions(&stack).await, Some(conditions));
    let forged = admin
        .post(
            &path("/conditions"),
            &[("do", "save"), ("part.7.group", "all")],
        )
        .await;
    assert_eq!(forged.status, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_area_uploaded_here_is_drawn_and_filters_by_place() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let denver = square(-105.0, 39.7);
    let changed = admin
        .upload_form(
            &path("/area"),
            &[("do", "change"), ("file", &denver), ("text", "")],
        )
        .await;
    assert_eq!(
        changed.location(),
        path("/area?notice=area-changed"),
        "{}",
        changed.html
    );
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["filtered_location"]
    );
    let page = admin.get(&path("/area")).await.html;
    assert!(
        page.contains("<path class=\"map-area\"") && page.contains("from latitude 38.700"),
        "{page}"
    );
    let line = json!({ "type": "LineString", "coordinates": [[0, 0], [1, 1]] }).to_string();
    let wrong = admin
        .upload_form(&path("/area"), &[("do", "change"), ("text", &line)])
        .await;
    assert_eq!(wrong.status, 422);
    assert!(
        wrong
            .html
            .contains("must be a Polygon or MultiPolygon, not a LineString"),
        "{}",
        wrong.html
    );
    let bow_tie =
        json!({"type": "Polygon", "coordinates": [[[0, 0], [4, 4], [4, 0], [0, 4], [0, 0]]]})
            .to_string();
    let crossed = admin
        .upload_form(&path("/area"), &[("do", "change"), ("text", &bow_tie)])
        .await;
    assert!(
        crossed.status == 422 && crossed.html.contains("crosses itself near"),
        "{}",
        crossed.html
    );
    assert!(
        wrong.html.contains("LineString&#34;"),
        "what was pasted is kept"
    );
    let austin = square(-97.7, 30.3);
    admin
        .upload_form(&path("/area"), &[("do", "change"), ("text", &austin)])
        .await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(2)]).await.reasons(),
        ["mailed"]
    );
    let removed = admin.upload_form(&path("/area"), &[("do", "remove")]).await;
    assert_eq!(removed.location(), path("/area?notice=area-removed"));
    assert!(
        admin
            .get(&path("/area"))
            .await
            .html
            .contains("addresses everywhere are mailed")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_listed_here_is_not_mailed_until_it_is_taken_off_here() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let list = path("/do-not-mail");
    assert!(admin.get(&list).await.html.contains("The list is empty"));
    let wrong = admin.post(&list, &[("address", "nowhere <at all>")]).await;
    assert!(
        wrong.html.contains("cannot be mailed") && wrong.html.contains("nowhere &#60;at all&#62;")
    );
    admin.post(&list, &[("address", ADDRESS)]).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1, 2]))
            .await
            .reasons(),
        ["do_not_mail", "mailed"]
    );
    let page = admin.get(&format!("{list}?text=1%20MAIN")).await.html;
    assert!(page.contains("1 Main St, Austin, TX 78701"), "{page}");
    assert!(
        !admin
            .get(&format!("{list}?text=2"))
            .await
            .html
            .contains("1 Main St, Austin")
    );
    let id: uuid::Uuid = stack
        .sql
        .query_one("SELECT address_id FROM do_not_mail", &[])
        .await
        .unwrap()
        .get(0);
    let removed = admin
        .post(
            &format!("{list}/remove"),
            &[("address_id", &id.to_string())],
        )
        .await;
    assert_eq!(
        removed.location(),
        format!("{list}?notice=address-unlisted")
    );
    let again = admin
        .post(
            &format!("{list}/remove"),
            &[("address_id", &id.to_string())],
        )
        .await;
    assert!(
        admin
            .get(again.location())
            .await
            .html
            .contains("already off the list"),
        "{}",
        again.html
    );
    stack.clock.advance(chrono::TimeDelta::minutes(16));
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1]))
            .await
            .reasons(),
        ["mailed"]
    );
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("do_not_mail.added")
            && log.contains("do_not_mail.removed")
            && log.contains("1 Main St")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_addresses_is_taken_and_its_bad_lines_are_told() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let upload = path("/do-not-mail/upload");
    let mut file = "address_1,city,state,zip\n".to_owned();
    (1..=120).for_each(|number| file.push_str(&format!("{number} Main St,Austin,TX,78701\n")));
    file.push_str("nowhere at all,Austin,TX,\n");
    let taken = admin.upload_form(&upload, &[("file", &file)]).await.html;
    assert!(
        taken.contains("120 addresses were added; 0 were on the list already."),
        "{taken}"
    );
    assert!(
        taken.contains("1 lines could not be taken") && taken.contains(">122</th>"),
        "{taken}"
    );
    let again = admin.upload_form(&upload, &[("file", &file)]).await.html;
    assert!(
        again.contains("0 addresses were added; 120 were on the list already."),
        "{again}"
    );
    assert_eq!(
        stack
            .send_recipients(&build_recipients([7, 121]))
            .await
            .reasons(),
        ["do_not_mail", "mailed"]
    );
    // All of them are listed, page by page.
    let mut address = path("/do-not-mail");
    let mut found = 0;
    for _ in 0..5 {
        let page = admin.get(&address).await.html;
        found += page.matches("Austin, TX 78701</th>").count();
        let Some((_, next)) = page.split_once("/do-not-mail?text=") else {
            break;
        };
        address = format!(
            "{}?text={}",
            path("/do-not-mail"),
            next.split('"').next().unwrap().replace("&#38;", "&")
        );
    }
    assert_eq!(found, 120);
    let nameless = admin.upload_form(&upload, &[("file", "1 Main St\n")]).await;
    assert_eq!(nameless.status, 422);
    assert!(
        nameless
            .html
            .contains("The first line has to name the columns")
    );
    assert_eq!(
        admin.upload_form(&upload, &[("other", "x")]).await.status,
        422
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cards_of_a_step_are_pictures_that_browsers_keep_until_the_design_changes() {
    let (stack, url) = console().await;
    let person = member(&stack, &url, MemberRole::Member).await;
    let front = path("/steps/1/front");
    let picture = person.get(&front).await;
    assert_eq!(
        (picture.status.as_u16(), &picture.headers["content-type"]),
        (200, &"image/png".parse().unwrap())
    );
    let tag = picture.headers["etag"].to_str().unwrap().to_owned();
    let known = async || {
        person
            .request(
                reqwest::Method::GET,
                &front,
                &[],
                &[("if-none-match", &tag)],
            )
            .await
    };
    assert_eq!(known().await.status, 304);
    let document = postcard_design(&[text_box("hello", "Dear {{first_name}}")]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "designs": [{"name": "Card", "document": document}]}]}))
        .await;
    let changed = known().await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.headers["etag"], tag.as_str());
    for nothing in ["/steps/2/front", "/steps/1/side", "/steps/x/front"] {
        assert_eq!(person.get(&path(nothing)).await.status, 404, "{nothing}");
    }
    assert!(
        person
            .get(&path(""))
            .await
            .html
            .contains(&format!("src=\"{front}\""))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_team_s_campaign_is_nowhere() {
    let (stack, url) = console().await;
    stack.send_recipients(&[build_recipient(1)]).await;
    let foreigner = foreigner(&stack, &url).await;
    let entry: uuid::Uuid = stack
        .sql
        .query_one("SELECT entry_id FROM recipients", &[])
        .await
        .unwrap()
        .get(0);
    for page in [
        "",
        "/area",
        "/conditions",
        "/do-not-mail",
        "/recipients",
        "/recipients.csv",
        "/steps/1/front",
    ] {
        assert_eq!(foreigner.get(&path(page)).await.status, 404, "{page}");
    }
    let address = [("address", ADDRESS)];
    for (action, fields) in [
        ("/pause", &[][..]),
        ("/hold", &[][..]),
        ("/release", &[][..]),
        (
            "/conditions",
            &[
                ("do", "save"),
                ("part.0.parent", "0"),
                ("part.0.group", "all"),
            ][..],
        ),
        ("/do-not-mail", &address[..]),
        (
            "/do-not-mail/remove",
            &[("address_id", "00000000-0000-0000-0000-000000000001")][..],
        ),
        (&format!("/recipients/{entry}/remove"), &[][..]),
    ] {
        assert_eq!(
            foreigner.post(&path(action), fields).await.status,
            404,
            "{action}"
        );
    }
    let file = [("file", "address\n\"1 Main St, Austin, TX 78701\"\n")];
    assert_eq!(
        foreigner
            .upload_form(&path("/do-not-mail/upload"), &file)
            .await
            .status,
        404
    );
    assert_eq!(
        foreigner
            .upload_form(&path("/area"), &[("do", "remove")])
            .await
            .status,
        404
    );
    assert!(!foreigner.get("/campaigns").await.html.contains(CAMPAIGN));
    assert_eq!(
        stack.query_count("SELECT count(*) FROM do_not_mail").await,
        0
    );
    assert_eq!(
        stack.send_recipients(&[build_recipient(2)]).await.reasons(),
        ["mailed"]
    );
}
