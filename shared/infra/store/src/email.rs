//! E-mails to be sent.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;

/// An e-mail that a worker has taken to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedEmail {
    /// Whose.
    pub team_id: TeamId,
    /// Which.
    pub email_id: Uuid,
    /// The addresses of the team's owners and admins.
    pub recipients: Vec<String>,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub body: String,
    /// Attempts made, this one included.
    pub attempts: i32,
}

impl Store {
    /// Takes a due e-mail; nobody else finds it before `leased_until`. `None` when there is none. One that was tried
    /// `max_attempts` times is left.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn claim_due_email(
        &self,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
        max_attempts: i32,
    ) -> Result<Option<LeasedEmail>> {
        let row = self
            .query_row(
                "UPDATE emails SET due_at = $2, attempts = attempts + 1
                 WHERE (team_id, email_id) IN (
                     SELECT team_id, email_id FROM emails
                     WHERE sent_at IS NULL AND due_at <= $1 AND attempts < $3
                     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
                 RETURNING team_id, email_id, subject, body, attempts, ARRAY(
                     SELECT email FROM members
                     WHERE members.team_id = emails.team_id AND role IN ('owner', 'admin') ORDER BY email) AS recipients",
                &[&now, &leased_until, &max_attempts],
            )
            .await?;
        Ok(row.map(|row| LeasedEmail {
            team_id: TeamId(row.get("team_id")),
            email_id: row.get("email_id"),
            recipients: row.get("recipients"),
            subject: row.get("subject"),
            body: row.get("body"),
            attempts: row.get("attempts"),
        }))
    }

    /// Notes that an e-mail was sent.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked; it may then be sent twice.
    pub async fn complete_email(
        &self,
        team_id: TeamId,
        email_id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let sql = "UPDATE emails SET sent_at = $3 WHERE team_id = $1 AND email_id = $2";
        self.execute(sql, &[&team_id.0, &email_id, &now]).await?;
        Ok(())
    }

    /// Has an e-mail tried again at `due_at`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked; it is then tried again when its lease is over.
    pub async fn retry_email_at(
        &self,
        team_id: TeamId,
        email_id: Uuid,
        due_at: DateTime<Utc>,
    ) -> Result<()> {
        let sql = "UPDATE emails SET due_at = $3 WHERE team_id = $1 AND email_id = $2";
        self.execute(sql, &[&team_id.0, &email_id, &due_at]).await?;
        Ok(())
    }
}
