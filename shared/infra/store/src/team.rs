//! Teams and the people in them.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use model::id::{MemberId, TeamId};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Team {
    /// Its id.
    pub team_id: TeamId,
    /// Its name, of which there is one.
    pub name: String,
    /// The zone that its days are counted in.
    pub time_zone: Tz,
    /// How it pays.
    pub payment: PaymentKind,
    /// The provider's customer, for `stripe`.
    pub stripe_customer: Option<String>,
    /// The provider's payment method, for `stripe`.
    pub stripe_payment_method: Option<String>,
}

/// How a team pays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentKind {
    /// From its prepaid balance.
    #[default]
    Balance,
    /// By the payment card that Stripe keeps.
    Stripe,
}

impl PaymentKind {
    /// The name in the database and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::Stripe => "stripe",
        }
    }

    /// The kind that a column of the schema names.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        [Self::Balance, Self::Stripe]
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| StoreError::Corrupt("kind of a payment".to_owned()))
    }
}

/// What a person may do in a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberRole {
    /// Everything.
    Owner,
    /// Everything but the team itself.
    Admin,
    /// Looking, and work that binds nobody.
    Member,
}

impl MemberRole {
    /// The name in the database and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// The role that a column of the schema names.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        [Self::Owner, Self::Admin, Self::Member]
            .into_iter()
            .find(|role| role.as_str() == name)
            .ok_or_else(|| StoreError::Corrupt("role of a person".to_owned()))
    }
}

/// What became of a team that was to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedTeam {
    /// Its id.
    pub team_id: TeamId,
    /// False when there was one of this name.
    pub is_new: bool,
    /// Whether the one of this name was another before.
    pub is_changed: bool,
}

/// What became of a member who was to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMember {
    /// Who.
    pub user_id: MemberId,
    /// The name and the role before; `None` for a new member.
    pub before: Option<(String, MemberRole)>,
}

/// Whose an address is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailOwner {
    /// The team.
    pub team_id: TeamId,
    /// Who.
    pub user_id: MemberId,
    /// The member's name.
    pub name: String,
}

/// A person, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemberSummary {
    /// Its id.
    pub user_id: MemberId,
    /// Lower-case.
    pub email: String,
    /// As the person writes it.
    pub name: String,
    /// What the person may do.
    pub role: MemberRole,
}

/// The time zone in the column `time_zone` of a row.
pub(crate) fn time_zone_from_row(row: &Row) -> Result<Tz> {
    parse_time_zone(row.get("time_zone"))
}

fn parse_time_zone(name: &str) -> Result<Tz> {
    name.parse()
        .map_err(|_| StoreError::Corrupt("time zone of a team".to_owned()))
}

fn team_from_row(row: &Row) -> Result<Team> {
    Ok(Team {
        team_id: TeamId(row.get("team_id")),
        name: row.get("name"),
        time_zone: time_zone_from_row(row)?,
        payment: PaymentKind::parse(row.get("payment"))?,
        stripe_customer: row.get("stripe_customer"),
        stripe_payment_method: row.get("stripe_payment_method"),
    })
}

const TEAM_COLUMNS: &str =
    "team_id, name, time_zone, payment, stripe_customer, stripe_payment_method";

impl Store {
    /// Every team, by name, after `after`; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_teams(&self, after: &str, limit: i64) -> Result<Vec<Team>> {
        let sql =
            format!("SELECT {TEAM_COLUMNS} FROM teams WHERE name > $1 ORDER BY name LIMIT $2");
        self.query_rows(&sql, &[&after, &limit])
            .await?
            .iter()
            .map(team_from_row)
            .collect()
    }

    /// The team with this name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_team_by_name(&self, name: &str) -> Result<Team> {
        let sql = format!("SELECT {TEAM_COLUMNS} FROM teams WHERE name = $1");
        let row = self.query_row(&sql, &[&name]).await?;
        row.as_ref()
            .map(team_from_row)
            .unwrap_or_else(|| Err(StoreError::NotFound(format!("the team {name:?}"))))
    }

    /// The team's time zone.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such team.
    pub async fn find_team_time_zone(&self, team_id: TeamId) -> Result<Tz> {
        let row = self
            .query_row(
                "SELECT time_zone FROM teams WHERE team_id = $1",
                &[&team_id.0],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::NotFound(format!("the team {team_id}")))?;
        time_zone_from_row(&row)
    }

    /// The team with this id.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_team(&self, team_id: TeamId) -> Result<Team> {
        let sql = format!("SELECT {TEAM_COLUMNS} FROM teams WHERE team_id = $1");
        let row = self.query_row(&sql, &[&team_id.0]).await?;
        row.as_ref()
            .map(team_from_row)
            .unwrap_or_else(|| Err(StoreError::NotFound(format!("the team {team_id}"))))
    }

    /// Whether the team has `Idempotency-Key` honoured on its sends.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn honors_idempotency_keys(&self, team_id: TeamId) -> Result<bool> {
        let sql = "SELECT honours_idempotency_keys FROM teams WHERE team_id = $1";
        Ok(self
            .query_row(sql, &[&team_id.0])
            .await?
            .is_some_and(|row| row.get(0)))
    }

    /// Whether the team lets Formulas only keys see people of the address book unmasked.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn shows_people_unmasked(&self, team_id: TeamId) -> Result<bool> {
        let sql = "SELECT formula_keys_see_people FROM teams WHERE team_id = $1";
        Ok(self
            .query_row(sql, &[&team_id.0])
            .await?
            .is_some_and(|row| row.get(0)))
    }

    /// A team's people, by address.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_member_summaries(&self, team_id: TeamId) -> Result<Vec<MemberSummary>> {
        let sql =
            "SELECT member_id, email, name, role FROM members WHERE team_id = $1 ORDER BY email";
        let rows = self.query_rows(sql, &[&team_id.0]).await?;
        rows.iter()
            .map(|row| {
                Ok(MemberSummary {
                    user_id: MemberId(row.get(0)),
                    email: row.get(1),
                    name: row.get(2),
                    role: MemberRole::parse(row.get(3))?,
                })
            })
            .collect()
    }
}

impl Transaction<'_> {
    /// Makes the team, or changes the one of that name. Its id stays; so do its ledger accounts, which a new team gets.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when `stripe` lacks its customer or payment method.
    pub async fn save_team(&self, wanted: &Team, now: DateTime<Utc>) -> Result<SavedTeam> {
        // Locked as whoever changes its people locks it: a sign-in, which has its person locked, notes itself in the log.
        let sql = format!("SELECT {TEAM_COLUMNS} FROM teams WHERE name = $1 FOR NO KEY UPDATE");
        let before = self.query_row(&sql, &[&wanted.name]).await?;
        let row = self
            .query_row(
                "INSERT INTO teams (team_id, name, time_zone, payment, stripe_customer, stripe_payment_method, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (name) DO UPDATE SET time_zone = excluded.time_zone, payment = excluded.payment,
                     stripe_customer = excluded.stripe_customer,
                     stripe_payment_method = excluded.stripe_payment_method
                 RETURNING team_id",
                &[
                    &wanted.team_id.0,
                    &wanted.name,
                    &wanted.time_zone.name(),
                    &wanted.payment.as_str(),
                    &wanted.stripe_customer,
                    &wanted.stripe_payment_method,
                    &now,
                ],
            )
            .await?;
        let team_id = row.map(|row| TeamId(row.get(0))).unwrap_or(wanted.team_id);
        self.execute(
            "INSERT INTO ledger_accounts (team_id, account)
             SELECT $1, account FROM unnest(ARRAY['prepaid', 'sales', 'cash']) AS account
             ON CONFLICT DO NOTHING",
            &[&team_id.0],
        )
        .await?;
        let stored = Team {
            team_id,
            ..wanted.clone()
        };
        let before = before.as_ref().map(team_from_row).transpose()?;
        Ok(SavedTeam {
            team_id,
            // Somebody may have made it since it was looked for.
            is_new: before.is_none() && team_id == wanted.team_id,
            is_changed: before.is_some_and(|before| before != stored),
        })
    }

    /// Has `Idempotency-Key` honoured on the team's sends, or not. Returns whether that is a change.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn set_idempotency_keys_honored(&self, team_id: TeamId, is_on: bool) -> Result<bool> {
        let sql = "UPDATE teams SET honours_idempotency_keys = $2
                   WHERE team_id = $1 AND honours_idempotency_keys <> $2";
        Ok(self.execute(sql, &[&team_id.0, &is_on]).await? == 1)
    }

    /// Lets Formulas only keys see people of the address book unmasked, or not. Returns whether that is a change.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn set_people_unmasked(&self, team_id: TeamId, is_on: bool) -> Result<bool> {
        let sql = "UPDATE teams SET formula_keys_see_people = $2
                   WHERE team_id = $1 AND formula_keys_see_people <> $2";
        Ok(self.execute(sql, &[&team_id.0, &is_on]).await? == 1)
    }

    /// The hash of the password of a person of the team; `None` when there is no such person or no password.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_password_hash(&self, team_id: TeamId, email: &str) -> Result<Option<String>> {
        let sql = "SELECT password_hash FROM members WHERE team_id = $1 AND email = lower($2)";
        Ok(self
            .query_row(sql, &[&team_id.0, &email])
            .await?
            .and_then(|row| row.get(0)))
    }

    /// Makes the person, or changes the one with that address in this team. A password hash of `None` leaves
    /// the stored one; another one ends the person's sessions and a link that would set yet another. Another role ends the
    /// sessions, too.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the address belongs to a person of another team, or when the team had an owner and
    /// would have none.
    pub async fn save_member(
        &self,
        team_id: TeamId,
        email: &str,
        name: &str,
        role: MemberRole,
        password_hash: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<SavedMember> {
        self.lock_team_members(team_id).await?;
        let sql = "SELECT 1 FROM members WHERE email = lower($1) AND team_id <> $2 AND is_claimed";
        if self.query_row(sql, &[&email, &team_id.0]).await?.is_some() {
            return Err(StoreError::Limit(format!(
                "{email} belongs to a person of another team"
            )));
        }
        let row = self
            .query_row(
                "WITH before AS (SELECT name, role FROM members WHERE team_id = $2 AND email = lower($3))
                 INSERT INTO members AS existing (member_id, team_id, email, name, role, created_at)
                 VALUES ($1, $2, lower($3), $4, $5, $6)
                 ON CONFLICT (team_id, email) DO UPDATE SET name = excluded.name, role = excluded.role
                 RETURNING member_id, (SELECT name FROM before), (SELECT role FROM before)",
                &[&MemberId::new().0, &team_id.0, &email, &name, &role.as_str(), &now],
            )
            .await?
            .ok_or_else(|| StoreError::Corrupt("saving a person gave no row".to_owned()))?;
        let user_id = MemberId(row.get(0));
        let before = match (
            row.get::<_, Option<String>>(1),
            row.get::<_, Option<&str>>(2),
        ) {
            (Some(name), Some(role)) => Some((name, MemberRole::parse(role)?)),
            _ => None,
        };
        if let Some(password_hash) = password_hash {
            self.set_password(user_id, password_hash, None).await?;
        }
        let role_before = before.as_ref().map(|(_, role)| *role);
        if role_before.is_some_and(|before| before != role) {
            self.end_member_sessions(user_id, None).await?;
        }
        if role_before == Some(MemberRole::Owner) {
            self.refuse_ownerless(team_id).await?;
        }
        Ok(SavedMember { user_id, before })
    }

    /// Whom a password for this address is to be set for, locked: of several teams that have added the address it is the account's
    /// member, or else the first one's.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when nobody has the address.
    pub async fn lock_member_by_email(&self, email: &str) -> Result<EmailOwner> {
        let sql = "SELECT team_id, member_id, name FROM members WHERE email = lower($1)
             ORDER BY is_claimed DESC, created_at, member_id LIMIT 1 FOR NO KEY UPDATE";
        let row = self
            .query_row(sql, &[&email])
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("a person with the address {email}")))?;
        Ok(EmailOwner {
            team_id: TeamId(row.get(0)),
            user_id: MemberId(row.get(1)),
            name: row.get(2),
        })
    }

    async fn refuse_ownerless(&self, team_id: TeamId) -> Result<()> {
        let sql = "SELECT name FROM teams WHERE team_id = $1
             AND NOT EXISTS (SELECT FROM members WHERE team_id = $1 AND role = 'owner')";
        match self.query_row(sql, &[&team_id.0]).await? {
            None => Ok(()),
            Some(row) => Err(StoreError::Limit(format!(
                "the team {:?} would be left without an owner; make somebody else an owner first",
                row.get::<_, &str>(0)
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_zone_that_is_none_is_an_error_and_not_another_zone() {
        let zone = parse_time_zone("America/New_York").unwrap();
        assert_eq!(zone, chrono_tz::America::New_York);
        for name in ["", "Mars/Olympus", "america"] {
            let error = parse_time_zone(name).unwrap_err();
            assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        }
    }

    #[test]
    fn a_payment_of_no_known_kind_is_an_error() {
        for kind in [PaymentKind::Balance, PaymentKind::Stripe] {
            assert_eq!(PaymentKind::parse(kind.as_str()).unwrap(), kind);
        }
        let error = PaymentKind::parse("cash").unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    }
}
