//! What a gateway tells a syncer about a request besides its body.

use model::id::IntegrationId;
use model::idempotency::IdempotencyKey;
use serde::{Deserialize, Serialize};

/// What the gateway found out about a request before it asks a syncer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushContext {
    /// The key's integration.
    pub integration_id: IntegrationId,
    /// The key of a request that changes something; `None` when it is to be validated only, or needs none.
    pub idempotency_key: Option<IdempotencyKey>,
}
