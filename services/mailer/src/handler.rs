//! Between the queue and a send: messages in, replies out.

use bytes::Bytes;
use contract::send::SendError;
use messages::{
    REPLY_ERROR, REPLY_OK, REPLY_REPLAYED, SEND_QUEUE, SEND_V1, SEND_VALIDATE_V1, SendContext,
    SendReplyContext,
};
use model::id::{RequestId, TeamId};
use queue::{CallHandler, QueueCall, QueueReply, SlotPermit};
use runtime::Process;
use runtime::trace::{TraceContext, run_in_span};
use sending::{IncomingSend, MailerState, SendAnswer};
use store::FinishedSend;

use crate::withhold::answer_order;

/// Answers the calls of the send queue.
pub(crate) struct SendHandler {
    mailer: MailerState,
    process: Process,
}

impl SendHandler {
    pub(crate) fn new(mailer: MailerState, process: Process) -> Self {
        Self { mailer, process }
    }

    /// Answers a call of a kind that this worker knows.
    async fn answer_call(
        &self,
        is_dry: bool,
        incoming: IncomingSend,
        slot: SlotPermit,
    ) -> Result<SendAnswer, SendError> {
        let mailer = self.mailer.with_slot(slot);
        if is_dry {
            return Box::pin(sending::validate_send(&mailer, &incoming))
                .await
                .map(SendAnswer::Validated);
        }
        // Boxed: it is large, and would be moved from layer to layer.
        Box::pin(sending::handle_send(&mailer, incoming)).await
    }
}

impl CallHandler for SendHandler {
    async fn handle(&self, call: QueueCall, turn: SlotPermit) -> Option<QueueReply> {
        let is_dry = match call.kind.as_str() {
            SEND_V1 => false,
            SEND_VALIDATE_V1 => true,
            _ => return answer_order(&self.process, &call).await,
        };
        let context = SendContext::from_text(&call.context)?;
        let span = TraceContext::from_header(Some(&call.trace)).work_span(&call, SEND_QUEUE);
        let incoming = IncomingSend {
            request_id: RequestId(call.id),
            team_id: TeamId(call.team),
            deadline_ms: call.deadline_ms,
            idempotency_key: context.idempotency_key,
            body: call.body,
        };
        Some(to_reply(
            run_in_span(span, self.answer_call(is_dry, incoming, turn), answer_code).await,
        ))
    }
}

fn answer_code(result: &Result<SendAnswer, SendError>) -> &'static str {
    match result {
        Ok(SendAnswer::New(_) | SendAnswer::Validated(_)) => "ok",
        Ok(SendAnswer::Replayed(_)) => "replayed",
        Err(error) => error.code(),
    }
}

fn to_reply(result: Result<SendAnswer, SendError>) -> QueueReply {
    match result {
        Ok(SendAnswer::New(FinishedSend {
            response,
            cost_cents,
        })) => {
            let context = SendReplyContext {
                cost_cents: Some(cost_cents),
            };
            QueueReply::new(REPLY_OK, response).with_context(context.to_text())
        }
        Ok(SendAnswer::Validated(body)) => QueueReply::new(REPLY_OK, body),
        Ok(SendAnswer::Replayed(body)) => QueueReply::new(REPLY_REPLAYED, body),
        Err(error) => QueueReply::new(REPLY_ERROR, error_body(&error)),
    }
}

fn error_body(error: &SendError) -> Bytes {
    // A code and a text can always be written.
    serde_json::to_vec(error)
        .map(Bytes::from)
        .unwrap_or_default()
}
