//! A session of a WebDriver, as far as the tests need one (W3C WebDriver, level 1, and Chromium's extension).

use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// The name under which the protocol hands elements out.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What the protocol calls the Tab key.
const TAB: &str = "\u{e004}";

/// How often a page is looked at for what is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A browser that does what it is told.
pub(super) struct WebDriverSession {
    http: Client,
    /// Where its commands go.
    url: String,
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {message}")]
pub(super) struct WebDriverError {
    /// The protocol's word for it, such as `no such element`.
    kind: String,
    message: String,
}

/// Something on a page.
pub(super) struct PageElement<'a> {
    session: &'a WebDriverSession,
    /// Its commands' path.
    path: String,
}

impl WebDriverSession {
    /// Has the driver at this address start a browser with these capabilities.
    pub(super) async fn start(driver: &str, capabilities: Value) -> Self {
        runtime::install_crypto();
        let mut session = Self {
            http: Client::builder().no_proxy().build().expect("a client"),
            url: driver.to_owned(),
        };
        let wanted = json!({"capabilities": {"alwaysMatch": capabilities}});
        let started = session.post("/session", wanted).await.expect("a browser");
        let id = started["sessionId"].as_str().expect("a session");
        session.url = format!("{driver}/session/{id}");
        session
    }

    /// Opens a page and waits until it is loaded.
    pub(super) async fn open(&self, url: &str) -> Result<(), WebDriverError> {
        self.post("/url", json!({"url": url})).await.map(drop)
    }

    /// The address of the page that is shown.
    pub(super) async fn current_url(&self) -> Result<String, WebDriverError> {
        self.get("/url").await.map(|url| value_text(&url))
    }

    /// The first element that an XPath expression names.
    pub(super) async fn find_element(
        &self,
        xpath: &str,
    ) -> Result<PageElement<'_>, WebDriverError> {
        self.find_below("", xpath).await
    }

    /// The same, as soon as there is one.
    pub(super) async fn wait_for_element(
        &self,
        xpath: &str,
        at_most: Duration,
    ) -> Result<PageElement<'_>, WebDriverError> {
        let begun = Instant::now();
        loop {
            match self.find_element(xpath).await {
                Err(error) if error.kind == "no such element" && begun.elapsed() < at_most => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                found => return found,
            }
        }
    }

    /// Runs a script and gives what it returns.
    pub(super) async fn execute_script(&self, script: &str) -> Result<Value, WebDriverError> {
        let body = json!({"script": script, "args": []});
        self.post("/execute/sync", body).await
    }

    /// Runs a script that calls its last argument with what it gives.
    pub(super) async fn execute_async_script(&self, script: &str) -> Result<Value, WebDriverError> {
        let body = json!({"script": script, "args": []});
        self.post("/execute/async", body).await
    }

    /// Presses the Tab key so many times.
    pub(super) async fn press_tab(&self, times: u64) -> Result<(), WebDriverError> {
        let press = ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": TAB}));
        let presses: Vec<Value> = (0..times).flat_map(|_| press.clone()).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": presses});
        let body = json!({"actions": [keyboard]});
        self.post("/actions", body).await.map(drop)
    }

    /// Answers the page's question with yes.
    pub(super) async fn accept_alert(&self) -> Result<(), WebDriverError> {
        self.post("/alert/accept", json!({})).await.map(drop)
    }

    /// A command of the browser's own protocol, such as `Page.captureScreenshot`.
    pub(super) async fn run_devtools(
        &self,
        method: &str,
        parameters: Value,
    ) -> Result<Value, WebDriverError> {
        let body = json!({"cmd": method, "params": parameters});
        self.post("/goog/cdp/execute", body).await
    }

    async fn find_below(&self, path: &str, xpath: &str) -> Result<PageElement<'_>, WebDriverError> {
        let wanted = json!({"using": "xpath", "value": xpath});
        let found = self.post(&format!("{path}/element"), wanted).await?;
        let id = found[ELEMENT].as_str().expect("an element");
        Ok(PageElement {
            session: self,
            path: format!("/element/{id}"),
        })
    }

    async fn get(&self, path: &str) -> Result<Value, WebDriverError> {
        self.send_command(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value, WebDriverError> {
        self.send_command(Method::POST, path, Some(body)).await
    }

    async fn send_command(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, WebDriverError> {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(body) = &body {
            request = request.json(body);
        }
        let response = request.send().await.expect("the driver answers");
        let is_done = response.status().is_success();
        let mut answer: Value = response.json().await.expect("the driver answers with JSON");
        let value = answer["value"].take();
        if is_done {
            return Ok(value);
        }
        Err(WebDriverError {
            kind: value_text(&value["error"]),
            message: value_text(&value["message"]),
        })
    }
}

impl PageElement<'_> {
    /// Clicks on its middle.
    pub(super) async fn click(&self) -> Result<(), WebDriverError> {
        self.send_action("click", json!({})).await
    }

    /// Empties a field.
    pub(super) async fn clear(&self) -> Result<(), WebDriverError> {
        self.send_action("clear", json!({})).await
    }

    /// Writes into a field; gives one for files the file of this path.
    pub(super) async fn send_keys(&self, text: &str) -> Result<(), WebDriverError> {
        self.send_action("value", json!({"text": text})).await
    }

    /// Clicks on the first element below it that an XPath expression names.
    pub(super) async fn click_below(&self, xpath: &str) -> Result<(), WebDriverError> {
        let below = self.session.find_below(&self.path, xpath).await?;
        below.click().await
    }

    /// A property of it, as text; empty when it has none.
    pub(super) async fn property(&self, name: &str) -> Result<String, WebDriverError> {
        let path = format!("{}/property/{name}", self.path);
        self.session
            .get(&path)
            .await
            .map(|value| value_text(&value))
    }

    /// What it shows.
    pub(super) async fn text(&self) -> Result<String, WebDriverError> {
        let path = format!("{}/text", self.path);
        self.session
            .get(&path)
            .await
            .map(|value| value_text(&value))
    }

    async fn send_action(&self, command: &str, body: Value) -> Result<(), WebDriverError> {
        let path = format!("{}/{command}", self.path);
        self.session.post(&path, body).await.map(drop)
    }
}

/// A text as it is, and another value as JSON writes it.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
