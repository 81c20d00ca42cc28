//! One line: fields of an event and of the spans around it, as JSON or as text.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{Debug, Write};

use chrono::{SecondsFormat, Utc};
use serde::Serializer as _;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

use super::cause::LoggedError;

/// Bytes of most lines.
const USUAL_BYTES: usize = 512;

/// The field with an event's text.
const MESSAGE: &str = "message";

/// Names and values, in the order in which they were given.
#[derive(Debug, Default)]
pub(super) struct LogFields(Vec<(&'static str, Value)>);

impl LogFields {
    fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// Takes over what is not there yet.
    pub(super) fn add_missing(&mut self, others: &Self) {
        for (name, value) in &others.0 {
            if self.get(name).is_none() {
                self.0.push((name, value.clone()));
            }
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    pub(super) fn message(&self) -> &str {
        self.get(MESSAGE)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// What tells a failure of the database from others at the same place.
    pub(super) fn failure_key(&self) -> Option<String> {
        let text = |name| self.get(name).and_then(Value::as_str);
        let parts = [text("sqlstate"), text("statement_at")];
        parts
            .iter()
            .any(Option::is_some)
            .then(|| parts.map(Option::unwrap_or_default).join(" "))
    }
}

/// Names with a dot in them are those of traces, and stay there.
fn is_for_logs(field: &Field) -> bool {
    !field.name().contains('.')
}

impl Visit for LogFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record(field, || value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record(field, || value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record(field, || value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record(field, || value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record(field, || value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let LoggedError {
            error,
            causes,
            database,
        } = LoggedError::from_error(value);
        self.record(field, || error.into());
        if !causes.is_empty() {
            self.set("cause", json!(causes.join(": ")));
        }
        for (name, value) in database {
            self.set(name, json!(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record(field, || format!("{value:?}").into());
    }
}

impl LogFields {
    fn record(&mut self, field: &Field, value: impl FnOnce() -> Value) {
        if is_for_logs(field) {
            self.set(field.name(), value());
        }
    }
}

/// A line to be written.
pub(super) struct LogLine<'a> {
    process: &'static str,
    level: Level,
    target: &'a str,
    fields: LogFields,
}

impl<'a> LogLine<'a> {
    pub(super) fn new(process: &'static str, metadata: &Metadata<'a>, fields: LogFields) -> Self {
        Self {
            process,
            level: *metadata.level(),
            target: metadata.target(),
            fields,
        }
    }

    /// The line that stands for others, which were not written.
    pub(super) fn left_out(
        process: &'static str,
        level: Level,
        message: String,
        lines: u64,
    ) -> Self {
        let fields = vec![
            (MESSAGE, json!("left out equal lines")),
            ("of", json!(message)),
            ("lines", json!(lines)),
        ];
        Self {
            process,
            level,
            target: module_path!(),
            fields: LogFields(fields),
        }
    }

    /// Everything in the order in which it is written: when, how bad, what, then the rest.
    #[expect(
        clippy::disallowed_methods,
        reason = "lines have the time at which they are written, whatever time tests play"
    )]
    fn parts(&self) -> impl Iterator<Item = (&str, Cow<'_, Value>)> {
        let timestamp = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        let own = |name, value: &str| (name, Cow::Owned(Value::from(value)));
        let first = [
            own("timestamp", &timestamp),
            own("level", self.level.as_str()),
            own(MESSAGE, self.fields.message()),
        ];
        let rest = self.fields.0.iter().filter(|(name, _)| *name != MESSAGE);
        let last = [own("process", self.process), own("target", self.target)];
        first
            .into_iter()
            .chain(rest.map(|(name, value)| (*name, Cow::Borrowed(value))))
            .chain(last)
    }

    /// One JSON object and the line's end.
    pub(super) fn to_json(&self) -> String {
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        // Names are texts and nothing fails to be written into memory, so it is always whole.
        let _ = serde_json::Serializer::new(&mut bytes).collect_map(self.parts());
        bytes.push(b'\n');
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// For people: the first three parts bare, then names with their values.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for (at, (name, value)) in self.parts().enumerate() {
            // Writing to a string cannot fail.
            let _ = match value.as_str() {
                Some(bare) if at < 3 => write!(text, "{} ", bare.replace('\n', " ")),
                _ => write!(text, "{name}={value} "),
            };
        }
        format!("{}\n", text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_line() -> LogLine<'static> {
        let fields = vec![
            ("request_id", json!("r-1")),
            (MESSAGE, json!("a \"quoted\"\nmessage")),
            ("cards", json!(3)),
        ];
        LogLine {
            process: "mailer",
            level: Level::ERROR,
            target: "mailer::send",
            fields: LogFields(fields),
        }
    }

    #[test]
    fn json_is_one_object_on_one_line() {
        let text = build_line().to_json();
        assert_eq!(text.matches('\n').count(), 1);
        let object: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&object["level"], &object["cards"]),
            (&json!("ERROR"), &json!(3))
        );
        assert_eq!(object["message"], "a \"quoted\"\nmessage");
        assert_eq!(
            (&object["process"], &object["target"]),
            (&json!("mailer"), &json!("mailer::send"))
        );
        assert!(text.starts_with(r#"{"timestamp":"20"#), "{text}");
    }

    #[test]
    fn text_begins_with_what_happened() {
        let text = build_line().to_text();
        let (_, rest) = text.split_once(' ').unwrap();
        assert!(
            rest.starts_with("ERROR a \"quoted\" message request_id"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "request_id=\"r-1\" cards=3 process=\"mailer\" target=\"mailer::send\"\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn what_a_span_says_does_not_replace_what_the_event_says() {
        let mut fields = LogFields(vec![("team_id", json!("own"))]);
        fields.add_missing(&LogFields(vec![
            ("team_id", json!("outer")),
            ("request_id", json!("r")),
        ]));
        assert_eq!(
            fields.0,
            [("team_id", json!("own")), ("request_id", json!("r"))]
        );
    }
}
