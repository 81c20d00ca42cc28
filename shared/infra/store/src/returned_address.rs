//! Addresses from which a mailpiece of a team came back.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use serde::Serialize;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// An address from which a mailpiece came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReturnedAddress {
    /// The address.
    pub address_id: Uuid,
    /// As it was printed, on one line.
    pub address: String,
    /// When the last mailpiece came back.
    pub returned_at: DateTime<Utc>,
    /// Its campaign.
    pub campaign_id: String,
}

impl Store {
    /// A team's returned addresses in the order of their ids, behind `after`, nil for the first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_returned_addresses(
        &self,
        team_id: TeamId,
        after: Uuid,
        limit: i64,
    ) -> Result<Vec<ReturnedAddress>> {
        let rows = self
            .query_rows(
                "SELECT returned.address_id, returned.returned_at, mailpiece.campaign_id,
                     concat_ws(', ', nullif(concat_ws(' ', nullif(mailpiece.line_1, ''), nullif(mailpiece.line_2, '')), ''),
                         mailpiece.city, mailpiece.state || ' ' || mailpiece.zip) AS address
                 FROM (SELECT * FROM returned_addresses WHERE team_id = $1 AND address_id > $2
                       ORDER BY address_id LIMIT $3) returned
                 CROSS JOIN LATERAL (SELECT * FROM mailpieces
                     WHERE mailpieces.team_id = returned.team_id AND mailpieces.mailpiece_id = returned.mailpiece_id LIMIT 1) mailpiece
                 ORDER BY returned.address_id",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| ReturnedAddress {
                address_id: row.get("address_id"),
                address: row.get("address"),
                returned_at: row.get("returned_at"),
                campaign_id: row.get("campaign_id"),
            })
            .collect())
    }
}

impl Transaction<'_> {
    /// Forgets that mailpieces came back from an address. False when none had.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn delete_returned_address(&self, team_id: TeamId, address_id: Uuid) -> Result<bool> {
        let sql = "DELETE FROM returned_addresses WHERE team_id = $1 AND address_id = $2";
        let deleted = self.execute(sql, &[&team_id.0, &address_id]).await?;
        Ok(deleted > 0)
    }

    /// Whether a campaign mails addresses from which a mailpiece came back. Returns its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_mails_returned(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        mails_returned: bool,
        now: DateTime<Utc>,
    ) -> Result<String> {
        let row = self
            .query_row(
                "UPDATE campaigns SET mails_returned = $3, updated_at = $4
                 WHERE team_id = $1 AND campaign_id = $2 RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &mails_returned, &now],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))
    }
}
