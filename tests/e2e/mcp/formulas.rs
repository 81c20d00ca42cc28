//! The tools of the Formula server: what they answer, how they fail, and that a save is done once.

use pillarbox_tests::{
    CAMPAIGN, SpawnedProcess, StackOptions, TestStack, build_recipient, wait_until,
};
use serde_json::{Value, json};

use super::{FORMULA_KEY, Mcp};

/// Greets a person by the name or else as a neighbor.
const GREETING: &str = "IF(first_name == \"\", \"neighbor\", PROPER(first_name))";

async fn save(server: &Mcp<'_>, name: &str, formula: &str) -> Result<Value, Value> {
    server
        .call("save_formula", json!({"name": name, "formula": formula}))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn list_columns_shows_every_column_with_its_type_page_by_page() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let columns = json!([{"name": "Spent", "type": "number"}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
    save(&server, "Greeting", GREETING).await.unwrap();
    let all = server.call("list_columns", json!({})).await.unwrap();
    let listed = all["columns"].as_array().unwrap();
    assert_eq!(
        listed[0],
        json!({"name": "first_name", "type": "text", "kind": "built_in"})
    );
    assert!(listed.contains(&json!({"name": "Spent", "type": "number", "kind": "custom"})));
    assert!(listed.contains(
        &json!({"name": "Greeting", "type": "text", "kind": "formula", "formula": GREETING})
    ));
    let (mut after, mut paged) = (Value::Null, Vec::new());
    loop {
        let page = server
            .call("list_columns", json!({"limit": 5, "after": after}))
            .await
            .unwrap();
        paged.extend(page["columns"].as_array().unwrap().clone());
        after = page["nextAfter"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(paged, *listed);
    let found = server
        .call("list_columns", json!({"search": "GREET"}))
        .await
        .unwrap();
    assert_eq!(found["columns"].as_array().unwrap().len(), 1);
    for wrong in [
        json!({"limit": 0}),
        json!({"limit": 201}),
        json!({"after": "nothing"}),
        json!({"search": 7}),
    ] {
        assert_eq!(
            server.failure("list_columns", wrong.clone()).await,
            "invalid_request",
            "{wrong}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formula_that_is_saved_with_a_key_is_in_the_team_s_activity_log_once() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    for _ in 0..2 {
        save(&server, "Greeting", GREETING).await.unwrap();
    }
    let sql = "SELECT actor_name, action, subject FROM activities WHERE action LIKE 'formula.%'";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    let entries: Vec<[String; 3]> = rows
        .iter()
        .map(|row| [0, 1, 2].map(|at| row.get(at)))
        .collect();
    let key = "SELECT name FROM api_keys WHERE kind = 'full_access'";
    let key: String = stack.sql.query_one(key, &[]).await.unwrap().get(0);
    assert_eq!(
        entries,
        [[
            format!("API key {key}"),
            "formula.saved".to_owned(),
            "Greeting".to_owned()
        ]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn list_functions_shows_each_with_an_example_that_gives_its_result() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let all = server.call("list_functions", json!({})).await.unwrap()["functions"]
        .as_array()
        .unwrap()
        .clone();
    let names: Vec<_> = all
        .iter()
        .map(|function| function["name"].as_str().unwrap())
        .collect();
    assert!(
        ["IF", "PROPER", "ROUND"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    let text = server
        .call("list_functions", json!({"category": "text"}))
        .await
        .unwrap();
    assert!(
        text["functions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|function| function["category"] == "text")
    );
    let found = server
        .call("list_functions", json!({"search": "proper"}))
        .await
        .unwrap();
    assert!(
        found["functions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|function| function["name"] == "PROPER")
    );
    assert_eq!(
        server
            .failure("list_functions", json!({"category": "magic"}))
            .await,
        "invalid_request"
    );
    for function in all.iter().filter(|function| function["category"] != "date") {
        let formula = json!({"formula": function["example"], "rows": [{}]});
        let preview = server.call("preview_formula", formula).await.unwrap();
        let result = preview["rows"][0]["result"].as_str().unwrap_or_default();
        assert_eq!(result, function["result"], "{function}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_formula_gives_the_type_or_problems_with_their_places() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let good = server
        .call("check_formula", json!({"formula": GREETING}))
        .await
        .unwrap();
    assert_eq!(
        good,
        json!({"valid": true, "type": "text", "columns": ["first_name"], "problems": []})
    );
    let bad = server
        .call("check_formula", json!({"formula": "PROPPER(first_name)"}))
        .await
        .unwrap();
    assert_eq!(
        (&bad["valid"], &bad["columns"]),
        (&json!(false), &json!([]))
    );
    let problem = &bad["problems"][0];
    assert_eq!(
        (&problem["offset"], &problem["excerpt"]),
        (&json!(0), &json!("PROPPER"))
    );
    assert!(
        problem.to_string().contains("PROPER"),
        "the nearest function is suggested: {problem}"
    );
    let endless = "(".repeat(5000);
    let refused = server
        .call("check_formula", json!({ "formula": endless }))
        .await
        .unwrap();
    assert_eq!(refused["valid"], false, "a hostile formula is refused");
    assert_eq!(
        server.failure("check_formula", json!({})).await,
        "invalid_request"
    );
    let unwritable = json!({"formula": "1", "name": "br{ace"});
    assert_eq!(
        server.failure("check_formula", unwritable).await,
        "invalid_request"
    );
    let taken = json!({"formula": "1", "name": "first_name"});
    assert_eq!(
        server.failure("check_formula", taken).await,
        "not_a_formula_column"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn preview_formula_computes_given_rows_and_people_of_the_address_book() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let rows = json!([{"First_Name": "ann"}, {"first_name": null, "city": "Austin"}, {}]);
    let given = server
        .call(
            "preview_formula",
            json!({"formula": GREETING, "rows": rows}),
        )
        .await
        .unwrap();
    assert_eq!(
        (&given["source"], &given["type"]),
        (&json!("rows"), &json!("text"))
    );
    let results: Vec<_> = given["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["result"].clone())
        .collect();
    assert_eq!(results, ["Ann", "neighbor", "neighbor"]);
    assert_eq!(
        given["rows"][1]["values"],
        json!({"first_name": null}),
        "only what the formula uses is shown"
    );
    let unknown =
        json!({"formula": "UPPER(city)", "rows": [{"city": "Waco", "frist_name": "ann"}]});
    let unknown = server.call("preview_formula", unknown).await.unwrap();
    assert_eq!(
        (&unknown["unknownColumns"], &unknown["rows"][0]["result"]),
        (&json!(["frist_name"]), &json!("WACO"))
    );
    let divided = json!({"formula": "1 / 0", "rows": [{}]});
    let blank = server.call("preview_formula", divided).await.unwrap()["rows"][0].clone();
    assert_eq!(blank["result"], Value::Null);
    assert!(!blank["reason"].as_str().unwrap().is_empty());

    let empty = server
        .call("preview_formula", json!({"formula": GREETING}))
        .await
        .unwrap();
    assert_eq!(
        (&empty["source"], &empty["rows"]),
        (&json!("address_book"), &json!([]))
    );
    stack
        .send_recipients(&[build_recipient(1), build_recipient(2), build_recipient(3)])
        .await;
    save(&server, "Greeting", GREETING).await.unwrap();
    let stored = server
        .call("preview_formula", json!({"name": "greeting", "limit": 2}))
        .await
        .unwrap();
    let results: Vec<_> = stored["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["result"].clone())
        .collect();
    assert_eq!(results, ["Pat", "Pat"]);

    assert_eq!(
        server.failure("preview_formula", json!({})).await,
        "invalid_request"
    );
    assert_eq!(
        server
            .failure("preview_formula", json!({"name": "nothing"}))
            .await,
        "column_not_found"
    );
    assert_eq!(
        server
            .failure("preview_formula", json!({"name": "city"}))
            .await,
        "not_a_formula_column"
    );
    let many = json!({"formula": "1", "rows": vec![json!({}); 101]});
    assert_eq!(
        server.failure("preview_formula", many).await,
        "invalid_request"
    );
    let long = json!({"formula": "1", "padding": " ".repeat(256 * 1024)});
    assert_eq!(
        server.failure("preview_formula", long).await,
        "invalid_request"
    );
    let failure = server
        .call("preview_formula", json!({"formula": "first_nam"}))
        .await
        .unwrap_err();
    assert_eq!(failure["error"], "invalid_formula");
    assert!(
        failure["details"]["problems"][0]
            .to_string()
            .contains("first_name"),
        "{failure}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn check_formula_warns_of_a_blank_that_is_passed_over() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let columns = json!([{"name": "Spent", "type": "number"}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
    let checked = async |formula: &str| {
        server
            .call("check_formula", json!({ "formula": formula }))
            .await
            .unwrap()
    };
    let answer = checked("MIN(30, Spent / 10) + \" %\"").await;
    assert_eq!(answer["valid"], true);
    let warning = &answer["warnings"][0];
    assert!(
        warning["message"].as_str().unwrap().contains("Spent"),
        "{warning}"
    );
    assert_eq!(
        (&warning["offset"], &warning["excerpt"]),
        (&json!(0), &json!("MIN(30, Spent / 10"))
    );
    let said = checked("IF(ISBLANK(Spent), \"\", MIN(30, Spent / 10) + \" %\")").await;
    assert_eq!(said.get("warnings"), None);
}

/// What a preview on the address book shows to a key.
async fn previewed(server: &Mcp<'_>, formula: &str) -> Value {
    server
        .call("preview_formula", json!({ "formula": formula }))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formulas_only_key_sees_people_masked_unless_the_team_lets_it() {
    let stack = TestStack::start().await;
    let full_access = Mcp::formulas_ready(&stack).await;
    let team = |setting: Value| {
        let keys = json!([{"kind": "formulas", "name": "Agent", "key": FORMULA_KEY}]);
        let mut team =
            json!({"name": "Test", "keys": keys, "columns": [{"name": "Spent", "type": "number"}]});
        team.as_object_mut()
            .unwrap()
            .extend(setting.as_object().unwrap().clone());
        json!({ "teams": [team] })
    };
    stack.apply_team(team(json!({}))).await;
    let mut sent = build_recipient(1);
    sent["email"] = json!("pat.secret@example.com");
    sent["Spent"] = json!("1250");
    assert_eq!(
        stack
            .send_recipients(std::slice::from_ref(&sent))
            .await
            .status,
        200
    );
    let agent = Mcp {
        key: FORMULA_KEY,
        ..Mcp::formulas(&stack)
    };
    let every = "CONCAT(first_name, last_name, address_1, address_2, city, zip, email, phone, birthday, Spent)";
    let open = previewed(&full_access, every).await;
    assert_eq!(open.get("masked"), None);
    let values = open["rows"][0]["values"].as_object().unwrap().clone();
    let masked = previewed(&agent, every).await;
    assert_eq!(
        (&masked["masked"], &masked["source"]),
        (&json!(true), &json!("address_book"))
    );
    for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
        let value = value.as_str().unwrap();
        assert!(!masked.to_string().contains(value), "{name}: {masked}");
    }
    assert_eq!(masked["rows"][0]["values"]["Spent"], "1000");
    // A formula does not get behind it, whatever it takes apart.
    for (formula, shown) in [
        ("first_name", "P…"),
        ("MID(first_name, 2, 9)", "…"),
        ("LEN(first_name)", "2"),
        ("first_name == \"Pat\"", "no"),
        ("REGEXEXTRACT(email, \"@(.*)\")", "e….c…"),
        ("IF(Spent >= 1000, \"VIP\", \"\")", "VIP"),
        ("Spent > 1000", "no"),
    ] {
        assert_eq!(
            previewed(&agent, formula).await["rows"][0]["result"],
            shown,
            "{formula}"
        );
    }
    // What it brings itself it sees.
    let own = json!({"formula": "UPPER(first_name)", "rows": [{"first_name": "Ann"}]});
    let own = agent.call("preview_formula", own).await.unwrap();
    assert_eq!(
        (own.get("masked"), &own["rows"][0]["result"]),
        (None, &json!("ANN"))
    );
    stack
        .apply_team(team(json!({"formula_keys_see_people": true})))
        .await;
    assert_eq!(
        previewed(&agent, "first_name").await["rows"][0]["result"],
        "Pat"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn save_formula_creates_changes_and_leaves_alone_and_every_change_is_written_down() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let saved = save(&server, "Greeting", GREETING).await.unwrap();
    assert_eq!(
        saved,
        json!({"name": "Greeting", "outcome": "created", "formula": GREETING, "type": "text"})
    );
    assert_eq!(
        save(&server, " greeting ", GREETING).await.unwrap()["outcome"],
        "unchanged"
    );
    let changed = save(&server, "GREETING", "LEN(first_name)").await.unwrap();
    assert_eq!(
        changed,
        json!({"name": "Greeting", "outcome": "changed", "formula": "LEN(first_name)", "type": "number",
               "previousFormula": GREETING})
    );
    let explained = server
        .call("explain_formula", json!({"name": "Greeting"}))
        .await
        .unwrap();
    let changes = explained["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(
        (&changes[0]["previousFormula"], &changes[0]["byKey"]),
        (&json!(GREETING), &json!("Tests"))
    );
    assert_eq!(changes[1]["previousFormula"], Value::Null);
    for (name, formula, code) in [
        ("Greeting", "PROPPER(first_name)", "invalid_formula"),
        ("Greeting", "Greeting + 1", "invalid_formula"),
        ("city", "1", "not_a_formula_column"),
        ("a{b", "1", "invalid_request"),
        ("", "1", "invalid_request"),
    ] {
        assert_eq!(
            save(&server, name, formula).await.unwrap_err()["error"],
            code,
            "{name}: {formula}"
        );
    }
    let failure = save(&server, "New", "Nwe * 2").await.unwrap_err();
    assert!(
        failure["message"]
            .as_str()
            .unwrap()
            .starts_with("At character 1: "),
        "{failure}"
    );
    let kept = server
        .call("explain_formula", json!({"name": "Greeting"}))
        .await
        .unwrap();
    assert_eq!(
        kept["formula"], "LEN(first_name)",
        "what failed has changed nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_circle_of_columns_is_refused_and_a_change_that_breaks_another_column_too() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    save(&server, "Length", "LEN(first_name)").await.unwrap();
    save(&server, "Double", "Length * 2").await.unwrap();
    let failure = save(&server, "Length", "Double + 1").await.unwrap_err();
    assert_eq!(failure["error"], "invalid_formula");
    let check = json!({"name": "Length", "formula": "Double + 1"});
    assert_eq!(
        server.call("check_formula", check).await.unwrap()["valid"],
        false
    );
    let used = server
        .call("explain_formula", json!({"name": "Length"}))
        .await
        .unwrap();
    assert_eq!(used["usedBy"]["formulas"], json!(["Double"]));
    assert_eq!(used["columns"], json!(["first_name"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_formula_shows_the_campaigns_designs_and_links_that_use_the_column() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    save(&server, "Length", "LEN(first_name)").await.unwrap();
    let unused = server
        .call("explain_formula", json!({"name": "length"}))
        .await
        .unwrap();
    assert_eq!(
        unused["usedBy"],
        json!({"formulas": [], "campaigns": [], "designs": [], "isComplete": true})
    );
    let design = json!({"name": "Linked", "document": {
        "product": "postcard_4x6",
        "front": {"elements": [{"id": "code", "kind": "qr_code",
            "area": {"x": 20, "y": 100, "width": 80, "height": 80},
            "destination": "https://example.com/?l={{LENGTH}}", "fallback_link": "https://example.com/"}]},
        "back": {"elements": []},
    }});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "designs": [design]}]}))
        .await;
    let conditions = json!({"all": [{"column": "Length", "operator": "greater", "value": 3}]});
    stack.save_campaign(json!({"conditions": conditions})).await;
    let used = server
        .call("explain_formula", json!({"name": "Length"}))
        .await
        .unwrap();
    assert_eq!(
        used["usedBy"],
        json!({"formulas": [], "campaigns": [{"id": CAMPAIGN, "name": "Test"}],
               "designs": [{"name": "Linked", "as": ["link"]}], "isComplete": true})
    );
    let failure = save(&server, "Length", "first_name").await.unwrap_err();
    assert_eq!(
        (&failure["error"], &failure["details"]),
        (
            &json!("type_in_use"),
            &json!({"column": "Length", "campaigns": [CAMPAIGN]})
        )
    );
    assert_eq!(
        save(&server, "Length", "LEN(last_name)").await.unwrap()["outcome"],
        "changed"
    );
    assert_eq!(
        server
            .failure("explain_formula", json!({"name": "nothing"}))
            .await,
        "column_not_found"
    );
    assert_eq!(
        server
            .failure("explain_formula", json!({"name": "city"}))
            .await,
        "not_a_formula_column"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_has_at_most_100_formula_columns() {
    let stack = TestStack::start().await;
    let server = Mcp::formulas_ready(&stack).await;
    let sql = "INSERT INTO address_columns (team_id, column_id, name, name_key, type, kind, source, created_at, formula)
               SELECT team_id, gen_random_uuid(), 'f' || n, 'f' || n, 'number', 'formula', 'owner', now(), '1'
               FROM teams, generate_series(1, 100) AS n WHERE teams.name = 'Test'";
    stack.sql.execute(sql, &[]).await.unwrap();
    let failure = save(&server, "one more", "1").await.unwrap_err();
    assert_eq!(
        (&failure["error"], &failure["details"]),
        (&json!("too_many_formulas"), &json!({"limit": 100}))
    );
    assert_eq!(
        save(&server, "f7", "2").await.unwrap()["outcome"],
        "changed"
    );
    // What is not saved takes no place, and a name that could not be saved is not checked as if it could.
    assert_eq!(
        server
            .call("check_formula", json!({"formula": "f7 + 1"}))
            .await
            .unwrap()["valid"],
        true
    );
    let preview = json!({"formula": "f7 + 1", "rows": [{}]});
    assert_eq!(
        server.call("preview_formula", preview).await.unwrap()["rows"][0]["result"],
        "3"
    );
    let named = json!({"formula": "1", "name": "one more"});
    assert_eq!(
        server.failure("check_formula", named).await,
        "too_many_formulas"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formulas_only_key_works_on_its_own_team_and_sees_no_other() {
    let stack = TestStack::start().await;
    save(&Mcp::formulas_ready(&stack).await, "Secret", "1")
        .await
        .unwrap();
    let other = json!({"name": "Other", "time_zone": "UTC", "keys": [{"kind": "formulas", "name": "A", "key": FORMULA_KEY}]});
    stack.apply_team(json!({"teams": [other]})).await;
    let server = Mcp {
        key: FORMULA_KEY,
        ..Mcp::formulas(&stack)
    };
    assert_eq!(
        server
            .failure("explain_formula", json!({"name": "Secret"}))
            .await,
        "column_not_found"
    );
    assert_eq!(
        save(&server, "Secret", "2").await.unwrap()["outcome"],
        "created"
    );
    assert_eq!(
        save(&Mcp::formulas(&stack), "Secret", "1").await.unwrap()["outcome"],
        "unchanged"
    );
}

/// A save whose mailer dies at a point is delivered to another one and done once.
async fn dies_at(point: &'static str) {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some(point));
    let server = Mcp::formulas_ready(&stack).await;
    let dies = async {
        let doomed = tokio::sync::Mutex::new(&mut doomed);
        wait_until("the mailer dies at its fail point", async || {
            doomed.lock().await.has_ended()
        })
        .await;
        SpawnedProcess::start("mailer", &stack.settings, None)
    };
    let (saved, _second) = tokio::join!(save(&server, "Greeting", GREETING), dies);
    assert_eq!(
        saved.unwrap()["outcome"],
        "created",
        "the answer is that of the save that was done"
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM formula_changes")
            .await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_columns WHERE kind = 'formula'")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_the_commit() {
    dies_at("formula.saved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_the_commit_before_the_reply() {
    dies_at("formula.committed").await;
}
