//! What may use a column: the conditions of campaigns and the documents of designs, page by page.

use model::id::{CampaignId, TeamId};
use serde_json::Value;

use crate::error::{Result, StoreError};
use crate::pool::Transaction;

/// A campaign that filters.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCampaignConditions {
    /// Its public id.
    pub campaign_id: CampaignId,
    /// Its name.
    pub name: String,
    /// The tree of filter conditions.
    pub conditions: Value,
}

/// A design with its document.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedDesignDocument {
    /// Its name, which is its team's alone.
    pub name: String,
    /// The current version.
    pub document: Value,
}

impl Transaction<'_> {
    /// A team's campaigns that filter, by id, after `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_filtering_campaigns(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<NamedCampaignConditions>> {
        let rows = self
            .query_rows(
                "SELECT campaign_id, name, conditions FROM campaigns
                 WHERE team_id = $1 AND campaign_id > $2 AND conditions IS NOT NULL
                 ORDER BY campaign_id LIMIT $3",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let id: &str = row.get(0);
                let campaign_id = id
                    .parse()
                    .map_err(|_| StoreError::Corrupt("id of a campaign".to_owned()))?;
                Ok(NamedCampaignConditions {
                    campaign_id,
                    name: row.get(1),
                    conditions: row.get(2),
                })
            })
            .collect()
    }

    /// A team's designs, by name, after `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_design_documents(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<NamedDesignDocument>> {
        let rows = self
            .query_rows(
                "SELECT name, document FROM designs WHERE team_id = $1 AND name > $2 ORDER BY name LIMIT $3",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| NamedDesignDocument {
                name: row.get(0),
                document: row.get(1),
            })
            .collect())
    }
}
