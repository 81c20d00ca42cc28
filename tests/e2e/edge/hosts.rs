//! Whom a request is for: RFC 9112, section 3.2.

use pillarbox_tests::{StackOptions, TestStack};
use tokio::io::AsyncReadExt;

use super::{PATIENCE, said};

async fn status(url: &str, request: &str) -> String {
    let mut stream = said(url, request.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("its end");
    String::from_utf8_lossy(&answer)
        .chars()
        .skip("HTTP/1.1 ".len())
        .take(3)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_one_good_host_is_refused() {
    let mut stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let console = stack.start_console().await;
    for url in [&stack.url, &console] {
        let get = |version: &str, hosts: &str| {
            format!("GET /elsewhere HTTP/{version}\r\n{hosts}connection: close\r\n\r\n")
        };
        for hosts in [
            "",
            "host: a\r\nhost: b\r\n",
            "host: a\r\nhost: a\r\n",
            "host: a b\r\n",
            "host: user@a\r\n",
            "host: a/b\r\n",
            "host: a:b\r\n",
        ] {
            assert_eq!(status(url, &get("1.1", hosts)).await, "400", "{hosts:?}");
        }
        for hosts in [
            "host: a\r\n",
            "host: a:80\r\n",
            "host: [::1]:80\r\n",
            "host:\r\n",
        ] {
            assert_eq!(status(url, &get("1.1", hosts)).await, "404", "{hosts:?}");
        }
        assert_eq!(
            status(url, &get("1.0", "")).await,
            "404",
            "the older version knows no hosts"
        );
    }
}
