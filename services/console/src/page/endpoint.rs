//! Webhook endpoints: where a team wants its events.

pub(crate) mod delivery;
pub(crate) mod detail;
pub(crate) mod list;
mod scope;

use delivering::{EndpointError, EndpointManager};
use model::id::EndpointId;
use store::{Endpoint, EndpointState};

use crate::extract::{MemberContext, PagePath};
use crate::page_error::PageError;

/// The part of the navigation.
const PART: &str = "/endpoints";

/// A path with the id of an endpoint.
pub(crate) type EndpointPath = PagePath<EndpointId>;

/// The team's endpoint that a path names.
async fn find_endpoint(
    context: &MemberContext,
    PagePath(endpoint_id): EndpointPath,
) -> Result<Endpoint, PageError> {
    Ok(context
        .store()
        .find_endpoint(context.team_id(), endpoint_id)
        .await?)
}

/// Whoever manages the team's endpoints now.
fn endpoint_manager(context: &MemberContext) -> EndpointManager<'_> {
    EndpointManager::new(
        context.store(),
        context.team_id(),
        context.actor(),
        context.now(),
    )
}

impl From<EndpointError> for PageError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Store(error) => error.into(),
            EndpointError::Event(error) => Self::Internal(error.into()),
            other => Self::Invalid(format!("Not done: {other}.")),
        }
    }
}

/// A state, for people.
pub(crate) fn state_name(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Active => "Active",
        EndpointState::Paused => "Paused",
        EndpointState::Disabled => "Disabled after too many failures",
        EndpointState::Deleted => "Deleted",
    }
}
