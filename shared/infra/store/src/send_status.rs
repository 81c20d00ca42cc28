//! What became of a send, for a sender who lost its answer.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use model::id::{RequestId, TeamId};

use crate::error::Result;
use crate::pool::Store;

/// Where a request stands, for those who ask with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendStatus {
    /// It is worked on, or will be.
    Running,
    /// It is finished: the stored response.
    Done(Bytes),
    /// There is nothing of it.
    Unknown,
}

impl Store {
    /// Where a request stands. One that was claimed and left by `given_up_before` is not begun any more: nobody waits
    /// for it.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_send_status(
        &self,
        team_id: TeamId,
        send_id: RequestId,
        given_up_before: DateTime<Utc>,
    ) -> Result<SendStatus> {
        let row = self
            .query_row(
                "SELECT CASE WHEN state = 'finished' THEN response END FROM sends
                 WHERE team_id = $1 AND send_id = $2 AND (state <> 'claimed' OR leased_until >= $3)",
                &[&team_id.0, &send_id.0, &given_up_before],
            )
            .await?;
        Ok(row.map_or(SendStatus::Unknown, |row| {
            match row.get::<_, Option<&[u8]>>(0) {
                Some(response) => SendStatus::Done(Bytes::copy_from_slice(response)),
                None => SendStatus::Running,
            }
        }))
    }
}
