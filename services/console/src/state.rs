//! What the pages share.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use runtime::Process;
use runtime::config::Config;
use store::Store;
use tokio_util::task::TaskTracker;

use crate::password::PasswordChecker;
use crate::proof_renderer::ProofRenderer;

/// What the pages share. All of it is handles: a session may go on at another console.
#[derive(Clone)]
pub(crate) struct ConsoleState {
    pub(crate) process: Process,
    pub(crate) passwords: Arc<PasswordChecker>,
    pub(crate) proofs: Arc<ProofRenderer>,
    /// Notes that are written behind an answer's back.
    pub(crate) notes: TaskTracker,
}

impl ConsoleState {
    pub(crate) fn store(&self) -> &Store {
        &self.process.store
    }

    pub(crate) fn config(&self) -> &Config {
        &self.process.config
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.process.clock.now()
    }
}
