//! Passing a scan on, as a webhook delivery would bring it.

use std::time::Duration;

use anyhow::{Context, bail};
use chrono::Utc;
use contract::webhook::{ID_HEADER, TIMESTAMP_HEADER};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url, redirect};

use super::feed::ScanFeedEvent;

/// As long as a webhook delivery waits.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where scans are passed on to.
pub(super) struct ScanForwarder {
    http: Client,
    url: Url,
}

impl ScanForwarder {
    /// To this URL.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        let url: Url = url
            .parse()
            .with_context(|| format!("--forward {url} is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            bail!("--forward {url} must begin with http:// or https://");
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "it asks the program that the developer names"
        )]
        let http = Client::builder()
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Self { http, url })
    }

    /// Posts the scan; returns what came of it in a few words. It is tried once.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line has no process, and so no clock"
    )]
    pub(super) async fn post(&self, scan: &ScanFeedEvent) -> String {
        let request = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ID_HEADER, scan.id())
            .header(TIMESTAMP_HEADER, Utc::now().timestamp())
            .body(scan.body().to_owned());
        match request.send().await {
            Ok(response) => response.status().to_string(),
            Err(error) if error.is_timeout() => {
                format!("no answer within {} seconds", TIMEOUT.as_secs())
            }
            Err(error) if error.is_connect() => format!("nothing listens at {}", self.url),
            Err(error) => error.to_string(),
        }
    }
}
