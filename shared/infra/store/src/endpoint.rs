//! Webhook endpoints: where a team wants its events.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, EndpointId, TeamId};
use model::limits::ENDPOINTS_PER_TEAM;
use serde::Serialize;
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// Whether an endpoint gets events (contract: Webhook endpoint).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// It does.
    Active,
    /// Its team has paused it.
    Paused,
    /// Too many attempts in a row have failed.
    Disabled,
    /// Its team has deleted it.
    Deleted,
}

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its URL.
    pub url: String,
    /// Whether it gets events.
    pub state: EndpointState,
    /// The campaigns whose scans it hears of; `None` is all, later ones too.
    pub campaigns: Option<Vec<String>>,
    /// States of mailpieces that it hears of besides scans, in the order of their names.
    pub mailpiece_states: Vec<String>,
    /// Failed attempts since the last one that succeeded.
    pub failures_in_row: i32,
    /// Why the last failed attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether its deliveries are signed.
    pub is_signed: bool,
    /// Until when a key before the present one signs, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_secret_until: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// What became of an endpoint that was to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedEndpoint {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// False when the team had one with this URL.
    pub is_new: bool,
    /// Whether the one that the team had with this URL heard of other campaigns before.
    pub is_changed: bool,
}

impl EndpointState {
    const ALL: [Self; 4] = [Self::Active, Self::Paused, Self::Disabled, Self::Deleted];

    /// The name in the database and in lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
            Self::Deleted => "deleted",
        }
    }

    fn from_name(name: &str) -> Result<Self> {
        let state = Self::ALL.into_iter().find(|state| state.as_str() == name);
        state.ok_or_else(|| StoreError::Corrupt("the state of an endpoint".to_owned()))
    }
}

const LIST: &str = "
    SELECT endpoint.endpoint_id, endpoint.url, endpoint.state, endpoint.failures_in_row, endpoint.last_error,
        endpoint.secret IS NOT NULL AS is_signed, endpoint.earlier_secret_until, endpoint.created_at,
        CASE WHEN endpoint.all_campaigns THEN NULL ELSE ARRAY(
            SELECT campaign_id FROM endpoint_campaigns scope
            WHERE scope.team_id = endpoint.team_id AND scope.endpoint_id = endpoint.endpoint_id
            ORDER BY campaign_id) END AS campaigns,
        ARRAY(SELECT event_type FROM endpoint_event_types wanted
            WHERE wanted.team_id = endpoint.team_id AND wanted.endpoint_id = endpoint.endpoint_id
            ORDER BY event_type) AS mailpiece_states
    FROM endpoints endpoint
    WHERE endpoint.team_id = $1 AND endpoint.state <> 'deleted'";

fn endpoint_from_row(row: &Row) -> Result<Endpoint> {
    Ok(Endpoint {
        endpoint_id: EndpointId(row.get("endpoint_id")),
        url: row.get("url"),
        state: EndpointState::from_name(row.get("state"))?,
        campaigns: row.get("campaigns"),
        mailpiece_states: row.get("mailpiece_states"),
        failures_in_row: row.get("failures_in_row"),
        last_error: row.get("last_error"),
        is_signed: row.get("is_signed"),
        earlier_secret_until: row.get("earlier_secret_until"),
        created_at: row.get("created_at"),
    })
}

fn not_found(endpoint_id: EndpointId) -> StoreError {
    StoreError::NotFound(format!("the endpoint {endpoint_id}"))
}

impl Store {
    /// A team's endpoints, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_endpoints(&self, team_id: TeamId) -> Result<Vec<Endpoint>> {
        let sql = format!("{LIST} ORDER BY endpoint.endpoint_id");
        self.query_rows(&sql, &[&team_id.0])
            .await?
            .iter()
            .map(endpoint_from_row)
            .collect()
    }

    /// A team's endpoint.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it.
    pub async fn find_endpoint(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
    ) -> Result<Endpoint> {
        let sql = format!("{LIST} AND endpoint.endpoint_id = $2");
        let row = self.query_row(&sql, &[&team_id.0, &endpoint_id.0]).await?;
        endpoint_from_row(&row.ok_or_else(|| not_found(endpoint_id))?)
    }
}

impl Transaction<'_> {
    /// As [`Store::find_endpoint`], within a transaction.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it.
    pub async fn find_endpoint(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
    ) -> Result<Endpoint> {
        let sql = format!("{LIST} AND endpoint.endpoint_id = $2");
        let row = self.query_row(&sql, &[&team_id.0, &endpoint_id.0]).await?;
        endpoint_from_row(&row.ok_or_else(|| not_found(endpoint_id))?)
    }

    /// As [`Transaction::find_endpoint`]; nobody gives it another scope before the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it.
    pub async fn lock_endpoint(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
    ) -> Result<Endpoint> {
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR UPDATE",
            &[&team_id.0],
        )
        .await?;
        self.find_endpoint(team_id, endpoint_id).await
    }

    /// Puts an endpoint into a state. One that becomes active starts with no failures. Its waiting deliveries are the
    /// caller's to cancel.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it.
    pub async fn set_endpoint_state(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        state: EndpointState,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE endpoints SET state = $3, updated_at = $4,
                     failures_in_row = CASE WHEN $3 = 'active' THEN 0 ELSE failures_in_row END
                 WHERE team_id = $1 AND endpoint_id = $2 AND state <> 'deleted'",
                &[&team_id.0, &endpoint_id.0, &state.as_str(), &now],
            )
            .await?;
        if changed == 0 {
            Err(not_found(endpoint_id))
        } else {
            Ok(())
        }
    }

    /// Gives an endpoint a key that signs its deliveries. The key that it had signs as well until `earlier_until`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it; [`StoreError::Limit`] while an
    /// earlier key still signs: somebody may know no other yet.
    pub async fn set_endpoint_secret(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        secret: &[u8],
        earlier_until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE endpoints SET earlier_secret = secret, secret = $3, updated_at = $5,
                     earlier_secret_until = CASE WHEN secret IS NULL THEN NULL ELSE $4::timestamptz END
                 WHERE team_id = $1 AND endpoint_id = $2 AND state <> 'deleted'
                     AND (earlier_secret_until IS NULL OR earlier_secret_until <= $5)",
                &[&team_id.0, &endpoint_id.0, &secret, &earlier_until, &now],
            )
            .await?;
        if changed > 0 {
            return Ok(());
        }
        let until = self
            .find_endpoint(team_id, endpoint_id)
            .await?
            .earlier_secret_until;
        let until = until.map_or_else(String::new, |moment| {
            format!(
                " until {}",
                moment.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
            )
        });
        Err(StoreError::Limit(format!(
            "the key before the present one still signs{until}, and a new one would end it: wait, or stop signing first"
        )))
    }

    /// Forgets an endpoint's keys: its deliveries carry no signature any more.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with that id, or has deleted it.
    pub async fn clear_endpoint_secret(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE endpoints SET secret = NULL, earlier_secret = NULL, earlier_secret_until = NULL, updated_at = $3
                 WHERE team_id = $1 AND endpoint_id = $2 AND state <> 'deleted'",
                &[&team_id.0, &endpoint_id.0, &now],
            )
            .await?;
        if changed == 0 {
            Err(not_found(endpoint_id))
        } else {
            Ok(())
        }
    }

    /// Makes an active endpoint, or gives the team's one with this URL another scope: these campaigns, or all with
    /// `None`. The state of one that stands already stays.
    ///
    /// # Errors
    /// [`StoreError::Limit`] past the endpoints that a team may hold; [`StoreError::NotFound`] for a campaign that is
    /// not the team's.
    pub async fn save_endpoint(
        &self,
        team_id: TeamId,
        url: &str,
        campaigns: Option<&[CampaignId]>,
        now: DateTime<Utc>,
    ) -> Result<SavedEndpoint> {
        // The team's row is locked so that two creations cannot both count one below the limit.
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR UPDATE",
            &[&team_id.0],
        )
        .await?;
        let existing = self
            .query_row(
                "WITH before AS (SELECT all_campaigns FROM endpoints
                     WHERE team_id = $1 AND url = $2 AND state <> 'deleted')
                 UPDATE endpoints SET all_campaigns = $3, updated_at = $4
                 WHERE team_id = $1 AND url = $2 AND state <> 'deleted'
                 RETURNING endpoint_id, (SELECT all_campaigns FROM before)",
                &[&team_id.0, &url, &campaigns.is_none(), &now],
            )
            .await?;
        let had_all = existing.as_ref().map(|row| row.get::<_, bool>(1));
        let (endpoint_id, is_new) = match existing {
            Some(row) => (EndpointId(row.get(0)), false),
            None => (
                self.insert_endpoint(team_id, url, campaigns.is_none(), now)
                    .await?,
                true,
            ),
        };
        let has_other_scope = self
            .set_endpoint_scope(team_id, endpoint_id, campaigns.unwrap_or_default())
            .await?;
        let had_other = had_all.is_some_and(|had_all| had_all != campaigns.is_none());
        Ok(SavedEndpoint {
            endpoint_id,
            is_new,
            is_changed: !is_new && (had_other || has_other_scope),
        })
    }

    async fn insert_endpoint(
        &self,
        team_id: TeamId,
        url: &str,
        all_campaigns: bool,
        now: DateTime<Utc>,
    ) -> Result<EndpointId> {
        let sql = "SELECT count(*) FROM endpoints WHERE team_id = $1 AND state <> 'deleted'";
        if self
            .query_row(sql, &[&team_id.0])
            .await?
            .is_some_and(|row| row.get::<_, i64>(0) >= ENDPOINTS_PER_TEAM)
        {
            return Err(StoreError::Limit(format!(
                "the team holds {ENDPOINTS_PER_TEAM} endpoints, which is the most; delete one first"
            )));
        }
        let endpoint_id = EndpointId::new();
        self.execute(
            "INSERT INTO endpoints (team_id, endpoint_id, url, state, all_campaigns, created_at, updated_at)
             VALUES ($1, $2, $3, 'active', $4, $5, $5)",
            &[&team_id.0, &endpoint_id.0, &url, &all_campaigns, &now],
        )
        .await?;
        Ok(endpoint_id)
    }

    /// Returns whether these are others than before.
    async fn set_endpoint_scope(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        campaigns: &[CampaignId],
    ) -> Result<bool> {
        let wanted: Vec<&str> = campaigns.iter().map(CampaignId::as_str).collect();
        let left = self
            .execute(
                "DELETE FROM endpoint_campaigns
             WHERE team_id = $1 AND endpoint_id = $2 AND campaign_id <> ALL ($3)",
                &[&team_id.0, &endpoint_id.0, &wanted],
            )
            .await?;
        let stranger = self
            .query_row(
                "SELECT wanted FROM unnest($2::text[]) AS wanted WHERE NOT EXISTS (
                     SELECT FROM campaigns WHERE team_id = $1 AND campaign_id = wanted) LIMIT 1",
                &[&team_id.0, &wanted],
            )
            .await?;
        if let Some(row) = stranger {
            return Err(StoreError::NotFound(format!(
                "the campaign {}",
                row.get::<_, &str>(0)
            )));
        }
        let joined = self
            .execute(
                "INSERT INTO endpoint_campaigns (team_id, endpoint_id, campaign_id)
             SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING",
                &[&team_id.0, &endpoint_id.0, &wanted],
            )
            .await?;
        Ok(left + joined > 0)
    }
}
