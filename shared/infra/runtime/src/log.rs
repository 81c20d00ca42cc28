//! Log lines: one place that writes them, whoever logs.
//!
//! A line has what its event says and what the spans around it know: request, team, campaign, job. Errors are given to it
//! whole (`error = &error as &dyn Error`) and written here with their causes, and with what the database says of them, but
//! without the values that an error may quote.

mod cause;
mod line;
mod repeats;

use std::io::Write;
use std::sync::Mutex;
use std::time::Instant;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use self::line::{LogFields, LogLine};
use self::repeats::{RepeatFilter, SuppressedLines};
use crate::config::LogFormat;
use crate::task::lock_mutex;

/// Writes the lines that `filter` lets through, of the process `name`. Spans that are not for traces alone give their fields
/// whatever the filter says: a warning belongs to its request also where requests are not logged.
pub fn build_layer<S, W>(
    name: &'static str,
    format: LogFormat,
    filter: EnvFilter,
    writer: W,
) -> impl Layer<S> + Send + Sync + use<S, W>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let spans = filter_fn(|metadata| metadata.is_span()).and(LevelFilter::INFO);
    LogLayer {
        name,
        format,
        writer,
        repeats: Mutex::default(),
    }
    .with_filter(filter.or(spans))
}

struct LogLayer<W> {
    name: &'static str,
    format: LogFormat,
    writer: W,
    repeats: Mutex<RepeatFilter>,
}

impl<S, W> Layer<S> for LogLayer<W>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'w> MakeWriter<'w> + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = LogFields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<LogFields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut fields = LogFields::default();
        event.record(&mut fields);
        let (is_written, left_out) = self.check_repeats(event, &fields);
        for SuppressedLines {
            level,
            message,
            lines,
        } in left_out
        {
            self.write_line(&LogLine::left_out(self.name, level, message, lines));
        }
        if !is_written {
            return;
        }
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(of_span) = span.extensions().get::<LogFields>() {
                fields.add_missing(of_span);
            }
        }
        self.write_line(&LogLine::new(self.name, metadata, fields));
    }
}

impl<W: for<'w> MakeWriter<'w>> LogLayer<W> {
    /// Whether a line is written, and what was left out before it.
    fn check_repeats(&self, event: &Event<'_>, fields: &LogFields) -> (bool, Vec<SuppressedLines>) {
        let (metadata, now) = (event.metadata(), Instant::now());
        let mut repeats = lock_mutex(&self.repeats);
        let left_out = repeats.close_ended(now);
        // Failures repeat by the thousand while something is away; all other lines come with work.
        let is_written = *metadata.level() > Level::WARN
            || repeats.admit(
                (metadata.callsite(), fields.failure_key()),
                (*metadata.level(), fields.message()),
                now,
            );
        (is_written, left_out)
    }

    fn write_line(&self, line: &LogLine<'_>) {
        let text = match self.format {
            LogFormat::Json => line.to_json(),
            LogFormat::Text => line.to_text(),
        };
        // There is no place to say that the log cannot be written.
        let _ = self.writer.make_writer().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io;
    use std::sync::Arc;

    use serde_json::Value;
    use tracing::field::Empty;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct WrittenLines(Arc<Mutex<Vec<u8>>>);

    impl Write for WrittenLines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that `work` leaves with this filter.
    fn lines_of(filter: &str, work: impl FnOnce()) -> Vec<Value> {
        let written = WrittenLines::default();
        let writer = written.clone();
        let layer = build_layer(
            "tests",
            LogFormat::Json,
            EnvFilter::new(filter),
            move || writer.clone(),
        );
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn a_line_belongs_to_its_request_also_where_requests_are_not_logged() {
        let lines = lines_of("warn", || {
            let span = tracing::info_span!(
                "request",
                request_id = "r-1",
                team_id = Empty,
                http.route = "/x"
            );
            span.record("team_id", "t-1");
            span.in_scope(|| {
                tracing::info!("a request");
                let error = io::Error::other(io::Error::from(io::ErrorKind::BrokenPipe));
                tracing::error!(error = &error as &dyn Error, cards = 3, "it failed");
            });
        });
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        let expected = [
            ("level", "ERROR"),
            ("message", "it failed"),
            ("error", "broken pipe"),
            ("request_id", "r-1"),
            ("team_id", "t-1"),
        ];
        for (name, value) in expected {
            assert_eq!(line[name], value, "{name} in {line}");
        }
        assert_eq!(
            (&line["cards"], &line["http.route"]),
            (&Value::from(3), &Value::Null)
        );
    }

    #[test]
    fn a_storm_of_equal_failures_leaves_few_lines() {
        let lines = lines_of("info", || {
            for _ in 0..20_000 {
                tracing::error!("it failed");
            }
            tracing::info!("work goes on");
        });
        let failures = lines
            .iter()
            .filter(|line| line["message"] == "it failed")
            .count();
        // Ten, and as many again only where the storm outlasts a window.
        assert!((10..200).contains(&failures), "{failures}");
        assert_eq!(lines.last().unwrap()["message"], "work goes on");
    }
}
