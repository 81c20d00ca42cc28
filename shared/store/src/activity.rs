//! Who did what: the audit log of a team.

use chrono::{DateTime, Utc};
use contract::id::{ActivityId, TeamId};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};
use crate::session::SignedIn;

/// Something that a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its place in the log.
    pub activity_id: ActivityId,
    /// When.
    pub happened_at: DateTime<Utc>,
    /// Who, by the name at that time.
    pub user_name: String,
    /// What, as in `key.revoked`.
    pub action: String,
    /// To what, as people call it.
    pub subject: String,
}

impl Transaction<'_> {
    /// Notes what a person does in this transaction.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn activity_add(
        &self,
        person: &SignedIn,
        action: &str,
        subject: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO activities (team_id, activity_id, happened_at, user_id, user_name, action, subject)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[
                &person.team_id.0,
                &ActivityId::new().0,
                &now,
                &person.user_id.0,
                &person.name,
                &action,
                &subject,
            ],
        )
        .await?;
        Ok(())
    }
}

impl Store {
    /// A team's activities, the newest first, before the one that `before` names; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn activity_list(
        &self,
        team_id: TeamId,
        before: Option<ActivityId>,
        limit: i64,
    ) -> Result<Vec<Activity>> {
        let rows = self
            .rows(
                "SELECT activity_id, happened_at, user_name, action, subject FROM activities
                 WHERE team_id = $1 AND activity_id < $2 ORDER BY activity_id DESC LIMIT $3",
                &[&team_id.0, &before.map_or(Uuid::max(), |id| id.0), &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| Activity {
                activity_id: ActivityId(row.get(0)),
                happened_at: row.get(1),
                user_name: row.get(2),
                action: row.get(3),
                subject: row.get(4),
            })
            .collect())
    }
}
