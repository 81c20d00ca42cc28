//! A proxy between a client and a gateway that does to requests what networks and load balancers do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

/// The longest body that a client of the contract sends.
const BODY_BYTES: usize = 8 * 1024 * 1024;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyBehavior {
    /// It goes through.
    Pass,
    /// It is carried out, but its answer never arrives.
    LoseAnswer,
    /// It gets this status, without reaching the gateway.
    Answer(u16),
    /// It gets 429 and is told to wait a second.
    Limit,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct ProxiedRequest {
    /// The path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl ProxiedRequest {
    /// Its `Idempotency-Key`.
    pub fn idempotency_key(&self) -> &str {
        self.headers
            .get("idempotency-key")
            .and_then(|key| key.to_str().ok())
            .unwrap_or_default()
    }
}

/// The proxy. Requests that are not POST pass.
#[derive(Clone)]
pub struct FaultyProxy {
    /// Where it listens.
    pub url: String,
    state: Arc<FaultyProxyState>,
}

struct FaultyProxyState {
    target: String,
    client: reqwest::Client,
    fates: Mutex<VecDeque<ProxyBehavior>>,
    always: Mutex<ProxyBehavior>,
    passed: Mutex<Vec<ProxiedRequest>>,
}

impl FaultyProxy {
    /// Starts one before the gateway at `target`.
    pub async fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(FaultyProxyState {
            target: target.to_owned(),
            client: reqwest::Client::new(),
            fates: Mutex::default(),
            always: Mutex::new(ProxyBehavior::Pass),
            passed: Mutex::default(),
        });
        let router = Router::new()
            .fallback(handle_request)
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the proxy runs") });
        Self { url, state }
    }

    /// What becomes of the next POSTs, in order.
    pub fn script_next(&self, fates: impl IntoIterator<Item = ProxyBehavior>) {
        self.state.fates.lock().expect("no panic").extend(fates);
    }

    /// What becomes of all others from now on.
    pub fn set_default(&self, fate: ProxyBehavior) {
        *self.state.always.lock().expect("no panic") = fate;
    }

    /// The POSTs that came so far.
    pub fn passed_requests(&self) -> Vec<ProxiedRequest> {
        self.state.passed.lock().expect("no panic").clone()
    }
}

async fn handle_request(
    State(state): State<Arc<FaultyProxyState>>,
    request: Request<Body>,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, BODY_BYTES)
        .await
        .expect("a body");
    let mut fate = ProxyBehavior::Pass;
    if parts.method == "POST" {
        let path = parts.uri.path().to_owned();
        let passed = ProxiedRequest {
            path,
            headers: parts.headers.clone(),
            body: body.clone(),
        };
        state.passed.lock().expect("no panic").push(passed);
        let next = state.fates.lock().expect("no panic").pop_front();
        fate = next.unwrap_or_else(|| *state.always.lock().expect("no panic"));
    }
    match fate {
        ProxyBehavior::Pass => state.forward(parts, body).await,
        ProxyBehavior::LoseAnswer => {
            state.forward(parts, body).await;
            // A body that ends with an error: the connection breaks before the answer is whole.
            let broken = futures_util::stream::once(async {
                Err::<Bytes, _>(std::io::Error::other("lost"))
            });
            Response::new(Body::from_stream(broken))
        }
        ProxyBehavior::Answer(status) => StatusCode::from_u16(status)
            .expect("a status")
            .into_response(),
        ProxyBehavior::Limit => {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response()
        }
    }
}

impl FaultyProxyState {
    async fn forward(&self, parts: Parts, body: Bytes) -> Response {
        let mut headers = parts.headers;
        headers.remove("host");
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = self
            .client
            .request(parts.method, format!("{}{path}", self.target))
            .headers(headers);
        let answer = request
            .body(body)
            .send()
            .await
            .expect("the gateway answers");
        let mut response = Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            if name != "content-length" && name != "transfer-encoding" {
                response = response.header(name, value);
            }
        }
        let body = answer.bytes().await.expect("an answer");
        response.body(Body::from(body)).expect("a response")
    }
}
