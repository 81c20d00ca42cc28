//! How far an upload is, for somebody who watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on a terminal; elsewhere only what an upload waits for, a line each.
pub(crate) struct UploadProgress {
    bar: ProgressBar,
}

impl UploadProgress {
    /// Of this many rows, some of them done. The bar draws on standard error, and only on a terminal.
    pub(crate) fn new(rows: u64, done: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr());
        let template = "{bar:30} {pos} of {len} rows, {eta} left {msg}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_position(done);
        bar.reset_eta();
        Self { bar }
    }

    /// For requests without rows.
    pub(crate) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    /// More rows are done.
    pub(crate) fn advance(&self, rows: u64) {
        self.bar.inc(rows);
    }

    /// A request is sent again after this time.
    pub(crate) fn show_wait(&self, why: &str, pause: Duration) {
        let seconds = pause.as_secs_f64();
        if self.bar.is_hidden() {
            eprintln!("pillarbox: {why}; again in {seconds:.1} s");
        } else {
            self.bar
                .set_message(format!("({why}; again in {seconds:.0} s)"));
        }
    }

    /// The wait is over.
    pub(crate) fn clear_wait(&self) {
        self.bar.set_message("");
    }
}

impl Drop for UploadProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
