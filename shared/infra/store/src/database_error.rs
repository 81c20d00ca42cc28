//! What Postgres, or the way to it, says of a failure, and at which statement.
//!
//! Its text and its parts can stand in a log: what may quote a value of a row or of a parameter is left out. The whole,
//! as the driver has it, is the error's source, for the operator who asked for it on the command line.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use tokio_postgres::error::{DbError, SqlState};

use crate::statement_name::{SqlStatement, StatementName};

/// Classes of errors whose message names only what is of the schema or of the server. Those of data exceptions (22) and
/// of functions' own errors (P0), for one, quote values: `invalid input syntax for type integer: "12 Main St"`.
const SHOWN_CLASSES: [&str; 16] = [
    "08", "0A", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "F0",
];

/// A failure of the database or of the way to it.
pub struct DatabaseError(Box<DatabaseErrorInner>);

struct DatabaseErrorInner {
    cause: DatabaseErrorCause,
    statement: Option<StatementName>,
}

enum DatabaseErrorCause {
    /// What the driver says.
    Driver(tokio_postgres::Error),
    /// What the pool or the settings say.
    Other(Box<dyn StdError + Send + Sync>),
}

impl DatabaseError {
    pub(crate) fn new(error: tokio_postgres::Error, statement: Option<SqlStatement<'_>>) -> Self {
        let statement = statement.map(|statement| statement.name());
        Self(Box::new(DatabaseErrorInner {
            cause: DatabaseErrorCause::Driver(error),
            statement,
        }))
    }

    pub(crate) fn from_other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(DatabaseErrorInner {
            cause: DatabaseErrorCause::Other(error.into()),
            statement: None,
        }))
    }

    /// The five letters by which Postgres tells its errors apart; `None` for those of the way to it.
    pub fn sqlstate(&self) -> Option<&str> {
        self.code().map(SqlState::code)
    }

    /// The statement at which it failed, where it was one.
    pub fn statement(&self) -> Option<&StatementName> {
        self.0.statement.as_ref()
    }

    /// The constraint that refused the work.
    pub fn constraint(&self) -> Option<&str> {
        self.driver_db_error()?.constraint()
    }

    /// The table that the server names.
    pub fn table(&self) -> Option<&str> {
        self.driver_db_error()?.table()
    }

    /// What was said, without any value; `None` when it may quote one.
    pub fn message(&self) -> Option<String> {
        let error = match &self.0.cause {
            DatabaseErrorCause::Driver(error) => error,
            DatabaseErrorCause::Other(error) => return Some(error.to_string()),
        };
        match error.as_db_error() {
            Some(database) => {
                is_message_safe(database.code()).then(|| database.message().to_owned())
            }
            None => Some(describe_driver_error(error)),
        }
    }

    pub(crate) fn code(&self) -> Option<&SqlState> {
        Some(self.driver_db_error()?.code())
    }

    fn driver_db_error(&self) -> Option<&DbError> {
        match &self.0.cause {
            DatabaseErrorCause::Driver(error) => error.as_db_error(),
            DatabaseErrorCause::Other(_) => None,
        }
    }
}

/// A syntax error quotes the text at which it stands, which for a search or a path of JSON is a value.
fn is_message_safe(code: &SqlState) -> bool {
    SHOWN_CLASSES.contains(&&code.code()[..2]) && *code != SqlState::SYNTAX_ERROR
}

/// What the driver says of itself, and of the connection below it. What it says of a value that it could not convert stays
/// out.
fn describe_driver_error(error: &tokio_postgres::Error) -> String {
    match error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>())
    {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.cause, self.sqlstate()) {
            (_, Some(code)) => write!(formatter, "SQLSTATE {code}")?,
            (DatabaseErrorCause::Driver(error), None) => write!(formatter, "{error}")?,
            (DatabaseErrorCause::Other(error), None) => write!(formatter, "{error}")?,
        }
        match self.statement() {
            Some(name) => write!(
                formatter,
                " in {} ({}:{})",
                name.summary(),
                name.file(),
                name.line()
            ),
            None => Ok(()),
        }
    }
}

// Derived it would show the server's details, which quote rows.
impl fmt::Debug for DatabaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DatabaseError({self})")
    }
}

impl StdError for DatabaseError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            DatabaseErrorCause::Driver(error) => error.source(),
            DatabaseErrorCause::Other(error) => error.source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_may_quote_a_value_are_not_shown() {
        for code in [
            SqlState::UNDEFINED_TABLE,
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::UNIQUE_VIOLATION,
            SqlState::QUERY_CANCELED,
            SqlState::DISK_FULL,
            SqlState::INVALID_PASSWORD,
        ] {
            assert!(is_message_safe(&code), "{}", code.code());
        }
        for code in [
            SqlState::INVALID_TEXT_REPRESENTATION,
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            SqlState::SYNTAX_ERROR,
            SqlState::RAISE_EXCEPTION,
            SqlState::INTERNAL_ERROR,
            SqlState::CARDINALITY_VIOLATION,
        ] {
            assert!(!is_message_safe(&code), "{}", code.code());
        }
    }

    #[test]
    fn an_error_without_a_statement_says_what_it_knows() {
        let error = DatabaseError::from_other("no place in the pool");
        assert_eq!(error.to_string(), "no place in the pool");
        assert_eq!(
            (error.sqlstate(), error.statement(), error.table()),
            (None, None, None)
        );
    }
}
