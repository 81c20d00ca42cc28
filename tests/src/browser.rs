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
        self.open_page("/sign-in").await;
        self.fill_field("E-mail address", email).await;
        self.fill_field("Password", PASSWORD).await;
        self.press_button("Sign in").await;
        self.wait_for_text("Home").await;
    }

    /// Opens a page of the console.
    pub async fn open_page(&self, path: &str) {
        self.session
            .open(&format!("{}{path}", self.url))
            .await
            .expect("a page");
    }

    /// The path of the page that is shown, with its query.
    pub async fn current_path(&self) -> String {
        let url = self.session.current_url().await.expect("an address");
        url.strip_prefix(&self.url)
            .expect("a page of the console")
            .to_owned()
    }

    /// Writes into the field of this label in place of what it holds.
    pub async fn fill_field(&self, label: &str, value: &str) {
        let field = self.find_field(label).await;
        field.clear().await.expect("a field to write into");
        field.send_keys(value).await.expect("a field to write into");
    }

    /// Chooses what is called so from the list of this label.
    pub async fn choose_option(&self, label: &str, option: &str) {
        let path = format!(".//option[normalize-space(.)={}]", quote_xpath(option));
        self.find_field(label)
            .await
            .click_below(&path)
            .await
            .expect("an option of that name");
    }

    /// Ticks the box, or takes the choice, of this label.
    pub async fn tick_box(&self, label: &str) {
        self.find_field(label)
            .await
            .click()
            .await
            .expect("a box to tick");
    }

    /// What the field of this label holds.
    pub async fn field_value(&self, label: &str) -> String {
        self.find_field(label)
            .await
            .property("value")
            .await
            .expect("a field")
    }

    /// Gives a field that takes a file one of this machine.
    pub async fn attach_file(&self, label: &str, file: &Path) {
        let path = file.to_str().expect("a path in UTF-8");
        self.find_field(label)
            .await
            .send_keys(path)
            .await
            .expect("a field for files");
    }

    /// Presses the button of this name, or with this label for screen readers; a question is answered with yes.
    pub async fn press_button(&self, name: &str) {
        let name = quote_xpath(name);
        let path = format!("//button[normalize-space(.)={name} or @aria-label={name}]");
        self.find_element(&path)
            .await
            .click()
            .await
            .expect("a button to press");
        // There is a question for what cannot be undone only.
        let _ = self.session.accept_alert().await;
    }

    /// Follows the link of this text.
    pub async fn follow_link(&self, text: &str) {
        let path = format!("//a[normalize-space(.)={}]", quote_xpath(text));
        self.find_element(&path)
            .await
            .click()
            .await
            .expect("a link to follow");
    }

    /// Waits until the page shows this text.
    pub async fn wait_for_text(&self, text: &str) {
        let path = format!(
            "//main//*[contains(normalize-space(.), {})]",
            quote_xpath(text)
        );
        let waited = self.session.wait_for_element(&path, PATIENCE).await;
        if waited.is_err() {
            panic!(
                "{text:?} does not appear on {}: {}",
                self.current_path().await,
                self.page_text().await
            );
        }
    }

    /// What the page says.
    pub async fn page_text(&self) -> String {
        let main = self
            .session
            .find_element("//main")
            .await
            .expect("a main part");
        main.text().await.expect("its text")
    }

    /// How many pictures the page shows that the browser could draw, its own mark aside.
    pub async fn count_pictures(&self) -> u64 {
        let script = "return [...document.querySelectorAll('main img')].filter((img) => img.naturalWidth > 0).length";
        let count = self.session.execute_script(script).await.expect("a script");
        count.as_u64().expect("a number")
    }

    /// Makes the page this wide and high, as on a screen of that size.
    pub async fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.run_devtools("Emulation.setDeviceMetricsOverride", size)
            .await;
    }

    async fn find_field(&self, label: &str) -> PageElement<'_> {
        let label = quote_xpath(label);
        let path = format!(
            "//*[@id=//label[normalize-space(.)={label}]/@for] | //label[normalize-space(.)={label}]//input \
             | //*[@aria-label={label}]"
        );
        self.find_element(&path).await
    }

    async fn find_element(&self, path: &str) -> PageElement<'_> {
        match self.session.wait_for_element(path, PATIENCE).await {
            Ok(element) => element,
            Err(error) => panic!(
                "{error}: {path} on {}: {}",
                self.current_path().await,
                self.page_text().await
            ),
        }
    }

    async fn run_devtools(&self, method: &str, parameters: Value) -> Value {
        self.session
            .run_devtools(method, parameters)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}

/// A text as XPath writes it. Labels hold no double quotes.
fn quote_xpath(text: &str) -> String {
    format!("\"{text}\"")
}
