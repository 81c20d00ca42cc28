//! A person at the console with a real browser: Debian's Chromium without a window, driven over the WebDriver protocol.

mod command;
mod driver;
mod page;

use std::path::Path;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::visitor::PASSWORD;
use command::DevTools;
use driver::WebDriver;

/// How long a page may take until it shows what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Points of a desktop's window.
const DESKTOP: (u32, u32) = (1200, 800);

/// A browser that looks at one console. It ends with its value.
pub struct Browser {
    client: Client,
    url: String,
    _driver: WebDriver,
}

impl Browser {
    /// A new browser without cookies, for the console at this address.
    pub async fn open(url: &str) -> Self {
        let driver = WebDriver::start().await;
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let capabilities =
            json!({"goog:chromeOptions": {"binary": driver::CHROMIUM, "args": arguments}});
        let Value::Object(capabilities) = capabilities else {
            unreachable!("it is written as an object")
        };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder
            .capabilities(capabilities)
            .connect(&driver.url)
            .await
            .expect("a browser");
        let browser = Self {
            client,
            url: url.to_owned(),
            _driver: driver,
        };
        browser.resize(DESKTOP.0, DESKTOP.1).await;
        browser
    }

    /// Signs this person in with [`PASSWORD`].
    pub async fn sign_in(&self, email: &str) {
        self.go("/sign-in").await;
        self.fill("E-mail address", email).await;
        self.fill("Password", PASSWORD).await;
        self.press("Sign in").await;
        self.until_text("Home").await;
    }

    /// Opens a page of the console.
    pub async fn go(&self, path: &str) {
        self.client
            .goto(&format!("{}{path}", self.url))
            .await
            .expect("a page");
    }

    /// The path of the page that is shown, with its query.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("an address");
        url.as_str()
            .strip_prefix(&self.url)
            .expect("a page of the console")
            .to_owned()
    }

    /// Writes into the field of this label in place of what it holds.
    pub async fn fill(&self, label: &str, value: &str) {
        let field = self.field(label).await;
        field.clear().await.expect("a field to write into");
        field.send_keys(value).await.expect("a field to write into");
    }

    /// Chooses what is called so from the list of this label.
    pub async fn choose(&self, label: &str, option: &str) {
        self.field(label)
            .await
            .select_by_label(option)
            .await
            .expect("an option of that name");
    }

    /// Ticks the box, or takes the choice, of this label.
    pub async fn tick(&self, label: &str) {
        self.field(label)
            .await
            .click()
            .await
            .expect("a box to tick");
    }

    /// What the field of this label holds.
    pub async fn value(&self, label: &str) -> String {
        self.field(label)
            .await
            .prop("value")
            .await
            .expect("a field")
            .unwrap_or_default()
    }

    /// Gives a field that takes a file one of this machine.
    pub async fn attach(&self, label: &str, file: &Path) {
        let path = file.to_str().expect("a path in UTF-8");
        self.field(label)
            .await
            .send_keys(path)
            .await
            .expect("a field for files");
    }

    /// Presses the button of this name, or with this label for screen readers; a question is answered with yes.
    pub async fn press(&self, name: &str) {
        let name = quoted(name);
        let path = format!("//button[normalize-space(.)={name} or @aria-label={name}]");
        self.find(&path)
            .await
            .click()
            .await
            .expect("a button to press");
        // There is a question for what cannot be undone only.
        let _ = self.client.accept_alert().await;
    }

    /// Follows the link of this text.
    pub async fn follow(&self, text: &str) {
        let path = format!("//a[normalize-space(.)={}]", quoted(text));
        self.find(&path)
            .await
            .click()
            .await
            .expect("a link to follow");
    }

    /// Waits until the page shows this text.
    pub async fn until_text(&self, text: &str) {
        let path = format!("//main//*[contains(normalize-space(.), {})]", quoted(text));
        let waited = self
            .client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::XPath(&path))
            .await;
        if waited.is_err() {
            panic!(
                "{text:?} does not appear on {}: {}",
                self.path().await,
                self.text().await
            );
        }
    }

    /// What the page says.
    pub async fn text(&self) -> String {
        let main = self
            .client
            .find(Locator::Css("main"))
            .await
            .expect("a main part");
        main.text().await.expect("its text")
    }

    /// How many pictures the page shows that the browser could draw, its own mark aside.
    pub async fn pictures(&self) -> u64 {
        let script = "return [...document.querySelectorAll('main img')].filter((img) => img.naturalWidth > 0).length";
        let count = self
            .client
            .execute(script, Vec::new())
            .await
            .expect("a script");
        count.as_u64().expect("a number")
    }

    /// Makes the page this wide and high, as on a screen of that size.
    pub async fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", size).await;
    }

    async fn field(&self, label: &str) -> Element {
        let label = quoted(label);
        let path = format!(
            "//*[@id=//label[normalize-space(.)={label}]/@for] | //label[normalize-space(.)={label}]//input \
             | //*[@aria-label={label}]"
        );
        self.find(&path).await
    }

    async fn find(&self, path: &str) -> Element {
        match self
            .client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::XPath(path))
            .await
        {
            Ok(element) => element,
            Err(error) => panic!(
                "{error}: {path} on {}: {}",
                self.path().await,
                self.text().await
            ),
        }
    }

    async fn tools(&self, method: &'static str, parameters: Value) -> Value {
        let command = DevTools { method, parameters };
        self.client
            .issue_cmd(command)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}

/// A text as XPath writes it. Labels hold no double quotes.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
