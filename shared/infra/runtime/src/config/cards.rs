//! Settings of what a card prints of its recipient.

use serde::Deserialize;

/// Pictures that cards print.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureSettings {
    /// Different ones of a request or a portion of due work.
    pub per_request: usize,
    /// Fetched at a time for one request.
    pub concurrency: usize,
    /// Of these, from one host.
    pub concurrency_per_host: usize,
    /// Milliseconds for one.
    pub timeout_ms: u64,
    /// Milliseconds for all of a request.
    pub request_timeout_ms: u64,
    /// Bytes of one.
    pub max_bytes: usize,
    /// Pixels of one.
    pub max_pixels: u64,
    /// Hours until a recipient's picture is fetched again.
    pub hours: i64,
    /// Minutes until one that was unusable is tried again.
    pub failure_minutes: i64,
    /// Months that recipients' pictures are kept, after that in which they were fetched.
    pub months: u32,
}

/// Return addresses with fields in them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReturnAddressSettings {
    /// Different ones that are verified for a request.
    pub per_request: usize,
    /// Verified in a day of the team's.
    pub per_day: i32,
    /// Days that an answer is kept.
    pub answer_days: i64,
}

impl PictureSettings {
    /// What types cannot say; the error is a sentence.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.concurrency == 0 || self.concurrency_per_host == 0 {
            return Err("pictures.concurrency and concurrency_per_host must be one or more");
        }
        Ok(())
    }
}
