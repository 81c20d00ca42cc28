//! How often a password may be tried.
//!
//! An attempt is counted before the password is looked at, and taken back when it was right, so that attempts at once
//! do not outrun the count. What is counted is failures: of a source address, whatever the account, and of an account.
//! The account's limit does not hold for sources that have signed in to it before, so that nobody who knows an address
//! can lock its owner out; and when others have used it up, a source that has not failed yet still has one attempt,
//! [`FRESH_SOURCES`] limits' worth of them all together.

use std::net::IpAddr;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use model::id::MemberId;
use runtime::source::build_source_key;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::state::ConsoleState;

/// How many times an account's limit may fail in all, when each further failure comes from another source.
const FRESH_SOURCES: i32 = 10;

/// An attempt that is counted as a failure until it is taken back.
pub(crate) struct PasswordAttempt {
    counted: Vec<Vec<u8>>,
    window: DateTime<Utc>,
}

/// Whether an attempt may be made.
pub(crate) enum PasswordAttemptDecision {
    /// It may, and is counted.
    Yes(PasswordAttempt),
    /// Not before the window ends, in so many seconds.
    In(i64),
}

/// The source in the form in which it is remembered.
pub(super) fn remembered_source(source: IpAddr) -> [u8; 32] {
    *blake3::hash(&build_source_key("sign-in", source)).as_bytes()
}

impl PasswordAttempt {
    /// Counts an attempt to sign in with this address from this source. An address of nobody's is counted alike.
    pub(super) async fn sign_in(
        console: &ConsoleState,
        user_id: Option<MemberId>,
        email: &str,
        source: IpAddr,
    ) -> Result<PasswordAttemptDecision, PageError> {
        let (settings, store) = (&console.config().console, console.store());
        let mut attempt = Self::new(console);
        let by_source = attempt
            .count_attempt(console, build_source_key("sign-in", source))
            .await?;
        if by_source > settings.sign_ins_per_source {
            return Ok(attempt.refuse_until_end(console));
        }
        // Asked for nobody as well: it takes the same time.
        let user_id = user_id.unwrap_or(MemberId(Uuid::nil()));
        if store
            .is_source_known(user_id, &remembered_source(source))
            .await?
        {
            return Ok(PasswordAttemptDecision::Yes(attempt));
        }
        let account = [b"sign-in:", email.to_lowercase().as_bytes()].concat();
        let by_account = attempt.count_attempt(console, account.clone()).await?;
        let most = settings.sign_ins_per_account;
        let is_fresh = by_source == 1 && by_account <= most.saturating_mul(FRESH_SOURCES);
        if by_account <= most || is_fresh {
            return Ok(PasswordAttemptDecision::Yes(attempt));
        }
        // The password is not looked at, so it is no failure of the account.
        store
            .uncount_window_attempt(&account, attempt.window)
            .await?;
        Ok(attempt.refuse_until_end(console))
    }

    /// Counts an attempt of somebody who is signed in to give the present password.
    pub(crate) async fn present_password(
        console: &ConsoleState,
        user_id: MemberId,
    ) -> Result<PasswordAttemptDecision, PageError> {
        let mut attempt = Self::new(console);
        let subject = [b"password:", &user_id.0.as_bytes()[..]].concat();
        let tried = attempt.count_attempt(console, subject).await?;
        let is_allowed = tried <= console.config().console.sign_ins_per_source;
        Ok(if is_allowed {
            PasswordAttemptDecision::Yes(attempt)
        } else {
            attempt.refuse_until_end(console)
        })
    }

    fn new(console: &ConsoleState) -> Self {
        let now = console.now();
        Self {
            counted: Vec::new(),
            window: now.duration_trunc(window_length(console)).unwrap_or(now),
        }
    }

    async fn count_attempt(
        &mut self,
        console: &ConsoleState,
        subject: Vec<u8>,
    ) -> Result<i32, PageError> {
        let count = console
            .store()
            .count_window_attempt(&subject, self.window)
            .await?;
        self.counted.push(subject);
        Ok(count)
    }

    fn refuse_until_end(&self, console: &ConsoleState) -> PasswordAttemptDecision {
        let left = self.window + window_length(console) - console.now();
        PasswordAttemptDecision::In(left.num_seconds().max(1))
    }

    /// Counts it as no failure.
    pub(crate) async fn take_back(self, console: &ConsoleState) -> Result<(), PageError> {
        for subject in &self.counted {
            console
                .store()
                .uncount_window_attempt(subject, self.window)
                .await?;
        }
        Ok(())
    }
}

/// What whoever has tried too often is told, with the seconds to wait.
pub(crate) fn too_many_attempts(seconds: i64) -> String {
    let minutes = seconds.div_euclid(60) + 1;
    format!("There were too many attempts. Wait {minutes} minutes and try again.")
}

fn window_length(console: &ConsoleState) -> TimeDelta {
    TimeDelta::minutes(console.config().console.sign_in_window_minutes)
}
