//! Traces over OTLP: from HTTP through RabbitMQ to SQL, with nothing personal in them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use pillarbox_tests::{CAMPAIGN, KEY, eventually, person};
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
        let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        (collector, url)
    }

    fn of_trace(&self, trace_id: &str) -> Vec<(String, Span)> {
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|(_, span)| hex(&span.trace_id) == trace_id).cloned().collect()
    }
}

async fn take(State(collector): State<Collector>, body: Bytes) -> StatusCode {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    for resource in request.resource_spans {
        let attributes = resource.resource.unwrap().attributes;
        let name = attributes.into_iter().find(|attribute| attribute.key == "service.name").unwrap();
        let name = format!("{:?}", name.value.unwrap());
        let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        collector.spans.lock().unwrap().extend(spans.map(|span| (name.clone(), span)));
    }
    StatusCode::OK
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn send(fleet: &Fleet) {
    let headers = [("x-api-key", KEY), ("traceparent", &format!("00-{TRACE}-{CLIENT_SPAN}-00"))];
    let body = json!({"campaign_id": CAMPAIGN, "recipients": [person(1)]});
    eventually("the send is answered", async || {
        fleet.ask(Method::POST, "/api/v1/recipients", &headers, &body).await.0 == 200
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
        spans.into_iter().find(|(of, span)| span.name == name && of.contains(process)).map(|(_, span)| span)
    };
    eventually("the spans arrive", async || {
        find("POST /api/v1/recipients", "gateway").is_some() && find("send process", "mailer").is_some()
    })
    .await;
    let request = find("POST /api/v1/recipients", "gateway").unwrap();
    assert_eq!((hex(&request.parent_span_id), request.kind()), (CLIENT_SPAN.to_owned(), SpanKind::Server));
    let work = find("send process", "mailer").unwrap();
    assert_eq!((work.parent_span_id.clone(), work.kind()), (request.span_id.clone(), SpanKind::Consumer));
    let spans = collector.of_trace(TRACE);
    let is_below = |span: &Span, top: &Span| {
        let parent_of = |span: &Span| spans.iter().find(|(_, other)| other.span_id == span.parent_span_id);
        let ancestors = std::iter::successors(parent_of(span), |(_, parent)| parent_of(parent));
        ancestors.take(spans.len()).any(|(_, ancestor)| ancestor.span_id == top.span_id)
    };
    let statements = |process: &str, top: &Span| {
        let of =
            spans.iter().filter(|(name, span)| name.contains(process) && span.kind() == SpanKind::Client);
        of.filter(|(_, span)| is_below(span, top)).count()
    };
    assert!(statements("gateway", &request) >= 1, "the admission's statement");
    assert!(statements("mailer", &work) >= 5, "the send's statements");
    let everything = format!("{:?}", collector.spans.lock().unwrap());
    for personal in ["Pat", "Reader1", "Main St", KEY] {
        assert!(!everything.contains(&format!("\"{personal}")), "{personal} stands in a span");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_holds_nothing_up() {
    let fleet = Fleet::start(vec![("TRACES__ENDPOINT", "http://127.0.0.1:9".to_owned())]).await;
    send(&fleet).await;
}
