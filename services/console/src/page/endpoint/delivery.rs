//! Deliveries: what was sent and what came of it, again, all failed again, and a test.

use askama::Template;
use axum::Form;
use axum::response::Response;
use chrono::{DateTime, Utc};
use delivering::EndpointError;
use model::id::{DeliveryId, EndpointId};
use serde::Deserialize;
use store::{DeliverySummary, Endpoint, EndpointState, StoreError};

use super::detail::{EndpointPageState, detail_page};
use super::{EndpointPath, PART, endpoint_manager, find_endpoint};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice, redirect_with_number};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// A path with the ids of an endpoint and of one of its deliveries.
pub(crate) type DeliveryPath = PagePath<(EndpointId, DeliveryId)>;

/// What came of one attempt.
#[derive(Deserialize)]
pub(crate) struct DeliveryAttemptRow {
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
pub(crate) async fn show_delivery(context: MemberContext, path: DeliveryPath) -> PageResult {
    let (endpoint, delivery) = find_delivery(&context, path).await?;
    let page = delivery_page(&context, endpoint, delivery, None)?;
    Ok(render_page(&page))
}

fn delivery_page(
    context: &MemberContext,
    endpoint: Endpoint,
    delivery: DeliverySummary,
    problem: Option<String>,
) -> Result<DeliveryPage, PageError> {
    let attempts = serde_json::from_value(delivery.attempts.clone()).map_err(StoreError::from)?;
    let is_active = endpoint.state == EndpointState::Active;
    Ok(DeliveryPage {
        frame: context.frame(PART),
        endpoint,
        is_active,
        delivery,
        attempts,
        problem,
    })
}

/// The endpoint and the delivery that a path names, if it is one of those that are shown (contract: Delivery rules 4).
async fn find_delivery(
    context: &MemberContext,
    PagePath((endpoint_id, delivery_id)): DeliveryPath,
) -> Result<(Endpoint, DeliverySummary), PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let endpoint = store.find_endpoint(team_id, endpoint_id).await?;
    let deliveries = store.list_deliveries(team_id, endpoint_id).await?;
    let delivery = deliveries
        .into_iter()
        .find(|delivery| delivery.delivery_id == delivery_id);
    Ok((endpoint, delivery.ok_or(PageError::NotFound)?))
}

/// Leads to the page of a delivery that is on its way.
fn redirect_to_delivery(endpoint_id: EndpointId, delivery_id: DeliveryId) -> Response {
    redirect_with_notice(
        &format!("{PART}/{endpoint_id}/deliveries/{delivery_id}"),
        ActionNotice::EventSent,
    )
}

/// Sends a delivery's event again.
pub(crate) async fn redeliver_event(context: MemberContext, path: DeliveryPath) -> PageResult {
    let (endpoint, delivery) = find_delivery(&context, path).await?;
    let (endpoint_id, delivery_id) = (endpoint.endpoint_id, delivery.delivery_id);
    match endpoint_manager(&context)
        .redeliver(endpoint_id, delivery_id)
        .await
    {
        Ok(new_id) => Ok(redirect_to_delivery(endpoint_id, new_id)),
        Err(EndpointError::Store(StoreError::Limit(reason))) => {
            let problem = Some(format!("Not sent again: {reason}."));
            let page = delivery_page(&context, endpoint, delivery, problem)?;
            Ok(render_refusal(&page))
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends a test event.
pub(crate) async fn send_test(context: MemberContext, path: EndpointPath) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    let delivery_id = endpoint_manager(&context).send_test(endpoint_id).await?;
    Ok(redirect_to_delivery(endpoint_id, delivery_id))
}

#[derive(Deserialize)]
pub(crate) struct ReplayForm {
    since: String,
}

/// Sends everything again that has failed since a time of the team's zone.
pub(crate) async fn replay_failed(
    context: MemberContext,
    path: EndpointPath,
    form: FormResult<ReplayForm>,
) -> PageResult {
    let endpoint = find_endpoint(&context, path).await?;
    let Form(ReplayForm { since: typed }) = form?;
    let problem = match context.time_zone().parse_moment(&typed) {
        None => "Give a day and a time, such as 2026-11-21T09:00.",
        Some(since) => match endpoint_manager(&context)
            .replay_failed(endpoint.endpoint_id, since)
            .await
        {
            Ok(replayed) => {
                let path = format!("{PART}/{}", endpoint.endpoint_id);
                return Ok(redirect_with_number(
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
    Ok(render_refusal(
        &detail_page(&context, endpoint, shown).await?,
    ))
}
