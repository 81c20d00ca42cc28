//! Identifiers, one type each, parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id: a UUID of version 7, so that new rows stand together in their index.
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id!(
    /// A team: the owner of everything else.
    TeamId
);
uuid_id!(
    /// A person who can sign in.
    MemberId
);
uuid_id!(
    /// Something that a person did.
    ActivityId
);
uuid_id!(
    /// An API key's row; never the key itself.
    ApiKeyId
);
uuid_id!(
    /// A CRM integration.
    IntegrationId
);
uuid_id!(
    /// A sync of an integration; public.
    SyncId
);
impl SyncId {
    /// A new id that is above `latest`, the integration's last one, so that ids are in the order of begins also when
    /// they are made by machines whose clocks differ.
    pub fn new_after(latest: Option<Self>) -> Self {
        /// Bits of a UUID of version 7 below its milliseconds.
        const BELOW_TIME: u32 = 80;
        let new = Self::new();
        match latest {
            Some(latest) if latest >= new => {
                let next_millisecond = (latest.0.as_u128() >> BELOW_TIME) + 1;
                let below_time = new.0.as_u128() & ((1 << BELOW_TIME) - 1);
                Self(Uuid::from_u128(next_millisecond << BELOW_TIME | below_time))
            }
            _ => new,
        }
    }
}

uuid_id!(
    /// A design document.
    DesignId
);
uuid_id!(
    /// One HTTP request, from the gateway to the last row that it caused.
    RequestId
);
uuid_id!(
    /// One charge to a team for the mailpieces of one batch. A send's charge has the send's request id.
    ChargeId
);
uuid_id!(
    /// One transaction of a team's ledger.
    LedgerTransactionId
);
uuid_id!(
    /// A top-up that a team has asked for.
    TopUpRequestId
);
uuid_id!(
    /// One printed card.
    MailpieceId
);
uuid_id!(
    /// A piece of due work.
    JobId
);

uuid_id!(
    /// A webhook endpoint of a team.
    EndpointId
);
uuid_id!(
    /// One event on its way to one endpoint.
    DeliveryId
);

/// A campaign's public id: `PA-` and six of `A-Z0-9`, case-sensitive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CampaignId(String);

/// A text that is not a campaign id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a campaign id is PA- and six characters of A-Z and 0-9")]
pub struct ParseCampaignIdError;

impl CampaignId {
    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CampaignId {
    type Err = ParseCampaignIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tail = text.strip_prefix("PA-").ok_or(ParseCampaignIdError)?;
        let fits = tail.len() == 6
            && tail
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseCampaignIdError)
        }
    }
}

impl TryFrom<String> for CampaignId {
    type Error = ParseCampaignIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<CampaignId> for String {
    fn from(id: CampaignId) -> Self {
        id.0
    }
}

impl fmt::Display for CampaignId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_id_is_above_the_latest_ones_though_that_one_was_made_by_a_clock_ahead() {
        let now = SyncId::new();
        assert!(SyncId::new_after(Some(now)) > now);
        let ahead = SyncId(Uuid::from_u128(now.0.as_u128() + (3_600_000 << 80)));
        let mut latest = ahead;
        for _ in 0..100 {
            let next = SyncId::new_after(Some(latest));
            assert!(next > latest, "{next} after {latest}");
            assert_eq!(
                (next.0.get_version_num(), next.0.get_variant()),
                (7, uuid::Variant::RFC4122)
            );
            latest = next;
        }
    }

    #[test]
    fn campaign_id_is_pa_and_six_characters_and_case_sensitive() {
        assert!("PA-7K2M9Q".parse::<CampaignId>().is_ok());
        for wrong in [
            "",
            "PA-",
            "PA-7K2M9",
            "PA-7K2M9QX",
            "pa-7K2M9Q",
            "PA-7k2M9Q",
            "PA-7K2M9É",
            " PA-7K2M9Q",
        ] {
            assert_eq!(
                wrong.parse::<CampaignId>(),
                Err(ParseCampaignIdError),
                "{wrong}"
            );
        }
    }
}
