//! Who did what: the audit log of a team.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use model::id::{ActivityId, ApiKeyId, MemberId, TeamId};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};
use crate::session::SignedInMember;

/// Something that a member or the operator did.
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

/// Who makes a change.
#[derive(Debug, Clone, Copy)]
pub enum Actor<'a> {
    /// Somebody of the team, signed in to the console.
    Member(&'a SignedInMember),
    /// Somebody of the team who is not signed in, or not yet: at the sign-in, or at a link that sets a password.
    SignedOut {
        /// Who.
        user_id: MemberId,
        /// The member's name.
        name: &'a str,
    },
    /// Whoever runs the installation, at the command line.
    Operator,
    /// Whoever calls with one of the team's API keys, such as an agent.
    KeyHolder {
        /// The key.
        key_id: ApiKeyId,
        /// Its name.
        name: &'a str,
    },
}

/// Characters of what stood before, and of what stands now, in the log.
const LOGGED_CHARS: usize = 500;

/// What was stored before and is stored now, for the log; each is cut at a bound.
pub fn describe_change(before: &str, now: &str) -> String {
    format!(
        "before: {}; now: {}",
        truncate_for_log(before),
        truncate_for_log(now)
    )
}

fn truncate_for_log(text: &str) -> String {
    match text.char_indices().nth(LOGGED_CHARS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// What the log calls whoever runs the installation.
const OPERATOR: &str = "Operator";

impl<'a> Actor<'a> {
    /// The person, unless it is somebody else.
    pub fn member_id(self) -> Option<MemberId> {
        match self {
            Self::Member(member) => Some(member.user_id),
            Self::SignedOut { user_id, .. } => Some(user_id),
            Self::Operator | Self::KeyHolder { .. } => None,
        }
    }

    /// The person's name, unless it is somebody else.
    pub fn member_name(self) -> Option<&'a str> {
        match self {
            Self::Member(member) => Some(&member.name),
            Self::SignedOut { name, .. } => Some(name),
            Self::Operator | Self::KeyHolder { .. } => None,
        }
    }

    /// What a mailpiece's history calls it: "console", "operator" or "api".
    pub const fn source(self) -> &'static str {
        match self {
            Self::Member(_) | Self::SignedOut { .. } => "console",
            Self::Operator => "operator",
            Self::KeyHolder { .. } => "api",
        }
    }

    /// The name in the log.
    pub fn name(self) -> Cow<'a, str> {
        match self {
            Self::Member(member) => Cow::Borrowed(&member.name),
            Self::SignedOut { name, .. } => Cow::Borrowed(name),
            Self::Operator => Cow::Borrowed(OPERATOR),
            Self::KeyHolder { name, .. } => Cow::Owned(format!("API key {name}")),
        }
    }
}

/// Which activities are listed. What is `None` is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Those of this person.
    pub user_id: Option<MemberId>,
    /// Those on things of this kind: what stands before the dot of an action.
    pub kind: Option<String>,
}

/// Kinds of things that a team's log can be searched for.
const KINDS: i64 = 100;

impl Transaction<'_> {
    /// Records in the team's log what somebody does in this transaction.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn record_activity(
        &self,
        team_id: TeamId,
        actor: Actor<'_>,
        action: &str,
        subject: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO activities (team_id, activity_id, happened_at, member_id, actor_name, action, subject)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[
                &team_id.0,
                &ActivityId::new().0,
                &now,
                &actor.member_id().map(|id| id.0),
                &actor.name(),
                &action,
                &subject,
            ],
        )
        .await?;
        Ok(())
    }
}

impl Store {
    /// A team's activities that pass the filter, the newest first, before the one that `before` names; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_activities(
        &self,
        team_id: TeamId,
        filter: &ActivityFilter,
        before: Option<ActivityId>,
        limit: i64,
    ) -> Result<Vec<Activity>> {
        let (user_id, before) = (
            filter.user_id.map(|id| id.0),
            before.map_or(Uuid::max(), |id| id.0),
        );
        // What is not asked for is not in the statement, so that each has the plan of its own index.
        let by_person = if user_id.is_some() {
            "member_id = $2"
        } else {
            "$2::uuid IS NULL"
        };
        let by_kind = if filter.kind.is_some() {
            "split_part(action, '.', 1) = $3"
        } else {
            "$3::text IS NULL"
        };
        let sql = format!(
            "SELECT activity_id, happened_at, actor_name, action, subject FROM activities
             WHERE team_id = $1 AND {by_person} AND {by_kind} AND activity_id < $4
             ORDER BY activity_id DESC LIMIT $5"
        );
        let rows = self
            .query_rows(&sql, &[&team_id.0, &user_id, &filter.kind, &before, &limit])
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

    /// The kinds of things that a team's log has activities on, by name. Costs as many look-ups as there are kinds.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_activity_kinds(&self, team_id: TeamId) -> Result<Vec<String>> {
        let rows = self
            .query_rows(
                "WITH RECURSIVE seen AS (
                     (SELECT split_part(action, '.', 1) AS kind FROM activities WHERE team_id = $1 ORDER BY 1 LIMIT 1)
                     UNION ALL
                     SELECT next.kind FROM seen CROSS JOIN LATERAL (
                         SELECT split_part(action, '.', 1) AS kind FROM activities
                         WHERE team_id = $1 AND split_part(action, '.', 1) > seen.kind
                         ORDER BY 1 LIMIT 1) next
                 )
                 SELECT kind FROM seen LIMIT $2",
                &[&team_id.0, &KINDS],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_holds_no_text_of_any_length() {
        assert_eq!(describe_change("a", "é"), "before: a; now: é");
        assert!(describe_change(&"é".repeat(9_000), "a").chars().count() < 2 * LOGGED_CHARS);
    }
}
