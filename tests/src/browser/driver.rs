//! The driver's process, and the browser's below it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

/// Where Debian puts the browser.
pub(super) const CHROMIUM: &str = "/usr/bin/chromium";

/// What the driver says before its port.
const STARTED: &str = "started successfully on port ";

/// A driver with a folder of its own. All of its processes end with it.
pub(super) struct WebDriver {
    /// Where it listens.
    pub(super) url: String,
    child: Child,
    _folder: TempDir,
}

impl WebDriver {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("TMPDIR", folder.path());
        // A group of its own, so that the browser, which the driver starts, ends with it.
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = tokio::process::Command::from(command).spawn().expect(
            "the browser tests need Debian's packages chromium and chromium-driver: ./dev test installs them",
        );
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let port = loop {
            let line = lines
                .next_line()
                .await
                .expect("text")
                .expect("the driver says its port");
            if let Some((_, port)) = line.split_once(STARTED) {
                break port.trim_end_matches('.').to_owned();
            }
        };
        Self {
            url: format!("http://127.0.0.1:{port}"),
            child,
            _folder: folder,
        }
    }
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        let Some(group) = self.child.id() else { return };
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{group}")])
            .status();
    }
}
