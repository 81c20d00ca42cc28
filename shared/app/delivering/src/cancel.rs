//! Cancelling what waits for an endpoint.

use model::id::{EndpointId, TeamId};
use store::Store;

/// Deliveries that one statement cancels.
pub(crate) const CANCELLED_ROWS: i64 = 5_000;

/// Cancels what waits for an endpoint that is not active.
pub(crate) async fn cancel_deliveries(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
) -> store::Result<()> {
    let all = CANCELLED_ROWS.unsigned_abs();
    while store
        .cancel_waiting_deliveries(team_id, endpoint_id, CANCELLED_ROWS)
        .await?
        == all
    {}
    Ok(())
}
