//! An endpoint that answers at once and notes when whose event came, and one that never answers; and the phones'
//! bare HTTP client.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// How long a benchmark waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A path at which the sink does not answer.
const HANGING_PATH: &str = "/hang";

/// A path at which it answers and notes nothing.
const OTHER_PATH: &str = "/other";

/// What names the recipient in a body.
const NAME: &[u8] = b"\"last_name\":\"";

/// An endpoint.
pub struct Sink {
    /// Where it answers.
    pub url: String,
    /// Where it hangs.
    pub hanging_url: String,
    /// Where it answers at once too, and what comes is not counted.
    pub other_url: String,
    arrivals: Arc<Arrivals>,
}

#[derive(Default)]
struct Arrivals {
    count: AtomicUsize,
    /// By the recipient's last name: when its event came first.
    first: Mutex<HashMap<Bytes, Instant>>,
}

impl Sink {
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let arrivals = Arc::<Arrivals>::default();
        let sink = Self {
            url: format!("{base}/hook"),
            hanging_url: format!("{base}{HANGING_PATH}"),
            other_url: format!("{base}{OTHER_PATH}"),
            arrivals: arrivals.clone(),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let arrivals = arrivals.clone();
                let service = service_fn(move |request| take(request, arrivals.clone()));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Ok(sink)
    }

    /// Forgets what came.
    pub fn clear(&self) {
        self.arrivals.count.store(0, Ordering::Relaxed);
        self.arrivals.first.lock().expect("no panic").clear();
    }

    /// Waits for so many events.
    pub async fn until(&self, count: usize) -> anyhow::Result<()> {
        let begun = Instant::now();
        while self.arrivals.count.load(Ordering::Relaxed) < count {
            ensure!(
                begun.elapsed() < PATIENCE,
                "{:?} of {count} events came",
                self.arrivals.count
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// When the event of this recipient came.
    pub fn arrival(&self, last_name: &str) -> Option<Instant> {
        self.arrivals
            .first
            .lock()
            .expect("no panic")
            .get(last_name.as_bytes())
            .copied()
    }
}

async fn take(
    request: Request<Incoming>,
    arrivals: Arc<Arrivals>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let (hangs, is_noted) = (path == HANGING_PATH, path != OTHER_PATH);
    let body = request
        .into_body()
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    if hangs {
        std::future::pending::<()>().await;
    }
    if is_noted {
        note(&body, &arrivals);
    }
    Ok(Response::new(Full::new(Bytes::from_static(b"ok"))))
}

fn note(body: &Bytes, arrivals: &Arrivals) {
    let now = Instant::now();
    if let Some(start) = body.windows(NAME.len()).position(|window| window == NAME) {
        let name = body.slice(start + NAME.len()..);
        let end = name.iter().position(|byte| *byte == b'"').unwrap_or(0);
        arrivals
            .first
            .lock()
            .expect("no panic")
            .entry(name.slice(..end))
            .or_insert(now);
    }
    arrivals.count.fetch_add(1, Ordering::Relaxed);
}

/// A kept connection of a bare client.
pub struct Line {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl Line {
    /// To the server of this URL.
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        let host = url
            .trim_start_matches("http://")
            .split('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, host })
    }

    /// Asks, and returns the status once the whole answer is there.
    pub async fn ask(&mut self, method: &str, path: &str, body: Bytes) -> anyhow::Result<u16> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.host)
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status().as_u16();
        response.into_body().collect().await?;
        Ok(status)
    }
}
