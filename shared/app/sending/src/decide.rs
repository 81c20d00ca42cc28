//! Who is mailed: each recipient gets exactly one outcome. Pure.
//!
//! What is known before the campaign is locked (validity, lists, filters) arrives with each candidate; what
//! only holds under the lock (earlier cards, the budget) is decided here, in the order sent.

use std::collections::HashSet;

use contract::send::NotMailedReason;
use store::RecipientListings;
use uuid::Uuid;

/// A recipient on its way to an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MailingCandidate {
    /// What the duplicate guard compares.
    pub(crate) address_id: Uuid,
    /// The address as it was written, which lists may have: other than `address_id` when verification corrected it.
    pub(crate) written_id: Uuid,
    /// A reason that comes before the duplicate check: invalid, removed, do-not-mail.
    pub(crate) before_duplicates: Option<NotMailedReason>,
    /// A reason that comes after it: location, conditions, the design.
    pub(crate) after_duplicates: Option<NotMailedReason>,
}

impl MailingCandidate {
    /// The first reason that is known already.
    pub(crate) fn refusal(&self) -> Option<NotMailedReason> {
        self.before_duplicates.or(self.after_duplicates)
    }

    /// The candidate with what else the lists say of its address by now.
    pub(crate) fn with_list_refusal(self, facts: &RecipientListings) -> Self {
        let listed = || {
            facts
                .refusal(self.address_id)
                .or_else(|| facts.refusal(self.written_id))
        };
        let before_duplicates = self.before_duplicates.or_else(listed);
        Self {
            before_duplicates,
            ..self
        }
    }
}

/// What becomes of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailingDecision {
    /// A card is made.
    Mail,
    /// No card: this address is mailed by an earlier recipient of the same request.
    Copy,
    /// No card.
    Refuse(NotMailedReason),
}

/// Decides all candidates. `mailed` are the addresses mailed within the window; the budget is spent in order,
/// and one that does not fit leaves it for a later one that does.
pub(crate) fn decide_candidates(
    candidates: &[MailingCandidate],
    mailed: &HashSet<Uuid>,
    budget_left_cents: Option<i64>,
    price_cents: i64,
) -> Vec<MailingDecision> {
    let mut left = budget_left_cents;
    let mut taken = HashSet::new();
    let mut waiting = HashSet::new();
    candidates
        .iter()
        .map(|candidate| {
            if let Some(reason) = candidate.before_duplicates {
                return MailingDecision::Refuse(reason);
            }
            if mailed.contains(&candidate.address_id) {
                return MailingDecision::Refuse(NotMailedReason::DuplicateRecent);
            }
            if taken.contains(&candidate.address_id) {
                return MailingDecision::Copy;
            }
            // An address that waits does so until the re-check, whatever a later copy of it says.
            let waits = waiting
                .contains(&candidate.address_id)
                .then_some(NotMailedReason::FilteredConditions);
            if let Some(reason) = candidate.after_duplicates.or(waits) {
                if reason == NotMailedReason::FilteredConditions {
                    waiting.insert(candidate.address_id);
                }
                return MailingDecision::Refuse(reason);
            }
            match left {
                Some(cents) if cents < price_cents => {
                    return MailingDecision::Refuse(NotMailedReason::BudgetExceeded);
                }
                Some(cents) => left = Some(cents - price_cents),
                None => {}
            }
            taken.insert(candidate.address_id);
            MailingDecision::Mail
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn build_candidate(address: u128) -> MailingCandidate {
        let address_id = Uuid::from_u128(address);
        MailingCandidate {
            address_id,
            written_id: address_id,
            before_duplicates: None,
            after_duplicates: None,
        }
    }

    #[test]
    fn outcomes_are_decided_in_the_contract_order() {
        let mailed = HashSet::from([Uuid::from_u128(1)]);
        let both = |before, after| MailingCandidate {
            before_duplicates: before,
            after_duplicates: after,
            ..build_candidate(1)
        };
        let candidates = [
            both(
                Some(NotMailedReason::DoNotMail),
                Some(NotMailedReason::FilteredLocation),
            ),
            both(None, Some(NotMailedReason::FilteredLocation)),
            MailingCandidate {
                after_duplicates: Some(NotMailedReason::FilteredConditions),
                ..build_candidate(4)
            },
            build_candidate(4),
            build_candidate(2),
            MailingCandidate {
                after_duplicates: Some(NotMailedReason::FilteredLocation),
                ..build_candidate(2)
            },
            build_candidate(3),
        ];
        let decisions = decide_candidates(&candidates, &mailed, Some(100), 79);
        use MailingDecision::{Copy, Mail, Refuse};
        assert_eq!(
            decisions,
            [
                Refuse(NotMailedReason::DoNotMail),
                Refuse(NotMailedReason::DuplicateRecent),
                Refuse(NotMailedReason::FilteredConditions),
                Refuse(NotMailedReason::FilteredConditions),
                Mail,
                Copy,
                Refuse(NotMailedReason::BudgetExceeded),
            ]
        );
    }

    #[test]
    fn a_copy_is_a_duplicate_only_when_the_first_is_mailed() {
        let decisions = decide_candidates(
            &[build_candidate(1), build_candidate(1)],
            &HashSet::new(),
            Some(10),
            79,
        );
        assert_eq!(
            decisions,
            [MailingDecision::Refuse(NotMailedReason::BudgetExceeded); 2]
        );
    }

    proptest! {
        #[test]
        fn no_address_is_mailed_twice_and_the_budget_is_never_passed(
            addresses in proptest::collection::vec(0_u128..20, 0..60),
            mailed in proptest::collection::hash_set(0_u128..20, 0..10),
            budget in proptest::option::of(0_i64..2000),
            price in 1_i64..200,
        ) {
            let candidates: Vec<_> = addresses.iter().copied().map(build_candidate).collect();
            let mailed: HashSet<_> = mailed.into_iter().map(Uuid::from_u128).collect();
            let decisions = decide_candidates(&candidates, &mailed, budget, price);
            let sent: Vec<_> = candidates
                .iter()
                .zip(&decisions)
                .filter(|(_, decision)| **decision == MailingDecision::Mail)
                .map(|(candidate, _)| candidate.address_id)
                .collect();
            let distinct: HashSet<_> = sent.iter().copied().collect();
            prop_assert_eq!(distinct.len(), sent.len());
            prop_assert!(distinct.is_disjoint(&mailed));
            let spent = i64::try_from(sent.len()).unwrap() * price;
            prop_assert!(budget.is_none_or(|budget| spent <= budget));
            // Nobody is refused for a budget that would have covered them.
            let refused = decisions.contains(&MailingDecision::Refuse(NotMailedReason::BudgetExceeded));
            prop_assert!(!refused || budget.is_some_and(|budget| budget - spent < price));
        }
    }
}
