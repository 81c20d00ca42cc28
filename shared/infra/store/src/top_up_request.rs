//! Top-ups that a team has asked for: money on its way, which only the operator books.

use chrono::{DateTime, Utc};
use model::id::{TeamId, TopUpRequestId};
use model::limits::OPEN_TOP_UP_REQUESTS;
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopUpRequestState {
    /// The operator has not booked it yet.
    Open,
    /// A top-up with its reference is in the ledger.
    Booked,
    /// The team has changed its mind.
    Withdrawn,
}

/// A top-up that a team has asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopUpRequest {
    /// Its id.
    pub request_id: TopUpRequestId,
    /// In cents.
    pub amount_cents: i64,
    /// What the team writes on its payment.
    pub reference: String,
    /// How far it is.
    pub state: TopUpRequestState,
    /// Who asked, by the name at that time.
    pub user_name: String,
    /// When.
    pub created_at: DateTime<Utc>,
}

/// An open request of any team, for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenTopUpRequest {
    /// Its id: also where the next page begins.
    pub request_id: TopUpRequestId,
    /// The team's name.
    pub team: String,
    /// In cents.
    pub amount_cents: i64,
    /// What to book it with.
    pub reference: String,
    /// Who asked.
    pub user_name: String,
    /// When.
    pub created_at: DateTime<Utc>,
}

fn top_up_from_row(row: &Row) -> Result<TopUpRequest> {
    Ok(TopUpRequest {
        request_id: TopUpRequestId(row.get(0)),
        amount_cents: row.get(1),
        reference: row.get(2),
        state: match row.get(3) {
            "open" => TopUpRequestState::Open,
            "booked" => TopUpRequestState::Booked,
            "withdrawn" => TopUpRequestState::Withdrawn,
            _ => return Err(StoreError::Corrupt("state of a top-up request".to_owned())),
        },
        user_name: row.get(4),
        created_at: row.get(5),
    })
}

impl Store {
    /// What a team has asked for, the newest first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_top_ups(&self, team_id: TeamId, limit: i64) -> Result<Vec<TopUpRequest>> {
        let sql =
            "SELECT request_id, amount_cents, reference, state, member_name, created_at FROM top_up_requests
             WHERE team_id = $1 ORDER BY request_id DESC LIMIT $2";
        self.query_rows(sql, &[&team_id.0, &limit])
            .await?
            .iter()
            .map(top_up_from_row)
            .collect()
    }

    /// What teams have asked for and nobody has booked yet, the oldest first, after the one that `after` names; at
    /// most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_open_top_ups(
        &self,
        after: Option<TopUpRequestId>,
        limit: i64,
    ) -> Result<Vec<OpenTopUpRequest>> {
        let rows = self
            .query_rows(
                "SELECT request_id, teams.name, amount_cents, reference, member_name, asked.created_at
                 FROM top_up_requests asked JOIN teams USING (team_id)
                 WHERE state = 'open' AND request_id > $1 ORDER BY request_id LIMIT $2",
                &[&after.map_or(Uuid::nil(), |id| id.0), &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| OpenTopUpRequest {
                request_id: TopUpRequestId(row.get(0)),
                team: row.get(1),
                amount_cents: row.get(2),
                reference: row.get(3),
                user_name: row.get(4),
                created_at: row.get(5),
            })
            .collect())
    }
}

impl Transaction<'_> {
    /// Notes that a team will send this much, with this reference on the payment.
    ///
    /// # Errors
    /// [`StoreError::Limit`] past the requests that a team may have open.
    pub async fn insert_top_up_request(
        &self,
        team_id: TeamId,
        amount_cents: i64,
        reference: &str,
        user_name: &str,
        now: DateTime<Utc>,
    ) -> Result<TopUpRequestId> {
        // The team's row is locked so that two requests cannot both count one below the limit.
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR UPDATE",
            &[&team_id.0],
        )
        .await?;
        let sql = "SELECT count(*) FROM top_up_requests WHERE team_id = $1 AND state = 'open'";
        let open = self.query_row(sql, &[&team_id.0]).await?;
        if open.is_some_and(|row| row.get::<_, i64>(0) >= OPEN_TOP_UP_REQUESTS) {
            return Err(StoreError::Limit(format!(
                "your team has asked for {OPEN_TOP_UP_REQUESTS} top-ups that are not booked yet, which is the most"
            )));
        }
        let request_id = TopUpRequestId::new();
        self.execute(
            "INSERT INTO top_up_requests
                 (team_id, request_id, amount_cents, reference, state, member_name, created_at)
             VALUES ($1, $2, $3, $4, 'open', $5, $6)",
            &[
                &team_id.0,
                &request_id.0,
                &amount_cents,
                &reference,
                &user_name,
                &now,
            ],
        )
        .await?;
        Ok(request_id)
    }

    /// Withdraws a team's open request. Returns its reference.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no open one with this id.
    pub async fn withdraw_top_up_request(
        &self,
        team_id: TeamId,
        request_id: TopUpRequestId,
    ) -> Result<String> {
        let row = self
            .query_row(
                "UPDATE top_up_requests SET state = 'withdrawn'
                 WHERE team_id = $1 AND request_id = $2 AND state = 'open' RETURNING reference",
                &[&team_id.0, &request_id.0],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::NotFound(format!("the top-up {request_id}")))
    }

    /// Notes that a top-up with this reference is booked now, if the team has asked for one.
    pub(crate) async fn close_top_up_request(
        &self,
        team_id: TeamId,
        reference: &str,
    ) -> Result<()> {
        self.execute(
            "UPDATE top_up_requests SET state = 'booked' WHERE team_id = $1 AND reference = $2",
            &[&team_id.0, &reference],
        )
        .await?;
        Ok(())
    }
}
