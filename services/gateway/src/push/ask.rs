//! Requests that change something: checked for their shape, then passed to a syncer.

use std::error::Error;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use contract::push::{
    BeginSyncRequest, CompleteSyncRequest, IdempotencyKey, PushError, read_declaration, split_batch,
};
use messages::{
    BEGIN_V1, COMPLETE_V1, COMPLETE_VALIDATE_V1, DECLARE_V1, PUSH_V1, PUSH_VALIDATE_V1,
    PushContext, REPLY_OK, REPLY_REPLAYED,
};
use queue::{CallError, QueueCall, QueueReply};
use runtime::trace::RequestIdentity;

use crate::GatewayState;
use crate::push::answer::ReplayableAnswer;
use crate::push::query::PushQuery;
use crate::push::{IntegrationAccess, PushEndpoint};

/// Bodies up to this size are checked in place, in a quarter of a millisecond at the most; larger ones on a thread of their own.
const INLINE_CHECK_BYTES: usize = 512 * 1024;

/// What a syncer is asked, without the body.
pub(crate) struct SyncerRequest {
    kind: &'static str,
    access: IntegrationAccess,
    context: PushContext,
    /// How long to wait for the answer.
    reply_timeout: Duration,
}

impl SyncerRequest {
    /// A question of this kind; one that changes something comes with a key.
    pub(crate) fn new(
        kind: &'static str,
        access: IntegrationAccess,
        idempotency_key: Option<IdempotencyKey>,
        patience: Duration,
    ) -> Self {
        let context = PushContext {
            integration_id: access.integration_id,
            idempotency_key,
        };
        Self {
            kind,
            access,
            context,
            reply_timeout: patience,
        }
    }

    /// Reads what headers and query say. Errors: `missing_idempotency_key`, `invalid_idempotency_key`.
    pub(super) fn parse(
        endpoint: PushEndpoint,
        access: IntegrationAccess,
        headers: &HeaderMap,
        query: &str,
        patience: Duration,
    ) -> Result<Self, PushError> {
        // Any other value than 1 is ignored.
        let is_dry = PushQuery::parse(query).get_value("validate") == Some("1");
        let (kind, needs_key) = match (endpoint, is_dry) {
            (PushEndpoint::Begin, _) => (BEGIN_V1, true),
            (PushEndpoint::Complete, false) => (COMPLETE_V1, true),
            (PushEndpoint::Complete, true) => (COMPLETE_VALIDATE_V1, false),
            (PushEndpoint::Push, false) => (PUSH_V1, true),
            (PushEndpoint::Push, true) => (PUSH_VALIDATE_V1, false),
            _ => (DECLARE_V1, false),
        };
        let idempotency_key = if needs_key {
            Some(parse_idempotency_key(headers)?)
        } else {
            None
        };
        Ok(Self::new(kind, access, idempotency_key, patience))
    }
}

fn parse_idempotency_key(headers: &HeaderMap) -> Result<IdempotencyKey, PushError> {
    let value = headers
        .get("idempotency-key")
        .map_or(&b""[..], HeaderValue::as_bytes);
    Ok(std::str::from_utf8(value)
        .map_err(|_| PushError::InvalidIdempotencyKey)?
        .parse()?)
}

/// Asks a syncer. When the answer gets lost on the way the client is told to retry: its key finds what was done.
pub(crate) async fn ask_syncer(
    gateway: &GatewayState,
    question: SyncerRequest,
    body: Bytes,
    identity: &RequestIdentity,
) -> Result<ReplayableAnswer, PushError> {
    check_body(question.kind, &body).await?;
    let patience = question.reply_timeout;
    let deadline = gateway.process.clock.now() + patience;
    let call = QueueCall {
        id: identity.request_id.0,
        kind: question.kind.to_owned(),
        team: question.access.team_id.0,
        // Two ids can always be written.
        context: serde_json::to_string(&question.context).unwrap_or_default(),
        trace: identity.trace.to_header(),
        deadline_ms: deadline.timestamp_millis(),
        delivery_count: 0,
        body,
    };
    match gateway.call_worker(&gateway.push, call, patience).await {
        Ok(reply) => parse_reply(reply),
        Err(CallError::Unavailable) => Err(PushError::InternalError),
        Err(CallError::DeadlinePassed | CallError::GivenUp | CallError::Lost) => {
            Err(PushError::DeadlinePassed)
        }
    }
}

fn parse_reply(reply: QueueReply) -> Result<ReplayableAnswer, PushError> {
    match reply.kind.as_str() {
        REPLY_OK => Ok(ReplayableAnswer {
            body: reply.body,
            is_replayed: false,
        }),
        REPLY_REPLAYED => Ok(ReplayableAnswer {
            body: reply.body,
            is_replayed: true,
        }),
        _ => Err(serde_json::from_slice(&reply.body).unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn Error, "a reply cannot be read");
            PushError::InternalError
        })),
    }
}

async fn check_body(kind: &'static str, body: &Bytes) -> Result<(), PushError> {
    if body.len() <= INLINE_CHECK_BYTES {
        return check_shape(kind, body);
    }
    let body = body.clone();
    tokio::task::spawn_blocking(move || check_shape(kind, &body))
        .await
        .map_err(|error| {
            tracing::error!(error = &error as &dyn Error, "a body's check failed");
            PushError::InternalError
        })?
}

/// What is malformed costs no worker's time.
fn check_shape(kind: &str, body: &[u8]) -> Result<(), PushError> {
    match kind {
        BEGIN_V1 => BeginSyncRequest::parse(body).map(drop),
        COMPLETE_V1 | COMPLETE_VALIDATE_V1 => CompleteSyncRequest::parse(body).map(drop),
        DECLARE_V1 => read_declaration(body).map(drop),
        _ => split_batch(body).map(drop),
    }
}
