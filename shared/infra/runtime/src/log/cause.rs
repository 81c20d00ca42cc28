//! What a log says of an error: its text, its causes, and the database's part in it.
//!
//! Errors quote what they stumbled over: a value of a row, an address, a URL with a secret in it. What the database
//! says comes from [`DatabaseError`], which leaves values out. From every other text goes what stands in quotation marks or
//! backticks, what has an "@" in it, and of a URL all but its host.

use std::error::Error;

use store::DatabaseError;

/// Causes of one error that are looked at.
const CAUSES: usize = 8;

/// Characters of one cause.
const CAUSE_CHARS: usize = 300;

/// Stands for what was taken out.
const OMITTED: &str = "…";

/// An error as it is logged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedError {
    /// What it says itself.
    pub(super) error: String,
    /// What its causes say, from the nearest to the deepest.
    pub(super) causes: Vec<String>,
    /// Names and values of what the database says.
    pub(super) database: Vec<(&'static str, String)>,
}

impl LoggedError {
    pub(super) fn from_error(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Self::default();
        for part in std::iter::successors(Some(error), |error| (**error).source()).take(CAUSES) {
            if let Some(database) = part.downcast_ref::<DatabaseError>() {
                // Below it stands what the server said word for word.
                cause.add_cause(database.message().map(|message| truncate_text(&message)));
                cause.database = database_facts(database);
                break;
            }
            cause.add_cause(Some(text_of(part)));
        }
        cause
    }

    /// Adds a text unless the one before has it in it.
    fn add_cause(&mut self, text: Option<String>) {
        let Some(text) = text else { return };
        if self.error.is_empty() {
            self.error = text;
        } else if !self.causes.last().unwrap_or(&self.error).contains(&text) {
            self.causes.push(text);
        }
    }
}

fn database_facts(error: &DatabaseError) -> Vec<(&'static str, String)> {
    let own = |text: &str| text.to_owned();
    let facts = [
        ("sqlstate", error.sqlstate().map(own)),
        ("statement", error.statement().map(|name| name.summary())),
        (
            "statement_at",
            error
                .statement()
                .map(|name| format!("{}:{}", name.file(), name.line())),
        ),
        ("table", error.table().map(own)),
        ("constraint", error.constraint().map(own)),
    ];
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn text_of(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<serde_json::Error>() {
        // Its text quotes what it found.
        Some(json) => {
            format!(
                "{:?} error in JSON, line {}, column {}",
                json.classify(),
                json.line(),
                json.column()
            )
        }
        None => truncate_text(&without_values(&error.to_string())),
    }
}

/// One line of a bounded length.
fn truncate_text(text: &str) -> String {
    text.chars()
        .take(CAUSE_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// The text of an error without what may be somebody's.
pub(super) fn without_values(text: &str) -> String {
    let text = ['"', '`']
        .into_iter()
        .fold(text.to_owned(), |text, mark| without_quoted(&text, mark));
    let words: Vec<String> = text.split(' ').map(without_personal).collect();
    words.join(" ")
}

/// From the first mark to the last: within a quotation there may be others.
fn without_quoted(text: &str, mark: char) -> String {
    let Some((before, rest)) = text.split_once(mark) else {
        return text.to_owned();
    };
    let after = rest.rsplit_once(mark).map_or("", |(_, after)| after);
    format!("{before}{OMITTED}{after}")
}

fn without_personal(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        return format!("{scheme}://{host}/{OMITTED}");
    }
    if word.contains('@') {
        OMITTED.to_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the reply cannot be read")]
    struct UnreadableBodyError(#[source] serde_json::Error);

    #[test]
    fn an_error_is_told_with_its_causes() {
        let source = serde_json::from_str::<u64>(r#""Pat Reader""#).unwrap_err();
        let cause = LoggedError::from_error(&UnreadableBodyError(source));
        assert_eq!(cause.error, "the reply cannot be read");
        assert_eq!(cause.causes, ["Data error in JSON, line 1, column 12"]);
    }

    #[test]
    fn a_cause_that_the_text_has_already_is_not_told_again() {
        let inner = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "refused");
        let outer = std::io::Error::other(inner);
        assert_eq!(LoggedError::from_error(&outer).causes, [] as [&str; 0]);
    }

    #[test]
    fn values_are_taken_out_of_texts() {
        for (text, expected) in [
            (
                r#"invalid type: string "Pat "P" Reader", expected u64"#,
                "invalid type: string …, expected u64",
            ),
            (
                "unknown variant `12 Main St` at line 3",
                "unknown variant … at line 3",
            ),
            (r#"an end is "missing"#, "an end is …"),
            (
                "error sending request for url (https://user:pw@hooks.example.com/T0/secret?key=1)",
                "error sending request for url (https://hooks.example.com/…",
            ),
            (
                "550 5.1.1 <owner@example.com>: user unknown",
                "550 5.1.1 … user unknown",
            ),
            (
                "NOT_FOUND - no queue 'send' in vhost '/'",
                "NOT_FOUND - no queue 'send' in vhost '/'",
            ),
        ] {
            assert_eq!(without_values(text), expected);
        }
    }

    #[test]
    fn a_text_is_one_line_and_has_an_end() {
        let text = truncate_text(&format!("a\nb\t{}", "x".repeat(1_000)));
        assert!(text.starts_with("a b x") && text.chars().count() == CAUSE_CHARS);
    }
}
