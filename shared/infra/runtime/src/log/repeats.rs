//! Failures that repeat: of equal lines the first few are written, the others are counted.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tracing::Level;
use tracing::callsite::Identifier;

/// Equal lines that are written in one window.
pub(super) const WRITTEN: u64 = 10;

/// How long equal lines count together.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Kinds of lines that are told apart; what comes beyond is one kind.
const KINDS: usize = 500;

/// What makes lines equal: the place in the code, and the database's code and statement where one failed.
pub(super) type RepeatKey = (Identifier, Option<String>);

/// Lines that were not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SuppressedLines {
    pub(super) level: Level,
    /// What they would have said.
    pub(super) message: String,
    pub(super) lines: u64,
}

#[derive(Debug)]
struct RepeatWindow {
    begun: Instant,
    lines: u64,
    level: Level,
    message: String,
}

/// The lines of the current windows.
#[derive(Debug, Default)]
pub(super) struct RepeatFilter {
    kinds: HashMap<RepeatKey, RepeatWindow>,
    /// All that is told apart no more.
    others: Option<RepeatWindow>,
}

impl RepeatWindow {
    fn new((level, message): (Level, &str), now: Instant) -> Self {
        Self {
            begun: now,
            lines: 0,
            level,
            message: message.to_owned(),
        }
    }

    fn left_out(self) -> Option<SuppressedLines> {
        let Self {
            level,
            message,
            lines,
            ..
        } = self;
        let lines = lines.checked_sub(WRITTEN).filter(|lines| *lines > 0)?;
        Some(SuppressedLines {
            level,
            message,
            lines,
        })
    }
}

impl RepeatFilter {
    /// Whether a line of this kind is written.
    pub(super) fn admit(&mut self, kind: RepeatKey, line: (Level, &str), now: Instant) -> bool {
        let is_known = self.kinds.contains_key(&kind);
        let count = if is_known || self.kinds.len() < KINDS {
            self.kinds
                .entry(kind)
                .or_insert_with(|| RepeatWindow::new(line, now))
        } else {
            self.others
                .get_or_insert_with(|| RepeatWindow::new(line, now))
        };
        count.lines += 1;
        count.lines <= WRITTEN
    }

    /// Closes the windows that are over; what was left out of them.
    pub(super) fn close_ended(&mut self, now: Instant) -> Vec<SuppressedLines> {
        let is_over = |count: &RepeatWindow| now.saturating_duration_since(count.begun) >= WINDOW;
        let kinds = self
            .kinds
            .extract_if(|_, count| is_over(count))
            .map(|(_, count)| count);
        kinds
            .chain(self.others.take_if(|count| is_over(count)))
            .filter_map(RepeatWindow::left_out)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use tracing::{Callsite, Metadata};

    use super::*;

    struct TestCallsite;

    impl Callsite for TestCallsite {
        fn set_interest(&self, _: tracing::subscriber::Interest) {}
        fn metadata(&self) -> &Metadata<'_> {
            unreachable!("only its identity counts")
        }
    }

    static PLACE: TestCallsite = TestCallsite;

    fn build_key(failure: &str) -> RepeatKey {
        (Identifier(&PLACE), Some(failure.to_owned()))
    }

    #[test]
    fn equal_lines_beyond_the_first_few_are_counted_and_told_when_their_window_is_over() {
        let (mut repeats, begun) = (RepeatFilter::default(), Instant::now());
        let line = (Level::ERROR, "the database failed");
        let written = (0..1_000)
            .filter(|_| repeats.admit(build_key("42P01"), line, begun))
            .count();
        assert_eq!(written, 10);
        assert!(
            repeats.admit(build_key("53300"), line, begun),
            "another failure at the same place"
        );
        assert_eq!(repeats.close_ended(begun + WINDOW / 2), []);
        let left_out = SuppressedLines {
            level: Level::ERROR,
            message: line.1.to_owned(),
            lines: 990,
        };
        assert_eq!(repeats.close_ended(begun + WINDOW), [left_out]);
        assert_eq!(repeats.close_ended(begun + WINDOW), []);
        assert!(
            repeats.admit(build_key("42P01"), line, begun + WINDOW),
            "a new window"
        );
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (mut repeats, now) = (RepeatFilter::default(), Instant::now());
        let line = (Level::WARN, "a warning");
        let written = (0..10_000)
            .filter(|number| repeats.admit(build_key(&number.to_string()), line, now))
            .count();
        assert_eq!(written, KINDS + 10);
        assert_eq!(repeats.kinds.len(), KINDS);
        let lines: u64 = repeats
            .close_ended(now + WINDOW)
            .iter()
            .map(|left_out| left_out.lines)
            .sum();
        assert_eq!(lines, 10_000 - 500 - 10);
    }
}
