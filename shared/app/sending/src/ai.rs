//! AI columns: values that a language model writes in the background.
//!
//! A cell waits in Postgres until a worker takes it by lease, asks, and writes answer and state in one transaction.
//! A send or a new prompt lets it wait again, which takes it out of a worker's hands.

mod model;
mod question;

use std::error::Error;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use futures_util::{FutureExt, StreamExt, stream};
use runtime::fail_point;
use runtime::measure::{ProviderOutcome, provider_call};
use store::{AiCell, StoreError};
use tracing::Instrument;
use uuid::Uuid;

pub(crate) use self::model::LanguageModelClient;
use self::model::LanguageModelError;
use self::question::{FilledPrompt, PromptSources};
use crate::MailerState;

/// What is shown of a value until the model has been asked. Without a configured model that is always.
pub(crate) const WAITS: &str = "waits for a language model; there is none unless one is configured";

/// Longest answer that is a value, in characters: a cut one would print half a sentence.
const ANSWER_CHARS: usize = audience::column::MAX_VALUE_CHARS;
/// Entries of a column with a new prompt that are queued at a time, when nothing else waits.
const QUEUED_AT_A_TIME: i64 = 200;
/// The longest pause between two tries, and that a model is granted when it asks for one.
const PAUSE_MAX: TimeDelta = TimeDelta::hours(1);
/// A lease lasts this much longer than a call may take.
const LEASE_MARGIN_MS: i64 = 30_000;

/// Works until the process is to stop.
pub(crate) async fn run(mailer: &MailerState, model: Option<&LanguageModelClient>) {
    // Nobody to ask: what waits goes on waiting.
    let Some(model) = model else { return };
    let mut looks = tokio::time::interval(Duration::from_millis(
        mailer.process.config.mailer.job_interval_ms,
    ));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = mailer.process.shutdown.cancelled() => return,
        }
        while !mailer.process.shutdown.is_cancelled() {
            match write_due_cells(mailer, model).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "cannot look for values to write"
                    );
                    break;
                }
            }
        }
    }
}

/// Writes due values, or else queues some of a new prompt. False when there is nothing of either.
async fn write_due_cells(
    mailer: &MailerState,
    model: &LanguageModelClient,
) -> Result<bool, StoreError> {
    let (store, settings) = (&mailer.process.store, &mailer.process.config.language_model);
    let now = mailer.process.clock.now();
    let call = i64::try_from(settings.timeout_ms).unwrap_or(i64::MAX / 2);
    let leased_until = now + TimeDelta::milliseconds(call.saturating_add(LEASE_MARGIN_MS));
    let cells = store
        .claim_due_ai_cells(
            Uuid::now_v7(),
            now,
            leased_until,
            settings.concurrency.into(),
        )
        .await?;
    if cells.is_empty() {
        return queue_new_cells(mailer, now).await;
    }
    let questions = PromptSources::load(mailer, &cells, now).await?;
    // Boxed: the compiler cannot see otherwise that these may move between threads.
    let writing: Vec<_> = cells
        .iter()
        .map(|cell| write_cell_or_leave(mailer, model, cell, questions.fill_for_cell(cell)).boxed())
        .collect();
    stream::iter(writing)
        .buffer_unordered(settings.concurrency.into())
        .collect::<()>()
        .await;
    Ok(true)
}

async fn queue_new_cells(mailer: &MailerState, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let is_any = transaction
        .queue_next_ai_entries(WAITS, now, QUEUED_AT_A_TIME)
        .await?;
    transaction.commit().await?;
    Ok(is_any)
}

/// Answers one cell. When the database fails it is left: the lease runs out, and the cell is taken again.
async fn write_cell_or_leave(
    mailer: &MailerState,
    model: &LanguageModelClient,
    cell: &AiCell,
    question: Result<FilledPrompt, String>,
) {
    let span =
        tracing::info_span!("ai_cell", otel.name = "ai_cell process", team_id = %cell.team_id);
    if let Err(error) = write_cell(mailer, model, cell, question)
        .instrument(span.clone())
        .await
    {
        span.in_scope(|| {
            tracing::warn!(error = &error as &dyn Error, "a value could not be written")
        });
    }
}

/// Answers one cell: from the answers that are there, else by the model.
async fn write_cell(
    mailer: &MailerState,
    model: &LanguageModelClient,
    cell: &AiCell,
    question: Result<FilledPrompt, String>,
) -> Result<(), StoreError> {
    let question = match question {
        Ok(question) => question,
        Err(reason) => return write_blank(mailer, cell, &reason).await,
    };
    let (store, settings) = (&mailer.process.store, &mailer.process.config.language_model);
    let digest = model.question_digest(&question.text);
    if let Some(answer) = store.find_ai_answer(cell.team_id, &digest).await? {
        return keep_answer(mailer, cell, &digest, &answer).await;
    }
    if cell.attempts > settings.attempts {
        return write_blank(mailer, cell, "the language model did not answer").await;
    }
    let now = mailer.process.clock.now();
    let characters = (question.text.chars().count() + ANSWER_CHARS) as i64;
    let limit = settings.characters_per_team_and_day;
    if !store
        .reserve_ai_characters(cell.team_id, now.date_naive(), characters, limit)
        .await?
    {
        let reason = "the team has used up what it may ask the language model today";
        count_result("postponed");
        return store
            .release_ai_cell(cell, cell.attempts - 1, next_utc_day(now), reason)
            .await;
    }
    let asked = provider_call(
        "language_model",
        model.ask(&question.text),
        |answer| match answer {
            Ok(_) => ProviderOutcome::Ok,
            Err(LanguageModelError::Again { .. }) => ProviderOutcome::Failed,
            Err(LanguageModelError::ForGood(_) | LanguageModelError::Refused(_)) => {
                ProviderOutcome::Refused
            }
        },
    );
    match asked.await {
        Ok(answer) => {
            fail_point::fail_if_chosen("ai.answered");
            keep_answer(mailer, cell, &digest, &answer).await
        }
        Err(LanguageModelError::ForGood(reason)) => write_blank(mailer, cell, &reason).await,
        Err(LanguageModelError::Again { reason, pause }) => {
            let due_at =
                mailer.process.clock.now() + retry_pause(settings.pause_ms, cell.attempts, pause);
            count_result("postponed");
            store
                .release_ai_cell(cell, cell.attempts, due_at, &reason)
                .await
        }
        // It is the operator's to mend: no value is given up for it.
        Err(LanguageModelError::Refused(reason)) => {
            let due_at = mailer.process.clock.now() + retry_pause(settings.pause_ms, 1, None);
            count_result("postponed");
            store
                .release_ai_cell(cell, cell.attempts - 1, due_at, &reason)
                .await
        }
    }
}

async fn keep_answer(
    mailer: &MailerState,
    cell: &AiCell,
    digest: &[u8],
    answer: &str,
) -> Result<(), StoreError> {
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    if transaction
        .write_ai_cell(cell, digest, answer, mailer.process.clock.now())
        .await?
    {
        transaction.commit().await?;
        count_result("written");
    }
    Ok(())
}

async fn write_blank(mailer: &MailerState, cell: &AiCell, reason: &str) -> Result<(), StoreError> {
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    if transaction
        .blank_ai_cell(cell, reason, mailer.process.clock.now())
        .await?
    {
        transaction.commit().await?;
        count_result("blank");
    }
    Ok(())
}

fn count_result(result: &'static str) {
    metrics::counter!("pillarbox_ai_values_total", "result" => result).increment(1);
}

/// The pause before the next try: twice as long each time, or what the model asks for, up to [`PAUSE_MAX`].
fn retry_pause(first_ms: i64, attempts: i32, wanted: Option<TimeDelta>) -> TimeDelta {
    const MOST_DOUBLINGS: u32 = 16;
    let doublings = u32::try_from(attempts - 1).unwrap_or(0).min(MOST_DOUBLINGS);
    let own = TimeDelta::milliseconds(
        first_ms
            .saturating_mul(1 << doublings)
            .min(PAUSE_MAX.num_milliseconds()),
    );
    own.max(wanted.unwrap_or_default()).min(PAUSE_MAX)
}

/// The beginning of the next UTC day.
fn next_utc_day(now: DateTime<Utc>) -> DateTime<Utc> {
    now + TimeDelta::seconds(86_400 - i64::from(now.num_seconds_from_midnight()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_an_hour_and_heed_the_model() {
        let seconds = |attempts, wanted: Option<i64>| {
            retry_pause(60_000, attempts, wanted.map(TimeDelta::seconds)).num_seconds()
        };
        assert_eq!(
            [1, 2, 3, 9, 99].map(|attempts| seconds(attempts, None)),
            [60, 120, 240, 3600, 3600]
        );
        assert_eq!(
            (
                seconds(1, Some(300)),
                seconds(1, Some(5)),
                seconds(1, Some(90_000))
            ),
            (300, 60, 3600)
        );
    }

    #[test]
    fn tomorrow_begins_at_midnight() {
        let now = "2026-11-21T22:15:09.5Z".parse().unwrap();
        assert_eq!(
            next_utc_day(now).date_naive(),
            "2026-11-22".parse().unwrap()
        );
        assert_eq!(next_utc_day(now).num_seconds_from_midnight(), 0);
    }
}
