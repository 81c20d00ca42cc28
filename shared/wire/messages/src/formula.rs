//! What a gateway tells a mailer about a call of a formula tool besides its arguments.

use model::id::ApiKeyId;
use serde::{Deserialize, Serialize};

/// What the gateway found out about a call before it asks a mailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormulaContext {
    /// The key that the client holds.
    pub key_id: ApiKeyId,
    /// Whether the key opens more than formulas, and so shows people as they are. A gateway that does not say so asks for
    /// one that does not.
    #[serde(default)]
    pub is_full_access: bool,
}
