//! Between the queue and the operations: messages in, replies out.

use bytes::Bytes;
use contract::push::PushError;
use messages::{
    BEGIN_V1, COMPLETE_V1, COMPLETE_VALIDATE_V1, DECLARE_V1, PUSH_QUEUE, PUSH_V1, PUSH_VALIDATE_V1,
    PushContext, REPLY_ERROR, REPLY_OK, REPLY_REPLAYED,
};
use model::id::{RequestId, TeamId};
use queue::{CallHandler, QueueCall, QueueReply, SlotPermit};
use runtime::trace::{TraceContext, run_in_span};
use syncing::{ChangeAnswer, SyncerState};
use tracing::field::display;

/// Answers the calls of the push queue.
pub(crate) struct PushHandler {
    syncer: SyncerState,
}

impl PushHandler {
    pub(crate) fn new(syncer: SyncerState) -> Self {
        Self { syncer }
    }

    /// `None` for a kind that this worker does not know.
    async fn answer_call(
        &self,
        call: &QueueCall,
        context: &PushContext,
    ) -> Option<Result<ChangeAnswer, PushError>> {
        let (syncer, body) = (&self.syncer, &call.body[..]);
        if syncer.now().timestamp_millis() > call.deadline_ms {
            // Nobody waits any more; what has not begun does not begin now.
            return Some(Err(PushError::DeadlinePassed));
        }
        let result = match call.kind.as_str() {
            BEGIN_V1 => syncing::begin_sync(syncer, context, body).await,
            PUSH_V1 => syncing::push_batch(syncer, context, body).await,
            COMPLETE_V1 => syncing::complete_sync(syncer, context, body).await,
            DECLARE_V1 => {
                let asked = (TeamId(call.team), RequestId(call.id));
                syncing::declare_fields(syncer, asked, context, body)
                    .await
                    .map(ChangeAnswer::New)
            }
            PUSH_VALIDATE_V1 => syncing::validate_push(syncer, context, body)
                .await
                .map(ChangeAnswer::New),
            COMPLETE_VALIDATE_V1 => syncing::validate_complete(syncer, context, body)
                .await
                .map(ChangeAnswer::New),
            _ => return None,
        };
        Some(result)
    }
}

impl CallHandler for PushHandler {
    async fn handle(&self, call: QueueCall, _turn: SlotPermit) -> Option<QueueReply> {
        let context: PushContext = serde_json::from_str(&call.context).ok()?;
        let trace = TraceContext::from_header(Some(&call.trace));
        let span = trace.work_span(&call, PUSH_QUEUE);
        span.record("integration_id", display(context.integration_id));
        run_in_span(
            span,
            Box::pin(self.answer_call(&call, &context)),
            answer_code,
        )
        .await
        .map(to_reply)
    }
}

fn answer_code(result: &Option<Result<ChangeAnswer, PushError>>) -> &'static str {
    match result {
        Some(Ok(ChangeAnswer::New(_))) => "ok",
        Some(Ok(ChangeAnswer::Replayed(_))) => "replayed",
        Some(Err(error)) => error.code(),
        None => "unknown_kind",
    }
}

fn to_reply(result: Result<ChangeAnswer, PushError>) -> QueueReply {
    match result {
        Ok(ChangeAnswer::New(body)) => QueueReply::new(REPLY_OK, body),
        Ok(ChangeAnswer::Replayed(body)) => QueueReply::new(REPLY_REPLAYED, body),
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
