//! Deliveries under way: claimed by lease, lane by lane, and what came of each attempt.

use chrono::{DateTime, Utc};
use contract::webhook::EventId;
use model::id::{DeliveryId, EndpointId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// A queue of deliveries: an endpoint's first attempts, or its retries and redeliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryLane {
    /// Whose.
    pub endpoint_id: EndpointId,
    /// Retries and redeliveries; else first attempts.
    pub is_retry: bool,
}

/// Why there is a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryKind {
    /// A scan: retried.
    Event,
    /// A person asked for it again: one attempt.
    Redelivery,
    /// A person tries the endpoint: one attempt, which does not count.
    Test,
}

/// A delivery that a worker has claimed.
#[derive(Debug, Clone)]
pub struct LeasedDelivery {
    /// Its owner.
    pub team_id: TeamId,
    /// From which queue.
    pub lane: DeliveryLane,
    /// Its id.
    pub delivery_id: DeliveryId,
    /// Why there is one.
    pub kind: DeliveryKind,
    /// The event.
    pub event_id: EventId,
    /// The event's body.
    pub body: String,
    /// The place in a trace of what made the event.
    pub traceparent: Option<String>,
    /// Attempts made before.
    pub attempts: i16,
    /// The endpoint's URL.
    pub url: String,
    /// The keys to sign with; none for an endpoint without signatures.
    pub secrets: Vec<Vec<u8>>,
}

/// Where a delivery goes after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It arrived.
    Delivered,
    /// It is tried again then.
    Retry(DateTime<Utc>),
    /// It is not tried again.
    Failed,
}

/// An attempt that was made.
#[derive(Debug, Clone)]
pub struct DeliveryAttempt {
    /// Of what.
    pub delivery: LeasedDelivery,
    /// When.
    pub attempted_at: DateTime<Utc>,
    /// For how long, in milliseconds.
    pub duration_ms: i32,
    /// The answer's status.
    pub status: Option<i16>,
    /// The first bytes of the answer.
    pub answer: Option<String>,
    /// Why it failed; `None` when it did not.
    pub error: Option<String>,
    /// What follows.
    pub after: AttemptOutcome,
    /// Whether it is one of those that are shown: others leave no record but their delivery's state.
    pub is_shown: bool,
}

/// How failures in a row are counted, and what the team is told. In texts `{url}` and `{error}` are filled in.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryFailureRules<'a> {
    /// At so many the team is warned.
    pub warn_after: i32,
    /// At so many the endpoint is disabled.
    pub disable_after: i32,
    /// Subject and text of the warning.
    pub warning: (&'a str, &'a str),
    /// Subject and text of the news that it is disabled.
    pub disabled: (&'a str, &'a str),
}

/// A queue that has deliveries waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingDeliveryLane {
    /// Which.
    pub lane: DeliveryLane,
    /// Whether one of them is due.
    pub is_due: bool,
}

impl DeliveryKind {
    fn from_name(name: &str) -> Result<Self> {
        match name {
            "event" => Ok(Self::Event),
            "redelivery" => Ok(Self::Redelivery),
            "test" => Ok(Self::Test),
            _ => Err(StoreError::Corrupt("the kind of a delivery".to_owned())),
        }
    }
}

impl AttemptOutcome {
    const fn state(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retry(_) => "waiting",
            Self::Failed => "failed",
        }
    }

    const fn due_at(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Retry(due_at) => due_at,
            Self::Delivered | Self::Failed => now,
        }
    }
}

// Each lane is read from its own place in the index, and rows that another worker holds are passed over. A test may be
// sent to an endpoint that gets nothing else. Rows are found by their place and looked up one by one (ctid, LIMIT), so
// that the plan is the same however fast the tables grow. The commit does not wait for the disk: a claim that a crash of
// the database forgets is made again.
const CLAIM: &str = "
    WITH relaxed AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true)
    ), claimed AS (
        UPDATE deliveries SET lease_id = $5, due_at = $6 WHERE ctid = ANY (ARRAY(
            SELECT waiting.ctid
            FROM unnest($1::uuid[], $2::boolean[], $3::bigint[]) AS lane (endpoint_id, is_retry, room)
            CROSS JOIN LATERAL (
                SELECT state FROM endpoints WHERE endpoint_id = lane.endpoint_id AND state <> 'deleted' LIMIT 1
            ) endpoint
            CROSS JOIN LATERAL (
                SELECT ctid FROM deliveries
                WHERE state = 'waiting' AND endpoint_id = lane.endpoint_id AND is_retry = lane.is_retry
                    AND due_at <= $4 AND (endpoint.state = 'active' OR kind = 'test')
                ORDER BY due_at LIMIT lane.room FOR UPDATE SKIP LOCKED
            ) waiting))
        RETURNING team_id, endpoint_id, is_retry, delivery_id, kind, event_id, attempts
    )
    SELECT claimed.*, event.is_test, event.body, event.traceparent, endpoint.url, endpoint.secret,
        CASE WHEN endpoint.earlier_secret_until > $4 THEN endpoint.earlier_secret END AS earlier_secret
    FROM claimed
    CROSS JOIN LATERAL (
        SELECT is_test, body, traceparent FROM events
        WHERE events.team_id = claimed.team_id AND events.event_id = claimed.event_id LIMIT 1
    ) event
    CROSS JOIN LATERAL (
        SELECT url, secret, earlier_secret, earlier_secret_until FROM endpoints
        WHERE endpoints.team_id = claimed.team_id AND endpoints.endpoint_id = claimed.endpoint_id LIMIT 1
    ) endpoint
    CROSS JOIN relaxed";

// A statement that is sent again because its end was not known finds no row of its lease, and counts nothing twice. As
// with a claim, what a crash of the database forgets is done again: the delivery arrives twice. It waits half a second for a
// lock: it has results of many teams, and the rows of one endpoint may be somebody else's for long.
const RECORD: &str = "
    WITH relaxed AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '500', true)
    ), done AS MATERIALIZED (
        SELECT done.* FROM relaxed CROSS JOIN unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[],
                $7::timestamptz[], $8::integer[], $9::smallint[], $10::text[], $11::text[], $12::boolean[],
                $13::boolean[])
            WITH ORDINALITY AS done (team_id, endpoint_id, delivery_id, state, due_at, url, attempted_at, duration_ms,
                status, answer, error, is_shown, is_counted, position)
    ), recorded AS (
        UPDATE deliveries SET
            state = CASE WHEN deliveries.state = 'cancelled' AND done.state <> 'delivered' THEN 'cancelled'
                ELSE done.state END,
            attempts = deliveries.attempts + 1, is_retry = true, due_at = done.due_at, lease_id = NULL
        FROM done
        WHERE deliveries.team_id = done.team_id AND deliveries.endpoint_id = done.endpoint_id
            AND deliveries.delivery_id = done.delivery_id AND deliveries.lease_id = $14
        RETURNING deliveries.team_id, deliveries.endpoint_id, deliveries.delivery_id, deliveries.attempts
    ), shown AS (
        INSERT INTO attempts (team_id, endpoint_id, delivery_id, attempt, url, attempted_at, duration_ms, status,
            answer, error)
        SELECT team_id, endpoint_id, delivery_id, recorded.attempts, url, attempted_at, duration_ms, status, answer,
            error
        FROM done JOIN recorded USING (team_id, endpoint_id, delivery_id) WHERE done.is_shown
        ON CONFLICT DO NOTHING
    ), counting AS (
        SELECT team_id, endpoint_id, error, position,
            max(position) FILTER (WHERE error IS NULL) OVER (PARTITION BY team_id, endpoint_id) AS last_success
        FROM done JOIN recorded USING (team_id, endpoint_id, delivery_id) WHERE done.is_counted
    ), tally AS (
        SELECT team_id, endpoint_id, last_success IS NOT NULL AS has_success,
            (count(*) FILTER (WHERE position > coalesce(last_success, 0)))::integer AS failures,
            (array_agg(error ORDER BY position DESC) FILTER (WHERE error IS NOT NULL))[1] AS last_error
        FROM counting GROUP BY team_id, endpoint_id, last_success
    ), before AS MATERIALIZED (
        SELECT endpoint.team_id, endpoint.endpoint_id, endpoint.state, endpoint.failures_in_row,
            tally.failures + CASE WHEN tally.has_success THEN 0 ELSE endpoint.failures_in_row END AS failures,
            tally.last_error
        FROM endpoints endpoint JOIN tally USING (team_id, endpoint_id)
        WHERE tally.failures > 0 OR endpoint.failures_in_row > 0
        ORDER BY endpoint.endpoint_id FOR UPDATE OF endpoint
    ), counted AS (
        UPDATE endpoints SET failures_in_row = before.failures,
            last_error = coalesce(before.last_error, endpoints.last_error),
            state = CASE WHEN endpoints.state = 'active' AND before.failures >= $17 THEN 'disabled'
                ELSE endpoints.state END,
            updated_at = $15
        FROM before
        WHERE endpoints.team_id = before.team_id AND endpoints.endpoint_id = before.endpoint_id
        RETURNING endpoints.team_id, endpoints.endpoint_id, endpoints.url, endpoints.last_error,
            endpoints.state = 'disabled' AND before.state = 'active' AS is_disabled,
            before.failures_in_row < $16 AND before.failures >= $16 AND endpoints.state = 'active' AS is_warned
    ), mailed AS (
        INSERT INTO emails (team_id, email_id, subject, body, due_at, created_at)
        SELECT team_id, gen_random_uuid(), CASE WHEN is_disabled THEN $20 ELSE $18 END,
            replace(replace(CASE WHEN is_disabled THEN $21 ELSE $19 END, '{url}', url), '{error}',
                coalesce(last_error, '')), $15, $15
        FROM counted WHERE is_disabled OR is_warned
    )
    SELECT counted.team_id, counted.endpoint_id FROM relaxed LEFT JOIN counted ON is_disabled";

// From one lane to the next along the index, so that the cost is the lanes' number and not the deliveries'.
const LANES: &str = "
    WITH RECURSIVE lane AS (
        (SELECT endpoint_id, is_retry FROM deliveries
         WHERE state = 'waiting' AND (endpoint_id, is_retry) > ($1, $2)
         ORDER BY endpoint_id, is_retry LIMIT 1)
        UNION ALL
        SELECT next.endpoint_id, next.is_retry FROM lane CROSS JOIN LATERAL (
            SELECT endpoint_id, is_retry FROM deliveries
            WHERE state = 'waiting' AND (endpoint_id, is_retry) > (lane.endpoint_id, lane.is_retry)
            ORDER BY endpoint_id, is_retry LIMIT 1) next
    )
    SELECT endpoint_id, is_retry, EXISTS (
        SELECT FROM deliveries
        WHERE state = 'waiting' AND deliveries.endpoint_id = lane.endpoint_id
            AND deliveries.is_retry = lane.is_retry AND due_at <= $3) AS is_due
    FROM lane LIMIT $4";

fn delivery_from_row(row: &Row) -> Result<LeasedDelivery> {
    let secrets: [Option<Vec<u8>>; 2] = [row.get("secret"), row.get("earlier_secret")];
    Ok(LeasedDelivery {
        team_id: TeamId(row.get("team_id")),
        lane: DeliveryLane {
            endpoint_id: EndpointId(row.get("endpoint_id")),
            is_retry: row.get("is_retry"),
        },
        delivery_id: DeliveryId(row.get("delivery_id")),
        kind: DeliveryKind::from_name(row.get("kind"))?,
        event_id: EventId {
            id: row.get("event_id"),
            is_test: row.get("is_test"),
        },
        body: row.get("body"),
        traceparent: row.get("traceparent"),
        attempts: row.get("attempts"),
        url: row.get("url"),
        secrets: secrets.into_iter().flatten().collect(),
    })
}

impl Store {
    /// Claims due deliveries, of each lane as many as given, the longest due first. Until `leased_until` no other
    /// worker finds them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked; what was claimed all the same falls due again.
    pub async fn claim_due_deliveries(
        &self,
        lanes: &[(DeliveryLane, usize)],
        lease_id: Uuid,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
    ) -> Result<Vec<LeasedDelivery>> {
        let endpoint_ids: Vec<Uuid> = lanes.iter().map(|(lane, _)| lane.endpoint_id.0).collect();
        let are_retries: Vec<bool> = lanes.iter().map(|(lane, _)| lane.is_retry).collect();
        let rooms: Vec<i64> = lanes
            .iter()
            .map(|(_, room)| i64::try_from(*room).unwrap_or(0))
            .collect();
        let rows = self
            .query_rows(
                CLAIM,
                &[
                    &endpoint_ids,
                    &are_retries,
                    &rooms,
                    &now,
                    &lease_id,
                    &leased_until,
                ],
            )
            .await?;
        rows.iter().map(delivery_from_row).collect()
    }

    /// Records attempts made under one lease, in the order in which they ended: what becomes of each delivery, how
    /// many in a row have failed at each endpoint, and at the limits the warning or the end with its e-mail.
    /// Returns the endpoints that were disabled by it; their waiting deliveries are the caller's to cancel.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked. The same call can be made again.
    pub async fn record_delivery_attempts(
        &self,
        lease_id: Uuid,
        attempts: &[DeliveryAttempt],
        rules: DeliveryFailureRules<'_>,
        now: DateTime<Utc>,
    ) -> Result<Vec<(TeamId, EndpointId)>> {
        macro_rules! column {
            ($made:ident => $value:expr) => {
                attempts.iter().map(|$made| $value).collect::<Vec<_>>()
            };
        }
        let rows = self
            .query_rows(
                RECORD,
                &[
                    &column!(made => made.delivery.team_id.0),
                    &column!(made => made.delivery.lane.endpoint_id.0),
                    &column!(made => made.delivery.delivery_id.0),
                    &column!(made => made.after.state()),
                    &column!(made => made.after.due_at(now)),
                    &column!(made => made.delivery.url.as_str()),
                    &column!(made => made.attempted_at),
                    &column!(made => made.duration_ms),
                    &column!(made => made.status),
                    &column!(made => made.answer.as_deref()),
                    &column!(made => made.error.as_deref()),
                    &column!(made => made.is_shown),
                    &column!(made => made.delivery.kind != DeliveryKind::Test),
                    &lease_id,
                    &now,
                    &rules.warn_after,
                    &rules.disable_after,
                    &rules.warning.0,
                    &rules.warning.1,
                    &rules.disabled.0,
                    &rules.disabled.1,
                ],
            )
            .await?;
        // A row without an endpoint stands for none.
        let disabled = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<Uuid>>(0)?, row.get(1))));
        Ok(disabled
            .map(|(team_id, endpoint_id)| (TeamId(team_id), EndpointId(endpoint_id)))
            .collect())
    }

    /// Records of an attempt only what becomes of its delivery: for one whose other details cannot be stored. It neither shows
    /// nor counts.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked. The same call can be made again.
    pub async fn record_attempt_outcome(
        &self,
        lease_id: Uuid,
        made: &DeliveryAttempt,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let LeasedDelivery {
            team_id,
            lane,
            delivery_id,
            ..
        } = &made.delivery;
        self.execute(
            "UPDATE deliveries SET
                 state = CASE WHEN state = 'cancelled' AND $4 <> 'delivered' THEN 'cancelled' ELSE $4 END,
                 attempts = attempts + 1, is_retry = true, due_at = $5, lease_id = NULL
             WHERE team_id = $1 AND endpoint_id = $2 AND delivery_id = $3 AND lease_id = $6",
            &[
                &team_id.0,
                &lane.endpoint_id.0,
                &delivery_id.0,
                &made.after.state(),
                &made.after.due_at(now),
                &lease_id,
            ],
        )
        .await?;
        Ok(())
    }

    /// The lanes with deliveries waiting, in their order after `after`; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_waiting_lanes(
        &self,
        after: Option<DeliveryLane>,
        now: DateTime<Utc>,
        limit: i64,
    ) -> Result<Vec<WaitingDeliveryLane>> {
        let (endpoint_id, is_retry) = after.map_or((Uuid::nil(), false), |lane| {
            (lane.endpoint_id.0, lane.is_retry)
        });
        let rows = self
            .query_rows(LANES, &[&endpoint_id, &is_retry, &now, &limit])
            .await?;
        Ok(rows
            .iter()
            .map(|row| WaitingDeliveryLane {
                lane: DeliveryLane {
                    endpoint_id: EndpointId(row.get(0)),
                    is_retry: row.get(1),
                },
                is_due: row.get(2),
            })
            .collect())
    }

    /// Cancels an endpoint's waiting deliveries, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn cancel_waiting_deliveries(
        &self,
        team_id: TeamId,
        endpoint_id: EndpointId,
        limit: i64,
    ) -> Result<u64> {
        self.execute(
            "UPDATE deliveries SET state = 'cancelled' WHERE (team_id, endpoint_id, delivery_id) IN (
                 SELECT team_id, endpoint_id, delivery_id FROM deliveries
                 WHERE state = 'waiting' AND endpoint_id = $2 AND team_id = $1 LIMIT $3
                 FOR UPDATE SKIP LOCKED)",
            &[&team_id.0, &endpoint_id.0, &limit],
        )
        .await
    }

    /// Of these endpoints, cancels waiting deliveries where they get none any more, at most `limit`: those that
    /// were made while the endpoint was being paused, or left by a worker that died. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn cancel_unwanted_deliveries(
        &self,
        endpoint_ids: &[EndpointId],
        limit: i64,
    ) -> Result<u64> {
        let ids: Vec<Uuid> = endpoint_ids.iter().map(|id| id.0).collect();
        self.execute(
            "UPDATE deliveries SET state = 'cancelled' WHERE (team_id, endpoint_id, delivery_id) IN (
                 SELECT delivery.team_id, delivery.endpoint_id, delivery.delivery_id
                 FROM endpoints endpoint JOIN deliveries delivery USING (team_id, endpoint_id)
                 WHERE endpoint.endpoint_id = ANY ($1) AND endpoint.state <> 'active' AND delivery.state = 'waiting'
                     AND (endpoint.state = 'deleted' OR delivery.kind <> 'test')
                 LIMIT $2 FOR UPDATE OF delivery SKIP LOCKED)",
            &[&ids, &limit],
        )
        .await
    }
}
