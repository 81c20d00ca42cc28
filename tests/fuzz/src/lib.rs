//! Fuzzing of parsers: samples of what they read are edited, spliced and repeated, and whatever comes of it must be read or
//! refused: without a panic, and within what the target asserts.
//!
//! In a test run each target gets the same inputs every time, a bounded number of them. With `FUZZ_SECONDS` it gets new ones
//! for so long (`./dev fuzz NAME SECONDS`). An input that fails is made as small as possible and shown; with its cause put
//! right, it becomes a sample.

mod edit;

use std::fmt;
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// Inputs of a target in a test run, unless it says otherwise.
const CASES: u32 = 1_000;

/// Inputs of a target between two looks at the clock, when it runs for a time.
const CASES_BETWEEN_LOOKS: u32 = 500;

/// The seed of a test run.
const SEED: u64 = 0x7069_6c6c_6172;

/// For how many seconds each target runs, instead of a number of inputs.
const SECONDS: &str = "FUZZ_SECONDS";

/// What a target says of an input: `prop_assert!` and its kin make the errors.
pub type Verdict = Result<(), TestCaseError>;

/// A parser and what its inputs are made of.
#[derive(Debug, Clone)]
pub struct Target {
    samples: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    cases: u32,
}

/// An input, shown as it would be written in a program.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Target {
    /// A target whose inputs begin as one of these samples. Without any, they begin empty.
    pub fn new<S: AsRef<[u8]>>(samples: impl IntoIterator<Item = S>) -> Self {
        let mut samples: Vec<Vec<u8>> = samples
            .into_iter()
            .map(|sample| sample.as_ref().to_vec())
            .collect();
        samples.push(Vec::new());
        Self {
            samples,
            words: Vec::new(),
            cases: CASES,
        }
    }

    /// Words that edits put in, besides bytes: what the parser looks for.
    #[must_use]
    pub fn words<W: AsRef<[u8]>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.words
            .extend(words.into_iter().map(|word| word.as_ref().to_vec()));
        self
    }

    /// Another number of inputs in a test run, for parsers that take their time.
    #[must_use]
    pub const fn cases(mut self, cases: u32) -> Self {
        self.cases = cases;
        self
    }

    /// Runs the target.
    ///
    /// # Panics
    /// With the smallest input that was found to fail.
    pub fn run(self, target: impl Fn(&[u8]) -> Verdict) {
        let Some(seconds) = seconds() else {
            return self.run_cases(self.cases, RngSeed::Fixed(SEED), &target);
        };
        let begun = Instant::now();
        while begun.elapsed() < seconds {
            self.run_cases(CASES_BETWEEN_LOOKS, RngSeed::Random, &target);
        }
    }

    /// Runs the target on what is text.
    ///
    /// # Panics
    /// As [`Target::run`].
    pub fn run_text(self, target: impl Fn(&str) -> Verdict) {
        self.run(|input| target(&String::from_utf8_lossy(input)));
    }

    fn run_cases(&self, cases: u32, rng_seed: RngSeed, target: &impl Fn(&[u8]) -> Verdict) {
        let config = Config {
            cases,
            rng_seed,
            failure_persistence: None,
            ..Config::default()
        };
        let inputs = edit::edited(self.samples.clone(), self.words.clone());
        let result = TestRunner::new(config).run(
            &proptest::strategy::Strategy::prop_map(inputs, Input),
            |input| target(&input.0),
        );
        match result {
            Ok(()) => {}
            Err(TestError::Fail(reason, input)) => panic!("{reason}\ninput: {input:?}"),
            Err(TestError::Abort(reason)) => panic!("given up: {reason}"),
        }
    }
}

fn seconds() -> Option<Duration> {
    let seconds = std::env::var(SECONDS).ok()?;
    Some(Duration::from_secs(
        seconds
            .parse()
            .unwrap_or_else(|_| panic!("{SECONDS} is a whole number")),
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prop_assert;

    use super::*;

    #[test]
    #[should_panic(expected = "input: b\"")]
    fn what_fails_is_found_and_shown() {
        let target = Target::new(["text"]).words(["}"]);
        target.run_text(|text| {
            let has_brace = text.contains('}');
            prop_assert!(!has_brace);
            Ok(())
        });
    }

    #[test]
    #[should_panic(expected = "\\xff")]
    fn a_panic_is_found() {
        Target::new(["text"]).words([[0xff_u8]]).run(|input| {
            assert!(!input.contains(&0xff));
            Ok(())
        });
    }

    #[test]
    fn a_test_run_is_the_same_every_time() {
        let seen = || {
            let seen = std::cell::RefCell::new(Vec::new());
            Target::new(["{\"a\": 1}"])
                .words(["null"])
                .cases(100)
                .run(|input| {
                    seen.borrow_mut().push(input.to_vec());
                    Ok(())
                });
            seen.into_inner()
        };
        let first = seen();
        assert_eq!(first, seen());
        assert!(first.iter().any(|input| input.len() > 100), "some are long");
    }
}
