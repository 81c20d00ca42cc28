//! Whose turn it is: none of the hosts that a request's pictures are on may take all the time that there is.
//!
//! The host with the fewest pictures under way is next, and of several the one that has had the fewest turns. One that has
//! never answered gets few at a time, and all of these together half of what the request may fetch at a time: hosts that
//! hang keep no picture of another waiting.

use std::collections::{HashMap, VecDeque};

/// Pictures in a row that a host did not deliver in time; after that it is not asked any more for the request.
pub(crate) const FAILURES: u32 = 8;

/// Pictures at a time from a host that has not answered yet.
const FROM_STRANGER: usize = 4;

/// What a try says of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostSignal {
    /// It delivered, or said that it does not have the picture.
    Answered,
    /// It is not there.
    Silent,
    /// Nothing: what failed was somewhere else, or had too little time.
    None,
}

/// How much at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchLimits {
    /// In all.
    pub(crate) in_all: usize,
    /// From one host.
    pub(crate) per_host: usize,
}

/// The pictures that a request waits for, by host.
#[derive(Debug)]
pub(crate) struct FetchSchedule<T> {
    bounds: FetchLimits,
    hosts: Vec<HostQueue<T>>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug)]
struct HostQueue<T> {
    waiting: VecDeque<T>,
    under_way: usize,
    /// How many had their turn.
    started: usize,
    has_answered: bool,
    failures: u32,
}

impl<T> FetchSchedule<T> {
    /// Nothing yet.
    pub(crate) fn new(bounds: FetchLimits) -> Self {
        Self {
            bounds,
            hosts: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    /// Adds what is to be fetched from a host. Returns the host's position.
    pub(crate) fn add(&mut self, host: String, wanted: T) -> usize {
        let at = *self.by_name.entry(host).or_insert(self.hosts.len());
        if at == self.hosts.len() {
            let waiting = VecDeque::new();
            self.hosts.push(HostQueue {
                waiting,
                under_way: 0,
                started: 0,
                has_answered: false,
                failures: 0,
            });
        }
        self.hosts[at].waiting.push_back(wanted);
        at
    }

    /// What is to be fetched now, and from which host; `None` when something has to end first, or nothing is left.
    pub(crate) fn start_next(&mut self) -> Option<(usize, T)> {
        let under_way: usize = self.hosts.iter().map(|host| host.under_way).sum();
        if under_way >= self.bounds.in_all {
            return None;
        }
        let strangers = self
            .hosts
            .iter()
            .filter(|host| !host.has_answered)
            .map(|host| host.under_way)
            .sum();
        let ready = self
            .hosts
            .iter_mut()
            .enumerate()
            .filter(|(_, host)| host.is_ready(self.bounds, strangers));
        let (at, host) = ready.min_by_key(|(_, host)| (host.under_way, host.started))?;
        host.under_way += 1;
        host.started += 1;
        Some((at, host.waiting.pop_front()?))
    }

    /// Something that was started has ended.
    pub(crate) fn finish(&mut self, host: usize, sign: HostSignal) {
        let host = &mut self.hosts[host];
        host.under_way -= 1;
        match sign {
            HostSignal::Answered => {
                host.has_answered = true;
                host.failures = 0;
            }
            HostSignal::Silent => host.failures += 1,
            HostSignal::None => {}
        }
    }

    /// Whether a host is not asked any more.
    pub(crate) fn is_given_up(&self, host: usize) -> bool {
        self.hosts[host].is_given_up()
    }
}

impl<T> HostQueue<T> {
    fn is_given_up(&self) -> bool {
        self.failures >= FAILURES
    }

    /// `strangers` are under way from all hosts that have not answered yet.
    fn is_ready(&self, bounds: FetchLimits, strangers: usize) -> bool {
        let has_room = if self.has_answered {
            self.under_way < bounds.per_host
        } else {
            self.under_way < FROM_STRANGER.min(bounds.per_host)
                && strangers < bounds.in_all.div_ceil(2)
        };
        has_room && !self.waiting.is_empty() && !self.is_given_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: FetchLimits = FetchLimits {
        in_all: 32,
        per_host: 16,
    };

    fn build_schedule(hosts: &[(&str, usize)]) -> FetchSchedule<usize> {
        let mut schedule = FetchSchedule::new(BOUNDS);
        for (host, count) in hosts {
            for number in 0..*count {
                schedule.add((*host).to_owned(), number);
            }
        }
        schedule
    }

    /// Starts all that may start; how many of each host.
    fn start_all(schedule: &mut FetchSchedule<usize>) -> Vec<usize> {
        let mut started = vec![0; schedule.hosts.len()];
        while let Some((host, _)) = schedule.start_next() {
            started[host] += 1;
        }
        started
    }

    #[test]
    fn hosts_that_hang_keep_no_picture_of_another_waiting() {
        let mut schedule = build_schedule(&[("a", 20), ("b", 20), ("c", 30)]);
        assert_eq!(start_all(&mut schedule), [4, 4, 4]);
        for _ in 0..4 {
            schedule.finish(2, HostSignal::Answered);
        }
        assert_eq!(start_all(&mut schedule), [0, 0, 16]);
    }

    #[test]
    fn many_hosts_that_hang_leave_half_for_those_that_answer() {
        let names: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        let hosts: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 20)).collect();
        let mut schedule = build_schedule(&hosts);
        let first = start_all(&mut schedule);
        assert_eq!(
            (first.iter().sum::<usize>(), first.iter().max()),
            (16, Some(&1)),
            "each in its turn"
        );
        schedule.finish(3, HostSignal::Answered);
        let second = start_all(&mut schedule);
        assert_eq!(
            (second[3], second[16]),
            (16, 1),
            "and the next one that was not asked yet"
        );
        schedule.finish(0, HostSignal::Silent);
        assert_eq!(start_all(&mut schedule)[17], 1);
    }

    #[test]
    fn a_host_that_never_answers_is_given_up_and_one_that_does_is_not() {
        let mut schedule = build_schedule(&[("silent", 100), ("slow", 100), ("elsewhere", 100)]);
        for _ in 0..2 * FAILURES {
            start_all(&mut schedule);
            schedule.finish(1, HostSignal::Answered);
            if !schedule.is_given_up(0) {
                schedule.finish(0, HostSignal::Silent);
            }
            schedule.finish(1, HostSignal::Silent);
            schedule.finish(2, HostSignal::None);
        }
        assert_eq!(
            [0, 1, 2].map(|host| schedule.is_given_up(host)),
            [true, false, false]
        );
        assert!(schedule.hosts[0].waiting.len() >= 100 - FAILURES as usize - FROM_STRANGER);
    }

    #[test]
    fn whatever_is_wanted_is_started_once() {
        let mut schedule = build_schedule(&[("a", 7), ("b", 50)]);
        let mut seen = std::collections::HashSet::new();
        while let Some((host, number)) = schedule.start_next() {
            assert!(seen.insert((host, number)));
            schedule.finish(host, HostSignal::Answered);
        }
        assert_eq!(seen.len(), 57);
    }
}
