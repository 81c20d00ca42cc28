//! What a client should call next, in a sentence.

use contract::push::{Field, Semantic};

/// What the sentence depends on.
pub(super) struct Standing<'a> {
    pub(super) fields: &'a [Field],
    pub(super) has_open_sync: bool,
    pub(super) has_completed: bool,
}

impl Standing<'_> {
    /// Whether contacts of the integration can be mailed: the address fields are declared, and a sync has completed.
    pub(super) fn is_set_up(&self) -> bool {
        self.has_completed && self.missing().is_empty()
    }

    /// The semantics that mail needs and no field claims.
    fn missing(&self) -> Vec<&'static str> {
        let is_claimed =
            |semantic: &Semantic| self.fields.iter().any(|field| field.semantic == Some(*semantic));
        Semantic::NEEDED_TO_MAIL
            .into_iter()
            .filter(|semantic| !is_claimed(semantic))
            .map(Semantic::as_str)
            .collect()
    }

    /// The sentence.
    pub(super) fn next_step(&self) -> String {
        let missing = self.missing();
        if self.fields.is_empty() {
            "Declare your fields: POST /schema.".to_owned()
        } else if self.has_open_sync {
            "A sync is open: push batches with POST /records, then complete it with PATCH /sync.".to_owned()
        } else if !missing.is_empty() {
            format!(
                "Declare which fields hold {}: POST /schema with these semantics. Without them no contact can be mailed.",
                missing.join(", ")
            )
        } else if self.has_completed {
            "Everything is set up. Begin the next sync with POST /sync when your contacts change.".to_owned()
        } else {
            "Begin the first sync: POST /sync.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::push::FieldType;

    use super::*;

    fn field(semantic: Semantic) -> Field {
        let (key, label, options) = (semantic.as_str().to_owned(), String::new(), Vec::new());
        Field { key, label, field_type: FieldType::Text, options, semantic: Some(semantic) }
    }

    fn standing(fields: &[Field], has_open_sync: bool, has_completed: bool) -> (bool, String) {
        let standing = Standing { fields, has_open_sync, has_completed };
        (standing.is_set_up(), standing.next_step())
    }

    #[test]
    fn setup_is_complete_with_the_address_fields_and_a_completed_sync() {
        let address = Semantic::NEEDED_TO_MAIL.map(field);
        assert!(standing(&address, false, true).0);
        assert!(!standing(&address, false, false).0);
        assert!(!standing(&address[1..], false, true).0);
    }

    #[test]
    fn the_next_step_leads_from_the_declaration_to_the_next_sync() {
        let address = Semantic::NEEDED_TO_MAIL.map(field);
        let steps = [
            (standing(&[], false, false).1, "POST /schema"),
            (standing(&address[..2], false, false).1, "state, zip"),
            (standing(&address, false, false).1, "first sync"),
            (standing(&address, true, false).1, "PATCH /sync"),
            (standing(&address, false, true).1, "set up"),
        ];
        for (step, part) in steps {
            assert!(step.contains(part), "{step}");
        }
    }
}
