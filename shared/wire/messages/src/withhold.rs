//! What a gateway tells a mailer about mailpieces that are to leave the queue.

use model::id::{ApiKeyId, CampaignId, RequestId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The body of [`crate::CANCEL_MAILPIECES_V1`]: which mailpieces are cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelOrder {
    /// One.
    Mailpiece {
        /// Its id.
        mailpiece_id: Uuid,
    },
    /// Those that a request has mailed.
    Request {
        /// The request's id.
        request_id: RequestId,
    },
    /// Those that went to a campaign's recipients with this reference.
    Reference {
        /// The campaign.
        campaign_id: CampaignId,
        /// The sender's own.
        reference: String,
    },
}

/// The body of [`crate::HOLD_CAMPAIGN_V1`]: a campaign that is held or released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldOrder {
    /// The campaign.
    pub campaign_id: CampaignId,
    /// Whether it is held from now on; else it is released.
    pub is_held: bool,
    /// The key that the client holds, for the activity log.
    pub key_id: ApiKeyId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let order = CancelOrder::Reference {
            campaign_id: "PA-7XK2QD".parse().unwrap(),
            reference: "crm \"1\"".to_owned(),
        };
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<CancelOrder>(&text).unwrap(), order);
    }
}
