//! The do-not-mail lists of campaigns.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// An address that is not mailed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoNotMailAddress {
    /// What is compared.
    pub address_id: Uuid,
    /// On one line, for people.
    pub address: String,
    /// Since when.
    pub added_at: DateTime<Utc>,
    /// Where the list goes on behind it.
    pub cursor: DoNotMailCursor,
}

/// The end of a page of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoNotMailCursor {
    /// The last address in lower case; empty for the beginning.
    pub key: String,
    /// Its id; nil for the beginning.
    pub address_id: Uuid,
}

impl Store {
    /// Addresses on the list of a team's campaign that begin with this text, whatever its case, in their order, behind
    /// `after`; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_do_not_mail(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        text: &str,
        after: &DoNotMailCursor,
        limit: i64,
    ) -> Result<Vec<DoNotMailAddress>> {
        let rows = self
            .query_rows(
                "SELECT address_id, address, added_at, lower(address) COLLATE \"C\" AS key FROM do_not_mail
                 WHERE campaign_id = (SELECT campaign_id FROM campaigns WHERE team_id = $1 AND campaign_id = $2)
                     AND lower(address) COLLATE \"C\" < lower($3) || chr(1114111)
                     AND (lower(address) COLLATE \"C\", address_id) > (greatest($4, lower($3) COLLATE \"C\"), $5)
                 ORDER BY lower(address) COLLATE \"C\", address_id LIMIT $6",
                &[&team_id.0, &campaign_id.as_str(), &text, &after.key, &after.address_id, &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| DoNotMailAddress {
                address_id: row.get(0),
                address: row.get(1),
                added_at: row.get(2),
                cursor: DoNotMailCursor {
                    key: row.get(3),
                    address_id: row.get(0),
                },
            })
            .collect())
    }
}

impl Transaction<'_> {
    /// Puts addresses (id and one line) on the campaign's do-not-mail list; those on it stay. What is queued for them is cancelled, if
    /// the campaign says so. The campaign stays locked until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn add_do_not_mail(
        &self,
        campaign_id: &CampaignId,
        addresses: &[(Uuid, &str)],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        let ids: Vec<Uuid> = addresses.iter().map(|(id, _)| *id).collect();
        let lines: Vec<&str> = addresses.iter().map(|(_, line)| *line).collect();
        self.lock_campaign_lists(campaign_id).await?;
        self.withhold_unwanted_mailpieces(campaign_id, &ids).await?;
        self.execute(
            "INSERT INTO do_not_mail (campaign_id, address_id, address, added_at)
             SELECT $1, address_id, address, $2 FROM unnest($3::uuid[], $4::text[]) AS new (address_id, address)
             ON CONFLICT DO NOTHING",
            &[&campaign_id.as_str(), &now, &ids, &lines],
        )
        .await
    }

    /// Takes an address off the list of a team's campaign. Returns it, as people write it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not on the list.
    pub async fn remove_do_not_mail(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_id: Uuid,
    ) -> Result<String> {
        let row = self
            .query_row(
                "DELETE FROM do_not_mail WHERE address_id = $3
                     AND campaign_id = (SELECT campaign_id FROM campaigns WHERE team_id = $1 AND campaign_id = $2)
                 RETURNING address",
                &[&team_id.0, &campaign_id.as_str(), &address_id],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound("the address".to_owned()))
    }
}
