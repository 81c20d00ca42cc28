//! The protocol's conformance suite. It cannot send a key, so a proxy adds one.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use pillarbox_tests::{CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, tool_folder};
use tokio::process::Command;

use super::{FORMULAS, INTEGRATIONS, node};

/// The scenarios for servers that offer nothing but tools.
const SCENARIOS: [&str; 4] = [
    "server-initialize",
    "ping",
    "tools-list",
    "dns-rebinding-protection",
];

/// Where the proxy passes requests on to, and what it adds to them.
#[derive(Clone)]
struct Proxy {
    gateway: String,
    authorization: HeaderValue,
    client: reqwest::Client,
}

/// Starts a proxy to this gateway; returns where it listens.
async fn proxy(gateway: &str, key: &str) -> String {
    let authorization = format!("Bearer {key}").parse().unwrap();
    let state = Proxy {
        gateway: gateway.to_owned(),
        authorization,
        client: reqwest::Client::new(),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(pass_on).with_state(state);
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    url
}

async fn pass_on(
    State(proxy): State<Proxy>,
    method: Method,
    uri: Uri,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    headers.insert(header::AUTHORIZATION, proxy.authorization);
    headers.remove(header::CONTENT_LENGTH);
    let request = proxy
        .client
        .request(method, format!("{}{uri}", proxy.gateway))
        .headers(headers)
        .body(body);
    let Ok(answer) = request.send().await else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut response = Response::new(Body::from(answer.bytes().await.unwrap_or_default()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

async fn conforms(gateway: &str, path: &str, key: &str) {
    let url = format!("{}{path}", proxy(gateway, key).await);
    for scenario in SCENARIOS {
        let mut command = Command::new(node());
        command.arg(
            tool_folder("mcp").join("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
        );
        command
            .args(["server", "--url", &url, "--scenario", scenario])
            .kill_on_drop(true);
        let output = tokio::time::timeout(super::PATIENCE, command.output())
            .await
            .expect("it ends")
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && told.contains(" 0 failed, 0 warnings"),
            "{scenario} of {path}: {told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_integrations_server_passes_the_scenarios_that_apply() {
    let crm = CrmClient::with_syncers(Vec::new(), 0).await;
    conforms(&crm.stack.url, INTEGRATIONS, INTEGRATION_KEY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_formula_server_passes_the_scenarios_that_apply() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    conforms(&stack.url, FORMULAS, KEY).await;
}
