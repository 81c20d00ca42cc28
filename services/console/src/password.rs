//! Checking passwords: slow by design, so only a few at a time and off the threads that answer.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use secret::{Password, SecretToken};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::page_error::PageError;

/// Passwords checked at a time; each takes 19 MiB and a core for some tens of milliseconds.
const CHECKS: usize = 2;

/// How long somebody waits for a place. A hundred passwords or so are checked meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Checks passwords.
pub(crate) struct PasswordChecker {
    slots: Arc<Semaphore>,
    longest_wait: Duration,
    /// The hash of a password that nobody knows: accounts that do not exist take as long as those that do.
    nobody: String,
}

impl PasswordChecker {
    /// Makes it ready.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let unknown = Password::try_from(SecretToken::random().reveal().to_owned())
            .map_err(anyhow::Error::msg)?;
        let nobody = unknown.hash().ok().context("a password cannot be hashed")?;
        Ok(Self {
            slots: Arc::new(Semaphore::new(CHECKS)),
            longest_wait: LONGEST_WAIT,
            nobody,
        })
    }

    /// Whether the hash, in PHC form, is of this text. Without a hash it takes as long, and is false.
    ///
    /// # Errors
    /// [`PageError::Busy`] when no place gets free in time.
    pub(crate) async fn password_matches(
        &self,
        text: String,
        hash: Option<String>,
    ) -> Result<bool, PageError> {
        let slot = self.acquire_slot().await?;
        let (hash, is_somebody) = match hash {
            Some(hash) => (hash, true),
            None => (self.nobody.clone(), false),
        };
        let check = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            Password::try_from(text).is_ok_and(|password| password.matches(&hash))
        });
        Ok(check.await.unwrap_or(false) && is_somebody)
    }

    /// A place to check or hash a password in.
    async fn acquire_slot(&self) -> Result<OwnedSemaphorePermit, PageError> {
        let slot =
            tokio::time::timeout(self.longest_wait, self.slots.clone().acquire_owned()).await;
        // The semaphore is never closed.
        slot.ok().and_then(Result::ok).ok_or(PageError::Busy)
    }
}

impl PasswordChecker {
    /// The hash of a new password, in PHC form.
    ///
    /// # Errors
    /// [`PageError::Internal`] when the system has no randomness for the salt; [`PageError::Busy`] when no place gets free in
    /// time.
    pub(crate) async fn hash_password(&self, password: Password) -> Result<String, PageError> {
        let slot = self.acquire_slot().await?;
        let hashing = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            password.hash().ok()
        });
        let hash = hashing
            .await
            .ok()
            .flatten()
            .context("a password cannot be hashed");
        hash.map_err(PageError::Internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_of_somebody_matches() {
        let passwords = PasswordChecker::new().unwrap();
        let hash = Password::try_from("correct horse".to_owned())
            .unwrap()
            .hash()
            .unwrap();
        assert!(
            passwords
                .password_matches("correct horse".to_owned(), Some(hash.clone()))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .password_matches("correct house".to_owned(), Some(hash.clone()))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .password_matches("short".to_owned(), Some(hash))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .password_matches("correct horse".to_owned(), None)
                .await
                .unwrap()
        );
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_the_bound_for_a_place() {
        let passwords = PasswordChecker {
            longest_wait: Duration::ZERO,
            ..PasswordChecker::new().unwrap()
        };
        let _taken = passwords
            .slots
            .clone()
            .acquire_many_owned(CHECKS as u32)
            .await
            .unwrap();
        let refused = passwords
            .password_matches("correct horse".to_owned(), None)
            .await;
        assert!(matches!(refused, Err(PageError::Busy)));
    }
}
