//! Deliveries as people see them: the last ones with their attempts, again, all failed again, and a test.

use chrono::{DateTime, Utc};
use contract::webhook::EventId;
use model::id::{DeliveryId, EndpointId, TeamId};
use model::limits::DELIVERIES_SHOWN;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// Attempts that one call of [`Store::trim_attempts`] forgets.
const TRIMMED_ROWS: i64 = 20_000;

/// A delivery, for lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeliverySummary {
    /// Its id.
    pub delivery_id: DeliveryId,
    /// The event's public id, which is sent as `webhook-id`.
    pub event_id: String,
    /// `event`, `redelivery` or `test`.
    pub kind: String,
    /// `waiting`, `delivered`, `failed` or `cancelled`.
    pub state: String,
    /// Attempts made.
    pub attempts_made: i16,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it is tried next, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// The request's body.
    pub body: String,
    /// What came of each attempt, the first one first: `attempt`, `url`, `attempted_at`, `duration_ms`, `status`,
    /// `answer`, `error`.
    pub attempts: Value,
}

const LIST: &str = "
    SELECT delivery.delivery_id, delivery.event_id, event.is_test, delivery.kind, delivery.state, delivery.attempts,
        delivery.created_at, CASE WHEN delivery.state = 'waiting' THEN delivery.due_at END AS next_attempt_at,
        event.body, coalesce((
            SELECT jsonb_agg(jsonb_build_object('attempt', attempt, 'url', url, 'attempted_at', attempted_at,
                'duration_ms', duration_ms, 'status', status, 'answer', answer, 'error', error) ORDER BY attempt)
            FROM attempts
            WHERE attempts.team_id = delivery.team_id AND attempts.endpoint_id = delivery.endpoint_id
                AND attempts.delivery_id = delivery.delivery_id), '[]') AS log
    FROM deliveries delivery JOIN events event USING (team_id, event_id)
    WHERE delivery.team_id = $1 AND delivery.endpoint_id = $2
    ORDER BY delivery.delivery_id DESC LIMIT $3";

impl Store {
    /// The last deliveries of an endpoint, the newest first (contract: Delivery rules 4).
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_deliveries(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
    ) -> Result<Vec<DeliverySummary>> {
        let rows = self
            .query_rows(LIST, &[&team_id.0, &endpoint_id.0, &DELIVERIES_SHOWN])
            .await?;
        Ok(rows
            .iter()
            .map(|row| DeliverySummary {
                delivery_id: DeliveryId(row.get("delivery_id")),
                event_id: EventId {
                    id: row.get("event_id"),
                    is_test: row.get("is_test"),
                }
                .to_string(),
                kind: row.get("kind"),
                state: row.get("state"),
                attempts_made: row.get("attempts"),
                created_at: row.get("created_at"),
                next_attempt_at: row.get("next_attempt_at"),
                body: row.get("body"),
                attempts: row.get("log"),
            })
            .collect())
    }
}

impl Transaction<'_> {
    /// Sends a delivery's event to its active endpoint again, with the same id: one attempt.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such delivery; [`StoreError::Limit`] when the endpoint is not
    /// active.
    pub async fn redeliver_event(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        delivery_id: DeliveryId,
        now: DateTime<Utc>,
    ) -> Result<DeliveryId> {
        self.require_active_endpoint(team_id, endpoint_id).await?;
        let new_id = DeliveryId::new();
        let made = self
            .execute(
                "INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at,
                     created_at)
                 SELECT team_id, endpoint_id, $4, event_id, CASE WHEN kind = 'test' THEN 'test' ELSE 'redelivery' END,
                     'waiting', true, $5, $5
                 FROM deliveries WHERE team_id = $1 AND endpoint_id = $2 AND delivery_id = $3",
                &[&team_id.0, &endpoint_id.0, &delivery_id.0, &new_id.0, &now],
            )
            .await?;
        if made == 0 {
            Err(StoreError::NotFound(format!("the delivery {delivery_id}")))
        } else {
            Ok(new_id)
        }
    }

    /// Sends an active endpoint the events again whose delivery was made at `since` or later and has failed, or was
    /// cancelled after a failed attempt, at most `limit` of them, the oldest first. Each starts over: its earlier attempts are forgotten. Returns how many; when
    /// that is `limit`, there may be more.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the endpoint is not active.
    pub async fn replay_failed_deliveries(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
        limit: i64,
    ) -> Result<u64> {
        self.require_active_endpoint(team_id, endpoint_id).await?;
        let row = self
            .query_row(
                "WITH replayed AS (
                     UPDATE deliveries SET state = 'waiting', attempts = 0, is_retry = true, due_at = $4,
                         lease_id = NULL
                     WHERE (team_id, endpoint_id, delivery_id) IN (
                         SELECT team_id, endpoint_id, delivery_id FROM deliveries
                         WHERE team_id = $1 AND endpoint_id = $2 AND created_at >= $3 AND kind <> 'test'
                             AND (state = 'failed' OR (state = 'cancelled' AND attempts > 0))
                         ORDER BY created_at LIMIT $5 FOR UPDATE SKIP LOCKED)
                     RETURNING team_id, endpoint_id, delivery_id
                 ), forgotten AS (
                     DELETE FROM attempts USING replayed
                     WHERE attempts.team_id = replayed.team_id AND attempts.endpoint_id = replayed.endpoint_id
                         AND attempts.delivery_id = replayed.delivery_id
                 )
                 SELECT count(*) FROM replayed",
                &[&team_id.0, &endpoint_id.0, &since, &now, &limit],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }

    /// Sends a test event to an endpoint, whatever its state but deleted.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such endpoint.
    pub async fn insert_test_delivery(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        event_id: Uuid,
        body: &str,
        now: DateTime<Utc>,
    ) -> Result<DeliveryId> {
        self.find_endpoint(team_id, endpoint_id).await?;
        let delivery_id = DeliveryId::new();
        self.execute(
            "WITH event AS (
                 INSERT INTO events (team_id, event_id, is_test, body, created_at) VALUES ($1, $4, true, $5, $6)
             )
             INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
             VALUES ($1, $2, $3, $4, 'test', 'waiting', false, $6, $6)",
            &[&team_id.0, &endpoint_id.0, &delivery_id.0, &event_id, &body, &now],
        )
        .await?;
        Ok(delivery_id)
    }

    async fn require_active_endpoint(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
    ) -> Result<()> {
        let state = self.find_endpoint(team_id, endpoint_id).await?.state;
        if state == crate::EndpointState::Active {
            return Ok(());
        }
        Err(StoreError::Limit(format!(
            "the endpoint is {}; resume it first",
            state.as_str()
        )))
    }
}

impl Store {
    /// Of these endpoints, forgets the attempts of all deliveries but those that are shown, 20,000 at the most: the
    /// rest goes the next time, or by age. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn trim_attempts(&self, endpoints: &[(TeamId, EndpointId)]) -> Result<u64> {
        let team_ids: Vec<Uuid> = endpoints.iter().map(|(team_id, _)| team_id.0).collect();
        let endpoint_ids: Vec<Uuid> = endpoints
            .iter()
            .map(|(_, endpoint_id)| endpoint_id.0)
            .collect();
        self.execute(
            "DELETE FROM attempts WHERE ctid = ANY (ARRAY(
                 SELECT hidden.ctid
                 FROM unnest($1::uuid[], $2::uuid[]) AS touched (team_id, endpoint_id)
                 CROSS JOIN LATERAL (
                     SELECT delivery_id FROM deliveries
                     WHERE deliveries.team_id = touched.team_id AND deliveries.endpoint_id = touched.endpoint_id
                     ORDER BY delivery_id DESC OFFSET $3::bigint - 1 LIMIT 1) oldest
                 CROSS JOIN LATERAL (
                     SELECT ctid FROM attempts
                     WHERE attempts.team_id = touched.team_id AND attempts.endpoint_id = touched.endpoint_id
                         AND attempts.delivery_id < oldest.delivery_id
                     LIMIT $4) hidden
                 LIMIT $4))",
            &[&team_ids, &endpoint_ids, &DELIVERIES_SHOWN, &TRIMMED_ROWS],
        )
        .await
    }
}
