//! What a team reads of its mailpieces, its campaigns and its ledger.

mod campaigns;
mod changes;
mod concurrent;
mod ledger;
mod mailpieces;

use pillarbox_tests::{ApiResponse, KEY, TestStack};
use reqwest::Method;
use serde_json::{Value, json};
use store::{PrintLease, PrintPaper, PrintRunRequest};

/// The key of another team.
const OTHERS_KEY: &str = "pk_live_OtherOtherOtherOtherOt";

/// A list, and where a client is in it.
struct ListReader<'a> {
    stack: &'a TestStack,
    /// Which gateway.
    url: String,
    /// Path and filters.
    path: &'static str,
    /// The field with the items.
    items: &'static str,
    cursor: Option<String>,
}

/// A page as a client sees it.
struct ListPage {
    items: Vec<Value>,
    has_more: bool,
}

impl<'a> ListReader<'a> {
    /// From the begin of the list.
    fn new(stack: &'a TestStack, path: &'static str, items: &'static str) -> Self {
        Self {
            stack,
            url: stack.url.clone(),
            path,
            items,
            cursor: None,
        }
    }

    async fn next(&mut self) -> ListPage {
        let cursor = self
            .cursor
            .as_ref()
            .map(|cursor| format!("{}cursor={cursor}", separator(self.path)));
        let path = format!("{}{}", self.path, cursor.unwrap_or_default());
        let json = read_ok_from(self.stack, &self.url, &path).await;
        self.cursor = Some(json["next_cursor"].as_str().unwrap().to_owned());
        ListPage {
            items: json[self.items].as_array().unwrap().clone(),
            has_more: json["has_more"] == true,
        }
    }

    /// All that there is now, page by page.
    async fn rest(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let page = self.next().await;
            all.extend(page.items);
            if !page.has_more {
                return all;
            }
        }
    }
}

const fn separator(path: &str) -> &'static str {
    let (bytes, mut at) = (path.as_bytes(), 0);
    while at < bytes.len() {
        if bytes[at] == b'?' {
            return "&";
        }
        at += 1;
    }
    "?"
}

async fn read_as(stack: &TestStack, key: &str, path: &str) -> ApiResponse {
    let url = format!("{}{path}", stack.url);
    stack
        .request(Method::GET, &url, &[("x-api-key", key)], "")
        .await
}

async fn read_ok(stack: &TestStack, path: &str) -> Value {
    read_ok_from(stack, &stack.url, path).await
}

async fn read_ok_from(stack: &TestStack, gateway: &str, path: &str) -> Value {
    let url = format!("{gateway}{path}");
    let answer = stack
        .request(Method::GET, &url, &[("x-api-key", KEY)], "")
        .await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// Status and code of a refusal.
async fn refused(stack: &TestStack, path: &str) -> (u16, String) {
    read_as(stack, KEY, path).await.error()
}

fn ids_of(items: &[Value]) -> Vec<String> {
    let id = |item: &Value| item["id"].as_str().unwrap().to_owned();
    items.iter().map(id).collect()
}

fn states_of(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["state"].as_str().unwrap())
        .collect()
}

/// Claims all that is queued for a print run.
async fn claim_run(stack: &TestStack) -> PrintLease {
    let (now, settings) = (stack.now(), json!({}));
    let paper = PrintPaper {
        settings: &settings,
        mailer_id: None,
    };
    let request = PrintRunRequest {
        product: "postcard_4x6",
        limit: 10_000,
        mail_by: None,
        lead_days: 60,
        papers: &[paper],
    };
    let run = stack
        .store
        .claim_print_run(&request, now, now + chrono::TimeDelta::hours(1));
    run.await.unwrap().expect("something is queued").lease
}

/// Makes another team with a campaign and money.
async fn add_another_team(stack: &TestStack) {
    let card =
        json!({"product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []}});
    let team = json!({
        "name": "Other",
        "keys": [{"kind": "full_access", "name": "Other", "key": OTHERS_KEY}],
        "designs": [{"name": "Card", "document": card}],
        "campaigns": [{"id": "PA-OTHER1", "name": "Other", "steps": [{"design": "Card", "postage": "standard"}]}],
        "top_up": {"amount": "$10.00", "reference": "first"},
    });
    stack.apply_team(json!({"teams": [team]})).await;
}

async fn send_as_another_team(stack: &TestStack, recipients: &[Value]) {
    let body = json!({"campaign_id": "PA-OTHER1", "recipients": recipients}).to_string();
    let sent = stack
        .post_send_with(&[("x-api-key", OTHERS_KEY)], body)
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text);
}
