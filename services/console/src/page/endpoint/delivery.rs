//! Deliveries: what was sent and what came of it, again, all failed again, and a test.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use delivering::EndpointError;
use model::id::{DeliveryId, EndpointId};
use serde::Deserialize;
use store::{DeliverySummary, Endpoint, EndpointState, StoreError};

use super::detail::{EndpointPageState, detail_page};
use super::{EndpointPath, PART, find, manager};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, done_with, page, refused};
use crate::failure::PageError;
use crate::show::TeamTimeZone;

/// A path with the ids of an endpoint and of one of its deliveries.
type DeliveryPath = Result<Path<(EndpointId, DeliveryId)>, PathRejection>;

/// What came of one attempt.
#[derive(Deserialize)]
struct DeliveryAttemptRow {
    attempt: i16,
    url: String,
    attempted_at: DateTime<Utc>,
    duration_ms: i32,
    status: Option<i16>,
    answer: Option<String>,
    error: Option<String>,
}

#[derive(Template)]
#[template(path = "endpoint_delivery.html")]
struct DeliveryPage {
    frame: PageFrame,
    endpoint: Endpoint,
    is_active: bool,
    delivery: DeliverySummary,
    attempts: Vec<DeliveryAttemptRow>,
    /// Why the delivery was not sent again.
    problem: Option<String>,
}

/// One of the last deliveries, with all that is known of it.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: DeliveryPath,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (endpoint, delivery) = find_delivery(&console, &person, path).await?;
    let Query(NoticeQuery { notice }) = noticed?;
    let frame = PageFrame::new(&person, PART).with_notice(notice);
    Ok(page(&delivery_page(frame, endpoint, delivery, None)?))
}

fn delivery_page(
    frame: PageFrame,
    endpoint: Endpoint,
    delivery: DeliverySummary,
    problem: Option<String>,
) -> Result<DeliveryPage, PageError> {
    let attempts = serde_json::from_value(delivery.attempts.clone()).map_err(StoreError::from)?;
    let is_active = endpoint.state == EndpointState::Active;
    Ok(DeliveryPage {
        frame,
        endpoint,
        is_active,
        delivery,
        attempts,
        problem,
    })
}

/// The endpoint and the delivery that a path names, if it is one of those that are shown (contract: Delivery rules 4).
async fn find_delivery(
    console: &ConsoleState,
    person: &CurrentMember,
    path: DeliveryPath,
) -> Result<(Endpoint, DeliverySummary), PageError> {
    let Path((endpoint_id, delivery_id)) = path?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let endpoint = store.find_endpoint(team_id, endpoint_id).await?;
    let deliveries = store.list_deliveries(team_id, endpoint_id).await?;
    let delivery = deliveries
        .into_iter()
        .find(|delivery| delivery.delivery_id == delivery_id);
    Ok((endpoint, delivery.ok_or(PageError::NotFound)?))
}

/// Leads to the page of a delivery that is on its way.
fn sent(endpoint_id: EndpointId, delivery_id: DeliveryId) -> Response {
    done(
        &format!("{PART}/{endpoint_id}/deliveries/{delivery_id}"),
        ActionNotice::EventSent,
    )
}

/// Sends a delivery's event again.
pub(super) async fn redeliver(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: DeliveryPath,
) -> Result<Response, PageError> {
    let (endpoint, delivery) = find_delivery(&console, &person, path).await?;
    let (endpoint_id, delivery_id) = (endpoint.endpoint_id, delivery.delivery_id);
    match manager(&console, &person)
        .redeliver(endpoint_id, delivery_id)
        .await
    {
        Ok(new_id) => Ok(sent(endpoint_id, new_id)),
        Err(EndpointError::Store(StoreError::Limit(reason))) => {
            let problem = Some(format!("Not sent again: {reason}."));
            Ok(refused(&delivery_page(
                PageFrame::new(&person, PART),
                endpoint,
                delivery,
                problem,
            )?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends a test event.
pub(super) async fn send_test(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
) -> Result<Response, PageError> {
    let Endpoint { endpoint_id, .. } = find(&console, &person, path).await?;
    let delivery_id = manager(&console, &person).send_test(endpoint_id).await?;
    Ok(sent(endpoint_id, delivery_id))
}

#[derive(Deserialize)]
pub(super) struct ReplayForm {
    since: String,
}

/// Sends everything again that has failed since a time of the team's zone.
pub(super) async fn replay(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: EndpointPath,
    form: Result<Form<ReplayForm>, FormRejection>,
) -> Result<Response, PageError> {
    let endpoint = find(&console, &person, path).await?;
    let Form(ReplayForm { since: typed }) = form?;
    let problem = match TeamTimeZone::new(person.0.time_zone).moment(&typed) {
        None => "Give a day and a time, such as 2026-11-21T09:00.",
        Some(since) => match manager(&console, &person)
            .replay_failed(endpoint.endpoint_id, since)
            .await
        {
            Ok(replayed) => {
                let path = format!("{PART}/{}", endpoint.endpoint_id);
                return Ok(done_with(
                    &path,
                    ActionNotice::FailedReplayed,
                    ("replayed", replayed),
                ));
            }
            Err(EndpointError::Future) => "Give a time that has passed.",
            Err(error) => return Err(error.into()),
        },
    };
    let shown = EndpointPageState {
        replay_problem: Some((typed, problem.to_owned())),
        ..EndpointPageState::default()
    };
    Ok(refused(
        &detail_page(&console, &person, endpoint, shown).await?,
    ))
}
