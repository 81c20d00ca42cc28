//! GET /api/v1/scans: a team's scans as they come, for programs that cannot be reached from outside.
//!
//! An addition to the contract. The question is held open until there is something to tell, or for as long as the client
//! wants. A scan takes its place once it is recorded ([`FeedReader`]): who goes on from answer to answer gets each once and
//! misses none.

use std::error::Error;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use contract::send::SendError;
use contract::webhook::QrScanned;
use model::id::TeamId;
use scanning::{FeedCursor, FeedReader, event_of_scan};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use store::RecordedScan;
use tokio::time::Instant;
use uuid::Uuid;

use crate::recipients::answer_team_query;
use crate::{GatewayState, PeerAddress};

/// Events of an answer at the most.
pub(crate) const EVENTS: i64 = 100;

/// Seconds that a question is held open at the most.
pub(crate) const MOST_WAIT_SECONDS: u64 = 25;

/// How often the database is asked meanwhile.
const INTERVAL: Duration = Duration::from_secs(1);

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct FeedQuery {
    /// The place in the feed; `None` for its end.
    after: Option<FeedCursor>,
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
    next_after: Uuid,
}

/// Answers with the scans behind a place.
pub(crate) async fn get_scan_feed(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
) -> Response {
    let answer = async |team_id, parts: &Parts| {
        answer_query(
            &gateway,
            team_id,
            FeedQuery::parse(parts.uri.query().unwrap_or_default())?,
        )
        .await
    };
    answer_team_query(&gateway, &gateway.scans_gate, peer, request, answer).await
}

impl FeedQuery {
    fn parse(query: &str) -> Result<Self, SendError> {
        let mut question = Self {
            after: None,
            wait: Duration::ZERO,
        };
        let bad =
            |name: &str, what: &str| SendError::InvalidPayload(format!("{name} must be {what}."));
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "after" => {
                    let place = value
                        .parse()
                        .map_err(|_| bad("after", "the nextAfter of an earlier answer"))?;
                    question.after = Some(FeedCursor::from_uuid(place));
                }
                "wait" => {
                    let seconds: Option<u64> = value
                        .parse()
                        .ok()
                        .filter(|seconds| *seconds <= MOST_WAIT_SECONDS);
                    let what = format!("a whole number of seconds from 0 to {MOST_WAIT_SECONDS}");
                    question.wait = Duration::from_secs(seconds.ok_or_else(|| bad("wait", &what))?);
                }
                _ => {}
            }
        }
        Ok(question)
    }
}

async fn answer_query(
    gateway: &GatewayState,
    team_id: TeamId,
    question: FeedQuery,
) -> Result<Bytes, SendError> {
    let process = &gateway.process;
    let follower = FeedReader {
        store: &process.store,
        team_id,
        events: EVENTS,
    };
    let failed = |error| {
        tracing::error!(error = &error as &dyn Error, "cannot list scans");
        SendError::InternalError
    };
    let Some(mut after) = question.after else {
        return write_answer(
            &[],
            follower
                .end_cursor(process.clock.now())
                .await
                .map_err(failed)?,
        );
    };
    // Without a place among those who wait, the answer is what there is now.
    let of_team = gateway.scan_waiters.teams.get(team_id);
    let places = of_team
        .try_acquire()
        .ok()
        .zip(gateway.scan_waiters.all.try_acquire().ok());
    let deadline = Instant::now()
        + if places.is_some() {
            question.wait
        } else {
            Duration::ZERO
        };
    loop {
        let page = follower
            .next_page(after, process.clock.now())
            .await
            .map_err(failed)?;
        after = page.next_after;
        if !page.scans.is_empty() || Instant::now() >= deadline {
            return write_answer(&page.scans, after);
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + INTERVAL)) => {}
            // A gateway that is to stop lets its clients go to another one.
            () = process.shutdown.cancelled() => return write_answer(&[], after),
        }
    }
}

fn write_answer(scans: &[RecordedScan], after: FeedCursor) -> Result<Bytes, SendError> {
    let next_after = after.to_uuid();
    let events = scans.iter().map(event_of_scan).collect::<Result<_, _>>();
    let json = events.and_then(|events| serde_json::to_vec(&ScansAnswer { events, next_after }));
    json.map(Bytes::from).map_err(|error| {
        tracing::error!(error = &error as &dyn Error, "an event cannot be written");
        SendError::InternalError
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_a_place_and_a_bounded_wait() {
        let place = Uuid::now_v7();
        let question = FeedQuery::parse(&format!("after={place}&wait=20&limit=7"));
        assert_eq!(
            question.ok(),
            Some(FeedQuery {
                after: Some(FeedCursor::Id(place)),
                wait: Duration::from_secs(20)
            })
        );
        assert_eq!(
            FeedQuery::parse("").ok(),
            Some(FeedQuery {
                after: None,
                wait: Duration::ZERO
            })
        );
        for query in ["after=7", "wait=26", "wait=-1", "wait=soon"] {
            assert!(FeedQuery::parse(query).is_err(), "{query}");
        }
    }
}
