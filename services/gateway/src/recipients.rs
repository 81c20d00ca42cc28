//! POST /api/v1/recipients.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use contract::send::{self, COST_HEADER, SendError};
use messages::{
    REPLY_OK, REPLY_REPLAYED, SEND_V1, SEND_VALIDATE_V1, SendContext, SendReplyContext,
};
use model::id::TeamId;
use model::idempotency::{IdempotencyKey, IdempotencyKeyError};
use model::key::PresentedKey;
use model::limits::BODY_BYTES;
use queue::{CallError, QueueCall, QueueReply};
use store::AdmittedKey;

use crate::admission::{AdmissionError, AdmissionGate, RETRY_AFTER, bearer_key};
use crate::body::{declared_too_large, drain_body};
use crate::expand::{ACCEPTED_ENCODINGS, BodyEncoding};
use crate::push::answer::{REPLAYED, ReplayableAnswer};
use crate::push::query::PushQuery;
use crate::{GatewayState, PeerAddress};
use runtime::source::source_address;
use runtime::task;
use runtime::trace::RequestIdentity;

/// Bodies up to this size are checked in place; larger ones on a thread of their own.
const INLINE_CHECK_BYTES: usize = 64 * 1024;

/// How often the stored response is looked for after the way of the reply was lost.
const RESPONSE_POLL: Duration = Duration::from_millis(250);

/// Proof that the request carried a Full access key of this team.
#[derive(Debug, Clone, Copy)]
struct FullAccess {
    team_id: TeamId,
}

impl From<AdmittedKey> for FullAccess {
    fn from(key: AdmittedKey) -> Self {
        Self {
            team_id: key.team_id,
        }
    }
}

impl From<AdmissionError> for SendError {
    fn from(refusal: AdmissionError) -> Self {
        match refusal {
            AdmissionError::RateLimited => Self::RateLimited,
            AdmissionError::BodyTooLarge => {
                Self::PayloadTooLarge(format!("The body is over the limit of {BODY_BYTES} bytes."))
            }
            AdmissionError::BodyUnreadable(message) => Self::InvalidPayload(message.to_owned()),
            AdmissionError::UnsupportedEncoding => Self::UnsupportedEncoding,
            AdmissionError::InvalidKey => Self::InvalidApiKey,
            AdmissionError::Failed => Self::InternalError,
        }
    }
}

/// Answers a send request.
pub(crate) async fn post_recipients(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let identity = RequestIdentity::from_extensions(&parts.extensions);
    let source = source_address(
        peer.ip(),
        &parts.headers,
        &gateway.process.config.gateway.trusted_proxies,
    );
    // A task of its own: a client that hangs up does not stop it.
    let task = task::spawn(handle_send(gateway, source, parts, body, identity.clone()));
    let result = task.await.unwrap_or_else(|error| {
        tracing::error!(error = &error as &dyn Error, "a request's task failed");
        Err(SendError::InternalError)
    });
    let code = result.as_ref().map_or_else(SendError::code, |_| "ok");
    let is_replayed = result.as_ref().is_ok_and(|sent| sent.answered.is_replayed);
    let cost_cents = result.as_ref().ok().and_then(|sent| sent.cost_cents);
    let mut response = build_response(result.map(|sent| sent.answered.body));
    if is_replayed {
        response
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if let Some(cents) = cost_cents {
        response.headers_mut().insert(COST_HEADER, cents.into());
    }
    identity.mark_response(code, &mut response);
    response
}

/// The answer to a send.
struct SendResult {
    answered: ReplayableAnswer,
    /// What it has cost, told in a header: the answer stays the stored one, byte for byte. `None` of a dry run and of a
    /// replayed answer.
    cost_cents: Option<i64>,
}

/// Admits, reads and checks the request, and asks a mailer.
async fn handle_send(
    gateway: GatewayState,
    source: IpAddr,
    parts: Parts,
    mut body: Body,
    identity: RequestIdentity,
) -> Result<SendResult, SendError> {
    match receive_body(&gateway, &identity, source, &parts.headers, &mut body).await {
        Ok((access, body)) => {
            check_body(&body).await?;
            let question = MailerRequest::parse(&gateway, &parts, access).await?;
            ask_mailer(&gateway, question, body, &identity).await
        }
        Err(error) => {
            drain_body(body);
            Err(error.into())
        }
    }
}

/// Admits the request and reads its body. With a key in the headers nobody's body is read before the key is
/// known; a key in the body can only be known after.
async fn receive_body(
    gateway: &GatewayState,
    identity: &RequestIdentity,
    source: IpAddr,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<(FullAccess, Bytes), AdmissionError> {
    gateway.send_gate.check_refused_source(identity, source)?;
    let too_large = declared_too_large(body);
    if let Some(key) = key_in_headers(headers) {
        let access = FullAccess::from(
            gateway
                .send_gate
                .admit(identity, source, Some(&key), too_large)
                .await?,
        );
        return Ok((
            access,
            gateway
                .bodies
                .read(access.team_id, source, headers, body)
                .await?,
        ));
    }
    let is_encoded = !matches!(BodyEncoding::from_headers(headers), Ok(None));
    let body = match too_large {
        Some(error) => Err(error),
        // For somebody who has shown no key nothing is expanded: who can name an encoding can put the key beside it.
        None if is_encoded => Ok(Bytes::new()),
        None => gateway.bodies.read_anonymous(source, body).await,
    };
    let key = body.as_ref().ok().and_then(|body| send::find_api_key(body));
    // Of a body that did not arrive whole nobody knows whether it holds a key.
    let refused = body.as_ref().err().cloned();
    let access = gateway
        .send_gate
        .admit(identity, source, key.as_ref(), refused)
        .await?;
    Ok((access.into(), body?))
}

/// The key in `Authorization` or else `X-API-Key`: the first header present decides, even when it holds no key.
pub(crate) fn key_in_headers(headers: &HeaderMap) -> Option<PresentedKey> {
    let in_own_header = || {
        let value = headers.get("x-api-key")?;
        Some(PresentedKey::new(value.to_str().unwrap_or_default()))
    };
    bearer_key(headers).or_else(in_own_header)
}

async fn check_body(body: &Bytes) -> Result<(), SendError> {
    let checked = if body.len() <= INLINE_CHECK_BYTES {
        send::check_request(body)
    } else {
        let bytes = body.clone();
        tokio::task::spawn_blocking(move || send::check_request(&bytes))
            .await
            .map_err(|error| {
                tracing::error!(error = &error as &dyn Error, "a body's check failed");
                SendError::InternalError
            })?
    };
    checked.map_err(SendError::from)
}

/// What a mailer is asked, without the body.
struct MailerRequest {
    access: FullAccess,
    /// Whether nothing is to come of it but an answer.
    is_dry: bool,
    context: SendContext,
}

impl MailerRequest {
    /// Reads what headers and query say. Errors: `invalid_idempotency_key`.
    async fn parse(
        gateway: &GatewayState,
        parts: &Parts,
        access: FullAccess,
    ) -> Result<Self, SendError> {
        let query = parts.uri.query();
        // Any other value than 1 is ignored.
        let is_dry =
            query.is_some_and(|query| PushQuery::parse(query).get_value("validate") == Some("1"));
        let mut context = SendContext::default();
        if let Some(value) = parts.headers.get("idempotency-key").filter(|_| !is_dry)
            && honors_idempotency_keys(gateway, access).await?
        {
            context.idempotency_key = parse_idempotency_key(value)?;
        }
        Ok(Self {
            access,
            is_dry,
            context,
        })
    }

    const fn message_kind(&self) -> &'static str {
        if self.is_dry {
            SEND_VALIDATE_V1
        } else {
            SEND_V1
        }
    }
}

/// Whether the team has switched keys on: the contract reads none.
async fn honors_idempotency_keys(
    gateway: &GatewayState,
    access: FullAccess,
) -> Result<bool, SendError> {
    gateway
        .process
        .store
        .honors_idempotency_keys(access.team_id)
        .await
        .map_err(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "cannot read a team's settings"
            );
            SendError::InternalError
        })
}

/// The key in a header; an empty one is none.
fn parse_idempotency_key(value: &HeaderValue) -> Result<Option<IdempotencyKey>, SendError> {
    let text =
        std::str::from_utf8(value.as_bytes()).map_err(|_| SendError::InvalidIdempotencyKey)?;
    match text.parse() {
        Ok(key) => Ok(Some(key)),
        Err(IdempotencyKeyError::Empty) => Ok(None),
        Err(IdempotencyKeyError::Unusable) => Err(SendError::InvalidIdempotencyKey),
    }
}

async fn ask_mailer(
    gateway: &GatewayState,
    question: MailerRequest,
    body: Bytes,
    identity: &RequestIdentity,
) -> Result<SendResult, SendError> {
    let access = question.access;
    let patience = Duration::from_millis(gateway.process.config.gateway.call_deadline_ms);
    let begun = Instant::now();
    let deadline = gateway.process.clock.now() + patience;
    let call = QueueCall {
        id: identity.request_id.0,
        kind: question.message_kind().to_owned(),
        team: access.team_id.0,
        context: question.context.to_text(),
        trace: identity.trace.to_header(),
        deadline_ms: deadline.timestamp_millis(),
        delivery_count: 0,
        // The call lets go of the body as soon as the broker has it.
        body,
    };
    match gateway.call_worker(&gateway.send, call, patience).await {
        Ok(reply) => parse_reply(reply),
        Err(CallError::Unavailable) => {
            tracing::warn!(
                "no broker, no mailer that takes it, or a full queue: nothing was accepted"
            );
            Err(SendError::InternalError)
        }
        // Nothing can have come of a dry run.
        Err(_) if question.is_dry => Err(SendError::InternalError),
        Err(CallError::DeadlinePassed | CallError::GivenUp) => Err(SendError::DeadlinePassed),
        Err(CallError::Lost) => {
            tracing::warn!("lost the way of the reply; waiting for the stored response");
            wait_for_response(gateway, access, identity, begun + patience).await
        }
    }
}

fn parse_reply(reply: QueueReply) -> Result<SendResult, SendError> {
    let cost_cents = SendReplyContext::from_text(&reply.context).cost_cents;
    let answered = |is_replayed, body| {
        Ok(SendResult {
            answered: ReplayableAnswer { body, is_replayed },
            cost_cents,
        })
    };
    match reply.kind.as_str() {
        REPLY_OK => answered(false, reply.body),
        REPLY_REPLAYED => answered(true, reply.body),
        _ => Err(serde_json::from_slice(&reply.body).unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn Error, "a reply cannot be read");
            SendError::InternalError
        })),
    }
}

/// The reply went with the connection, but not the work: its response will stand in the database.
async fn wait_for_response(
    gateway: &GatewayState,
    access: FullAccess,
    identity: &RequestIdentity,
    deadline: Instant,
) -> Result<SendResult, SendError> {
    let store = &gateway.process.store;
    let stored = async {
        loop {
            tokio::time::sleep(RESPONSE_POLL).await;
            match store
                .find_send_response(access.team_id, identity.request_id)
                .await
            {
                Ok(Some(finished)) => {
                    let answered = ReplayableAnswer {
                        body: finished.response,
                        is_replayed: false,
                    };
                    return SendResult {
                        answered,
                        cost_cents: Some(finished.cost_cents),
                    };
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "cannot look for the stored response"
                    );
                }
            }
        }
    };
    tokio::select! {
        answered = stored => Ok(answered),
        () = tokio::time::sleep_until(deadline.into()) => Err(SendError::DeadlinePassed),
        () = gateway.process.last_moment() => Err(SendError::DeadlinePassed),
    }
}

/// Answers a question about what the key's team has: one that is read, and changes nothing.
pub(crate) async fn answer_team_query(
    gateway: &GatewayState,
    gate: &AdmissionGate,
    peer: SocketAddr,
    request: Request,
    answer: impl AsyncFnOnce(TeamId, &Parts) -> Result<Bytes, SendError>,
) -> Response {
    let (parts, _) = request.into_parts();
    let identity = RequestIdentity::from_extensions(&parts.extensions);
    let source = source_address(
        peer.ip(),
        &parts.headers,
        &gateway.process.config.gateway.trusted_proxies,
    );
    let key = key_in_headers(&parts.headers);
    let admitted_and_answered = async {
        gate.check_refused_source(&identity, source)?;
        let team_id = gate
            .admit(&identity, source, key.as_ref(), None)
            .await?
            .team_id;
        answer(team_id, &parts).await
    };
    let result = admitted_and_answered.await;
    let code = result.as_ref().map_or_else(SendError::code, |_| "ok");
    let mut response = build_response(result);
    identity.mark_response(code, &mut response);
    response
}

/// The one place where an outcome of this API becomes HTTP (contract: Errors, Dynamic Audience API).
pub(crate) fn build_response(result: Result<Bytes, SendError>) -> Response {
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => (error_status(&error), error_body(&error)),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    match status {
        StatusCode::TOO_MANY_REQUESTS => headers.insert(header::RETRY_AFTER, RETRY_AFTER),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            headers.insert(header::ACCEPT_ENCODING, ACCEPTED_ENCODINGS)
        }
        _ => None,
    };
    response
}

pub(crate) fn error_status(error: &SendError) -> StatusCode {
    match error {
        SendError::InvalidApiKey => StatusCode::UNAUTHORIZED,
        SendError::CampaignNotFound | SendError::MailpieceNotFound => StatusCode::NOT_FOUND,
        SendError::CampaignNotActive(_)
        | SendError::DesignCannotRender(_)
        | SendError::PriceChanged { .. }
        | SendError::IdempotencyKeyReused
        | SendError::InProgress => StatusCode::CONFLICT,
        SendError::PayloadTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        SendError::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        SendError::InvalidPayload(_)
        | SendError::InvalidIdempotencyKey
        | SendError::InvalidCursor
        | SendError::InvalidState => StatusCode::UNPROCESSABLE_ENTITY,
        SendError::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        SendError::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        SendError::DeadlinePassed => StatusCode::GATEWAY_TIMEOUT,
        SendError::ValidationUnavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn error_body(error: &SendError) -> Bytes {
    let body = serde_json::json!({"code": error.code(), "message": error.to_string()});
    Bytes::from(body.to_string())
}
