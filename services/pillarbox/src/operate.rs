//! Commands on one thing at a time, each an answer of the database put into words.

pub(crate) mod address_book;
pub(crate) mod balance;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod endpoint;
pub(crate) mod integration;
pub(crate) mod key;
pub(crate) mod parked;
pub(crate) mod postal_scan;
pub(crate) mod recipient;
pub(crate) mod returned;
pub(crate) mod sync;
pub(crate) mod team;
pub(crate) mod user;

use model::id::TeamId;
use store::{Integration, Store, Team};

use crate::command::IntegrationArgs;

/// The team of this id or name.
async fn find_team(store: &Store, name_or_id: &str) -> store::Result<Team> {
    match name_or_id.parse::<TeamId>() {
        Ok(team_id) => store.find_team(team_id).await,
        Err(_) => store.find_team_by_name(name_or_id).await,
    }
}

/// The integration of this name in its team.
async fn find_integration(store: &Store, named: &IntegrationArgs) -> store::Result<Integration> {
    let team_id = find_team(store, &named.team).await?.team_id;
    store.find_integration_by_name(team_id, &named.name).await
}
