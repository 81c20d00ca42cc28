//! Where the logs of tests go: to files in the folder that PILLARBOX_TEST_LOGS names, else nowhere.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use runtime::config::LogFormat;
use serde_json::Value;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The log of a process that a test reads.
pub struct KeptLog {
    path: PathBuf,
}

impl KeptLog {
    pub(crate) fn new(name: &str) -> (File, Self) {
        let (file, path) = create_file(logs_folder().unwrap_or_else(std::env::temp_dir), name);
        (file, Self { path })
    }

    /// All of it.
    pub fn text(&self) -> String {
        std::fs::read_to_string(&self.path)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }

    /// The lines that are written to their end.
    pub fn lines(&self) -> Vec<Value> {
        let text = self.text();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let line =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        whole.lines().map(line).collect()
    }
}

impl Drop for KeptLog {
    fn drop(&mut self) {
        if logs_folder().is_none() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn logs_folder() -> Option<PathBuf> {
    std::env::var_os("PILLARBOX_TEST_LOGS").map(PathBuf::from)
}

/// A new file for the log of a process.
pub(crate) fn log_file(name: &str) -> Option<File> {
    Some(create_file(logs_folder()?, name).0)
}

fn create_file(folder: PathBuf, name: &str) -> (File, PathBuf) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!(
        "pillarbox-{name}-{}-{number}.log",
        std::process::id()
    ));
    let file = File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (file, path)
}

/// Keeps what the parts that run in this process log, all in one file.
pub(crate) fn keep_logs_of_this_process() {
    static START: Once = Once::new();
    START.call_once(|| {
        let Some(file) = log_file("tests") else {
            return;
        };
        let filter = EnvFilter::new("info,lapin=warn");
        let lines = runtime::log::build_layer("tests", LogFormat::Json, filter, file);
        let _ = tracing_subscriber::registry().with(lines).try_init();
    });
}
