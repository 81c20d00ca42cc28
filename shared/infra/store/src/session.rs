//! Who is signed in.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use model::id::{MemberId, TeamId};

use crate::error::Result;
use crate::pool::{Store, Transaction};
use crate::team::{MemberRole, time_zone_from_row};

/// How old the note of when a session was last used may get before it is written again. Looking at pages costs no
/// writes then, and a session ends at most this much too early.
const SEEN_STEP: TimeDelta = TimeDelta::minutes(1);

/// What is needed to check a password.
#[derive(Clone, PartialEq, Eq)]
pub struct MemberCredentials {
    /// Whose it is.
    pub user_id: MemberId,
    /// The person's team.
    pub team_id: TeamId,
    /// The person's name.
    pub name: String,
    /// Argon2id in PHC form; `None` until a password is set.
    pub password_hash: Option<String>,
}

/// A person who is signed in, and the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedInMember {
    /// Who.
    pub user_id: MemberId,
    /// Lower-case address.
    pub email: String,
    /// The person's name.
    pub name: String,
    /// What the person may do.
    pub role: MemberRole,
    /// The team.
    pub team_id: TeamId,
    /// The team's name.
    pub team_name: String,
    /// The zone that the team's times are shown in.
    pub time_zone: Tz,
}

/// Since when a session must have been used, and since when it must have begun, to be one still.
#[derive(Debug, Clone, Copy)]
pub struct SessionAgeLimits {
    /// Not used since: ended.
    pub seen_since: DateTime<Utc>,
    /// Begun before: ended.
    pub created_since: DateTime<Utc>,
}

impl Store {
    /// The account with this address; `None` when nobody has chosen a password for it.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_credentials_by_email(
        &self,
        email: &str,
    ) -> Result<Option<MemberCredentials>> {
        let sql = "SELECT member_id, team_id, name, password_hash FROM members
             WHERE email = lower($1) AND is_claimed";
        let row = self.query_row(sql, &[&email]).await?;
        Ok(row.map(|row| MemberCredentials {
            user_id: MemberId(row.get(0)),
            team_id: TeamId(row.get(1)),
            name: row.get(2),
            password_hash: row.get(3),
        }))
    }

    /// Who holds the session; `None` when it ended or never was. Notes that it was used.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn use_session(
        &self,
        token_hash: &[u8; 32],
        age: SessionAgeLimits,
        now: DateTime<Utc>,
    ) -> Result<Option<SignedInMember>> {
        let row = self
            .query_row(
                "WITH used AS (
                     UPDATE sessions SET last_seen_at = $4 WHERE token_hash = $1 AND last_seen_at > $2
                         AND created_at > $3 AND last_seen_at < $5
                 )
                 SELECT member_id, email, members.name, role, team_id, teams.name, time_zone
                 FROM sessions JOIN members USING (member_id) JOIN teams USING (team_id)
                 WHERE token_hash = $1 AND last_seen_at > $2 AND sessions.created_at > $3",
                &[&&token_hash[..], &age.seen_since, &age.created_since, &now, &(now - SEEN_STEP)],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(SignedInMember {
            user_id: MemberId(row.get(0)),
            email: row.get(1),
            name: row.get(2),
            role: MemberRole::parse(row.get(3))?,
            team_id: TeamId(row.get(4)),
            team_name: row.get(5),
            time_zone: time_zone_from_row(&row)?,
        }))
    }

    /// Ends the session. One that ended already stays so.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn end_session(&self, token_hash: &[u8; 32]) -> Result<()> {
        self.execute(
            "DELETE FROM sessions WHERE token_hash = $1",
            &[&&token_hash[..]],
        )
        .await?;
        Ok(())
    }

    /// Forgets at most `limit` sessions that began before this time; returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_sessions(&self, created_before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM sessions WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM sessions WHERE created_at <= $1 ORDER BY created_at LIMIT $2))",
            &[&created_before, &limit],
        )
        .await
    }
}

impl Transaction<'_> {
    /// Whether the account still has the password that it was read with. Then it keeps it until this transaction ends: whoever
    /// sets or resets it meanwhile waits, and ends the sessions that are begun here.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn lock_credentials(&self, account: &MemberCredentials) -> Result<bool> {
        let sql =
            "SELECT 1 FROM members WHERE member_id = $1 AND password_hash = $2 FOR NO KEY UPDATE";
        Ok(self
            .query_row(sql, &[&account.user_id.0, &account.password_hash])
            .await?
            .is_some())
    }

    /// Begins a session; the one that `replaced` names ends, so that a token from before the sign-in is worth nothing.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn insert_session(
        &self,
        user_id: MemberId,
        token_hash: &[u8; 32],
        replaced: Option<&[u8; 32]>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if let Some(replaced) = replaced {
            self.execute(
                "DELETE FROM sessions WHERE token_hash = $1",
                &[&&replaced[..]],
            )
            .await?;
        }
        self.execute(
            "INSERT INTO sessions (token_hash, member_id, created_at, last_seen_at) VALUES ($1, $2, $3, $3)",
            &[&&token_hash[..], &user_id.0, &now],
        )
        .await?;
        Ok(())
    }

    /// Ends all sessions of a person, but the one that `kept` names: after another password, or out of the team.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn end_member_sessions(
        &self,
        user_id: MemberId,
        kept: Option<&[u8; 32]>,
    ) -> Result<u64> {
        let kept: &[u8] = kept.map_or(&[], |hash| hash);
        self.execute(
            "DELETE FROM sessions WHERE member_id = $1 AND token_hash <> $2",
            &[&user_id.0, &kept],
        )
        .await
    }
}
