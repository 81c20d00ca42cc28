//! Webhooks: what members and operators do with a team's endpoints, and how events are brought to them.
//!
//! Endpoints: one method of [`EndpointManager`] for each use case, which makes the change and its entry in the team's activity log
//! in one transaction; [`save_endpoint_within`] for who changes more within one. Whoever is cut off between the change of a state
//! and the deliveries that it cancels leaves them to the dispatchers, which cancel what waits for endpoints that are not active.
//!
//! A delivery in reading order: a hint or a `sweep` says that a lane has work (`lanes`; pure) → an [`EventDispatcher`] leases
//! deliveries (`dispatch`) → `attempt` posts one, signed, and says what follows → `record` writes what came of many at a time;
//! what cannot be written yet is `held`. Events of mailpieces are made by mailers, of what teams' feeds tell (`news`).

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod attempt;
mod cancel;
mod dispatch;
mod held;
mod lanes;
mod manage;
mod news;
mod record;
mod spec;
mod state;
mod sweep;

pub use manage::{EndpointError, EndpointManager, NewEndpoint, check_url};
pub use news::keep_making_news;
pub use spec::{EndpointSettings, ReconciledEndpoint, save_endpoint_within};
pub use state::EventDispatcher;
