//! An endpoint of a team: an HTTP server in this process that keeps what it gets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use serde_json::Value;
use tokio::net::TcpListener;

/// What an endpoint answers with.
#[derive(Debug, Clone)]
pub enum EndpointReaction {
    /// This status and body.
    Answer(u16, String),
    /// A redirect to this URL.
    Redirect(String),
    /// Nothing, for this long, and then 200.
    Hang(Duration),
}

/// A request that an endpoint got.
#[derive(Debug, Clone)]
pub struct ReceivedEvent {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl ReceivedEvent {
    /// The `webhook-id`.
    pub fn id(&self) -> String {
        self.headers["webhook-id"]
            .to_str()
            .expect("text")
            .to_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

/// An endpoint. It answers 200 unless told otherwise.
#[derive(Clone)]
pub struct WebhookSink {
    /// Where it is, over plain http.
    pub url: String,
    state: Arc<WebhookSinkState>,
}

#[derive(Default)]
struct WebhookSinkState {
    received: Mutex<Vec<ReceivedEvent>>,
    script: Mutex<VecDeque<EndpointReaction>>,
    always: Mutex<Option<EndpointReaction>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl WebhookSink {
    /// Starts one.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address: SocketAddr = listener.local_addr().expect("an address");
        let state = Arc::<WebhookSinkState>::default();
        let router = Router::new()
            .fallback(receive_event)
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the sink runs") });
        Self {
            url: format!("http://{address}/hook"),
            state,
        }
    }

    /// Answers the next requests so, in order.
    pub fn script_next(&self, reactions: impl IntoIterator<Item = EndpointReaction>) {
        self.state
            .script
            .lock()
            .expect("no panic")
            .extend(reactions);
    }

    /// Answers every request so from now on; `None` for 200.
    pub fn set_default(&self, reaction: Option<EndpointReaction>) {
        *self.state.always.lock().expect("no panic") = reaction;
    }

    /// What it got so far.
    pub fn received(&self) -> Vec<ReceivedEvent> {
        self.state.received.lock().expect("no panic").clone()
    }

    /// How many requests it got so far.
    pub fn count_received(&self) -> usize {
        self.state.received.lock().expect("no panic").len()
    }

    /// The most requests that were under way at a time.
    pub fn most_under_way(&self) -> usize {
        self.state.most_under_way.load(Ordering::Relaxed)
    }
}

async fn receive_event(
    State(state): State<Arc<WebhookSinkState>>,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let under_way = state.under_way.fetch_add(1, Ordering::Relaxed) + 1;
    state.most_under_way.fetch_max(under_way, Ordering::Relaxed);
    let scripted = state.script.lock().expect("no panic").pop_front();
    let reaction = scripted.or_else(|| state.always.lock().expect("no panic").clone());
    state
        .received
        .lock()
        .expect("no panic")
        .push(ReceivedEvent { headers, body });
    let answer = match reaction.unwrap_or(EndpointReaction::Answer(200, "thank you".to_owned())) {
        EndpointReaction::Answer(status, body) => (
            StatusCode::from_u16(status).expect("a status"),
            [("x-sink", "answer".to_owned())],
            body,
        ),
        EndpointReaction::Redirect(url) => (
            StatusCode::TEMPORARY_REDIRECT,
            [("location", url)],
            String::new(),
        ),
        EndpointReaction::Hang(time) => {
            tokio::time::sleep(time).await;
            (
                StatusCode::OK,
                [("x-sink", "late".to_owned())],
                String::new(),
            )
        }
    };
    state.under_way.fetch_sub(1, Ordering::Relaxed);
    answer
}
