//! Cancelling mailpieces, and holding and releasing campaigns: POST below /api/v1/mailpieces, /api/v1/requests and /api/v1/campaigns. An
//! addition to the contract. A gateway says what is wrong with a request; a mailer does it.

use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use contract::withhold::{ReferenceToCancel, WithholdError};
use messages::{CANCEL_MAILPIECES_V1, CancelOrder, HOLD_CAMPAIGN_V1, HoldOrder, REPLY_OK};
use model::id::CampaignId;
use model::limits::BODY_BYTES;
use queue::{CallError, QueueCall, QueueReply};
use runtime::source::source_address;
use runtime::task;
use runtime::trace::RequestIdentity;
use serde::Serialize;
use store::AdmittedKey;

use crate::admission::{AdmissionError, RETRY_AFTER};
use crate::body::{declared_too_large, drain_body};
use crate::expand::ACCEPTED_ENCODINGS;
use crate::recipients::key_in_headers;
use crate::{GatewayState, PeerAddress, method_not_allowed};

/// What is ordered, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderKind {
    CancelMailpiece,
    CancelReference,
    CancelRequest,
    HoldCampaign,
    ReleaseCampaign,
}

/// Where each is.
pub(crate) const CANCEL_MAILPIECE_PATH: &str = "/api/v1/mailpieces/{id}/cancel";
pub(crate) const CANCEL_REFERENCE_PATH: &str = "/api/v1/mailpieces/cancel";
pub(crate) const CANCEL_REQUEST_PATH: &str = "/api/v1/requests/{id}/cancel";
pub(crate) const HOLD_CAMPAIGN_PATH: &str = "/api/v1/campaigns/{id}/hold";
pub(crate) const RELEASE_CAMPAIGN_PATH: &str = "/api/v1/campaigns/{id}/release";

const PATHS: [(&str, OrderKind); 5] = [
    (CANCEL_MAILPIECE_PATH, OrderKind::CancelMailpiece),
    (CANCEL_REFERENCE_PATH, OrderKind::CancelReference),
    (CANCEL_REQUEST_PATH, OrderKind::CancelRequest),
    (HOLD_CAMPAIGN_PATH, OrderKind::HoldCampaign),
    (RELEASE_CAMPAIGN_PATH, OrderKind::ReleaseCampaign),
];

/// An order as a mailer is told it.
struct MailerOrder {
    kind: &'static str,
    body: Bytes,
}

impl From<AdmissionError> for WithholdError {
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

/// The routes.
pub(crate) fn build_router() -> Router<GatewayState> {
    PATHS
        .into_iter()
        .fold(Router::new(), |router, (path, kind)| {
            let handler = move |State(gateway): State<GatewayState>,
                                PeerAddress { 0: peer }: PeerAddress,
                                request: Request| async move {
                let (parts, body) = request.into_parts();
                let identity = RequestIdentity::from_extensions(&parts.extensions);
                let asker = identity.clone();
                // A task of its own: a client that hangs up does not stop it.
                let order = task::spawn(async move {
                    give_order(&gateway, kind, peer.ip(), parts, body, &asker).await
                });
                let result = order.await.unwrap_or_else(|error| {
                    tracing::error!(error = &error as &dyn Error, "a request's task failed");
                    Err(WithholdError::InternalError)
                });
                let code = result.as_ref().map_or_else(WithholdError::code, |_| "ok");
                let mut response = build_response(result);
                identity.mark_response(code, &mut response);
                response
            };
            router.route(path, post(handler).fallback(method_not_allowed))
        })
}

/// Admits and reads the request, and asks a mailer.
async fn give_order(
    gateway: &GatewayState,
    kind: OrderKind,
    peer: IpAddr,
    parts: Parts,
    mut body: Body,
    identity: &RequestIdentity,
) -> Result<Bytes, WithholdError> {
    let (access, body) = match admit_and_read(gateway, peer, &parts, &mut body, identity).await {
        Ok(admitted) => admitted,
        Err(error) => {
            drain_body(body);
            return Err(WithholdError::from(error));
        }
    };
    let order = read_order(kind, &access, parts.uri.path(), &body)?;
    ask_mailer(gateway, &access, order, identity).await
}

/// Finds out who asks, and reads what is sent.
async fn admit_and_read(
    gateway: &GatewayState,
    peer: IpAddr,
    parts: &Parts,
    body: &mut Body,
    identity: &RequestIdentity,
) -> Result<(AdmittedKey, Bytes), AdmissionError> {
    let trusted = &gateway.process.config.gateway.trusted_proxies;
    let source = source_address(peer, &parts.headers, trusted);
    let gate = &gateway.withhold_gate;
    gate.check_refused_source(identity, source)?;
    let key = key_in_headers(&parts.headers);
    let too_large = declared_too_large(body);
    let access = gate
        .admit(identity, source, key.as_ref(), too_large)
        .await?;
    let body = gateway
        .bodies
        .read(access.team_id, source, &parts.headers, body)
        .await?;
    Ok((access, body))
}

/// The order of a request. Errors: an id or a body that cannot be read; a campaign that nobody can have.
fn read_order(
    kind: OrderKind,
    access: &AdmittedKey,
    path: &str,
    body: &[u8],
) -> Result<MailerOrder, WithholdError> {
    let id = path.rsplit('/').nth(1).unwrap_or_default();
    let invalid = |what: &str| WithholdError::InvalidPayload(what.to_owned());
    let campaign = |id: &str| -> Result<CampaignId, WithholdError> {
        id.parse().map_err(|_| WithholdError::CampaignNotFound)
    };
    let order = match kind {
        OrderKind::CancelMailpiece => CancelOrder::Mailpiece {
            mailpiece_id: id
                .parse()
                .map_err(|_| invalid("This is not the id of a mailpiece."))?,
        },
        OrderKind::CancelRequest => CancelOrder::Request {
            request_id: id
                .parse()
                .map_err(|_| invalid("This is not the X-Request-Id of a request."))?,
        },
        OrderKind::CancelReference => {
            let wanted: ReferenceToCancel = serde_json::from_slice(body).map_err(|error| {
                WithholdError::InvalidPayload(format!("The body cannot be read: {error}."))
            })?;
            // What no column can hold is nobody's reference.
            if wanted.reference.is_empty() || wanted.reference.contains('\0') {
                return Err(invalid("reference must be a text that is not empty."));
            }
            CancelOrder::Reference {
                campaign_id: campaign(&wanted.campaign_id)?,
                reference: wanted.reference,
            }
        }
        OrderKind::HoldCampaign | OrderKind::ReleaseCampaign => {
            let order = HoldOrder {
                campaign_id: campaign(id)?,
                is_held: kind == OrderKind::HoldCampaign,
                key_id: access.key_id,
            };
            return write_order(HOLD_CAMPAIGN_V1, &order);
        }
    };
    write_order(CANCEL_MAILPIECES_V1, &order)
}

fn write_order(kind: &'static str, order: &impl Serialize) -> Result<MailerOrder, WithholdError> {
    let body = serde_json::to_vec(order).map_err(|_| WithholdError::InternalError)?;
    Ok(MailerOrder {
        kind,
        body: body.into(),
    })
}

async fn ask_mailer(
    gateway: &GatewayState,
    access: &AdmittedKey,
    order: MailerOrder,
    identity: &RequestIdentity,
) -> Result<Bytes, WithholdError> {
    let patience = Duration::from_millis(gateway.process.config.gateway.call_deadline_ms);
    let call = QueueCall {
        id: identity.request_id.0,
        kind: order.kind.to_owned(),
        team: access.team_id.0,
        context: String::new(),
        trace: identity.trace.to_header(),
        deadline_ms: (gateway.process.clock.now() + patience).timestamp_millis(),
        delivery_count: 0,
        body: order.body,
    };
    match gateway.call_worker(&gateway.send, call, patience).await {
        Ok(reply) => parse_reply(reply),
        Err(CallError::Unavailable) => {
            tracing::warn!(
                "no broker, no mailer that takes it, or a full queue: nothing was changed"
            );
            Err(WithholdError::InternalError)
        }
        Err(CallError::DeadlinePassed | CallError::GivenUp | CallError::Lost) => {
            Err(WithholdError::DeadlinePassed)
        }
    }
}

fn parse_reply(reply: QueueReply) -> Result<Bytes, WithholdError> {
    if reply.kind == REPLY_OK {
        return Ok(reply.body);
    }
    Err(serde_json::from_slice(&reply.body).unwrap_or_else(|error| {
        tracing::error!(error = &error as &dyn Error, "a reply cannot be read");
        WithholdError::InternalError
    }))
}

/// The one place where an outcome of these orders becomes HTTP.
fn build_response(result: Result<Bytes, WithholdError>) -> Response {
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => {
            let body = serde_json::json!({"code": error.code(), "message": error.to_string()});
            (error_status(&error), Bytes::from(body.to_string()))
        }
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

/// The status of a failure.
pub(crate) fn error_status(error: &WithholdError) -> StatusCode {
    match error {
        WithholdError::InvalidApiKey => StatusCode::UNAUTHORIZED,
        WithholdError::CampaignNotFound
        | WithholdError::MailpieceNotFound
        | WithholdError::RequestNotFound => StatusCode::NOT_FOUND,
        WithholdError::AlreadyPrinted | WithholdError::InProgress => StatusCode::CONFLICT,
        WithholdError::PayloadTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        WithholdError::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        WithholdError::InvalidPayload(_) => StatusCode::UNPROCESSABLE_ENTITY,
        WithholdError::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        WithholdError::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        WithholdError::DeadlinePassed => StatusCode::GATEWAY_TIMEOUT,
    }
}
