//! The people of a team: who they are and what they may do, and the settings of the team, for everybody to see and for
//! owners to change.

mod account;
mod link;
mod people;
mod settings;

use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    use RouteAccess::{Anyone, Member, Owner};
    vec![
        route::page("/team", Member, people::show),
        route::action("/team", Owner, people::add),
        route::action("/team/{user_id}/role", Owner, people::set_role),
        route::action("/team/{user_id}/remove", Owner, people::remove),
        route::action(
            "/team/{user_id}/reset-password",
            Owner,
            people::reset_password,
        ),
        route::action(
            "/team/idempotency-keys",
            Owner,
            settings::set_idempotency_keys,
        ),
        route::action("/team/formula-keys", Owner, settings::set_formula_keys),
        route::page("/account", Member, account::show),
        route::action("/account/password", Member, account::change_password),
        route::page("/password/{token}", Anyone, link::show),
        route::action("/password/{token}", Anyone, link::submit),
    ]
}

/// The part of the navigation.
const PART: &str = "/team";
