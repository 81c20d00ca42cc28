use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::matchers::{body_string_contains, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;

const SECRET: &str = "sk_test_very_secret";

fn stripe_settings(url: &str) -> runtime::config::StripeSettings {
    runtime::config::StripeSettings {
        url: url.to_owned(),
        secret_key: SECRET.to_owned(),
        api_version: "2025-09-30.clover".to_owned(),
        timeout_ms: 5_000,
    }
}

fn build_client(
    settings: &runtime::config::StripeSettings,
) -> Result<StripeClient, PaymentSettingsError> {
    // Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(StripeClient {
        first_pause: Duration::from_millis(1),
        ..StripeClient::new(settings)?
    })
}

fn parse_time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn sample_order() -> PaymentOrder<'static> {
    PaymentOrder {
        charge_id: "01920000-0000-7000-8000-000000000001".parse().unwrap(),
        amount_cents: 7_900,
        customer: "cus_1",
        payment_method: "pm_1",
        created_at: parse_time("2026-08-03T12:00:00Z"),
    }
}

/// Charges the order a minute after it was made.
async fn charge_order(
    settings: &runtime::config::StripeSettings,
) -> Result<PaymentOutcome, String> {
    build_client(settings)
        .unwrap()
        .charge(&sample_order(), parse_time("2026-08-03T12:01:00Z"))
        .await
}

/// Charges the order the day after it was made.
async fn charge_order_late(
    settings: &runtime::config::StripeSettings,
) -> Result<PaymentOutcome, String> {
    build_client(settings)
        .unwrap()
        .charge(&sample_order(), parse_time("2026-08-04T12:01:00Z"))
        .await
}

fn intent_response(status: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "id": "pi_1", "status": status }))
}

fn error_response(
    status: u16,
    kind: &str,
    code: impl Into<Option<&'static str>>,
) -> ResponseTemplate {
    let code = code.into();
    let error = json!({ "type": kind, "code": code, "message": format!("Stripe says {}.", code.unwrap_or(kind)) });
    ResponseTemplate::new(status).set_body_json(json!({ "error": error }))
}

fn paid_outcome() -> PaymentOutcome {
    PaymentOutcome::Paid {
        reference: Some("pi_1".to_owned()),
    }
}

/// A Stripe that gives these answers in order, each once, and then no more.
async fn start_stripe(answers: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    for answer in answers {
        Mock::given(method("POST"))
            .and(path("/v1/payment_intents"))
            .respond_with(answer)
            .up_to_n_times(1)
            .expect(1)
            .mount(&server)
            .await;
    }
    server
}

/// The idempotency keys of the payments that Stripe was asked for.
async fn list_idempotency_keys(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.unwrap();
    let posts = requests.iter().filter(|request| request.method == "POST");
    posts
        .map(|request| {
            request.headers["idempotency-key"]
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[tokio::test]
async fn a_payment_is_asked_for_as_stripe_documents_it() {
    let server = MockServer::start().await;
    let fields = "amount=7900&currency=usd&customer=cus_1&payment_method=pm_1&payment_method_types%5B%5D=card\
                  &confirm=true&off_session=true\
                  &metadata%5Bcharge_id%5D=01920000-0000-7000-8000-000000000001";
    Mock::given(method("POST"))
        .and(path("/v1/payment_intents"))
        .and(header("authorization", "Bearer sk_test_very_secret"))
        .and(header("stripe-version", "2025-09-30.clover"))
        .and(header(
            "idempotency-key",
            "01920000-0000-7000-8000-000000000001",
        ))
        .and(header("content-type", "application/x-www-form-urlencoded"))
        .and(body_string_contains(fields))
        .respond_with(intent_response("succeeded"))
        .expect(1)
        .mount(&server)
        .await;
    assert_eq!(
        charge_order(&stripe_settings(&server.uri())).await,
        Ok(paid_outcome())
    );
}

#[tokio::test]
async fn a_refused_card_is_a_decline_at_once() {
    for (answer, detail) in [
        (
            error_response(402, "card_error", "card_declined"),
            "Stripe says card_declined.",
        ),
        (
            error_response(402, "card_error", "authentication_required"),
            "Stripe says authentication_required.",
        ),
        (
            intent_response("requires_action"),
            "The card cannot be charged.",
        ),
        (
            intent_response("requires_payment_method"),
            "The card cannot be charged.",
        ),
    ] {
        let server = start_stripe(vec![answer]).await;
        let expected = PaymentOutcome::Declined {
            detail: detail.to_owned(),
        };
        assert_eq!(
            charge_order(&stripe_settings(&server.uri())).await,
            Ok(expected)
        );
    }
}

#[tokio::test]
async fn a_failure_that_passes_is_tried_again_with_the_same_key() {
    for failure in [
        error_response(500, "api_error", None),
        error_response(429, "invalid_request_error", "rate_limit"),
        error_response(409, "idempotency_error", "idempotency_key_in_use"),
        ResponseTemplate::new(200).set_body_string("{\"id\": \"pi_1\", \"sta"),
        ResponseTemplate::new(502).set_body_string("<html>Bad Gateway</html>"),
    ] {
        let server = start_stripe(vec![failure, intent_response("succeeded")]).await;
        assert_eq!(
            charge_order(&stripe_settings(&server.uri())).await,
            Ok(paid_outcome())
        );
        let key = sample_order().charge_id.to_string();
        assert_eq!(list_idempotency_keys(&server).await, [key.clone(), key]);
    }
}

#[tokio::test]
async fn tries_are_bounded_and_then_nothing_is_certain() {
    let server = start_stripe(vec![
        error_response(500, "api_error", None);
        ATTEMPTS as usize
    ])
    .await;
    assert_eq!(
        charge_order(&stripe_settings(&server.uri())).await,
        Err("Stripe answered 500 (api_error)".to_owned())
    );
    assert_eq!(
        list_idempotency_keys(&server).await.len(),
        ATTEMPTS as usize
    );
}

#[tokio::test]
async fn a_timeout_is_not_certain() {
    let slow = || intent_response("succeeded").set_delay(Duration::from_secs(60));
    let server = start_stripe(vec![slow(), slow(), slow()]).await;
    let settings = runtime::config::StripeSettings {
        timeout_ms: 50,
        ..stripe_settings(&server.uri())
    };
    assert!(
        charge_order(&settings)
            .await
            .unwrap_err()
            .contains("timed out")
    );
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_asked_for_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = "{\"id\": \"pi_1\", \"status\": \"succeeded\"}";
    let server = tokio::spawn(async move {
        for sent in [&body[..20], body] {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            // The form ends with the charge's id.
            while !request.ends_with(b"000000000001") {
                assert!(
                    connection.read_buf(&mut request).await.unwrap() > 0,
                    "the request is cut off"
                );
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{sent}",
                body.len()
            );
            connection.write_all(answer.as_bytes()).await.unwrap();
            connection.shutdown().await.unwrap();
        }
    });
    assert_eq!(
        charge_order(&stripe_settings(&url)).await,
        Ok(paid_outcome())
    );
    server.await.unwrap();
}

#[tokio::test]
async fn an_endless_answer_is_not_read_to_its_end() {
    let endless = || ResponseTemplate::new(200).set_body_bytes(vec![b' '; ANSWER_BYTES + 1]);
    let server = start_stripe(vec![endless(), endless(), endless()]).await;
    assert_eq!(
        charge_order(&stripe_settings(&server.uri())).await,
        Err("Stripe's answer is too long".to_owned())
    );
}

#[tokio::test]
async fn a_wrong_secret_is_not_certain_and_not_told() {
    let message = format!("Invalid API Key provided: {SECRET}");
    let body = json!({ "error": { "type": "invalid_request_error", "message": message } });
    let server = start_stripe(vec![ResponseTemplate::new(401).set_body_json(body)]).await;
    let reason = charge_order(&stripe_settings(&server.uri()))
        .await
        .unwrap_err();
    assert!(
        reason.contains("stripe.secret_key is not accepted") && !reason.contains(SECRET),
        "{reason}"
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = MockServer::start().await;
    let redirect = ResponseTemplate::new(307).insert_header("location", elsewhere.uri());
    let server = start_stripe(vec![redirect]).await;
    assert!(charge_order(&stripe_settings(&server.uri())).await.is_err());
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

/// Answers the search for the charge's payment with a page.
async fn mount_page(server: &MockServer, after: Option<&str>, data: Value, has_more: bool) {
    let mock = Mock::given(method("GET"))
        .and(path("/v1/payment_intents"))
        .and(query_param("customer", "cus_1"))
        .and(query_param("limit", "100"))
        // An hour before the charge was made.
        .and(query_param("created[gte]", "1785754800"));
    let mock = match after {
        Some(after) => mock.and(query_param("starting_after", after)),
        None => mock,
    };
    let page = json!({ "object": "list", "data": data, "has_more": has_more });
    mock.respond_with(ResponseTemplate::new(200).set_body_json(page))
        .up_to_n_times(1)
        .expect(1)
        .mount(server)
        .await;
}

#[tokio::test]
async fn once_the_key_may_be_forgotten_the_payment_is_looked_for_first() {
    let server = MockServer::start().await;
    let charge_id = sample_order().charge_id;
    let other = json!([{ "id": "pi_2", "status": "succeeded", "metadata": {} }]);
    let wanted =
        json!([{ "id": "pi_1", "status": "succeeded", "metadata": { "charge_id": charge_id } }]);
    mount_page(&server, None, other, true).await;
    mount_page(&server, Some("pi_2"), wanted, false).await;
    assert_eq!(
        charge_order_late(&stripe_settings(&server.uri())).await,
        Ok(paid_outcome())
    );
    assert!(list_idempotency_keys(&server).await.is_empty());
}

#[tokio::test]
async fn a_late_charge_without_a_payment_is_made() {
    let server = start_stripe(vec![intent_response("succeeded")]).await;
    mount_page(&server, None, json!([]), false).await;
    assert_eq!(
        charge_order_late(&stripe_settings(&server.uri())).await,
        Ok(paid_outcome())
    );
}

#[tokio::test]
async fn a_late_charge_is_not_made_while_the_search_fails() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(error_response(500, "api_error", None))
        .mount(&server)
        .await;
    assert!(
        charge_order_late(&stripe_settings(&server.uri()))
            .await
            .is_err()
    );
    assert!(list_idempotency_keys(&server).await.is_empty());
}

#[test]
fn the_key_leaves_the_machine_over_tls_only() {
    for (url, is_usable) in [
        ("https://api.stripe.com", true),
        ("http://127.0.0.1:8000", true),
        ("http://[::1]:8000/", true),
        ("http://localhost:8000", true),
        ("http://api.stripe.com", false),
        ("http://127.0.0.1.example.com", false),
        ("api.stripe.com", false),
    ] {
        assert_eq!(
            build_client(&stripe_settings(url)).is_ok(),
            is_usable,
            "{url}"
        );
    }
}

#[test]
fn a_key_that_is_no_header_is_refused() {
    let settings = runtime::config::StripeSettings {
        secret_key: "sk\n".to_owned(),
        ..stripe_settings("https://api.stripe.com")
    };
    assert!(matches!(
        build_client(&settings),
        Err(PaymentSettingsError::Header)
    ));
}
