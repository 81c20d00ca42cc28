//! A person at the console with a real browser: Debian's Chromium without a window, driven over the WebDriver protocol.

mod driver;
mod page;
mod session;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::visitor::PASSWORD;
use driver::WebDriver;
use session::{PageElement, WebDriverSession};

/// How long a page may take until it shows what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Points of a desktop's window.
const DESKTOP: (u32, u32) = (1200, 800);

/// A browser that looks at one console. It ends with its value.
pub struct Browser {
    session: WebDriverSession,
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
        let session = WebDriverSession::start(&driver.url, capabilities).await;
        let browser = Self {
            session,
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
        self.session
            .open(&format!("{}{path}", self.url))
            .await
            .expect("a page");
    }

    /// The path of the page that is shown, with its query.
    pub async fn path(&self) -> String {
        let url = self.session.current_url().await.expect("an address");
        url.strip_prefix(&self.url)
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
        let path = format!(".//option[normalize-space(.)={}]", quoted(option));
        self.field(label)
            .await
            .click_below(&path)
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
            .property("value")
            .await
            .expect("a field")
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
        let _ = self.session.accept_alert().await;
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
        let waited = self.session.wait_for(&path, PATIENCE).await;
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
        let main = self.session.find("//main").await.expect("a main part");
        main.text().await.expect("its text")
    }

    /// How many pictures the page shows that the browser could draw, its own mark aside.
    pub async fn pictures(&self) -> u64 {
        let script = "return [...document.querySelectorAll('main img')].filter((img) => img.naturalWidth > 0).length";
        let count = self.session.execute(script).await.expect("a script");
        count.as_u64().expect("a number")
    }

    /// Makes the page this wide and high, as on a screen of that size.
    pub async fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", size).await;
    }

    async fn field(&self, label: &str) -> PageElement<'_> {
        let label = quoted(label);
        let path = format!(
            "//*[@id=//label[normalize-space(.)={label}]/@for] | //label[normalize-space(.)={label}]//input \
             | //*[@aria-label={label}]"
        );
        self.find(&path).await
    }

    async fn find(&self, path: &str) -> PageElement<'_> {
        match self.session.wait_for(path, PATIENCE).await {
            Ok(element) => element,
            Err(error) => panic!(
                "{error}: {path} on {}: {}",
                self.path().await,
                self.text().await
            ),
        }
    }

    async fn tools(&self, method: &str, parameters: Value) -> Value {
        self.session
            .devtools(method, parameters)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}

/// A text as XPath writes it. Labels hold no double quotes.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
