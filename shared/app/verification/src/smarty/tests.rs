use address::{AddressField, ConfirmationLevel};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::*;

const SECRET: &str = "a-very-secret-token";

fn new_settings(url: &str) -> runtime::config::SmartySettings {
    runtime::config::SmartySettings {
        url: url.to_owned(),
        auth_id: "account".to_owned(),
        auth_token: SECRET.to_owned(),
        timeout_ms: 300,
        concurrency: 3,
        attempts: 3,
        breaker_failures: 2,
        breaker_rest_ms: 60_000,
    }
}

fn new_client(url: &str) -> SmartyClient {
    // Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    SmartyClient {
        first_pause: Duration::from_millis(1),
        ..SmartyClient::new(&new_settings(url)).unwrap()
    }
}

fn build_input(address_1: &str) -> AddressInput<'_> {
    AddressInput {
        address_1,
        city: "Austin",
        state: "TX",
        zip: "78701",
        ..AddressInput::default()
    }
}

fn candidate_json(input_index: usize, line: &str, dpv: &str) -> Value {
    json!({
        "input_index": input_index, "candidate_index": 0, "delivery_line_1": line,
        "last_line": "Austin TX 78701-1234",
        "components": {"city_name": "Austin", "state_abbreviation": "TX", "zipcode": "78701", "plus4_code": "1234"},
        "metadata": {"record_type": "S", "rdi": "Residential", "latitude": 30.1, "longitude": -97.2, "precision": "Zip9"},
        "analysis": {"dpv_match_code": dpv, "dpv_footnotes": "AABB"}
    })
}

/// Confirms every address of a batch as it was sent.
struct ConfirmingResponder;

impl Respond for ConfirmingResponder {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let lookups: Vec<Value> = request.body_json().unwrap();
        let line = |lookup: &Value| lookup["street"].as_str().unwrap().to_owned();
        let known = lookups
            .iter()
            .enumerate()
            .map(|(at, lookup)| candidate_json(at, &line(lookup), "Y"));
        ResponseTemplate::new(200).set_body_json(known.collect::<Vec<_>>())
    }
}

async fn start_server(answers: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    for answer in answers {
        Mock::given(method("POST"))
            .respond_with(answer)
            .up_to_n_times(1)
            .mount(&server)
            .await;
    }
    server
}

async fn count_requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test]
async fn batches_of_100_are_asked_as_the_api_documents_it() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/street-address"))
        .and(query_param("auth-id", "account"))
        .and(query_param("auth-token", SECRET))
        .respond_with(ConfirmingResponder)
        .expect(3)
        .mount(&server)
        .await;
    let lines: Vec<String> = (1..=250)
        .map(|number| format!("{number} Main St"))
        .collect();
    let inputs: Vec<_> = lines.iter().map(|line| build_input(line)).collect();
    let (answers, failure) = new_client(&server.uri()).look_up(&inputs).await;
    assert_eq!(failure, None);
    let known: Vec<String> = answers
        .iter()
        .map(|answer| {
            answer.as_ref().unwrap()["delivery_line_1"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(known, lines);
    let requests = server.received_requests().await.unwrap();
    let mut sizes: Vec<usize> = requests
        .iter()
        .map(|request| request.body_json::<Vec<Value>>().unwrap().len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [50, 100, 100]);
    let first: Vec<Value> = requests[0].body_json().unwrap();
    let expected = json!({"street": first[0]["street"], "city": "Austin", "state": "TX", "zipcode": "78701", "candidates": 1});
    assert_eq!(first[0], expected);
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let cut =
        || ResponseTemplate::new(200).set_body_raw(r#"[{"input_index": 0, "#, "application/json");
    for failing in [
        ResponseTemplate::new(500),
        ResponseTemplate::new(503),
        ResponseTemplate::new(429).insert_header("retry-after", "0"),
        ResponseTemplate::new(200).set_delay(Duration::from_secs(2)),
        ResponseTemplate::new(200).set_body_json(json!({"not": "a list"})),
        ResponseTemplate::new(200).set_body_json(json!([candidate_json(7, "1 Main St", "Y")])),
        cut(),
    ] {
        let good =
            ResponseTemplate::new(200).set_body_json(json!([candidate_json(0, "1 Main St", "Y")]));
        let server = start_server(vec![failing, good]).await;
        let (answers, failure) = new_client(&server.uri())
            .look_up(&[build_input("1 main st")])
            .await;
        assert_eq!((answers[0].is_some(), failure), (true, None));
        assert_eq!(count_requests(&server).await, 2);
    }
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again_and_tells_no_secret() {
    for status in [400, 401, 402, 413] {
        let server = start_server(vec![ResponseTemplate::new(status)]).await;
        let (answers, failure) = new_client(&server.uri())
            .look_up(&[build_input("1 main st")])
            .await;
        let failure = failure.unwrap();
        assert_eq!(answers, [None]);
        assert!(
            failure.contains(&status.to_string()) && !failure.contains(SECRET),
            "{failure}"
        );
        assert_eq!(count_requests(&server).await, 1);
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_off_is_an_outage_and_tells_no_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cutting = tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 256];
            let _ = connection.read(&mut buffer).await;
            let _ = connection
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{")
                .await;
        }
    });
    let (_, failure) = new_client(&url).look_up(&[build_input("1 main st")]).await;
    cutting.abort();
    assert!(!failure.unwrap().contains(SECRET));
}

#[tokio::test]
async fn a_part_that_fails_leaves_the_other_parts_and_the_reason() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ConfirmingResponder)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    let lines: Vec<String> = (1..=150)
        .map(|number| format!("{number} Main St"))
        .collect();
    let inputs: Vec<_> = lines.iter().map(|line| build_input(line)).collect();
    let one_at_a_time = SmartyClient {
        concurrency: 1,
        ..new_client(&server.uri())
    };
    let (answers, failure) = one_at_a_time.look_up(&inputs).await;
    assert_eq!(answers.iter().flatten().count(), 100);
    assert!(failure.unwrap().contains("500"));
}

#[tokio::test]
async fn an_open_breaker_asks_nobody() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    let smarty = new_client(&server.uri());
    for _ in 0..2 {
        assert!(
            smarty
                .look_up(&[build_input("1 main st")])
                .await
                .1
                .is_some()
        );
    }
    let before = count_requests(&server).await;
    assert_eq!(before, 6);
    assert!(
        smarty
            .look_up(&[build_input("1 main st")])
            .await
            .1
            .unwrap()
            .contains("left alone")
    );
    assert_eq!(count_requests(&server).await, before);
}

#[test]
fn settings_that_would_send_secrets_in_the_clear_or_none_are_refused() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    assert!(matches!(
        SmartyClient::new(&new_settings("http://smarty.example.com")),
        Err(SmartySettingsError::Url)
    ));
    assert!(SmartyClient::new(&new_settings("https://smarty.example.com")).is_ok());
    let anonymous = runtime::config::SmartySettings {
        auth_token: String::new(),
        ..new_settings("https://x")
    };
    assert!(matches!(
        SmartyClient::new(&anonymous),
        Err(SmartySettingsError::Account)
    ));
}

fn judge_input(
    input: AddressInput<'_>,
    answer: &Value,
    strictness: VerificationStrictness,
) -> AddressVerdict {
    answer::judge_answer(CheckedAddress::from_input(input), answer, strictness)
}

#[test]
fn a_confirmed_address_has_the_providers_form_place_and_zip_4() {
    let AddressVerdict::Deliverable(verified) = judge_input(
        build_input("1 MAIN STRET"),
        &candidate_json(0, "1 Main Ave", "Y"),
        VerificationStrictness::DeliveryPoint,
    ) else {
        panic!("undeliverable")
    };
    assert_eq!(verified.one_line, "1 Main Ave, Austin, TX 78701-1234");
    assert_eq!(
        (verified.level, verified.residential),
        (ConfirmationLevel::DeliveryPoint, Some(true))
    );
    assert_eq!(
        (verified.latitude, verified.longitude),
        (Some(30.1), Some(-97.2))
    );
    assert_eq!(verified.corrections.len(), 1);
    assert_eq!(
        (
            verified.corrections[0].field,
            verified.corrections[0].to.as_str()
        ),
        (AddressField::Address1, "1 Main Ave")
    );
    let AddressVerdict::Deliverable(local) = address::verify_address(build_input("1 Main Ave"))
    else {
        panic!("undeliverable")
    };
    assert_eq!(
        verified.id, local.id,
        "whoever verifies an address, it is the same"
    );
}

#[test]
fn a_provider_that_changes_more_than_one_component_or_a_directional_is_not_followed() {
    let judged = |sent: &str, known: &str| match judge_input(
        build_input(sent),
        &candidate_json(0, known, "Y"),
        VerificationStrictness::DeliveryPoint,
    ) {
        AddressVerdict::Deliverable(verified) => verified.line1,
        AddressVerdict::Undeliverable(failure) => failure.to_sentence(),
    };
    for (sent, known) in [
        ("2628 S Marine Ave", "2628 N Marine Ave"),
        ("2628 Marine Ave", "2628 N Marine Ave"),
        ("2628 Marine Ave", "2628 Marine Ave E"),
        ("2628 Marine Ave", "2638 Marine Ave"),
        ("2628 Marine Ave", "2628 Maine St"),
    ] {
        let refusal = format!(
            "The postal service knows no such address, only {known}, Austin, TX 78701-1234."
        );
        assert_eq!(judged(sent, known), refusal);
    }
    for (sent, known) in [
        ("4900 Carroll Manor", "4900 Carroll Manor Rd"),
        ("9 Park East", "9 Park East Dr"),
        ("2628 Mariner Ave", "2628 Marine Ave"),
        ("RR 2 Box 18", "18 Marine Ave"),
        ("0007 Main Street", "7 Main St"),
    ] {
        assert_eq!(judged(sent, known), known);
    }
}

#[test]
fn a_unit_sent_in_address_2_does_not_show_whatever_the_provider_writes() {
    let mut answer = candidate_json(0, "1 Main St Apt 4", "Y");
    answer["components"]["secondary_designator"] = "Apt".into();
    answer["components"]["secondary_number"] = "4".into();
    let sent = AddressInput {
        address_2: "apt 4",
        ..build_input("1 main st")
    };
    let AddressVerdict::Deliverable(verified) =
        judge_input(sent, &answer, VerificationStrictness::DeliveryPoint)
    else {
        panic!("undeliverable")
    };
    assert_eq!(verified.one_line, "1 Main St, Austin, TX 78701-1234");
    assert_eq!(verified.line1, "1 Main St Apt 4");
    let AddressVerdict::Deliverable(shown) = judge_input(
        build_input("1 main st #4"),
        &answer,
        VerificationStrictness::DeliveryPoint,
    ) else {
        panic!("undeliverable")
    };
    assert_eq!(
        (shown.one_line.as_str(), shown.id),
        ("1 Main St Apt 4, Austin, TX 78701-1234", verified.id)
    );
}

#[test]
fn what_is_less_than_confirmed_goes_by_the_strictness() {
    for (answer, accepted_up_to) in [
        (
            candidate_json(0, "1 Main St Apt 99", "S"),
            Some(VerificationStrictness::Street),
        ),
        (
            candidate_json(0, "1 Main St", "N"),
            Some(VerificationStrictness::Zip),
        ),
        (
            candidate_json(0, "1 Main St", "D"),
            Some(VerificationStrictness::Street),
        ),
        (Value::Null, Some(VerificationStrictness::Zip)),
    ] {
        let accepted = VerificationStrictness::ALL.into_iter().rfind(|strictness| {
            matches!(
                judge_input(build_input("1 main st"), &answer, *strictness),
                AddressVerdict::Deliverable(_)
            )
        });
        assert_eq!(accepted, accepted_up_to, "{answer}");
    }
    let without_unit = judge_input(
        build_input("1 main st"),
        &candidate_json(0, "1 Main St", "D"),
        VerificationStrictness::DeliveryPoint,
    );
    let AddressVerdict::Undeliverable(failure) = without_unit else {
        panic!("deliverable")
    };
    assert_eq!(
        failure.to_sentence(),
        "1 Main St has units, and the address names none."
    );
    let unknown_zip = AddressInput {
        zip: "00000",
        ..build_input("1 Main St")
    };
    let verdict = judge_input(unknown_zip, &Value::Null, VerificationStrictness::Zip);
    assert!(
        matches!(verdict, AddressVerdict::Undeliverable(_)),
        "what cannot be read is not mailed"
    );
}
