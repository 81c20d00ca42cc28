//! The embedded verifier: Publication 28, the ZIP data that ships with the program, and imported address points.
//! At most three round trips to the database, whatever the number of addresses.

use std::panic::resume_unwind;
use std::thread;

use address::{
    AddressInput, AddressVerdict, CheckedAddress, PointEvidence, PointKey, StreetQuestion,
    VerificationStrictness, find_meant_address,
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

/// An address whose street points do not know as it was first read.
struct AddressDoubt {
    /// Its place in the request.
    at: usize,
    /// Its other readings.
    others: Vec<CheckedAddress>,
    /// What to ask of the streets for its corrections, if it may have any.
    question: Option<StreetQuestion>,
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
        self.settle_doubts(inputs, &mut readings, &mut facts)
            .await?;
        Ok(readings.into_iter().zip(facts).collect())
    }

    /// An address on an unknown street may be another reading of the same words (see
    /// `address::CheckedAddress::other_readings`), or stand for one on another street or in another ZIP
    /// (`street_candidates`). Where points do not cover its ZIP, the street may well be there.
    async fn settle_doubts(
        &self,
        inputs: &[AddressInput<'_>],
        readings: &mut [CheckedAddress],
        facts: &mut [AddressPointFacts],
    ) -> Result<(), StoreError> {
        let doubts: Vec<AddressDoubt> = tokio::task::block_in_place(|| {
            (0..inputs.len())
                .filter_map(|at| self.find_doubt(at, inputs[at], &readings[at], &facts[at]))
                .collect()
        });
        if doubts.is_empty() {
            return Ok(());
        }
        let questions: Vec<StreetQuestion> = doubts
            .iter()
            .filter_map(|doubt| doubt.question.clone())
            .collect();
        let mut similar = self
            .store
            .find_similar_streets(&questions)
            .await?
            .into_iter();
        let candidates: Vec<(usize, Vec<CheckedAddress>, Vec<CheckedAddress>)> = doubts
            .into_iter()
            .map(
                |AddressDoubt {
                     at,
                     others,
                     question,
                 }| {
                    let similar = question.and_then(|_| similar.next());
                    let is_covered = self.is_covered(&facts[at]);
                    let corrected = similar.map_or_else(Vec::new, |similar| {
                        readings[at].street_candidates(inputs[at], &similar, is_covered)
                    });
                    (at, others, corrected)
                },
            )
            .collect();
        let keys: Vec<PointKey> = candidates
            .iter()
            .flat_map(|(_, others, corrected)| others.iter().chain(corrected))
            .map(CheckedAddress::point_key)
            .collect();
        // In the order of the keys, so that each candidate takes its own.
        let mut found = self.store.look_up_address_points(&keys).await?.into_iter();
        for (at, others, corrected) in candidates {
            let others = others.into_iter().zip(found.by_ref()).collect();
            let corrected = corrected.into_iter().zip(found.by_ref()).collect();
            let meant = find_meant_address(others, corrected, |facts: &AddressPointFacts| {
                &facts.evidence
            });
            if let Some(meant) = meant {
                (readings[at], facts[at]) = meant;
            }
        }
        Ok(())
    }

    /// What to look for when points do not know the street of an address as it was first read.
    fn find_doubt(
        &self,
        at: usize,
        input: AddressInput<'_>,
        reading: &CheckedAddress,
        facts: &AddressPointFacts,
    ) -> Option<AddressDoubt> {
        if facts.is_overridden || facts.evidence != PointEvidence::Nothing {
            return None;
        }
        let is_covered = self.is_covered(facts);
        let is_doubtful = reading.is_misplaced() || (reading.point_key().is_in_zip() && is_covered);
        let question = is_doubtful
            .then(|| reading.street_question(is_covered))
            .flatten();
        // In a ZIP without points no reading is known.
        let others = if facts.points_in_zip > 0 {
            reading.other_readings(input)
        } else {
            Vec::new()
        };
        (question.is_some() || !others.is_empty()).then_some(AddressDoubt {
            at,
            others,
            question,
        })
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
