//! How often a client may still ask, as an answer's headers tell it.

use axum::http::HeaderMap;
use chrono::{DateTime, Utc};

/// Requests that a window lets in.
pub const LIMIT_HEADER: &str = "ratelimit-limit";

/// Requests that the window still lets in.
pub const REMAINING_HEADER: &str = "ratelimit-remaining";

/// Seconds until the next window begins.
pub const RESET_HEADER: &str = "ratelimit-reset";

/// What is left of a rate window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateAllowance {
    limit: i32,
    remaining: i32,
    reset_seconds: i64,
}

impl RateAllowance {
    /// That of a window which lets in `limit` requests, has counted `requests`, and ends at `until`.
    pub fn from_window(
        limit: i32,
        requests: i32,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Self {
        let milliseconds = (until - now).num_milliseconds().max(0);
        Self {
            limit,
            remaining: limit.saturating_sub(requests).max(0),
            // A client that waits so long is in the next window.
            reset_seconds: (milliseconds + 999) / 1_000,
        }
    }

    /// The one that a client who goes on uses up first: with less remaining; of two equal ones this one.
    pub fn tighter_of(self, other: Self) -> Self {
        if other.remaining < self.remaining {
            other
        } else {
            self
        }
    }

    /// Tells it in the headers of an answer.
    pub fn write_headers(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT_HEADER, self.limit.into());
        headers.insert(REMAINING_HEADER, self.remaining.into());
        headers.insert(RESET_HEADER, self.reset_seconds.into());
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn written(allowance: RateAllowance) -> [i64; 3] {
        let mut headers = HeaderMap::new();
        allowance.write_headers(&mut headers);
        [LIMIT_HEADER, REMAINING_HEADER, RESET_HEADER]
            .map(|name| headers[name].to_str().unwrap().parse().unwrap())
    }

    #[test]
    fn what_remains_is_never_below_nothing_and_the_wait_ends_in_the_next_window() {
        let now = DateTime::UNIX_EPOCH;
        let until = |milliseconds| now + TimeDelta::milliseconds(milliseconds);
        let of = |requests, milliseconds| {
            written(RateAllowance::from_window(
                60,
                requests,
                until(milliseconds),
                now,
            ))
        };
        assert_eq!(of(1, 60_000), [60, 59, 60]);
        assert_eq!(of(60, 59_001), [60, 0, 60]);
        assert_eq!(of(61, 1), [60, 0, 1]);
        assert_eq!(of(i32::MAX, -5), [60, 0, 0]);
    }

    #[test]
    fn of_two_windows_the_one_with_less_left_is_told() {
        let now = DateTime::UNIX_EPOCH;
        let of = |limit, requests| RateAllowance::from_window(limit, requests, now, now);
        let (source, key) = (of(60, 10), of(30, 5));
        assert_eq!(source.tighter_of(key), key);
        assert_eq!(key.tighter_of(source), key);
        let (source, key) = (of(60, 10), of(100, 50));
        assert_eq!(source.tighter_of(key), source, "of equal ones the first");
    }
}
