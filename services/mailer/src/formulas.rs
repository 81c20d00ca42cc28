//! The tools of the Formula MCP server, which are the crate `columns`'s. A mailer answers them because it is what computes formula
//! columns when it makes cards: a preview and a card come from the same code. They have a queue of their own, so that neither waits
//! for the other.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use columns::{
    ColumnsContext, FormulaToSave, PeopleMasking, SaveColumnError, check_name, to_formula_error,
};
use contract::mcp::{FormulaError, FormulaTool, SaveAnswer, SaveArguments, read_arguments};
use messages::{FORMULA_QUEUE, FormulaContext, REPLY_ERROR, REPLY_OK};
use model::id::{ApiKeyId, RequestId, TeamId};
use queue::{CallHandler, ConsumerOptions, QueueCall, QueueReply, SlotPermit};
use runtime::trace::{TraceContext, run_in_span};
use runtime::{Process, fail_point};
use serde::Serialize;
use store::{Actor, retry_conflicts};

/// Answers calls of formula tools until the process is to stop.
pub(crate) async fn run(process: &Process) {
    let consumption = ConsumerOptions {
        queue: FORMULA_QUEUE,
        concurrency: process.config.mailer.formula_concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace_period(),
        // Whether the process is ready depends on sends.
        is_consuming: Arc::new(AtomicBool::new(false)),
    };
    let handler = Arc::new(FormulaHandler {
        process: process.clone(),
    });
    queue::serve_calls(&process.broker, consumption, handler).await;
}

/// A call, and who makes it.
#[derive(Clone, Copy)]
struct FormulaCall<'a> {
    asker: ColumnsContext<'a>,
    request_id: RequestId,
    key_id: ApiKeyId,
}

/// Answers the calls of the formula queue.
struct FormulaHandler {
    process: Process,
}

impl FormulaHandler {
    async fn answer_call(
        &self,
        call: &QueueCall,
        tool: FormulaTool,
        context: FormulaContext,
    ) -> Result<Bytes, FormulaError> {
        if self.process.clock.now().timestamp_millis() > call.deadline_ms {
            // Nobody waits any more; what has not begun does not begin now.
            return Err(FormulaError::DeadlinePassed);
        }
        let (store, now) = (&self.process.store, self.process.clock.now());
        let asker = ColumnsContext {
            store,
            team_id: TeamId(call.team),
            now,
        };
        let body = &call.body[..];
        match tool {
            FormulaTool::ListColumns => {
                to_json_bytes(columns::list_columns(asker, read_arguments(tool, body)?).await)
            }
            FormulaTool::ListFunctions => {
                to_json_bytes(columns::list_functions(&read_arguments(tool, body)?))
            }
            FormulaTool::CheckFormula => {
                to_json_bytes(columns::check_formula(asker, read_arguments(tool, body)?).await)
            }
            FormulaTool::PreviewFormula => {
                // Nobody waits for the answer any more.
                let is_too_late = || self.process.clock.now().timestamp_millis() > call.deadline_ms;
                let people = recipient_access(asker, context).await?;
                to_json_bytes(
                    columns::preview_formula(
                        asker,
                        read_arguments(tool, body)?,
                        people,
                        &is_too_late,
                    )
                    .await,
                )
            }
            FormulaTool::SaveFormula => {
                let call = FormulaCall {
                    asker,
                    request_id: RequestId(call.id),
                    key_id: context.key_id,
                };
                to_json_bytes(save_formula(call, read_arguments(tool, body)?).await)
            }
            FormulaTool::ExplainFormula => {
                to_json_bytes(columns::explain_formula(asker, read_arguments(tool, body)?).await)
            }
        }
    }
}

/// What a key sees of people: as they are when it opens more than formulas, or when the team lets it.
async fn recipient_access(
    asker: ColumnsContext<'_>,
    context: FormulaContext,
) -> Result<PeopleMasking, FormulaError> {
    let is_open = context.is_full_access
        || asker
            .store
            .shows_people_unmasked(asker.team_id)
            .await
            .map_err(to_formula_error)?;
    Ok(if is_open {
        PeopleMasking::Shown
    } else {
        PeopleMasking::Masked
    })
}

impl CallHandler for FormulaHandler {
    /// `None` for a tool or a version that this worker does not know.
    async fn handle(&self, call: QueueCall, _turn: SlotPermit) -> Option<QueueReply> {
        let tool = FormulaTool::from_message_kind(&call.kind)?;
        let context: FormulaContext = serde_json::from_str(&call.context).ok()?;
        let trace = TraceContext::from_header(Some(&call.trace));
        let span = trace.work_span(&call, FORMULA_QUEUE);
        let code_of = |result: &Result<_, FormulaError>| {
            result.as_ref().map_or_else(FormulaError::code, |_| "ok")
        };
        Some(to_reply(
            run_in_span(
                span,
                Box::pin(self.answer_call(&call, tool, context)),
                code_of,
            )
            .await,
        ))
    }
}

fn to_reply(result: Result<Bytes, FormulaError>) -> QueueReply {
    match result {
        Ok(body) => QueueReply::new(REPLY_OK, body),
        Err(error) => {
            // A code and its content can always be written.
            QueueReply::new(
                REPLY_ERROR,
                serde_json::to_vec(&error)
                    .map(Bytes::from)
                    .unwrap_or_default(),
            )
        }
    }
}

/// An answer's JSON. Answers hold texts and numbers, which can always be written.
fn to_json_bytes(answer: Result<impl Serialize, FormulaError>) -> Result<Bytes, FormulaError> {
    answer.map(|answer| {
        serde_json::to_vec(&answer)
            .map(Bytes::from)
            .unwrap_or_default()
    })
}

/// Makes a formula column or changes one. A call that is delivered again finds its change and gets the same answer.
async fn save_formula(
    call: FormulaCall<'_>,
    arguments: SaveArguments,
) -> Result<SaveAnswer, FormulaError> {
    let (name, formula) = (check_name(&arguments.name)?, arguments.formula.trim());
    let save = FormulaToSave {
        request_id: call.request_id,
        name,
        formula,
    };
    let attempt = retry_conflicts(|| async {
        match save_in_transaction(call, save).await {
            Err(SaveColumnError::Store(error)) => Err(error),
            Err(SaveColumnError::Request(error)) => Ok(Err(error)),
            Ok(answer) => Ok(Ok(answer)),
        }
    });
    attempt.await.map_err(to_formula_error)?
}

async fn save_in_transaction(
    call: FormulaCall<'_>,
    save: FormulaToSave<'_>,
) -> Result<SaveAnswer, SaveColumnError> {
    let asker = call.asker;
    let mut connection = asker.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction.find_api_key_name(call.key_id).await?;
    let actor = Actor::KeyHolder {
        key_id: call.key_id,
        name: &name,
    };
    let answer =
        columns::save_formula_within(&transaction, actor, asker.team_id, save, asker.now).await?;
    fail_point::fail_if_chosen("formula.saved");
    transaction.commit().await?;
    fail_point::fail_if_chosen("formula.committed");
    tracing::info!(team_id = %asker.team_id, key_id = %call.key_id, "saved a formula");
    Ok(answer)
}
