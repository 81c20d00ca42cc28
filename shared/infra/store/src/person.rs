//! The people of a team, as its owners manage them: roles, leaving, and links that set a password.

use chrono::{DateTime, Utc};
use model::id::{MemberId, TeamId};
use model::limits::PEOPLE_PER_TEAM;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};
use crate::team::MemberRole;

/// A person of a team, as its owners see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMember {
    /// Who.
    pub user_id: MemberId,
    /// Lower-case.
    pub email: String,
    /// As the person writes it.
    pub name: String,
    /// What the person may do.
    pub role: MemberRole,
    /// Whether the person can sign in.
    pub has_password: bool,
    /// Until when a link lets the person choose a password; `None` without one that was made.
    pub link_expires_at: Option<DateTime<Utc>>,
}

const PEOPLE: &str = "SELECT member_id, email, name, role, password_hash IS NOT NULL, expires_at
    FROM members LEFT JOIN password_links USING (member_id) WHERE team_id = $1";

fn member_from_row(row: &tokio_postgres::Row) -> Result<TeamMember> {
    Ok(TeamMember {
        user_id: MemberId(row.get(0)),
        email: row.get(1),
        name: row.get(2),
        role: MemberRole::parse(row.get(3))?,
        has_password: row.get(4),
        link_expires_at: row.get(5),
    })
}

impl Store {
    /// A team's people by address, as many as a team may have.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_members(&self, team_id: TeamId) -> Result<Vec<TeamMember>> {
        let sql = format!("{PEOPLE} ORDER BY email LIMIT $2");
        self.query_rows(&sql, &[&team_id.0, &PEOPLE_PER_TEAM])
            .await?
            .iter()
            .map(member_from_row)
            .collect()
    }

    /// A person of the team.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when nobody of the team has this id.
    pub async fn find_member(&self, team_id: TeamId, user_id: MemberId) -> Result<TeamMember> {
        let sql = format!("{PEOPLE} AND member_id = $2");
        let row = self.query_row(&sql, &[&team_id.0, &user_id.0]).await?;
        member_from_row(&row.ok_or_else(|| not_in_team(user_id))?)
    }

    /// Who may choose a password with this link: the name and address, for the page that asks for it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the link was used, replaced or has expired.
    pub async fn find_password_link(
        &self,
        token_hash: &[u8; 32],
        now: DateTime<Utc>,
    ) -> Result<TeamMember> {
        let sql = "SELECT member_id, email, name, role, password_hash IS NOT NULL, expires_at
             FROM password_links JOIN members USING (member_id) WHERE token_hash = $1 AND expires_at > $2";
        let row = self.query_row(sql, &[&&token_hash[..], &now]).await?;
        member_from_row(&row.ok_or_else(no_link)?)
    }
}

/// The index by which an address is one account's.
const CLAIMED_ONCE: &str = "members_by_claimed_email";

fn not_in_team(user_id: MemberId) -> StoreError {
    StoreError::NotFound(format!("the person {user_id}"))
}

fn no_link() -> StoreError {
    StoreError::NotFound("a link that sets a password".to_owned())
}

impl Transaction<'_> {
    /// A person of the team, with the team locked against other changes of its people.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when nobody of the team has this id.
    pub async fn lock_member(&self, team_id: TeamId, user_id: MemberId) -> Result<TeamMember> {
        self.lock_team_members(team_id).await?;
        let sql = format!("{PEOPLE} AND member_id = $2");
        let row = self.query_row(&sql, &[&team_id.0, &user_id.0]).await?;
        member_from_row(&row.ok_or_else(|| not_in_team(user_id))?)
    }

    /// Locks the team against other changes of its people. Whoever only refers to it goes on: a sign-in, which has its person
    /// locked, notes itself in the team's log.
    pub(crate) async fn lock_team_members(&self, team_id: TeamId) -> Result<()> {
        self.query_row(
            "SELECT 1 FROM teams WHERE team_id = $1 FOR NO KEY UPDATE",
            &[&team_id.0],
        )
        .await?;
        Ok(())
    }

    /// Adds a person, who has no password yet. Whether the address has an account of another team is not told: who adds somebody
    /// is a stranger there.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when somebody of the team has the address, or the team is full.
    pub async fn insert_member(
        &self,
        team_id: TeamId,
        email: &str,
        name: &str,
        role: MemberRole,
        now: DateTime<Utc>,
    ) -> Result<MemberId> {
        self.lock_team_members(team_id).await?;
        let row = self
            .query_row(
                "SELECT count(*) FROM members WHERE team_id = $1",
                &[&team_id.0],
            )
            .await?;
        if row.is_some_and(|row| row.get::<_, i64>(0) >= PEOPLE_PER_TEAM) {
            return Err(StoreError::Limit(format!(
                "your team has {PEOPLE_PER_TEAM} people, which is the most"
            )));
        }
        let user_id = MemberId::new();
        let added = self
            .execute(
                "INSERT INTO members (member_id, team_id, email, name, role, created_at)
                 VALUES ($1, $2, lower($3), $4, $5, $6) ON CONFLICT (team_id, email) DO NOTHING",
                &[&user_id.0, &team_id.0, &email, &name, &role.as_str(), &now],
            )
            .await?;
        if added == 0 {
            return Err(StoreError::Limit(format!("{email} has an account already")));
        }
        Ok(user_id)
    }

    /// Gives a locked person another role.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the team would be left without an owner.
    pub async fn set_member_role(
        &self,
        team_id: TeamId,
        person: &TeamMember,
        role: MemberRole,
    ) -> Result<()> {
        if role != MemberRole::Owner {
            self.refuse_without_owner(team_id, person).await?;
        }
        let sql = "UPDATE members SET role = $3 WHERE team_id = $1 AND member_id = $2";
        self.execute(sql, &[&team_id.0, &person.user_id.0, &role.as_str()])
            .await?;
        Ok(())
    }

    /// Removes a locked person, with the person's sessions and links. What the person did stays in the log.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the team would be left without an owner.
    pub async fn remove_member(&self, team_id: TeamId, person: &TeamMember) -> Result<()> {
        self.refuse_without_owner(team_id, person).await?;
        let sql = "DELETE FROM members WHERE team_id = $1 AND member_id = $2";
        self.execute(sql, &[&team_id.0, &person.user_id.0]).await?;
        Ok(())
    }

    async fn refuse_without_owner(&self, team_id: TeamId, leaving: &TeamMember) -> Result<()> {
        if leaving.role != MemberRole::Owner {
            return Ok(());
        }
        let sql = "SELECT 1 FROM members WHERE team_id = $1 AND member_id <> $2 AND role = 'owner' LIMIT 1";
        match self
            .query_row(sql, &[&team_id.0, &leaving.user_id.0])
            .await?
        {
            Some(_) => Ok(()),
            None => Err(StoreError::Limit(format!(
                "{} is the team's only owner; make somebody else an owner first",
                leaving.name
            ))),
        }
    }

    /// Takes a person's password away and ends all sessions: from now on only a new link lets the person in.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn clear_password(&self, user_id: MemberId) -> Result<()> {
        let sql = "UPDATE members SET password_hash = NULL WHERE member_id = $1";
        self.execute(sql, &[&user_id.0]).await?;
        self.end_member_sessions(user_id, None).await?;
        Ok(())
    }

    /// Gives a person another password, as its hash in PHC form, and ends all sessions but the one that `kept` names. With the first
    /// one the address is this account's.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the address is another account's.
    pub async fn set_password(
        &self,
        user_id: MemberId,
        password_hash: &str,
        kept: Option<&[u8; 32]>,
    ) -> Result<()> {
        let sql = "UPDATE members SET password_hash = $2, is_claimed = true WHERE member_id = $1";
        self.execute(sql, &[&user_id.0, &password_hash])
            .await
            .map_err(|error| match error {
                StoreError::Refused { constraint, .. } if constraint == CLAIMED_ONCE => {
                    StoreError::Limit("the address belongs to another account".to_owned())
                }
                error => error,
            })?;
        self.execute(
            "DELETE FROM password_links WHERE member_id = $1",
            &[&user_id.0],
        )
        .await?;
        self.end_member_sessions(user_id, kept).await?;
        Ok(())
    }

    /// Makes the link that lets a person choose a password; one from before is worth nothing any more.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn create_password_link(
        &self,
        user_id: MemberId,
        token_hash: &[u8; 32],
        expires_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO password_links (member_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (member_id) DO UPDATE SET token_hash = excluded.token_hash,
                 created_at = excluded.created_at, expires_at = excluded.expires_at",
            &[&user_id.0, &&token_hash[..], &now, &expires_at],
        )
        .await?;
        Ok(())
    }

    /// Uses a link up, with its person locked. Returns the team, and whose it was.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it was used, replaced or has expired.
    pub async fn use_password_link(
        &self,
        token_hash: &[u8; 32],
        now: DateTime<Utc>,
    ) -> Result<(TeamId, MemberId)> {
        // The person first, as whoever sets or resets a password does. The link may have been replaced meanwhile.
        let sql = "SELECT team_id, member_id FROM members JOIN password_links USING (member_id)
             WHERE token_hash = $1 AND expires_at > $2 FOR NO KEY UPDATE OF members";
        let row = self
            .query_row(sql, &[&&token_hash[..], &now])
            .await?
            .ok_or_else(no_link)?;
        match self
            .execute(
                "DELETE FROM password_links WHERE token_hash = $1",
                &[&&token_hash[..]],
            )
            .await?
        {
            0 => Err(no_link()),
            _ => Ok((TeamId(row.get(0)), MemberId(row.get(1)))),
        }
    }
}
