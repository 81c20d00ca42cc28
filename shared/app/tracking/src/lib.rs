//! What becomes of mailpieces in the mail: the post's scans are taken in from files ([`import_scans`], and a watched place), print
//! runs are handed over ([`hand_over_run`]), and what the post has not seen for too long has stalled.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod counts;
mod handover;
mod import;
mod inbox;
mod mapping;
mod portion;
mod stalled;

pub use self::counts::{BrokenRow, ScanCounts};
pub use self::handover::{HandoverError, HandoverReport, hand_over_run};
pub use self::import::{ImportError, ImportedScans, PORTION_ROWS, import_scans};
pub use self::mapping::{TrackingSettingsError, read_mapping};

use runtime::Process;

/// Watches the place where the post's files come, and looks for what has stalled, until the process is to stop.
///
/// # Errors
/// [`TrackingSettingsError`] when the mapping that the settings name cannot be used.
pub async fn keep_tracking(process: &Process) -> Result<(), TrackingSettingsError> {
    let inbox = inbox::PostalInbox::new(process)?;
    tokio::join!(inbox.keep_watching(), stalled::keep_marking(process));
    Ok(())
}
