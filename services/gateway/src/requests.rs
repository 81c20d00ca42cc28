//! GET /api/v1/requests/{id}: what became of a send whose answer was lost. An addition to the contract.
//!
//! It reads what the mailers write for their own sake, so that a gateway which was killed and one that never saw the
//! request know the same.

use std::error::Error;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use chrono::TimeDelta;
use contract::send::{RequestAnswer, RequestStatus, SendError};
use model::id::{RequestId, TeamId};
use serde_json::value::RawValue;
use store::SendStatus;

use crate::recipients::answer_team_query;
use crate::{GatewayState, PeerAddress};

/// Where it is.
pub(crate) const PATH: &str = "/api/v1/requests/{id}";

/// Answers with what became of a request of the key's team.
pub(crate) async fn get_request_status(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
) -> Response {
    let mut place = None;
    let answer = async |team_id, parts: &Parts| {
        let request_id = parse_request_id(parts.uri.path())?;
        place = Some(
            gateway
                .reserve_answer(team_id, peer.ip(), &parts.headers)
                .await?,
        );
        answer_status(&gateway, team_id, request_id).await
    };
    let mut response =
        answer_team_query(&gateway, &gateway.requests_gate, peer, request, answer).await;
    if let Some(place) = place {
        response.extensions_mut().insert(Arc::new(place));
    }
    response
}

fn parse_request_id(path: &str) -> Result<RequestId, SendError> {
    let id = path.rsplit('/').next().and_then(|id| id.parse().ok());
    id.ok_or_else(|| {
        SendError::InvalidPayload("This is not the X-Request-Id of a request.".to_owned())
    })
}

async fn answer_status(
    gateway: &GatewayState,
    team_id: TeamId,
    request_id: RequestId,
) -> Result<Bytes, SendError> {
    // Past the deadline of its call no mailer begins a request.
    let patience =
        i64::try_from(gateway.process.config.gateway.call_deadline_ms).unwrap_or(i64::MAX);
    let given_up_before = gateway.process.clock.now() - TimeDelta::milliseconds(patience);
    let status = gateway
        .process
        .store
        .find_send_status(team_id, request_id, given_up_before)
        .await;
    let status = status.map_err(|error| {
        tracing::error!(error = &error as &dyn Error, "cannot look a request up");
        SendError::InternalError
    })?;
    tokio::task::block_in_place(|| write_status(request_id, &status)).map_err(|error| {
        tracing::error!(
            error = &error as &dyn Error,
            "a stored response cannot be read"
        );
        SendError::InternalError
    })
}

fn write_status(request_id: RequestId, status: &SendStatus) -> serde_json::Result<Bytes> {
    let (status, response): (_, Option<&RawValue>) = match status {
        SendStatus::Running => (RequestStatus::Running, None),
        SendStatus::Unknown => (RequestStatus::Unknown, None),
        SendStatus::Done(response) => {
            (RequestStatus::Done, Some(serde_json::from_slice(response)?))
        }
    };
    serde_json::to_vec(&RequestAnswer {
        request_id,
        status,
        response,
    })
    .map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_response_stands_in_the_answer_byte_for_byte() {
        let request_id = RequestId::new();
        let stored = r#"{"summary" : {"received":1},"price":1.50}"#;
        let written = write_status(
            request_id,
            &SendStatus::Done(Bytes::from_static(stored.as_bytes())),
        )
        .unwrap();
        let expected =
            format!(r#"{{"request_id":"{request_id}","status":"done","response":{stored}}}"#);
        assert_eq!(written, expected.as_bytes());
        let unknown = write_status(request_id, &SendStatus::Unknown).unwrap();
        assert_eq!(
            unknown,
            format!(r#"{{"request_id":"{request_id}","status":"unknown"}}"#).as_bytes()
        );
    }

    #[test]
    fn only_a_uuid_names_a_request() {
        let id = RequestId::new();
        assert_eq!(parse_request_id(&format!("/api/v1/requests/{id}")), Ok(id));
        assert!(matches!(
            parse_request_id("/api/v1/requests/7"),
            Err(SendError::InvalidPayload(_))
        ));
    }
}
