//! Commands of Chromium's own protocol, which its driver passes on.

use fantoccini::wd::WebDriverCompatibleCommand;
use reqwest::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command of the DevTools protocol.
#[derive(Debug)]
pub(super) struct DevTools {
    /// Such as `Page.captureScreenshot`.
    pub(super) method: &'static str,
    /// An object.
    pub(super) parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.unwrap_or_default()
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (
            Method::POST,
            Some(json!({"cmd": self.method, "params": self.parameters}).to_string()),
        )
    }
}
