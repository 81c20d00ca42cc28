//! What can go wrong with the database, told apart by what a caller can do about it.

use std::future::Future;
use std::time::Duration;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::SqlState;

use crate::database_error::DatabaseError;

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Attempts of one transaction before its conflict is given up.
const ATTEMPTS: u32 = 5;

/// Pause after the first conflict; doubled at each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Why the database did not do what was asked. None of its texts has a value of a row.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No connection could be had, or it was lost: the work may or may not have been done.
    #[error("the database cannot be reached")]
    Unavailable(#[source] DatabaseError),
    /// What names the database cannot be used; the text says why.
    #[error("the database's settings cannot be used: {0}")]
    Unusable(String),
    /// Two transactions were in each other's way; the same work can be tried again.
    #[error("the transaction met another one")]
    Conflict(#[source] DatabaseError),
    /// Somebody held what this needs for longer than it may wait. Nothing was done.
    #[error("somebody else holds it for too long")]
    Busy(#[source] DatabaseError),
    /// A rule of the schema refused the work; the name of the constraint tells which.
    #[error("the database refused it: {constraint}")]
    Refused {
        /// The constraint's name in the schema.
        constraint: String,
        /// What the database says of it.
        source: DatabaseError,
    },
    /// A limit that the store enforces, such as a team's keys; the text says which.
    #[error("{0}")]
    Limit(String),
    /// The lease under which the work was done is no longer ours.
    #[error("another worker has taken this over")]
    LeaseLost,
    /// What was named is not there.
    #[error("{0} was not found")]
    NotFound(String),
    /// A row does not hold what the code expects.
    #[error("a stored value cannot be read: {0}")]
    Corrupt(String),
    /// Any other failure of a statement.
    #[error("a statement failed")]
    Statement(#[source] DatabaseError),
}

/// Whose fault it is that a statement failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Its rows have nothing to do with it: the database is away, full, read-only.
    Database,
    /// It took longer than it may: there were too many rows for it, or the database is slow.
    Slow,
    /// Somebody else held a row for too long, or was in the way.
    Lock,
    /// One of its rows: a rule of the schema, or a value that no column can hold.
    Row,
}

impl Fault {
    fn from_sqlstate(sqlstate: &str) -> Self {
        match (sqlstate, &sqlstate[..2]) {
            // Cardinality, data exceptions, constraints (also those without a name: a column that must not be null, a row for
            // which there is no partition), views, limits of the server such as the size of a row in an index, and what a
            // function of the schema raises.
            (_, "21" | "22" | "23" | "44" | "54" | "P0") => Self::Row,
            // Serialization, deadlock; a lock that is not to be had.
            (_, "40") | ("55P03", _) => Self::Lock,
            ("57014", _) => Self::Slow,
            _ => Self::Database,
        }
    }
}

impl StoreError {
    /// No connection, for a reason that is not the database's to tell.
    pub fn unavailable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(DatabaseError::from_other(why))
    }

    /// What the database says of it; `None` for what was found out here.
    pub fn database_error(&self) -> Option<&DatabaseError> {
        match self {
            Self::Unavailable(error)
            | Self::Conflict(error)
            | Self::Busy(error)
            | Self::Statement(error) => Some(error),
            Self::Refused { source, .. } => Some(source),
            Self::Unusable(_)
            | Self::Limit(_)
            | Self::LeaseLost
            | Self::NotFound(_)
            | Self::Corrupt(_) => None,
        }
    }

    /// Whether a statement was given what no column can hold, such as a date before the calendar or the character U+0000.
    pub fn is_unstorable(&self) -> bool {
        // Class 22: data exceptions.
        matches!(self, Self::Statement(error) if error.sqlstate().is_some_and(|code| code.starts_with("22")))
    }

    /// Whose fault it is that the work failed.
    pub fn fault(&self) -> Fault {
        match (
            self,
            self.database_error().and_then(DatabaseError::sqlstate),
        ) {
            (Self::Refused { .. } | Self::Corrupt(_), _) => Fault::Row,
            (_, Some(sqlstate)) => Fault::from_sqlstate(sqlstate),
            (_, None) => Fault::Database,
        }
    }

    /// Whether it is what was to be written that the database did not take. The same rows are refused again.
    pub fn is_refusal(&self) -> bool {
        self.fault() == Fault::Row
    }

    /// Whether a statement was ended because it took longer than it may.
    pub fn is_timeout(&self) -> bool {
        self.fault() == Fault::Slow
    }

    /// Whether the database does not let this process in, or not to what it needs: it has no such user, password, database or
    /// privilege. Waiting alone changes nothing about it.
    pub fn denies_access(&self) -> bool {
        // Class 28: invalid authorization. Class 3D: no such database.
        let is_one = |code: &SqlState| {
            code.code().starts_with("28")
                || code.code().starts_with("3D")
                || *code == SqlState::INSUFFICIENT_PRIVILEGE
        };
        matches!(self, Self::Statement(error) if error.code().is_some_and(is_one))
    }

    /// Whether the same work may succeed when tried again at once.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        let Some(code) = error.code() else {
            return Self::Unavailable(error);
        };
        if [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ]
        .contains(code)
        {
            return Self::Conflict(error);
        }
        if *code == SqlState::LOCK_NOT_AVAILABLE {
            return Self::Busy(error);
        }
        // Class 57: the server is going down, or ended this session. Class 53: it is out of something. Class 08: a pooler has no
        // connection to it.
        if ["57P", "53", "08"]
            .iter()
            .any(|class| code.code().starts_with(class))
        {
            return Self::Unavailable(error);
        }
        match error.constraint() {
            Some(constraint) => Self::Refused {
                constraint: constraint.to_owned(),
                source: error,
            },
            None => Self::Statement(error),
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        DatabaseError::new(error, None).into()
    }
}

impl From<deadpool_postgres::PoolError> for StoreError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::from(error)
            }
            other => Self::unavailable(other),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    /// Without the library's text: it quotes what stands there.
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        Self::Corrupt(format!(
            "JSON of another shape ({:?}), line {line}, column {column}",
            error.classify()
        ))
    }
}

/// Does `work`, again when it met another transaction, a bounded number of times with growing pauses.
///
/// # Errors
/// What `work` gave last.
pub async fn retry_conflicts<T, F>(mut work: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match work().await {
            Err(error) if error.is_conflict() => {
                metrics::counter!("pillarbox_database_conflicts_total").increment(1);
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            result => return result,
        }
    }
    work().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sqlstate_is_somebodys_fault() {
        for (fault, sqlstates) in [
            (
                Fault::Row,
                &[
                    "21000", "22021", "22P05", "23502", "23505", "23514", "44000", "54000", "P0001",
                ][..],
            ),
            (Fault::Lock, &["40001", "40P01", "55P03"]),
            (Fault::Slow, &["57014"]),
            (
                Fault::Database,
                &[
                    "08006", "25006", "42501", "42P01", "53100", "55000", "57P01", "58030", "XX000",
                ],
            ),
        ] {
            for sqlstate in sqlstates {
                assert_eq!(Fault::from_sqlstate(sqlstate), fault, "{sqlstate}");
            }
        }
        assert_eq!(StoreError::Corrupt("a row".to_owned()).fault(), Fault::Row);
        assert_eq!(StoreError::unavailable("away").fault(), Fault::Database);
    }
}
