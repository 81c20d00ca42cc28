//! Between the queue and a send: messages in, replies out.

use bytes::Bytes;
use contract::id::{RequestId, TeamId};
use contract::message::{REPLY_ERROR, REPLY_OK, SEND_QUEUE, SEND_V1};
use contract::send::SendError;
use queue::{Call, Handler, Reply};
use service::trace::TraceContext;
use tracing::Instrument;

use crate::Mailer;
use crate::send::{self, Incoming};

/// Answers the calls of the send queue.
pub(crate) struct SendHandler {
    mailer: Mailer,
}

impl SendHandler {
    pub(crate) fn new(mailer: Mailer) -> Self {
        Self { mailer }
    }
}

impl Handler for SendHandler {
    async fn handle(&self, call: Call) -> Option<Reply> {
        if call.kind != SEND_V1 {
            return None;
        }
        let trace = TraceContext::from_header(Some(&call.trace));
        let span = tracing::info_span!("send", request_id = %call.id, trace_id = trace.trace_id());
        let incoming = Incoming {
            request_id: RequestId(call.id),
            team_id: TeamId(call.team),
            deadline_ms: call.deadline_ms,
            body: call.body,
        };
        let work = send::send(&self.mailer, incoming).instrument(span);
        Some(reply(trace.work(SEND_QUEUE, work).await))
    }
}

fn reply(result: Result<Bytes, SendError>) -> Reply {
    match result {
        Ok(body) => Reply { kind: REPLY_OK.to_owned(), body },
        Err(error) => Reply { kind: REPLY_ERROR.to_owned(), body: error_body(&error) },
    }
}

fn error_body(error: &SendError) -> Bytes {
    // A code and a text can always be written.
    serde_json::to_vec(error).map(Bytes::from).unwrap_or_default()
}
