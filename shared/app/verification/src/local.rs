//! The embedded verifier: Publication 28, the ZIP data that ships with the program, and imported address points.
//! At most three round trips to the database, whatever the number of addresses.

use std::panic::resume_unwind;
use std::thread;

use address::{
    AddressInput, AddressVerdict, CheckedAddress, PointEvidence, PointKey, VerificationStrictness,
    find_only_confirmed,
};
use futures_util::future::BoxFuture;
use store::{AddressPointFacts, Store, StoreError};

use crate::distinct::DistinctInputs;
use crate::{AddressVerifier, VerificationError};

/// Addresses that are worth a thread of their own: some milliseconds of work.
const ADDRESSES_PER_THREAD: usize = 500;

/// The embedded verifier. It is unavailable only when the database is.
pub struct LocalVerifier {
    store: Store,
    coverage_points: i64,
}

impl LocalVerifier {
    /// `coverage_points` in a ZIP make it covered.
    pub fn new(store: Store, coverage_points: i64) -> Self {
        Self {
            store,
            coverage_points,
        }
    }

    async fn look_up(
        &self,
        inputs: &[AddressInput<'_>],
    ) -> Result<Vec<(CheckedAddress, AddressPointFacts)>, StoreError> {
        // Thousands of addresses are milliseconds of work: other tasks of this thread move away meanwhile.
        let mut readings: Vec<CheckedAddress> =
            tokio::task::block_in_place(|| parse_addresses(inputs));
        let keys: Vec<PointKey> = readings.iter().map(CheckedAddress::point_key).collect();
        let mut facts = self.store.look_up_address_points(&keys).await?;
        self.correct_addresses(inputs, &mut readings, &keys, &mut facts)
            .await?;
        Ok(readings.into_iter().zip(facts).collect())
    }

    /// An address on an unknown street may stand for one on another street or in another ZIP (see
    /// `address::CheckedAddress::street_candidates`). Where points do not cover its ZIP, the street may well be there.
    async fn correct_addresses(
        &self,
        inputs: &[AddressInput<'_>],
        readings: &mut [CheckedAddress],
        keys: &[PointKey],
        facts: &mut [AddressPointFacts],
    ) -> Result<(), StoreError> {
        let is_open = |at: &usize| {
            let is_doubtful = readings[*at].is_misplaced()
                || (keys[*at].is_in_zip() && self.is_covered(&facts[*at]));
            is_doubtful
                && facts[*at].evidence == PointEvidence::Nothing
                && !facts[*at].is_overridden
        };
        let (open, questions): (Vec<usize>, Vec<_>) = tokio::task::block_in_place(|| {
            let asked = (0..keys.len()).filter(is_open);
            asked
                .filter_map(|at| {
                    Some((
                        at,
                        readings[at].street_question(self.is_covered(&facts[at]))?,
                    ))
                })
                .unzip()
        });
        if open.is_empty() {
            return Ok(());
        }
        let namesakes = self.store.find_similar_streets(&questions).await?;
        let candidates: Vec<(usize, CheckedAddress)> = open
            .into_iter()
            .zip(&namesakes)
            .flat_map(|(at, namesakes)| {
                readings[at]
                    .street_candidates(inputs[at], namesakes, self.is_covered(&facts[at]))
                    .into_iter()
                    .map(move |candidate| (at, candidate))
            })
            .collect();
        let candidate_keys: Vec<PointKey> = candidates
            .iter()
            .map(|(_, candidate)| candidate.point_key())
            .collect();
        let candidate_facts = self.store.look_up_address_points(&candidate_keys).await?;
        let mut found = candidates.into_iter().zip(candidate_facts).peekable();
        while let Some(&((at, _), _)) = found.peek() {
            // Candidates of one address follow each other.
            let of_address = std::iter::from_fn(|| found.next_if(|((next, _), _)| *next == at));
            let candidates: Vec<_> = of_address
                .map(|((_, candidate), facts)| (candidate, facts))
                .collect();
            if let Some(confirmed) =
                find_only_confirmed(candidates, |facts: &AddressPointFacts| &facts.evidence)
            {
                (readings[at], facts[at]) = confirmed;
            }
        }
        Ok(())
    }

    /// Whether points cover the whole ZIP.
    fn is_covered(&self, facts: &AddressPointFacts) -> bool {
        facts.points_in_zip >= self.coverage_points
    }

    fn judge(
        &self,
        reading: CheckedAddress,
        facts: AddressPointFacts,
        strictness: Option<VerificationStrictness>,
    ) -> AddressVerdict {
        let reading_if_overridden = facts.is_overridden.then(|| reading.clone());
        let is_known = self.is_covered(&facts) || facts.evidence != PointEvidence::Nothing;
        let verdict = if reading.failure().is_some() {
            reading.into_verdict()
        } else {
            let usual = if is_known && reading.point_key().is_in_zip() {
                VerificationStrictness::DeliveryPoint
            } else {
                VerificationStrictness::Zip
            };
            let evidence = if is_known {
                facts.evidence
            } else {
                PointEvidence::Uncovered
            };
            reading
                .confirm(evidence)
                .into_verdict(strictness.unwrap_or(usual))
        };
        match (verdict, reading_if_overridden) {
            (AddressVerdict::Undeliverable(_), Some(reading)) => reading.into_overridden(),
            (verdict, _) => verdict,
        }
    }
}

/// Reads addresses, many of them on all cores.
fn parse_addresses(inputs: &[AddressInput<'_>]) -> Vec<CheckedAddress> {
    let read_part = |part: &[AddressInput<'_>]| {
        part.iter()
            .map(|input| CheckedAddress::from_input(*input))
            .collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(inputs.len() / ADDRESSES_PER_THREAD);
    if threads < 2 {
        return read_part(inputs);
    }
    thread::scope(|scope| {
        let parts = inputs.chunks(inputs.len().div_ceil(threads));
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || read_part(part)))
            .collect();
        let readings = parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        readings.collect()
    })
}

impl AddressVerifier for LocalVerifier {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        strictness: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async move {
            let distinct = DistinctInputs::from_inputs(inputs);
            let found = self.look_up(&distinct.inputs).await?;
            let verdicts: Vec<AddressVerdict> = found
                .into_iter()
                .map(|(reading, facts)| self.judge(reading, facts, strictness))
                .collect();
            Ok(distinct.expand(verdicts))
        })
    }
}
