//! GET /api/v1/scans: a team's scans as they come, for programs that cannot be reached from outside.
//!
//! An addition to the contract. The question is held open until there is something to tell, or for as long as the client
//! wants. Scans are in the order of their ids; one whose record took longer than that of a later one comes in behind
//! it, so a client that must not miss any asks again from an earlier place, and knows scans by their ids.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use contract::id::TeamId;
use contract::send::SendError;
use contract::webhook::QrScanned;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use store::RecordedScan;
use tokio::time::Instant;
use uuid::Uuid;

use super::event::Scanned;
use super::location::Place;
use super::visitor::Visitor;
use crate::recipients::answer_team;
use crate::{Gateway, Peer};

/// Events of an answer at the most.
pub(crate) const EVENTS: i64 = 100;

/// Seconds that a question is held open at the most.
pub(crate) const MOST_WAIT_SECONDS: u64 = 25;

/// How often the database is asked meanwhile.
const INTERVAL: Duration = Duration::from_secs(1);

/// Questions that one gateway holds open at a time; further ones are answered at once.
pub(crate) const WAITERS: usize = 100;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    /// The place in the feed; `None` for its end.
    after: Option<Uuid>,
    wait: Duration,
}

/// Answer to GET scans.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScansAnswer {
    /// The oldest first.
    #[schemars(with = "Vec<QrScanned<'_>>")]
    events: Vec<Box<RawValue>>,
    /// To be passed back as `after`.
    #[schemars(with = "Uuid")]
    next_after: String,
}

/// Answers with the scans behind a place.
pub(crate) async fn get(
    State(gateway): State<Gateway>,
    Peer { 0: peer }: Peer,
    request: Request,
) -> Response {
    let answer = async |team_id, parts: &Parts| {
        answer(&gateway, team_id, Question::read(parts.uri.query().unwrap_or_default())?).await
    };
    answer_team(&gateway, &gateway.scans_gate, "scans", peer, request, answer).await
}

impl Question {
    fn read(query: &str) -> Result<Self, SendError> {
        let mut question = Self { after: None, wait: Duration::ZERO };
        let bad = |name: &str, what: &str| SendError::InvalidPayload(format!("{name} must be {what}."));
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "after" => {
                    let place =
                        value.parse().map_err(|_| bad("after", "the nextAfter of an earlier answer"))?;
                    question.after = Some(place);
                }
                "wait" => {
                    let seconds: Option<u64> =
                        value.parse().ok().filter(|seconds| *seconds <= MOST_WAIT_SECONDS);
                    let what = format!("a whole number of seconds from 0 to {MOST_WAIT_SECONDS}");
                    question.wait = Duration::from_secs(seconds.ok_or_else(|| bad("wait", &what))?);
                }
                _ => {}
            }
        }
        Ok(question)
    }
}

async fn answer(gateway: &Gateway, team_id: TeamId, question: Question) -> Result<Bytes, SendError> {
    let Some(after) = question.after else { return written(&[], Uuid::now_v7()) };
    // Without a place among those who wait, the answer is what there is now.
    let place = gateway.scan_waiters.try_acquire().ok();
    let deadline = Instant::now() + if place.is_some() { question.wait } else { Duration::ZERO };
    loop {
        let scans = gateway.process.store.scan_list(team_id, after, EVENTS).await.map_err(|error| {
            tracing::error!(%error, "cannot list scans");
            SendError::InternalError
        })?;
        if !scans.is_empty() || Instant::now() >= deadline {
            return written(&scans, after);
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + INTERVAL)) => {}
            // A gateway that is to stop lets its clients go to another one.
            () = gateway.process.shutdown.cancelled() => return written(&[], after),
        }
    }
}

fn written(scans: &[RecordedScan], after: Uuid) -> Result<Bytes, SendError> {
    let next_after = scans.last().map_or(after, |scan| scan.scan_id).to_string();
    let events = scans.iter().map(event).collect::<Result<_, _>>();
    let json = events.and_then(|events| serde_json::to_vec(&ScansAnswer { events, next_after }));
    json.map(Bytes::from).map_err(|error| {
        tracing::error!(%error, "an event cannot be written");
        SendError::InternalError
    })
}

fn event(scan: &RecordedScan) -> serde_json::Result<Box<RawValue>> {
    let place = Place {
        city: scan.city.clone(),
        region: scan.region.clone(),
        point: scan.latitude.zip(scan.longitude),
    };
    let scanned = Scanned {
        scan_id: scan.scan_id,
        card: &scan.card,
        destination: &scan.destination,
        place: &place,
        scanned_at: scan.scanned_at,
        is_automated: scan.visitor == Visitor::Program.as_str(),
    };
    RawValue::from_string(scanned.to_json()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_a_place_and_a_bounded_wait() {
        let place = Uuid::now_v7();
        let question = Question::read(&format!("after={place}&wait=20&limit=7"));
        assert_eq!(question.ok(), Some(Question { after: Some(place), wait: Duration::from_secs(20) }));
        assert_eq!(Question::read("").ok(), Some(Question { after: None, wait: Duration::ZERO }));
        for query in ["after=7", "wait=26", "wait=-1", "wait=soon"] {
            assert!(Question::read(query).is_err(), "{query}");
        }
    }
}
