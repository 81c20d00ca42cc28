//! The hosts that a request's pictures are on: none of them may take all there is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Semaphore;

/// Pictures in a row that a host did not deliver in time; after that it is not asked any more for the request.
const FAILURES: u32 = 8;

/// A host during one request.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) slots: Semaphore,
    failures: AtomicU32,
}

/// The hosts of a request by name.
#[derive(Debug)]
pub(crate) struct Hosts {
    slots_each: usize,
    by_name: HashMap<String, Arc<Host>>,
}

impl Hosts {
    /// None yet; of each so many pictures are fetched at a time.
    pub(crate) fn new(slots_each: usize) -> Self {
        Self { slots_each, by_name: HashMap::new() }
    }

    /// The host of that name.
    pub(crate) fn get(&mut self, name: String) -> Arc<Host> {
        let slots = self.slots_each;
        let new = || Arc::new(Host { slots: Semaphore::new(slots), failures: AtomicU32::new(0) });
        self.by_name.entry(name).or_insert_with(new).clone()
    }
}

impl Host {
    /// Whether it is still worth asking.
    pub(crate) fn is_answering(&self) -> bool {
        self.failures.load(Ordering::Relaxed) < FAILURES
    }

    /// It delivered, or said that it does not have the picture.
    pub(crate) fn answered(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// It did not answer.
    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_never_answers_is_given_up_and_one_that_does_is_not() {
        let mut hosts = Hosts::new(1);
        let (silent, slow) = (hosts.get("a".to_owned()), hosts.get("b".to_owned()));
        for _ in 0..2 * FAILURES {
            silent.failed();
            slow.failed();
            slow.answered();
        }
        assert!(!hosts.get("a".to_owned()).is_answering());
        assert!(hosts.get("b".to_owned()).is_answering());
    }
}
