//! What a file may say, and how it is told what is wrong.

use std::fs;

use address::{AddressInput, AddressVerdict};
use audience::{ColumnType, FilterConditions, GeoArea};
use contract::send::{SendRequest, SentRecipient};
use serde_json::json;

use super::check::check_conditions;
use super::*;

const DEMO_TEAM: &str = include_str!("../../../../deploy/demo/team.yaml");
const DEMO_RECIPIENTS: &str = include_str!("../../../../deploy/demo/recipients.json");

/// A small file that is right.
const TEAM: &str = r#"
teams:
- name: Garden
  users:
  - { email: Owner@Example.com, name: Rosa, role: owner }
  columns:
  - { name: Loyalty, type: number }
  designs:
  - { name: Card, document: { product: postcard_4x6, front: {}, back: {} } }
  campaigns:
  - id: PA-AAAAAA
    name: Spring
    budget: "$250.00"
    resend_protection_days: 90
    cancel_minutes: 30
    steps: [{ design: Card }, { design: Card, postage: first_class, delay_days: 14 }]
    do_not_mail:
    - 300 Alamo Plaza, San Antonio, TX 78205
    - { address_1: 1100 Congress Ave, city: Austin, state: TX, zip: "78701" }
  integrations:
  - name: CRM
    removal_guard_percent: 20
    keys: [{ name: Nightly, key: pk_int_GardenGardenGardenGard }]
  keys:
  - { kind: full_access, name: Shop }
  top_up: { amount: 5000, reference: first }
"#;

fn read_here(text: &str) -> Result<ApplyFile, ApplyError> {
    parse_file(text, Path::new("."))
}

/// What is said of the small file with `from` written as `to`.
fn error_with(from: &str, to: &str) -> String {
    assert!(TEAM.contains(from), "{from}");
    read_here(&TEAM.replacen(from, to, 1))
        .expect_err(to)
        .to_string()
}

#[test]
fn an_absent_field_means_its_default() {
    let file = read_here(TEAM).unwrap();
    let team = &file.teams[0];
    assert_eq!(team.time_zone, chrono_tz::America::New_York);
    assert_eq!(team.users[0].email.as_str(), "owner@example.com");
    let campaign = &team.campaigns[0];
    assert_eq!(campaign.budget.unwrap().cents(), 25_000);
    assert_eq!(campaign.status, file::StatusSpec::Active);
    assert_eq!(
        (
            campaign.steps[0].postage.as_str(),
            campaign.steps[0].delay_days
        ),
        ("standard", 0)
    );
    assert_eq!(
        (
            campaign.steps[1].postage.as_str(),
            campaign.steps[1].delay_days
        ),
        ("first_class", 14)
    );
    assert_eq!(
        campaign.do_not_mail[0].0.line,
        "300 Alamo Plz, San Antonio, TX 78205"
    );
}

#[test]
fn a_json_file_is_the_same_as_a_yaml_file() {
    let json = text::parse_document(TEAM).unwrap().to_string();
    assert_eq!(
        format!("{:?}", read_here(&json).unwrap()),
        format!("{:?}", read_here(TEAM).unwrap())
    );
}

#[test]
fn an_error_names_the_place_in_the_file_and_what_is_allowed() {
    for (from, to, expected) in [
        (
            "name: Garden",
            "title: Garden",
            "teams[0].title: unknown field `title`, expected one of `name`",
        ),
        (
            "role: owner",
            "role: boss",
            "teams[0].users[0].role: unknown variant `boss`, expected one of `owner`",
        ),
        (
            "Owner@Example.com",
            "Owner",
            "teams[0].users[0].email: \"owner\" is not an email address",
        ),
        (
            "role: owner",
            "role: owner, password: short",
            "teams[0].users[0].password: a password has 10 to 200",
        ),
        (
            "type: number",
            "type: money",
            "teams[0].columns[0].type: unknown variant `money`, expected one of `text`",
        ),
        (
            "type: number",
            "formula: '1', type: number",
            "teams[0].columns[0].type: is known of a formula",
        ),
        (
            "type: number",
            "formula: '1', prompt: x",
            "teams[0].columns[0]: a column has a formula or a prompt",
        ),
        (
            "type: number",
            "prompt: 'Greet {{first_name'",
            "teams[0].columns[0].prompt: \"{{\" is not closed",
        ),
        (
            "type: number",
            "prompt: ' '",
            "teams[0].columns[0].prompt: is empty",
        ),
        (
            "name: Loyalty",
            "name: ' Email '",
            "teams[0].columns[0].name: Email is a built-in column",
        ),
        (
            "name: Loyalty",
            "name: Reference",
            "teams[0].columns[0].name: Reference is the sender's own id",
        ),
        (
            "postcard_4x6",
            "postcard",
            "teams[0].designs[0] (\"Card\").document: The design cannot print: product",
        ),
        (
            "id: PA-AAAAAA",
            "id: PA-aaaaaa",
            "teams[0].campaigns[0].id: a campaign id is PA- and six",
        ),
        (
            "\"$250.00\"",
            "250.00",
            "teams[0].campaigns[0].budget: invalid type: floating point `250.0`",
        ),
        (
            "\"$250.00\"",
            "-1",
            "teams[0].campaigns[0].budget: -1 cents: must be from $0.01",
        ),
        (
            "days: 90",
            "days: 0",
            "teams[0].campaigns[0].resend_protection_days: must be 1 to",
        ),
        (
            "minutes: 30",
            "minutes: 10081",
            "teams[0].campaigns[0].cancel_minutes: must be 0 to",
        ),
        (
            "steps: [{ design: Card }, ",
            "steps: [{ delay_days: 1 }, ",
            "teams[0].campaigns[0].steps[0].delay_days",
        ),
        (
            "delay_days: 14",
            "delay_days: 0",
            "teams[0].campaigns[0].steps[1].delay_days: delay_days counts",
        ),
        (
            "300 Alamo Plaza",
            "Alamo Plaza",
            "teams[0].campaigns[0].do_not_mail[0]: \"Alamo Plaza, San Antonio",
        ),
        (
            "zip: \"78701\"",
            "zip: \"10001\"",
            "teams[0].campaigns[0].do_not_mail[1]: ZIP code 10001 is in NY",
        ),
        (
            "zip: \"78701\"",
            "zip: \"78701\", plus: 1",
            "teams[0].campaigns[0].do_not_mail[1].plus: unknown field",
        ),
        (
            "name: Shop",
            "name: Shop, key: pk_fx_0123456789abcdef",
            "teams[0].keys[0].key: a full_access key begins",
        ),
        (
            "kind: full_access",
            "kind: integration",
            "teams[0].keys[0].kind: unknown variant `integration`",
        ),
        (
            "amount: 5000",
            "amount: free",
            "teams[0].top_up.amount: \"free\" is not an amount of dollars",
        ),
        (
            "name: Garden",
            "name: Garden\n  time_zone: Mars/Olympus",
            "teams[0].time_zone: ",
        ),
        (
            "name: Garden",
            "name: Garden\n  payment: stripe",
            "teams[0].payment: stripe needs stripe_customer",
        ),
        (
            "name: Spring",
            "name: ''",
            "teams[0].campaigns[0].name: must be 1 to 200 characters",
        ),
        (
            "name: Spring",
            "name: Spring\n    area: { type: Point }",
            "teams[0].campaigns[0].area: the map area",
        ),
        (
            "name: Spring",
            "name: Spring\n    area: none.json",
            "teams[0].campaigns[0].area: cannot read ./none.json: No such file",
        ),
    ] {
        let error = error_with(from, to);
        assert!(
            error.starts_with(expected),
            "{to}\n   gave {error}\nexpected {expected}"
        );
    }
}

#[test]
fn a_file_without_teams_is_told_so() {
    for (text, expected) in [
        (
            "",
            "the file: invalid type: null, expected an object with a list of `teams`",
        ),
        (
            "[]",
            "the file: invalid length 0, expected an object with a list of `teams`",
        ),
        ("{}", "the file: missing field `teams`"),
        ("teams: []", "teams: the list is empty"),
        ("teams: [", "the file cannot be read: "),
        ("{\"teams\": [}", "the file cannot be read: "),
    ] {
        let error = read_here(text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn two_of_the_same_name_are_refused_at_the_second() {
    let twice = |from: &str, line: &str| error_with(from, &format!("{line}\n  {from}"));
    for (error, expected) in [
        (
            twice("- { name: Loyalty,", "- { name: ' LOYALTY', type: text }"),
            "teams[0].columns[1].name",
        ),
        (
            twice("- { kind: full", "- { kind: formulas, name: Shop }"),
            "teams[0].keys[1].name",
        ),
        (
            twice(
                "- { email: Owner",
                "- { email: owner@example.com, name: R, role: admin }",
            ),
            "teams[0].users[1].email",
        ),
    ] {
        assert!(
            error.starts_with(&format!("{expected}: is the same as teams[0].")),
            "{error}"
        );
    }
    let other = TEAM
        .replace("teams:", "")
        .replace("name: Garden", "name: Other")
        .replace("Owner@", "other@");
    let error = read_here(&format!("{TEAM}{other}"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "teams[1].campaigns[0].id: is the same as teams[0].campaigns[0].id"
    );
}

#[test]
fn a_secret_does_not_show_in_an_error() {
    let key = "pk_live_0123456789abcdef0123";
    let other =
        format!("name: Shop, key: {key} }}\n  - {{ kind: full_access, name: Other, key: {key}");
    let error = error_with("name: Shop", &other);
    assert_eq!(
        error,
        "teams[0].keys[1].key: is the same as teams[0].keys[0].key"
    );
    assert!(
        !error_with("role: owner", "role: owner, password: \"my\\tsecret word\"")
            .contains("secret")
    );
}

#[test]
fn conditions_are_checked_against_the_columns_and_the_error_names_the_branch() {
    let columns = |name: &str| (name == "loyalty").then_some(ColumnType::Number);
    let check = |conditions| check_conditions("teams[0].campaigns[1]", &conditions, columns);
    let one = |operator: &str| json!({ "column": "Loyalty", "operator": operator, "value": 100 });
    assert!(check(json!({ "all": [one("greater")] })).is_ok());
    let error = check(json!({ "all": [one("greater"), { "any": [one("contains")] }] }))
        .unwrap_err()
        .to_string();
    assert!(
        error
            .starts_with("teams[0].campaigns[1].conditions.all[1].any[0]: column `Loyalty` has no"),
        "{error}"
    );
    let error = check(json!([])).unwrap_err().to_string();
    assert!(
        error.starts_with("teams[0].campaigns[1].conditions: must be an object"),
        "{error}"
    );
}

#[test]
fn a_condition_on_a_column_that_the_team_does_not_have_is_refused() {
    let columns = |name: &str| (name == "pr\u{e9}nom").then_some(ColumnType::Text);
    let check = |column: &str| {
        let conditions = json!({ "column": column, "operator": "is", "value": "x" });
        check_conditions("teams[0].campaigns[0]", &conditions, columns)
            .map_err(|error| error.to_string())
    };
    for known in ["City", "pr\u{e9}nom", "Pre\u{301}nom"] {
        assert_eq!(check(known), Ok(()), "{known}");
    }
    let refused = "teams[0].campaigns[0].conditions: the team has no column \"loyalti\": declare it under `columns`";
    assert_eq!(check("Loyalti"), Err(refused.to_owned()));
}

#[test]
fn a_map_area_may_lie_beside_the_file() {
    let folder = std::env::temp_dir().join(format!("pillarbox-area-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let area = json!({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]});
    fs::write(folder.join("area.json"), area.to_string()).unwrap();
    fs::write(folder.join("bad.json"), "{").unwrap();
    let with = |path| TEAM.replace("name: Spring", &format!("name: Spring\n    area: {path}"));
    let file = parse_file(&with("area.json"), &folder);
    let error = parse_file(&with("bad.json"), &folder).map(drop);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(
        file.unwrap().teams[0].campaigns[0].area,
        Some(field::MapAreaSpec(area.to_string()))
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("teams[0].campaigns[0].area: ")
            && error.contains("bad.json is not JSON: EOF"),
        "{error}"
    );
}

/// What the demo is to show for a recipient, by its reference.
fn demo_verdict(recipient: &SentRecipient<'_>, campaign: &file::CampaignSpec) -> &'static str {
    let input = AddressInput {
        address_1: recipient.value("address_1"),
        address_2: recipient.value("address_2"),
        city: recipient.value("city"),
        state: recipient.value("state"),
        zip: recipient.value("zip"),
    };
    let AddressVerdict::Deliverable(verified) = address::verify_address(input) else {
        return "invalid";
    };
    if campaign
        .do_not_mail
        .iter()
        .any(|address| address.0.id == verified.id)
    {
        return "do";
    }
    let (latitude, longitude) = address::zip_centre(&verified.zip).unwrap();
    if !GeoArea::parse(&campaign.area.as_ref().unwrap().0)
        .unwrap()
        .contains(latitude, longitude)
    {
        return "outside";
    }
    let types = [
        ("lifetime_value", ColumnType::Number),
        ("last_visit", ColumnType::Date),
    ]
    .into();
    let types: std::collections::HashMap<&str, ColumnType> = types;
    let conditions = FilterConditions::parse(campaign.conditions.as_ref().unwrap(), |name| {
        types.get(name).copied()
    });
    let values: std::collections::HashMap<String, String> = recipient
        .fields
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let today = chrono::NaiveDate::from_ymd_opt(2026, 4, 1).unwrap();
    if conditions.unwrap().matches(&values, today) {
        "fits"
    } else {
        "waiting"
    }
}

#[test]
fn the_demo_request_shows_what_its_references_say() {
    let file = read_here(DEMO_TEAM).unwrap();
    let campaign = &file.teams[0].campaigns[0];
    let SendRequest {
        campaign_id,
        recipients,
        ..
    } = contract::send::parse_request(DEMO_RECIPIENTS.as_bytes()).unwrap();
    assert_eq!(campaign_id, campaign.id);
    let mut fitting = Vec::new();
    for recipient in &recipients {
        let reference = recipient.reference.as_deref().unwrap();
        let expected = reference.split('-').next().unwrap();
        match demo_verdict(recipient, campaign) {
            "fits" => fitting.push(expected),
            verdict => assert_eq!(verdict, expected, "{reference}"),
        }
    }
    let cards = fitting
        .iter()
        .filter(|expected| **expected == "mailed")
        .count();
    fitting.retain(|expected| *expected != "copy");
    assert!(
        fitting
            .iter()
            .take(cards)
            .all(|expected| *expected == "mailed"),
        "{fitting:?}"
    );
    assert!(
        fitting
            .iter()
            .skip(cards)
            .all(|expected| *expected == "over")
            && fitting.len() > cards
    );
    let prices = runtime::Config::with(Default::default()).unwrap().prices;
    let price = prices["postcard_4x6"].standard;
    let cards = i64::try_from(cards).unwrap();
    let budget = campaign.budget.unwrap().cents();
    assert!(
        cards * price <= budget && budget < (cards + 1) * price,
        "{cards} cards of {price} in {budget}"
    );
}

#[test]
fn an_integration_takes_requests_unless_the_file_says_otherwise_and_has_keys_of_its_own_kind() {
    let file = read_here(TEAM).unwrap();
    let integration = &file.teams[0].integrations[0];
    assert_eq!(
        integration.availability,
        store::IntegrationAvailability::Active
    );
    assert_eq!(integration.removal_guard_percent, Some(20));
    for (from, to, place) in [
        (
            "percent: 20",
            "percent: 101",
            "integrations[0].removal_guard_percent",
        ),
        (
            "pk_int_Garden",
            "pk_live_Garden",
            "integrations[0].keys[0].key",
        ),
        ("name: CRM", "name: CRM\n    availability: off", "off"),
        (
            "kind: full_access, name: Shop",
            "kind: integration, name: Shop",
            "integration",
        ),
    ] {
        let error = error_with(from, to);
        assert!(error.contains(place), "{error}");
    }
}
