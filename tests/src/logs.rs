//! Where the logs of tests go: to files in the folder that PILLARBOX_TEST_LOGS names, else nowhere.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use service::config::LogFormat;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// A new file for the log of a process.
pub(crate) fn log_file(name: &str) -> Option<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let folder = PathBuf::from(std::env::var_os("PILLARBOX_TEST_LOGS")?);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{name}-{}-{number}.log", std::process::id()));
    Some(File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Keeps what the parts that run in this process log, all in one file.
pub(crate) fn keep_logs_of_this_process() {
    static START: Once = Once::new();
    START.call_once(|| {
        let Some(file) = log_file("tests") else { return };
        let filter = EnvFilter::new("info,lapin=warn");
        let lines = service::log::lines("tests", LogFormat::Json, filter, file);
        let _ = tracing_subscriber::registry().with(lines).try_init();
    });
}
