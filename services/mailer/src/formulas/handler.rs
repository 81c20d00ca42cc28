//! Between the queue and the tools: messages in, replies out.

use bytes::Bytes;
use columns::{ColumnsContext, PeopleMasking};
use contract::mcp::{FormulaError, FormulaTool, read_arguments};
use messages::{FORMULA_QUEUE, FormulaContext, REPLY_ERROR, REPLY_OK};
use model::id::{RequestId, TeamId};
use queue::{CallHandler, QueueCall, QueueReply, SlotPermit};
use runtime::Process;
use runtime::trace::{TraceContext, run_in_span};
use serde::Serialize;

use super::{check, explain, list, save};

/// Answers the calls of the formula queue.
pub(super) struct FormulaHandler {
    process: Process,
}

impl FormulaHandler {
    pub(super) fn new(process: Process) -> Self {
        Self { process }
    }

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
                to_json_bytes(list::list_columns(asker, read_arguments(tool, body)?).await)
            }
            FormulaTool::ListFunctions => {
                to_json_bytes(list::list_functions(&read_arguments(tool, body)?))
            }
            FormulaTool::CheckFormula => {
                to_json_bytes(check::check_formula(asker, read_arguments(tool, body)?).await)
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
                let call = super::FormulaCall {
                    asker,
                    request_id: RequestId(call.id),
                    key_id: context.key_id,
                };
                to_json_bytes(save::save_formula(call, read_arguments(tool, body)?).await)
            }
            FormulaTool::ExplainFormula => {
                to_json_bytes(explain::explain_formula(asker, read_arguments(tool, body)?).await)
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
            .map_err(columns::to_formula_error)?;
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
