//! A provider behind a cache: an address that it answered lately is not asked again.

use address::{
    AddressError, AddressInput, AddressVerdict, CheckedAddress, VerificationStrictness,
    unverified_address_id,
};
use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use runtime::Clock;
use serde_json::Value;
use store::Store;
use uuid::Uuid;

use crate::distinct::DistinctInputs;
use crate::{AddressVerifier, VerificationError};

/// Somebody elsewhere who knows addresses.
pub trait VerificationProvider: Send + Sync + 'static {
    /// The name under which answers are kept.
    fn name(&self) -> &'static str;

    /// The answer for each address, in their order, as far as there is one now: a batch that fails leaves `None`s and
    /// the reason.
    fn look_up<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
    ) -> BoxFuture<'a, (Vec<Option<Value>>, Option<String>)>;

    /// The verdict that an answer gives. Pure.
    fn judge(
        &self,
        reading: CheckedAddress,
        answer: &Value,
        strictness: Option<VerificationStrictness>,
    ) -> AddressVerdict;
}

/// A provider's verifier with its answers kept in the database.
pub struct CachedVerifier<P> {
    provider: P,
    store: Store,
    clock: Clock,
    lifetime: TimeDelta,
}

impl<P: VerificationProvider> CachedVerifier<P> {
    /// Answers are kept `answer_days`.
    pub fn new(provider: P, store: Store, clock: Clock, answer_days: i64) -> Self {
        Self {
            provider,
            store,
            clock,
            lifetime: TimeDelta::days(answer_days),
        }
    }

    /// The answers for different addresses: kept ones, and the provider's for the others.
    async fn load_answers(
        &self,
        inputs: &[AddressInput<'_>],
    ) -> Result<Vec<Value>, VerificationError> {
        let ids: Vec<Uuid> = inputs
            .iter()
            .map(|input| unverified_address_id(*input).as_uuid())
            .collect();
        let now = self.clock.now();
        let mut kept = self
            .store
            .find_address_answers(self.provider.name(), &ids, now)
            .await?;
        let missing: Vec<usize> = (0..ids.len())
            .filter(|at| !kept.contains_key(&ids[*at]))
            .collect();
        if !missing.is_empty() {
            let asked: Vec<AddressInput<'_>> = missing.iter().map(|at| inputs[*at]).collect();
            let (answers, failure) = self.provider.look_up(&asked).await;
            let answered = missing
                .iter()
                .zip(answers)
                .filter_map(|(at, answer)| Some((ids[*at], answer?)));
            let mut fresh: Vec<(Uuid, Value)> = answered.collect();
            // Spellings that differ in case only have one id.
            fresh.sort_unstable_by_key(|(id, _)| *id);
            fresh.dedup_by_key(|(id, _)| *id);
            // Also in an outage: what was answered need not be asked again when the request is.
            self.store
                .save_address_answers(self.provider.name(), &fresh, now + self.lifetime)
                .await?;
            kept.extend(fresh);
            if let Some(failure) = failure {
                return Err(VerificationError::Unavailable(failure));
            }
        }
        let missing =
            || VerificationError::Unavailable("the provider left an address out".to_owned());
        ids.iter()
            .map(|id| kept.get(id).cloned().ok_or_else(missing))
            .collect()
    }

    /// Lets the operator's overrides stand over what the provider refuses.
    async fn apply_overrides(
        &self,
        inputs: &[AddressInput<'_>],
        mut verdicts: Vec<AddressVerdict>,
    ) -> Result<Vec<AddressVerdict>, VerificationError> {
        let refused: Vec<usize> = (0..verdicts.len())
            .filter(|at| matches!(verdicts[*at], AddressVerdict::Undeliverable(_)))
            .collect();
        let readings: Vec<CheckedAddress> = refused
            .iter()
            .map(|at| CheckedAddress::from_input(inputs[*at]))
            .collect();
        let keys: Vec<_> = readings.iter().map(CheckedAddress::point_key).collect();
        let facts = self.store.look_up_address_points(&keys).await?;
        for ((at, reading), facts) in refused.into_iter().zip(readings).zip(facts) {
            if facts.is_overridden {
                verdicts[at] = reading.into_overridden();
            }
        }
        Ok(verdicts)
    }
}

/// Whether asking a provider cannot help: there is no address to ask about.
fn has_no_address(failure: &AddressError) -> bool {
    matches!(failure, AddressError::Missing(_) | AddressError::TooLong)
}

impl<P: VerificationProvider> AddressVerifier for CachedVerifier<P> {
    fn is_remote(&self) -> bool {
        true
    }

    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        strictness: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async move {
            let distinct = DistinctInputs::from_inputs(inputs);
            let readings: Vec<CheckedAddress> = tokio::task::block_in_place(|| {
                distinct
                    .inputs
                    .iter()
                    .map(|input| CheckedAddress::from_input(*input))
                    .collect()
            });
            let is_asked = |at: &usize| !readings[*at].failure().is_some_and(has_no_address);
            let asked: Vec<usize> = (0..readings.len()).filter(is_asked).collect();
            let inputs_asked: Vec<AddressInput<'_>> =
                asked.iter().map(|at| distinct.inputs[*at]).collect();
            let answers = self.load_answers(&inputs_asked).await?;
            let mut answers = asked.into_iter().zip(answers).peekable();
            let verdicts: Vec<AddressVerdict> = readings
                .into_iter()
                .enumerate()
                .map(
                    |(at, reading)| match answers.next_if(|(asked, _)| *asked == at) {
                        Some((_, answer)) => self.provider.judge(reading, &answer, strictness),
                        None => reading.into_verdict(),
                    },
                )
                .collect();
            Ok(distinct.expand(self.apply_overrides(&distinct.inputs, verdicts).await?))
        })
    }
}
