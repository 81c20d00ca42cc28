//! How far an integration is, and what a client should call next, in a sentence.

use crate::push::{FieldSemantic, IntegrationField, IntegrationStatus};

/// What a client calls the operations.
#[derive(Debug, Clone, Copy)]
pub struct OperationNames {
    /// Declaring fields.
    pub declare: &'static str,
    /// Beginning a sync.
    pub begin: &'static str,
    /// Pushing a batch.
    pub push: &'static str,
    /// Completing a sync.
    pub complete: &'static str,
}

/// The calls of the push API, below its root.
pub const PUSH_API: OperationNames = OperationNames {
    declare: "POST /schema",
    begin: "POST /sync",
    push: "POST /records",
    complete: "PATCH /sync",
};

/// How far an integration is.
#[derive(Debug, Clone, Copy)]
pub struct IntegrationReadiness<'a> {
    /// Its declared fields.
    pub fields: &'a [IntegrationField],
    /// Whether a sync is open.
    pub has_open_sync: bool,
    /// Whether a sync has completed.
    pub has_completed: bool,
}

impl IntegrationReadiness<'_> {
    /// Whether contacts of the integration can be mailed: the address fields are declared, and a sync has completed.
    pub fn is_set_up(&self) -> bool {
        self.has_completed && self.missing_semantics().is_empty()
    }

    /// Its status while its owner lets it work.
    pub fn status(&self) -> IntegrationStatus {
        if self.has_open_sync {
            IntegrationStatus::Syncing
        } else if self.is_set_up() {
            IntegrationStatus::Ready
        } else {
            IntegrationStatus::SetupNeeded
        }
    }

    /// The semantics that mail needs and no field claims.
    pub fn missing_semantics(&self) -> Vec<&'static str> {
        let is_claimed = |semantic: &FieldSemantic| {
            self.fields
                .iter()
                .any(|field| field.semantic == Some(*semantic))
        };
        FieldSemantic::NEEDED_TO_MAIL
            .into_iter()
            .filter(|semantic| !is_claimed(semantic))
            .map(FieldSemantic::as_str)
            .collect()
    }

    /// The sentence.
    pub fn next_step(&self, calls: &OperationNames) -> String {
        let OperationNames {
            declare,
            begin,
            push,
            complete,
        } = calls;
        let missing = self.missing_semantics();
        if self.fields.is_empty() {
            format!("Declare your fields: {declare}.")
        } else if self.has_open_sync {
            format!(
                "A sync is open: push batches with {push}, then complete it with {complete}. Completing a full sync removes \
                 every contact that it did not receive."
            )
        } else if !missing.is_empty() {
            format!(
                "Declare which fields hold {}: {declare} with these semantics. Without them no contact can be mailed.",
                missing.join(", ")
            )
        } else if self.has_completed {
            format!(
                "Everything is set up. Begin the next sync with {begin} when your contacts change."
            )
        } else {
            format!("Begin the first sync: {begin}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::FieldType;

    fn build_field(semantic: FieldSemantic) -> IntegrationField {
        let (key, label, options) = (semantic.as_str().to_owned(), String::new(), Vec::new());
        IntegrationField {
            key,
            label,
            field_type: FieldType::Text,
            options,
            semantic: Some(semantic),
        }
    }

    fn assess_readiness(
        fields: &[IntegrationField],
        has_open_sync: bool,
        has_completed: bool,
    ) -> (bool, String) {
        let standing = IntegrationReadiness {
            fields,
            has_open_sync,
            has_completed,
        };
        (standing.is_set_up(), standing.next_step(&PUSH_API))
    }

    #[test]
    fn setup_is_complete_with_the_address_fields_and_a_completed_sync() {
        let address = FieldSemantic::NEEDED_TO_MAIL.map(build_field);
        assert!(assess_readiness(&address, false, true).0);
        assert!(!assess_readiness(&address, false, false).0);
        assert!(!assess_readiness(&address[1..], false, true).0);
    }

    #[test]
    fn the_next_step_leads_from_the_declaration_to_the_next_sync() {
        let address = FieldSemantic::NEEDED_TO_MAIL.map(build_field);
        let steps = [
            (assess_readiness(&[], false, false).1, "POST /schema"),
            (
                assess_readiness(&address[..2], false, false).1,
                "state, zip",
            ),
            (assess_readiness(&address, false, false).1, "first sync"),
            (assess_readiness(&address, true, false).1, "PATCH /sync"),
            (assess_readiness(&address, false, true).1, "set up"),
        ];
        for (step, part) in steps {
            assert!(step.contains(part), "{step}");
        }
    }
}
