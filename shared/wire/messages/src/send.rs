//! What a gateway and a mailer tell each other about a send besides its body and its answer.

use serde::{Deserialize, Serialize};

use model::idempotency::IdempotencyKey;

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
    pub fn from_text(text: &str) -> Option<Self> {
        if text.is_empty() {
            Some(Self::default())
        } else {
            serde_json::from_str(text).ok()
        }
    }
}

/// The context of a send's reply. One that says nothing is written as an empty text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendReplyContext {
    /// What the send has cost, in cents; `None` where its mailer does not know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost_cents: Option<i64>,
}

impl SendReplyContext {
    /// The text that goes with the reply.
    pub fn to_text(self) -> String {
        match self.cost_cents {
            None => String::new(),
            // A number can always be written.
            Some(_) => serde_json::to_string(&self).unwrap_or_default(),
        }
    }

    /// Reads what [`SendReplyContext::to_text`] wrote; something else says nothing.
    pub fn from_text(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_read_as_it_was_written() {
        let key = SendContext {
            idempotency_key: "order \"7\"".parse().ok(),
        };
        for context in [SendContext::default(), key] {
            assert_eq!(SendContext::from_text(&context.to_text()), Some(context));
        }
        assert_eq!(SendContext::default().to_text(), "");
        assert_eq!(SendContext::from_text("["), None);
    }
    #[test]
    fn what_a_send_has_cost_is_read_as_it_was_written() {
        for cost_cents in [None, Some(0), Some(745_000)] {
            let context = SendReplyContext { cost_cents };
            assert_eq!(SendReplyContext::from_text(&context.to_text()), context);
        }
        assert_eq!(SendReplyContext::default().to_text(), "");
        assert_eq!(
            SendReplyContext::from_text("["),
            SendReplyContext::default()
        );
    }
}
