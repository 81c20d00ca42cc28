//! Who sends a part and then nothing, and hosts that do not answer: they hold up nobody else.

use std::time::Duration;

use pillarbox_tests::{
    CAMPAIGN, ConsoleClient, PictureHost, StackOptions, TestStack, postcard_design,
    variable_picture, wait_until,
};
use serde_json::{Value, json};
use store::MemberRole;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::member;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test runs.
const FOR_EVER: &str = "600000";

async fn console_with(settings: &[(&'static str, &str)]) -> (TestStack, String) {
    let settings = settings
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let mut stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let url = stack.start_console().await;
    (stack, url)
}

/// A connection on which a form has begun: its headers are sent.
async fn begun(url: &str, path: &str, headers: &str) -> TcpStream {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: {url}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// What is read until it ends, or until this has come.
async fn read_until(stream: &mut (impl AsyncReadExt + Unpin), end: &str) -> String {
    let mut text = String::new();
    let reading = async {
        while end.is_empty() || !text.contains(end) {
            match stream.read_u8().await {
                Ok(byte) => text.push(byte.into()),
                Err(_) => break,
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("an answer");
    text
}

const FORM: &str = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 1000000\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_does_not_arrive_makes_place_for_others() {
    let (stack, url) = console_with(&[
        ("CONSOLE__BODY_TIMEOUT_MS", "1000"),
        ("CONSOLE__MAX_CONNECTIONS", "4"),
    ])
    .await;
    let mut silent = Vec::new();
    for _ in 0..6 {
        silent.push(begun(&url, "/sign-in", FORM).await);
    }
    // One that sends a byte now and then is no better.
    let (mut answer, mut slow) = begun(&url, "/sign-in", FORM).await.into_split();
    let trickle = tokio::spawn(async move {
        while slow.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    for mut stream in silent {
        let page = read_until(&mut stream, "").await;
        assert!(
            page.starts_with("HTTP/1.1 408") && page.contains("did not arrive in time"),
            "{page}"
        );
        assert!(
            page.contains("content-security-policy"),
            "it is a page like all others: {page}"
        );
    }
    let page = read_until(&mut answer, "</html>").await;
    assert!(page.starts_with("HTTP/1.1 408"), "{page}");
    trickle.abort();
    let person = member(&stack, &url, MemberRole::Member).await;
    assert_eq!(person.get("/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_do_not_arrive_hold_up_no_other_file() {
    let (stack, url) = console_with(&[("CONSOLE__BODY_TIMEOUT_MS", FOR_EVER)]).await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let path = format!("/campaigns/{CAMPAIGN}/do-not-mail/upload");
    let headers = format!(
        "cookie: {}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000\r\nexpect: 100-continue\r\n",
        admin.cookie()
    );
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut stream = begun(&url, &path, &headers).await;
        // It is said when somebody begins to read.
        let said = read_until(&mut stream, "\r\n\r\n").await;
        assert!(said.starts_with("HTTP/1.1 100"), "{said}");
        let part = "--b\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\naddress\n";
        stream.write_all(part.as_bytes()).await.unwrap();
        stalled.push(stream);
    }
    let file = [("file", "address\n\"1 Main St, Austin, TX 78701\"\n")];
    let taken = tokio::time::timeout(PATIENCE, admin.upload_form(&path, &file))
        .await
        .expect("an answer");
    assert!(
        taken.html.contains("1 addresses were added"),
        "{}",
        taken.html
    );
}

/// Where the proof of a picture at this link is.
fn proof(design: &str, side: &str, link: &str) -> String {
    let link: String = url::form_urlencoded::byte_serialize(link.as_bytes()).collect();
    format!("{design}/versions/1/{side}?value.photo={link}")
}

#[tokio::test(flavor = "multi_thread")]
async fn proofs_that_wait_for_a_host_hold_up_no_proof_whose_pictures_are_known() {
    let patient = [
        ("PICTURES__TIMEOUT_MS", FOR_EVER),
        ("PICTURES__REQUEST_TIMEOUT_MS", FOR_EVER),
    ];
    let (stack, url) = console_with(&patient).await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let host = PictureHost::start().await;
    let document = postcard_design(&[variable_picture(Value::Null)]).to_string();
    let made = admin
        .upload_form("/designs", &[("name", "Photo"), ("document", &document)])
        .await;
    let design = made.location().split('?').next().unwrap().to_owned();
    let known = host.link("/picture/known");
    assert_eq!(
        admin.get(&proof(&design, "front", &known)).await.status,
        200
    );
    // More than are drawn at a time, and more than fetch at a time.
    let waiting: Vec<_> = (0..8)
        .map(|number| {
            let path = proof(&design, "front", &host.link(&format!("/hang/{number}")));
            let admin: ConsoleClient = admin.clone();
            tokio::spawn(async move { admin.get(&path).await })
        })
        .collect();
    wait_until("proofs wait for the host", async || {
        host.count_all_requests() >= 5
    })
    .await;
    let back = tokio::time::timeout(PATIENCE, admin.get(&proof(&design, "back", &known))).await;
    assert_eq!(back.expect("an answer").status, 200);
    assert_eq!(
        host.count_all_requests(),
        5,
        "four proofs at a time fetch, and what is known is not fetched again"
    );
    waiting.into_iter().for_each(|waiting| waiting.abort());
}
