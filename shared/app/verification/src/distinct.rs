//! The same address twice in one request is asked once.

use std::collections::HashMap;

use address::AddressInput;

/// The different inputs of a request, and which of them each input is.
pub(crate) struct DistinctInputs<'a> {
    /// Each input once, in the order of their first appearance.
    pub(crate) inputs: Vec<AddressInput<'a>>,
    places: Vec<usize>,
}

impl<'a> DistinctInputs<'a> {
    pub(crate) fn from_inputs(inputs: &[AddressInput<'a>]) -> Self {
        let mut known = HashMap::with_capacity(inputs.len());
        let mut distinct = Self {
            inputs: Vec::with_capacity(inputs.len()),
            places: Vec::with_capacity(inputs.len()),
        };
        for input in inputs {
            let place = *known.entry(*input).or_insert_with(|| {
                distinct.inputs.push(*input);
                distinct.inputs.len() - 1
            });
            distinct.places.push(place);
        }
        distinct
    }

    /// From what each different input gave to what each input gives.
    pub(crate) fn expand<T: Clone>(&self, answers: Vec<T>) -> Vec<T> {
        if answers.len() == self.places.len() {
            // No input came twice.
            return answers;
        }
        self.places
            .iter()
            .map(|place| answers[*place].clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_sent_twice_is_asked_once_and_answered_twice() {
        let input = |line: &'static str| AddressInput {
            address_1: line,
            ..AddressInput::default()
        };
        let distinct = DistinctInputs::from_inputs(&[input("a"), input("b"), input("a")]);
        assert_eq!(distinct.inputs, [input("a"), input("b")]);
        assert_eq!(distinct.expand(vec![1, 2]), [1, 2, 1]);
    }
}
