//! What a gateway tells a mailer about a send besides its body.

use serde::{Deserialize, Serialize};

use crate::idempotency::IdempotencyKey;

/// The context of a send's call. One that says nothing is written as an empty text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendContext {
    /// The key that the sender gave the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub idempotency_key: Option<IdempotencyKey>,
}

impl SendContext {
    /// The text that goes with the call.
    pub fn to_text(&self) -> String {
        match self.idempotency_key {
            None => String::new(),
            // A text can always be written.
            Some(_) => serde_json::to_string(self).unwrap_or_default(),
        }
    }

    /// Reads what [`SendContext::to_text`] wrote. `None` when it is something else.
    pub fn of_text(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self::default()) } else { serde_json::from_str(text).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_read_as_it_was_written() {
        let key = SendContext { idempotency_key: "order \"7\"".parse().ok() };
        for context in [SendContext::default(), key] {
            assert_eq!(SendContext::of_text(&context.to_text()), Some(context));
        }
        assert_eq!(SendContext::default().to_text(), "");
        assert_eq!(SendContext::of_text("["), None);
    }
}
