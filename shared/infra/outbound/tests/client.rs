//! The client against hosts that do as they like. What they answer is written byte for byte.

#![allow(
    clippy::disallowed_methods,
    reason = "tests have their own time and tasks"
)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use outbound::{OutboundClient, OutboundError, OutboundResponse, TargetPolicy, TargetUrl};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};

/// Longer than any answer of these tests takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A host that answers each request with these bytes.
struct FixtureHost {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl FixtureHost {
    async fn start(answer: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (connections, answer) = (Arc::<AtomicUsize>::default(), Arc::new(answer.into()));
        let counted = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve_connection(stream, answer.clone()));
            }
        });
        Self { url, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

async fn serve_connection(stream: TcpStream, answer: Arc<Vec<u8>>) -> std::io::Result<()> {
    let mut stream = BufStream::new(stream);
    while read_request(&mut stream).await? {
        stream.write_all(&answer).await?;
        stream.flush().await?;
    }
    Ok(())
}

/// Reads one request; false at the end of the connection.
async fn read_request(stream: &mut BufStream<TcpStream>) -> std::io::Result<bool> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(false);
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(true)
}

fn build_client() -> OutboundClient {
    OutboundClient::new(TargetPolicy::new(&["127.0.0.0/8".parse().unwrap()])).unwrap()
}

async fn post_within(
    client: &OutboundClient,
    url: &str,
    timeout: Duration,
) -> Result<OutboundResponse, OutboundError> {
    let target = TargetUrl::parse(url).unwrap();
    client
        .post(
            &target,
            HeaderMap::new(),
            Bytes::from_static(b"{}"),
            2_048,
            timeout,
        )
        .await
}

async fn post_to_url(
    client: &OutboundClient,
    url: &str,
) -> Result<OutboundResponse, OutboundError> {
    post_within(client, url, PATIENCE).await
}

fn with_body(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn connections_are_kept_alive() {
    let (host, client) = (FixtureHost::start(with_body("ok")).await, build_client());
    for _ in 0..5 {
        assert_eq!(
            post_to_url(&client, &host.url).await.unwrap(),
            OutboundResponse {
                status: 200,
                body: b"ok".to_vec()
            }
        );
    }
    assert_eq!(host.connections(), 1);
}

#[tokio::test]
async fn an_answer_is_kept_and_read_to_a_bound() {
    let client = build_client();
    let medium = FixtureHost::start(with_body(&"x".repeat(50_000))).await;
    for _ in 0..2 {
        assert_eq!(
            post_to_url(&client, &medium.url).await.unwrap().body,
            vec![b'x'; 2_048]
        );
    }
    assert_eq!(
        medium.connections(),
        1,
        "the rest is thrown away, so that the connection can be used again"
    );
    let endless =
        FixtureHost::start(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(10_000_000))).await;
    for _ in 0..2 {
        assert_eq!(
            post_to_url(&client, &endless.url).await.unwrap().body,
            vec![b'x'; 2_048]
        );
    }
    assert_eq!(
        endless.connections(),
        2,
        "so much is not read: the connection is closed"
    );
}

#[tokio::test]
async fn endless_headers_and_what_is_no_http_are_no_answer() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(10_000_000));
    for answer in [
        many,
        long,
        "SSH-2.0-test\r\n".to_owned(),
        "\0\0\0\0\0\0\0\0\r\n\r\n".to_owned(),
    ] {
        let host = FixtureHost::start(answer).await;
        assert!(matches!(
            post_to_url(&build_client(), &host.url).await,
            Err(OutboundError::Http(_))
        ));
    }
}

#[tokio::test]
async fn an_answer_whose_body_never_ends_is_none_within_the_time_limit() {
    let begun = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n123";
    let host = FixtureHost::start(begun).await;
    let answer = post_within(&build_client(), &host.url, Duration::from_millis(100)).await;
    assert_eq!(
        answer.unwrap_err().to_string(),
        "no answer within 0.1 seconds"
    );
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = FixtureHost::start(with_body("")).await;
    let answer = format!(
        "HTTP/1.1 307 Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url
    );
    let host = FixtureHost::start(answer).await;
    assert_eq!(
        post_to_url(&build_client(), &host.url)
            .await
            .unwrap()
            .status,
        307
    );
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_kept_connection_that_the_host_has_closed_is_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufStream::new(stream);
            read_request(&mut stream).await.unwrap();
            stream
                .write_all(with_body("once").as_bytes())
                .await
                .unwrap();
            stream.flush().await.unwrap();
        }
    });
    let client = build_client();
    for _ in 0..3 {
        assert_eq!(post_to_url(&client, &url).await.unwrap().body, b"once");
    }
}

#[tokio::test]
async fn nobody_listening_is_a_failure_that_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = post_to_url(&build_client(), &url)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("the connection was refused"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_closes_each_connection_a_moment_later_is_asked_once_for_each_request() {
    const REQUESTS: usize = 200;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let asked = Arc::<AtomicUsize>::default();
    let counted = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counted = counted.clone();
            tokio::spawn(async move {
                let mut stream = BufStream::new(stream);
                read_request(&mut stream).await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                stream
                    .write_all(with_body("once").as_bytes())
                    .await
                    .unwrap();
                stream.flush().await.unwrap();
                // The connection looks kept, and is not.
                tokio::time::sleep(Duration::from_millis(1)).await;
            });
        }
    });
    let client = build_client();
    for _ in 0..REQUESTS {
        assert_eq!(post_to_url(&client, &url).await.unwrap().body, b"once");
    }
    assert_eq!(asked.load(Ordering::Relaxed), REQUESTS);
}

#[tokio::test]
async fn headers_are_read_to_a_bound() {
    let headers = format!(
        "HTTP/1.1 200 OK\r\na: {}\r\ncontent-length: 0\r\n\r\n",
        "x".repeat(100_000)
    );
    let host = FixtureHost::start(headers).await;
    assert!(matches!(
        post_to_url(&build_client(), &host.url).await,
        Err(OutboundError::Http(_))
    ));
}

/// Each host has an address of its own: a bound for one host keeps nobody from having many.
#[tokio::test]
async fn idle_connections_are_bounded_over_all_hosts() {
    const HOSTS: usize = 600;
    const IDLE_IN_ALL: usize = 512;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let open = Arc::<AtomicUsize>::default();
    let counted = open.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counted = counted.clone();
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let _ = serve_connection(stream, Arc::new(with_body("ok").into_bytes())).await;
                counted.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    let client = build_client();
    for host in 0..HOSTS {
        let url = format!("http://127.0.{}.{}:{port}/", host / 200, 1 + host % 200);
        assert_eq!(post_to_url(&client, &url).await.unwrap().status, 200);
    }
    let closed = async {
        while open.load(Ordering::Relaxed) > IDLE_IN_ALL {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, closed)
        .await
        .expect("no more connections than the bound stay open");
}
