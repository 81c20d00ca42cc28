//! The embedded verifier: Publication 28, the ZIP data that ships with the program, and imported address points.
//! At most three round trips to the database, whatever the number of addresses.

use std::panic::resume_unwind;
use std::thread;

use address::{AddressInput, Evidence, PointKey, Reading, Strictness, Verdict};
use futures_util::future::BoxFuture;
use store::{PointFacts, Store, StoreError};

use crate::distinct::Distinct;
use crate::{Verify, VerifyError};

/// Addresses that are worth a thread of their own: some milliseconds of work.
const ADDRESSES_PER_THREAD: usize = 500;

/// The embedded verifier. It is unavailable only when the database is.
pub struct Local {
    store: Store,
    coverage_points: i64,
}

impl Local {
    /// `coverage_points` in a ZIP make it covered.
    pub fn new(store: Store, coverage_points: i64) -> Self {
        Self { store, coverage_points }
    }

    async fn look_up(&self, inputs: &[AddressInput<'_>]) -> Result<Vec<(Reading, PointFacts)>, StoreError> {
        // Thousands of addresses are milliseconds of work: other tasks of this thread move away meanwhile.
        let mut readings: Vec<Reading> = tokio::task::block_in_place(|| read(inputs));
        let keys: Vec<PointKey> = readings.iter().map(Reading::point_key).collect();
        let mut facts = self.store.address_look_up(&keys).await?;
        self.correct_streets(&mut readings, &keys, &mut facts).await?;
        Ok(readings.into_iter().zip(facts).collect())
    }

    /// An address on an unknown street is on the one street of that name, whatever its directionals and suffix, that
    /// has the house.
    async fn correct_streets(
        &self,
        readings: &mut [Reading],
        keys: &[PointKey],
        facts: &mut [PointFacts],
    ) -> Result<(), StoreError> {
        let is_open = |at: &usize| {
            keys[*at].is_in_zip()
                && facts[*at].points_in_zip > 0
                && !facts[*at].is_overridden
                && matches!(facts[*at].evidence, Evidence::Nothing | Evidence::Street)
        };
        let open: Vec<usize> = (0..keys.len()).filter(is_open).collect();
        if open.is_empty() {
            return Ok(());
        }
        let open_keys: Vec<PointKey> = open.iter().map(|at| keys[*at]).collect();
        let streets = self.store.address_streets_of_name(&open_keys).await?;
        let candidates: Vec<(usize, Reading)> = open
            .into_iter()
            .zip(&streets)
            .flat_map(|(at, streets)| {
                let reading = &readings[at];
                let others = streets.iter().filter(|street| **street != reading.parsed().street_parts());
                others.map(move |street| (at, reading.on_street(street))).collect::<Vec<_>>()
            })
            .collect();
        let candidate_keys: Vec<PointKey> =
            candidates.iter().map(|(_, candidate)| candidate.point_key()).collect();
        let candidate_facts = self.store.address_look_up(&candidate_keys).await?;
        for (at, candidate, found) in only_matches(candidates, candidate_facts) {
            readings[at] = candidate;
            facts[at] = found;
        }
        Ok(())
    }

    fn judge(&self, reading: Reading, facts: PointFacts, strictness: Option<Strictness>) -> Verdict {
        let reading_if_overridden = facts.is_overridden.then(|| reading.clone());
        let verdict = if reading.failure().is_some() {
            reading.verdict()
        } else {
            let is_covered = reading.point_key().is_in_zip()
                && (facts.points_in_zip >= self.coverage_points || facts.evidence != Evidence::Nothing);
            let usual = if is_covered { Strictness::DeliveryPoint } else { Strictness::Zip };
            reading.confirmed(facts.evidence).demand(strictness.unwrap_or(usual))
        };
        match (verdict, reading_if_overridden) {
            (Verdict::Undeliverable(_), Some(reading)) => reading.overridden(),
            (verdict, _) => verdict,
        }
    }
}

/// Reads addresses, many of them on all cores.
fn read(inputs: &[AddressInput<'_>]) -> Vec<Reading> {
    let read_part =
        |part: &[AddressInput<'_>]| part.iter().map(|input| Reading::of(*input)).collect::<Vec<_>>();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(inputs.len() / ADDRESSES_PER_THREAD);
    if threads < 2 {
        return read_part(inputs);
    }
    thread::scope(|scope| {
        let parts = inputs.chunks(inputs.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || read_part(part))).collect();
        let readings =
            parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        readings.collect()
    })
}

/// The candidates whose house is known, where an address has only one such.
fn only_matches(
    candidates: Vec<(usize, Reading)>,
    facts: Vec<PointFacts>,
) -> Vec<(usize, Reading, PointFacts)> {
    let mut matches: Vec<(usize, Reading, PointFacts)> = Vec::new();
    let mut ambiguous = Vec::new();
    for ((at, candidate), facts) in candidates.into_iter().zip(facts) {
        if !matches!(facts.evidence, Evidence::DeliveryPoint(_) | Evidence::House(_)) {
            continue;
        }
        // Candidates of one address follow each other.
        if matches.last().is_some_and(|(before, ..)| *before == at) {
            ambiguous.push(at);
        } else {
            matches.push((at, candidate, facts));
        }
    }
    matches.retain(|(at, ..)| !ambiguous.contains(at));
    matches
}

impl Verify for Local {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        strictness: Option<Strictness>,
    ) -> BoxFuture<'a, Result<Vec<Verdict>, VerifyError>> {
        Box::pin(async move {
            let distinct = Distinct::of(inputs);
            let found = self.look_up(&distinct.inputs).await?;
            let verdicts: Vec<Verdict> =
                found.into_iter().map(|(reading, facts)| self.judge(reading, facts, strictness)).collect();
            Ok(distinct.spread(verdicts))
        })
    }
}
