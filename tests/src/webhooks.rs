//! Cards with QR codes, and endpoints that hear of their scans.

use reqwest::Method;
use serde_json::{Value, json};

use crate::sink::WebhookSink;
use crate::stack::{ApiResponse, StackOptions, TestStack, eventually};

/// A stack whose campaign prints two QR codes, with one sink for the scans of all campaigns.
pub async fn with_qr_codes(options: StackOptions) -> (TestStack, WebhookSink) {
    let stack = TestStack::with(options).await;
    let sink = WebhookSink::start().await;
    provide(&stack, &[json!({"url": sink.url})]).await;
    (stack, sink)
}

/// The same without a worker that stays, on the servers that the settings name, with cards mailed to these
/// recipients. Returns their codes.
pub async fn with_qr_codes_on(
    settings: Vec<(&'static str, String)>,
    sink: &WebhookSink,
    recipients: &[Value],
) -> (TestStack, Vec<String>) {
    let mut stack = TestStack::on(settings).await;
    provide(&stack, &[json!({"url": sink.url})]).await;
    stack.add_mailer(None);
    eventually("the cards are mailed", async || {
        stack.send(recipients).await.status == 200
    })
    .await;
    let codes = cards(&stack).await;
    (stack, codes)
}

/// Provisions the design, the campaign and these endpoints.
pub(crate) async fn provide(stack: &TestStack, endpoints: &[Value]) {
    let code = |id: &str, destination: &str| {
        json!({"id": id, "kind": "qr_code", "area": {"x": 20, "y": 100, "width": 80, "height": 80},
            "destination": destination, "fallback_link": format!("https://example.com/{id}")})
    };
    let design = json!({"name": "Codes", "document": {
        "product": "postcard_4x6",
        "front": {"elements": [code("front", "https://example.com/?name={{first_name}}")]},
        "back": {"elements": [code("back", "https://example.com/offer/{{offer}}")]},
    }});
    stack
        .apply(
            json!({"teams": [{"name": "Test", "designs": [design], "endpoints": endpoints,
        "users": [{"email": "owner@example.com", "name": "Owner", "role": "owner"},
            {"email": "member@example.com", "name": "Member", "role": "member"}]}]}),
        )
        .await;
    stack
        .campaign(json!({"steps": [{"design": "Codes", "postage": "standard"}]}))
        .await;
}

/// The codes of all cards, the oldest first.
pub async fn cards(stack: &TestStack) -> Vec<String> {
    let rows = stack
        .sql
        .query("SELECT code FROM mailpieces ORDER BY mailpiece_id", &[])
        .await
        .expect("mailpieces");
    rows.iter().map(|row| row.get(0)).collect()
}

impl TestStack {
    /// Scans a card as a phone does.
    pub async fn scan(&self, code: &str) -> ApiResponse {
        self.ask(
            Method::GET,
            code,
            &[("user-agent", "Mozilla/5.0 (iPhone) Safari/604.1")],
        )
        .await
    }

    /// Asks for a card's link with these headers.
    pub async fn ask(&self, method: Method, code: &str, headers: &[(&str, &str)]) -> ApiResponse {
        self.request(method, &format!("{}/q/{code}", self.url), headers, "")
            .await
    }
}
