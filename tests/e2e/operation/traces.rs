//! Traces over OTLP: from HTTP through RabbitMQ to SQL, with nothing personal in them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use pillarbox_tests::{CAMPAIGN, KEY, build_recipient, list_codes, wait_until};
use prost::Message;
use reqwest::Method;
use serde_json::json;

use super::Fleet;

/// A trace that a client has begun.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CLIENT_SPAN: &str = "b7ad6b7169203331";

/// Spans as a collector gets them, each with its process.
#[derive(Clone, Default)]
struct Collector {
    spans: Arc<Mutex<Vec<(String, Span)>>>,
}

impl Collector {
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(collector.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        (collector, url)
    }

    fn of_trace(&self, trace_id: &str) -> Vec<(String, Span)> {
        let spans = self.spans.lock().unwrap();
        spans
            .iter()
            .filter(|(_, span)| hex(&span.trace_id) == trace_id)
            .cloned()
            .collect()
    }
}

async fn take(State(collector): State<Collector>, body: Bytes) -> StatusCode {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    for resource in request.resource_spans {
        let attributes = resource.resource.unwrap().attributes;
        let name = attributes
            .into_iter()
            .find(|attribute| attribute.key == "service.name")
            .unwrap();
        let name = format!("{:?}", name.value.unwrap());
        let spans = resource
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans);
        collector
            .spans
            .lock()
            .unwrap()
            .extend(spans.map(|span| (name.clone(), span)));
    }
    StatusCode::OK
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn send(fleet: &Fleet) {
    let headers = [
        ("x-api-key", KEY),
        ("traceparent", &format!("00-{TRACE}-{CLIENT_SPAN}-00")),
    ];
    let body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]});
    wait_until("the send is answered", async || {
        fleet
            .ask(Method::POST, "/api/v1/recipients", &headers, &body)
            .await
            .0
            == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_is_one_trace_from_the_client_through_the_broker_to_the_database() {
    let (collector, url) = Collector::start().await;
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", url)]).await;
    send(&fleet).await;
    let find = |name: &str, process: &str| {
        let spans = collector.of_trace(TRACE);
        spans
            .into_iter()
            .find(|(of, span)| span.name == name && of.contains(process))
            .map(|(_, span)| span)
    };
    wait_until("the spans arrive", async || {
        find("POST /api/v1/recipients", "gateway").is_some()
            && find("send process", "mailer").is_some()
    })
    .await;
    let request = find("POST /api/v1/recipients", "gateway").unwrap();
    assert_eq!(
        (hex(&request.parent_span_id), request.kind()),
        (CLIENT_SPAN.to_owned(), SpanKind::Server)
    );
    let work = find("send process", "mailer").unwrap();
    assert_eq!(
        (work.parent_span_id.clone(), work.kind()),
        (request.span_id.clone(), SpanKind::Consumer)
    );
    let spans = collector.of_trace(TRACE);
    let is_below = |span: &Span, top: &Span| {
        let parent_of = |span: &Span| {
            spans
                .iter()
                .find(|(_, other)| other.span_id == span.parent_span_id)
        };
        let ancestors = std::iter::successors(parent_of(span), |(_, parent)| parent_of(parent));
        ancestors
            .take(spans.len())
            .any(|(_, ancestor)| ancestor.span_id == top.span_id)
    };
    let statements = |process: &str, top: &Span| {
        let of = spans
            .iter()
            .filter(|(name, span)| name.contains(process) && span.kind() == SpanKind::Client);
        of.filter(|(_, span)| is_below(span, top)).count()
    };
    assert!(
        statements("gateway", &request) >= 1,
        "the admission's statement"
    );
    assert!(statements("mailer", &work) >= 5, "the send's statements");
    let everything = format!("{:?}", collector.spans.lock().unwrap());
    for personal in ["Pat", "Reader1", "Main St", KEY] {
        assert!(
            !everything.contains(&format!("\"{personal}")),
            "{personal} stands in a span"
        );
    }
}

/// A text attribute of a span.
fn attribute<'s>(span: &'s Span, name: &str) -> Option<&'s str> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text),
        _ => None,
    }
}

fn is_statement(span: &Span) -> bool {
    attribute(span, "db.system.name").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_begins_with_a_request_or_a_piece_of_work_and_never_with_a_statement() {
    let (collector, url) = Collector::start().await;
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", url)]).await;
    fleet.use_everything().await;
    // Meanwhile every process has looked for due work, again and again.
    wait_until("statements arrive of gateway and mailer", async || {
        let spans = collector.spans.lock().unwrap();
        ["gateway", "mailer"].iter().all(|process| {
            spans
                .iter()
                .any(|(of, span)| of.contains(process) && is_statement(span))
        })
    })
    .await;
    let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()";
    let rows = fleet.stack.sql.query(tables, &[]).await.unwrap();
    let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let spans = collector.spans.lock().unwrap().clone();
    for (process, span) in spans.iter().filter(|(_, span)| is_statement(span)) {
        assert!(
            !span.parent_span_id.is_empty(),
            "{process}: {} is the root of a trace",
            span.name
        );
        assert_eq!(
            attribute(span, "db.query.summary"),
            Some(span.name.as_str())
        );
        let operation = attribute(span, "db.operation.name").unwrap();
        match attribute(span, "db.collection.name") {
            Some(table) => {
                assert!(
                    tables.iter().any(|known| known == table),
                    "{table} is no table: {}",
                    span.name
                );
                assert!(
                    span.name.contains(&format!("{operation} ")) && span.name.contains(table),
                    "{}",
                    span.name
                );
            }
            None => assert!(
                ["BEGIN", "COMMIT", "SET", "SELECT"].contains(&span.name.as_str()),
                "{} names no table: {:?}",
                span.name,
                attribute(span, "db.query.text")
            ),
        }
    }
    let named = |name: &str| spans.iter().any(|(_, span)| span.name == name);
    assert!(named("SELECT campaigns teams"), "the campaign is looked up");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_span_of_a_request_has_its_id_and_its_team() {
    let (collector, url) = Collector::start().await;
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", url)]).await;
    let request_id = fleet.send(json!([build_recipient(1)]), 200).await;
    let of_request = |process: &str| {
        let spans = collector.spans.lock().unwrap();
        let is_of = |span: &Span| attribute(span, "request_id") == Some(&request_id);
        spans
            .iter()
            .find(|(of, span)| of.contains(process) && is_of(span))
            .map(|(_, span)| span.clone())
    };
    wait_until("the spans arrive", async || {
        of_request("gateway").is_some() && of_request("mailer").is_some()
    })
    .await;
    let (request, work) = (
        of_request("gateway").unwrap(),
        of_request("mailer").unwrap(),
    );
    assert_eq!(
        (request.name.as_str(), work.name.as_str()),
        ("POST /api/v1/recipients", "send process")
    );
    let team = fleet
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id
        .to_string();
    for span in [&request, &work] {
        assert_eq!(
            attribute(span, "team_id"),
            Some(team.as_str()),
            "{}",
            span.name
        );
    }
    assert_eq!(attribute(&request, "key_kind"), Some("full_access"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_delivery_of_a_scan_is_in_the_trace_of_the_scan() {
    let (collector, url) = Collector::start().await;
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", url)]).await;
    fleet.send(json!([build_recipient(1)]), 200).await;
    let code = list_codes(&fleet.stack).await.remove(0);
    let (status, _) = fleet
        .ask(Method::GET, &format!("/q/{code}"), &[], &json!({}))
        .await;
    assert_eq!(status, 302);
    let find = |wanted: &dyn Fn(&Span) -> bool| {
        let spans = collector.spans.lock().unwrap();
        spans
            .iter()
            .map(|(_, span)| span)
            .find(|span| wanted(span))
            .cloned()
    };
    let is_scan = |span: &Span| span.name == "GET /q/{code}";
    let is_attempt = |span: &Span| attribute(span, "delivery_id").is_some();
    wait_until("both spans arrive", async || {
        find(&is_scan).is_some() && find(&is_attempt).is_some()
    })
    .await;
    let (scan, attempt) = (find(&is_scan).unwrap(), find(&is_attempt).unwrap());
    assert_eq!(hex(&attempt.trace_id), hex(&scan.trace_id));
    assert_eq!(hex(&attempt.parent_span_id), hex(&scan.span_id));
    assert_eq!(
        (attempt.name.as_str(), attempt.kind()),
        ("POST", SpanKind::Client)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_holds_nothing_up() {
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", "http://127.0.0.1:9".to_owned())]).await;
    send(&fleet).await;
}
