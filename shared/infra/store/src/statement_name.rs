//! What a statement is called where people look for it, in logs and traces: where it stands in the code, and what it does
//! to which tables.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::LazyLock;

use crate::database_error::DatabaseError;
use crate::error::StoreError;
use crate::migrations::known_migrations;

/// Tables that a name lists: a longer one says no more.
const NAMED_TABLES: usize = 6;

/// A statement and the place in the code that sends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SqlStatement<'s> {
    pub(crate) sql: &'s str,
    pub(crate) at: &'static Location<'static>,
}

impl<'s> SqlStatement<'s> {
    /// A statement that the caller sends.
    #[track_caller]
    pub(crate) fn at_caller(sql: &'s str) -> Self {
        Self {
            sql,
            at: Location::caller(),
        }
    }

    /// What its failure is to the caller.
    pub(crate) fn to_error(self, error: tokio_postgres::Error) -> StoreError {
        DatabaseError::new(error, Some(self)).into()
    }

    pub(crate) fn name(self) -> StatementName {
        StatementName {
            effects: parse_effects(self.sql),
            first_word: first_word(self.sql),
            at: self.at,
        }
    }
}

/// What a statement does to a table.
type StatementEffect = (&'static str, &'static str);

/// The name of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementName {
    effects: Vec<StatementEffect>,
    first_word: String,
    at: &'static Location<'static>,
}

impl StatementName {
    /// Operations with their tables in the order of the text: `UPDATE deliveries SELECT events endpoints`. This is what
    /// OpenTelemetry calls `db.query.summary`.
    pub fn summary(&self) -> String {
        let mut summary = String::new();
        let mut last = "";
        for (operation, table) in self.effects.iter().take(NAMED_TABLES) {
            for word in [*operation, *table]
                .into_iter()
                .skip(usize::from(*operation == last))
            {
                if !summary.is_empty() {
                    summary.push(' ');
                }
                summary.push_str(word);
            }
            last = operation;
        }
        if summary.is_empty() {
            self.first_word.clone()
        } else {
            summary
        }
    }

    /// The operation and the table that matter most: the first that is changed, else the first that is read.
    pub fn main(&self) -> (&str, Option<&'static str>) {
        let change = self
            .effects
            .iter()
            .find(|(operation, _)| *operation != "SELECT");
        match change.or(self.effects.first()) {
            Some((operation, table)) => (operation, Some(table)),
            None => (&self.first_word, None),
        }
    }

    /// The file that sends it, in the repository.
    pub fn file(&self) -> &'static str {
        self.at.file()
    }

    /// The line of the file.
    pub fn line(&self) -> u32 {
        self.at.line()
    }
}

/// Every table that a migration makes, changes or renames.
static TABLES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut tables = HashSet::from(["refinery_schema_history".to_owned()]);
    for migration in known_migrations() {
        let words: Vec<&str> = sql_words(migration.sql().unwrap_or_default()).collect();
        for (at, word) in words.iter().enumerate() {
            let before = [
                "CREATE TABLE",
                "CREATE UNLOGGED TABLE",
                "ALTER TABLE",
                "RENAME TO",
            ];
            if before.iter().any(|text| words_end_with(&words[..at], text)) {
                tables.insert((*word).to_owned());
            }
        }
    }
    tables
});

/// Whether these words end with those of the text.
fn words_end_with(words: &[&str], text: &str) -> bool {
    let expected = text.split(' ').count();
    let last = words.len().checked_sub(expected).map(|from| &words[from..]);
    last.is_some_and(|last| {
        last.iter()
            .zip(text.split(' '))
            .all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
    })
}

/// The words of a statement outside of its texts and comments.
fn sql_words(sql: &str) -> impl Iterator<Item = &str> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            if is_word_char(first) {
                let end = rest
                    .find(|letter| !is_word_char(letter))
                    .unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                return Some(word);
            }
            let ending = match first {
                '\'' => Some('\''),
                '-' if rest.starts_with("--") => Some('\n'),
                _ => None,
            };
            rest = &rest[first.len_utf8()..];
            if let Some(ending) = ending {
                rest = rest.split_once(ending).map_or("", |(_, after)| after);
            }
        }
    })
}

fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn first_word(sql: &str) -> String {
    sql_words(sql)
        .next()
        .map_or_else(String::new, str::to_ascii_uppercase)
}

/// What a statement does to tables, each once. A column may be called as a table is, so the word before it counts, too.
fn parse_effects(sql: &str) -> Vec<StatementEffect> {
    const OPERATIONS: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "COPY"];
    // In "FOR UPDATE", "FOR NO KEY UPDATE", "DO UPDATE" and "THEN UPDATE" the operation is that of what stands before.
    const NO_OPERATION_AFTER: [&str; 4] = ["FOR", "KEY", "DO", "THEN"];
    const BEFORE_A_TABLE: [&str; 6] = ["FROM", "JOIN", "INTO", "UPDATE", "USING", "COPY"];
    let (mut operation, mut previous) = ("SELECT", "");
    let mut effects: Vec<StatementEffect> = Vec::new();
    for word in sql_words(sql) {
        let follows = |words: &[&str]| {
            words
                .iter()
                .any(|before| previous.eq_ignore_ascii_case(before))
        };
        if let Some(known) = OPERATIONS
            .iter()
            .find(|known| word.eq_ignore_ascii_case(known))
        {
            let is_new = !follows(&NO_OPERATION_AFTER);
            operation = if is_new { known } else { operation };
        } else if let Some(table) = TABLES.get(word).filter(|_| follows(&BEFORE_A_TABLE))
            && !effects.contains(&(operation, table))
        {
            effects.push((operation, table));
        }
        previous = word;
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summarize_sql(sql: &str) -> String {
        SqlStatement::at_caller(sql).name().summary()
    }

    #[test]
    fn a_statement_is_called_by_what_it_does_to_which_tables() {
        for (sql, expected) in [
            ("SELECT 1 FROM teams WHERE team_id = $1 FOR NO KEY UPDATE", "SELECT teams"),
            (
                "INSERT INTO duties (duty) VALUES ($1) ON CONFLICT (duty) DO UPDATE SET holder = $2",
                "INSERT duties",
            ),
            (
                "WITH due AS (SELECT job_id FROM jobs FOR UPDATE SKIP LOCKED)
                 UPDATE jobs SET attempts = jobs.attempts + 1 FROM due WHERE jobs.job_id = due.job_id",
                "SELECT jobs UPDATE jobs",
            ),
            (
                "SELECT 'mailpieces' AS kind FROM events -- not charges\n JOIN endpoints USING (team_id)",
                "SELECT events endpoints",
            ),
            ("INSERT INTO scans SELECT * FROM unnest($1) AS new", "INSERT scans"),
            ("DELETE FROM sends WHERE state = 'it''s keys'", "DELETE sends"),
            ("SET LOCAL synchronous_commit = off", "SET"),
            ("begin", "BEGIN"),
            ("", ""),
            ("SELECT 'an end that is missing", "SELECT"),
        ] {
            assert_eq!(summarize_sql(sql), expected, "{sql}");
        }
    }

    #[test]
    fn what_is_changed_comes_before_what_is_read() {
        let name =
            SqlStatement::at_caller("SELECT 1 FROM teams JOIN mailpieces USING (team_id)").name();
        assert_eq!(name.main(), ("SELECT", Some("teams")));
        let name =
            SqlStatement::at_caller("WITH a AS (SELECT 1 FROM teams) DELETE FROM mailpieces")
                .name();
        assert_eq!(name.main(), ("DELETE", Some("mailpieces")));
        assert_eq!(
            SqlStatement::at_caller("COMMIT").name().main(),
            ("COMMIT", None)
        );
        assert!(name.file().ends_with("statement_name.rs") && name.line() > 0);
    }

    #[test]
    fn the_migrations_tell_the_tables() {
        for table in [
            "sends",
            "mailpieces",
            "deliveries",
            "events",
            "scans",
            "duties",
            "do_not_mail",
            "print_runs",
        ] {
            assert!(TABLES.contains(table), "{table}");
        }
        assert!(!TABLES.contains("IF") && !TABLES.contains("team_id"));
    }
}
