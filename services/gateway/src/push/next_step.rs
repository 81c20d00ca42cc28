//! What a client should call next, in a sentence.

use contract::push::{Field, Semantic};

/// What a client calls the operations.
pub(crate) struct Calls {
    pub(crate) declare: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) push: &'static str,
    pub(crate) complete: &'static str,
}

/// The calls of the push API, below its root.
pub(crate) const PUSH_API: Calls =
    Calls { declare: "POST /schema", begin: "POST /sync", push: "POST /records", complete: "PATCH /sync" };

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
    pub(super) fn next_step(&self, calls: &Calls) -> String {
        let Calls { declare, begin, push, complete } = calls;
        let missing = self.missing();
        if self.fields.is_empty() {
            format!("Declare your fields: {declare}.")
        } else if self.has_open_sync {
            format!("A sync is open: push batches with {push}, then complete it with {complete}.")
        } else if !missing.is_empty() {
            format!(
                "Declare which fields hold {}: {declare} with these semantics. Without them no contact can be mailed.",
                missing.join(", ")
            )
        } else if self.has_completed {
            format!("Everything is set up. Begin the next sync with {begin} when your contacts change.")
        } else {
            format!("Begin the first sync: {begin}.")
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
        (standing.is_set_up(), standing.next_step(&PUSH_API))
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
