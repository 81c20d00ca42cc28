//! Cards with QR codes, and endpoints that hear of their scans.

use reqwest::Method;
use serde_json::{Value, json};

use crate::sink::WebhookSink;
use crate::stack::{ApiResponse, StackOptions, TestStack, wait_until};

/// A stack whose campaign prints two QR codes, with one sink for the scans of all campaigns.
pub async fn with_qr_codes(options: StackOptions) -> (TestStack, WebhookSink) {
    let stack = TestStack::with_options(options).await;
    let sink = WebhookSink::start().await;
    apply_webhooks(&stack, &[json!({"url": sink.url})]).await;
    (stack, sink)
}

/// The same without a worker that stays, on the servers that the settings name, with cards mailed to these
/// recipients. Returns their codes.
pub async fn with_qr_codes_on(
    settings: Vec<(&'static str, String)>,
    sink: &WebhookSink,
    recipients: &[Value],
) -> (TestStack, Vec<String>) {
    let mut stack = TestStack::on_servers(settings).await;
    apply_webhooks(&stack, &[json!({"url": sink.url})]).await;
    stack.add_mailer(None);
    wait_until("the cards are mailed", async || {
        stack.send_recipients(recipients).await.status == 200
    })
    .await;
    let codes = list_codes(&stack).await;
    (stack, codes)
}

/// Provisions the design, the campaign and these endpoints.
pub(crate) async fn apply_webhooks(stack: &TestStack, endpoints: &[Value]) {
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
        .apply_team(
            json!({"teams": [{"name": "Test", "designs": [design], "endpoints": endpoints,
        "users": [{"email": "owner@example.com", "name": "Owner", "role": "owner"},
            {"email": "member@example.com", "name": "Member", "role": "member"}]}]}),
        )
        .await;
    stack
        .save_campaign(json!({"steps": [{"design": "Codes", "postage": "standard"}]}))
        .await;
}

/// The codes of all cards, the oldest first.
pub async fn list_codes(stack: &TestStack) -> Vec<String> {
    let rows = stack
        .sql
        .query("SELECT code FROM mailpieces ORDER BY mailpiece_id", &[])
        .await
        .expect("mailpieces");
    rows.iter().map(|row| row.get(0)).collect()
}

impl TestStack {
    /// Scans a card as a phone does.
    pub async fn scan_code(&self, code: &str) -> ApiResponse {
        self.request_code(
            Method::GET,
            code,
            &[("user-agent", "Mozilla/5.0 (iPhone) Safari/604.1")],
        )
        .await
    }

    /// Asks for a card's link with these headers.
    pub async fn request_code(
        &self,
        method: Method,
        code: &str,
        headers: &[(&str, &str)],
    ) -> ApiResponse {
        self.request(method, &format!("{}/q/{code}", self.url), headers, "")
            .await
    }
}
