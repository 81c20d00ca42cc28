//! What is asked of every page: that everybody can use it. And what it looks like.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use serde_json::{Value, json};

use super::{Browser, DESKTOP};
use crate::processes::tool_folder;

/// Points of a small phone's screen.
const PHONE: (u32, u32) = (360, 740);

/// Points of a page's height that a picture of it shows.
const TALLEST: u64 = 1000;

/// Runs the checker and gives what it finds serious or critical, as the rule and the elements.
const CHECK: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, {resultTypes: ['violations']}).then(
        (results) => done(results.violations
            .filter((found) => ['serious', 'critical'].includes(found.impact))
            .map((found) => found.id + ': ' + found.nodes.map((node) => node.html).join(' '))),
        (error) => done([String(error)]));";

/// All that the Tab key must reach. Of radio buttons of one name it reaches one; the arrow keys reach the others.
const WATCH_FOCUS: &str = "
    const control = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const radios = new Set();
    window.unreached = new Set([...document.querySelectorAll(control)].filter((element) => {
        if (element.disabled || element.tabIndex < 0 || element.type === 'hidden') return false;
        if (element.type === 'radio') {
            if (radios.has(element.name)) return false;
            radios.add(element.name);
        }
        return element.checkVisibility({visibilityProperty: true});
    }));
    // Fields for dates and times are passed in several steps.
    const steps = (element) => (['date', 'time', 'datetime-local'].includes(element.type) ? 8 : 1);
    window.watched = [...unreached].reduce((sum, element) => sum + steps(element), 0);
    document.addEventListener('focusin', (event) => {
        for (const element of [...unreached]) {
            const same = element.type === 'radio' && event.target.type === 'radio';
            if (element === event.target || (same && element.name === event.target.name)) unreached.delete(element);
        }
    });
    return watched;";

impl Browser {
    /// What keeps people from using the page that is shown; empty when nothing does.
    pub async fn find_barriers(&self) -> Vec<String> {
        let mut found = self.find_violations().await;
        found.extend(self.find_unreachable().await);
        self.resize(PHONE.0, PHONE.1).await;
        let (across, _) = self.page_size().await;
        if across > u64::from(PHONE.0) {
            found.push(format!(
                "it is {across} points wide on a phone of {}",
                PHONE.0
            ));
        }
        self.resize(DESKTOP.0, DESKTOP.1).await;
        found
    }

    /// What the accessibility checker finds serious or critical.
    async fn find_violations(&self) -> Vec<String> {
        self.session
            .execute_script(&load_checker_script())
            .await
            .expect("the checker loads");
        let found = self
            .session
            .execute_async_script(CHECK)
            .await
            .expect("the checker runs");
        serde_json::from_value(found).expect("a list of texts")
    }

    /// Elements that the Tab key does not reach from the page's beginning.
    async fn find_unreachable(&self) -> Vec<String> {
        let watched = self
            .session
            .execute_script(WATCH_FOCUS)
            .await
            .expect("a script");
        // One more, for the step out of the page.
        let steps = watched.as_u64().expect("a number") + 1;
        self.session.press_tab(steps).await.expect("keys");
        let script = "return [...unreached].map((element) => 'the Tab key does not reach ' + element.outerHTML)";
        let found = self.session.execute_script(script).await.expect("a script");
        serde_json::from_value(found).expect("a list of texts")
    }

    /// The id of the element that has the focus; empty when it has none.
    pub async fn focused_id(&self) -> String {
        let script = "return document.activeElement?.id ?? ''";
        let id = self.session.execute_script(script).await.expect("a script");
        id.as_str().unwrap_or_default().to_owned()
    }

    /// Makes the page as narrow as a phone's.
    pub async fn resize_to_phone(&self) {
        self.resize(PHONE.0, PHONE.1).await;
    }

    /// Whether what this selector finds first is on the screen from its left to its right edge.
    pub async fn is_across_screen(&self, selector: &str) -> bool {
        let script = format!(
            "const box = document.querySelector('{selector}').getBoundingClientRect();
             return box.left >= 0 && box.right <= innerWidth && box.width > 0"
        );
        let is_seen = self
            .session
            .execute_script(&script)
            .await
            .expect("a script");
        is_seen.as_bool().expect("yes or no")
    }

    /// How many points high the smallest letters of pictures are that this selector finds, as they are drawn.
    pub async fn smallest_letters(&self, selector: &str) -> f64 {
        let script = format!(
            "return Math.min(...[...document.querySelectorAll('{selector}')]
                 .filter((text) => text.checkVisibility())
                 .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"
        );
        let points = self
            .session
            .execute_script(&script)
            .await
            .expect("a script");
        points.as_f64().expect("a number")
    }

    /// How many pictures of the page's content say no size.
    pub async fn count_unsized_pictures(&self) -> u64 {
        let script = "return [...document.querySelectorAll('main img')]
            .filter((img) => !img.hasAttribute('width') || !img.hasAttribute('height')).length";
        let count = self.session.execute_script(script).await.expect("a script");
        count.as_u64().expect("a number")
    }

    /// Width and height of the page, in points.
    async fn page_size(&self) -> (u64, u64) {
        let script =
            "const page = document.documentElement; return [page.scrollWidth, page.scrollHeight]";
        let extent = self.session.execute_script(script).await.expect("a script");
        serde_json::from_value(extent).expect("two numbers")
    }

    /// Writes a picture of the page as `NAME.png` into a folder.
    pub async fn save_screenshot(&self, folder: &Path, name: &str) {
        self.session
            .execute_script("document.activeElement?.blur(); scrollTo(0, 0)")
            .await
            .expect("a script");
        let (_, height) = self.page_size().await;
        let clip =
            json!({"x": 0, "y": 0, "width": DESKTOP.0, "height": height.min(TALLEST), "scale": 1});
        let parameters = json!({"format": "png", "clip": clip, "captureBeyondViewport": true});
        let answer = self
            .run_devtools("Page.captureScreenshot", parameters)
            .await;
        let Value::String(picture) = &answer["data"] else {
            panic!("no picture: {answer}")
        };
        let picture = BASE64_STANDARD.decode(picture).expect("base64");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.png")), recompress_png(&picture))
            .expect("a file");
    }
}

/// The same picture in fewer bytes.
fn recompress_png(png: &[u8]) -> Vec<u8> {
    let picture = image::load_from_memory(png).expect("a picture").into_rgb8();
    let mut packed = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut packed, CompressionType::Best, FilterType::NoFilter);
    let (width, height) = picture.dimensions();
    encoder
        .write_image(&picture, width, height, image::ExtendedColorType::Rgb8)
        .expect("a picture");
    packed
}

/// The checker's program.
fn load_checker_script() -> String {
    let file = tool_folder("browser").join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
