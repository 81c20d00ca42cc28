//! GET /api/v1/mailpieces, /campaigns and /ledger: what a team reads of what it has sent. Additions to the contract.
//!
//! It knows the database and no gateway: whoever serves it admits the request, and answers with what comes of it.

mod query;

use std::error::Error;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::send::SendError;
use following::{
    CAMPAIGN_DAYS, FigureDays, FollowError, MailpieceQuery, find_campaign, find_mailpiece,
    list_bookings, list_campaigns, list_mailpieces,
};
use model::id::{CampaignId, TeamId};
use serde::Serialize;
use store::Store;
use uuid::Uuid;

use self::query::ReadParameters;

/// Where mailpieces are.
pub(crate) const MAILPIECES_PATH: &str = "/api/v1/mailpieces";

/// Where one is.
pub(crate) const MAILPIECE_PATH: &str = "/api/v1/mailpieces/{id}";

/// Where campaigns are.
pub(crate) const CAMPAIGNS_PATH: &str = "/api/v1/campaigns";

/// Where one is.
pub(crate) const CAMPAIGN_PATH: &str = "/api/v1/campaigns/{id}";

/// Where the ledger is.
pub(crate) const LEDGER_PATH: &str = "/api/v1/ledger";

/// All of them.
pub(crate) const PATHS: [&str; 5] = [
    MAILPIECES_PATH,
    MAILPIECE_PATH,
    CAMPAIGNS_PATH,
    CAMPAIGN_PATH,
    LEDGER_PATH,
];

/// What a team wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadQuestion {
    /// A page of its mailpieces.
    Mailpieces(MailpieceQuery),
    /// One of them.
    Mailpiece(Uuid),
    /// A page of its campaigns.
    Campaigns(PageQuestion),
    /// One of them, with its figures on these days.
    Campaign(CampaignId, FigureDays),
    /// A page of its ledger.
    Ledger(PageQuestion),
}

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageQuestion {
    cursor: Option<String>,
    limit: usize,
}

impl ReadQuestion {
    /// Reads a path that is one of [`PATHS`], and what stands behind its question mark.
    ///
    /// # Errors
    /// What a client is told.
    pub(crate) fn parse(path: &str, query: &str) -> Result<Self, SendError> {
        let parameters = ReadParameters::parse(query);
        let under = |list: &str| path.strip_prefix(list)?.strip_prefix('/');
        if let Some(id) = under(MAILPIECES_PATH) {
            let id = id.parse().map_err(|_| SendError::MailpieceNotFound)?;
            return Ok(Self::Mailpiece(id));
        }
        if let Some(id) = under(CAMPAIGNS_PATH) {
            let id = id.parse().map_err(|_| SendError::CampaignNotFound)?;
            return Ok(Self::Campaign(id, parameters.days()?));
        }
        match path {
            MAILPIECES_PATH => parameters.mailpieces().map(Self::Mailpieces),
            CAMPAIGNS_PATH => parameters.page().map(Self::Campaigns),
            _ => parameters.page().map(Self::Ledger),
        }
    }

    /// The answer, as JSON.
    ///
    /// # Errors
    /// What a client is told.
    pub(crate) async fn answer(
        &self,
        store: &Store,
        team_id: TeamId,
        now: DateTime<Utc>,
    ) -> Result<Bytes, SendError> {
        match self {
            Self::Mailpieces(query) => {
                write_answer(list_mailpieces(store, team_id, query, now).await)
            }
            Self::Mailpiece(id) => write_answer(find_mailpiece(store, team_id, *id, now).await),
            Self::Campaigns(PageQuestion { cursor, limit }) => {
                write_answer(list_campaigns(store, team_id, cursor.as_deref(), *limit).await)
            }
            Self::Campaign(id, days) => {
                write_answer(find_campaign(store, team_id, id, *days, now).await)
            }
            Self::Ledger(PageQuestion { cursor, limit }) => {
                write_answer(list_bookings(store, team_id, cursor.as_deref(), *limit, now).await)
            }
        }
    }
}

fn write_answer(found: Result<impl Serialize, FollowError>) -> Result<Bytes, SendError> {
    let answer = found.map_err(|error| match error {
        FollowError::InvalidCursor => SendError::InvalidCursor,
        FollowError::MailpieceNotFound => SendError::MailpieceNotFound,
        FollowError::CampaignNotFound => SendError::CampaignNotFound,
        FollowError::InvalidDays => SendError::InvalidPayload(format!(
            "from and to must be days in order, at most {CAMPAIGN_DAYS} of them."
        )),
        FollowError::Store(error) => {
            tracing::error!(error = &error as &dyn Error, "cannot read for a team");
            SendError::InternalError
        }
    })?;
    serde_json::to_vec(&answer)
        .map(Bytes::from)
        .map_err(|error| {
            tracing::error!(error = &error as &dyn Error, "an answer cannot be written");
            SendError::InternalError
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_is_asked() {
        let id = Uuid::now_v7();
        let parse = |path: &str| ReadQuestion::parse(path, "");
        assert_eq!(
            parse(&format!("/api/v1/mailpieces/{id}")),
            Ok(ReadQuestion::Mailpiece(id))
        );
        assert_eq!(
            parse("/api/v1/mailpieces/7"),
            Err(SendError::MailpieceNotFound)
        );
        assert_eq!(
            parse("/api/v1/campaigns/7"),
            Err(SendError::CampaignNotFound)
        );
        assert!(matches!(
            parse("/api/v1/campaigns/PA-7K2M9Q"),
            Ok(ReadQuestion::Campaign(..))
        ));
        assert!(matches!(
            parse("/api/v1/mailpieces"),
            Ok(ReadQuestion::Mailpieces(_))
        ));
        assert!(matches!(
            parse("/api/v1/campaigns"),
            Ok(ReadQuestion::Campaigns(_))
        ));
        assert!(matches!(
            parse("/api/v1/ledger"),
            Ok(ReadQuestion::Ledger(_))
        ));
    }
}
