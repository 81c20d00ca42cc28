//! The keys of an integration: at most two, so that one can take the other's place.

use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use contract::id::{ApiKeyId, IntegrationId};
use contract::key::KeyKind;
use serde::Deserialize;
use store::StoreError;

use super::detail::{Shown, detail_page};
use super::{OfIntegration, PART, find};
use crate::Console;
use crate::access::Person;
use crate::answer::{Notice, done, refused};
use crate::failure::Failure;
use crate::page::key;

#[derive(Deserialize)]
pub(super) struct NewKeyForm {
    name: String,
}

/// Makes a key and leads to the page that shows it, once.
pub(super) async fn create(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
    form: Result<Form<NewKeyForm>, FormRejection>,
) -> Result<Response, Failure> {
    let integration = find(&console, &person, path).await?;
    let Form(NewKeyForm { name }) = form?;
    let made = key::make(&console, &person, KeyKind::Integration, Some(&integration), &name).await;
    match made {
        Ok(key) => {
            let path = format!("{PART}/{}", integration.integration_id);
            Ok(key.with(Redirect::to(&path).into_response(), &path, &console.process.config.console))
        }
        Err(StoreError::Limit(reason)) => {
            let shown = Shown { key_problem: Some(format!("Not made: {reason}.")), ..Shown::default() };
            Ok(refused(&detail_page(&console, &person, integration, shown).await?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Revokes a key of the integration.
pub(super) async fn revoke(
    State(console): State<Console>,
    person: Person,
    path: Result<Path<(IntegrationId, ApiKeyId)>, PathRejection>,
) -> Result<Response, Failure> {
    let Path((integration_id, key_id)) = path?;
    let (store, team_id, now) = (&console.process.store, person.0.team_id, console.process.clock.now());
    let integration = store.integration_of_team(team_id, integration_id).await?;
    let keys = store.key_list_of_integration(team_id, integration_id).await?;
    let key = keys.into_iter().find(|key| key.key_id == key_id).ok_or(Failure::NotFound)?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.key_revoke(team_id, key_id, now).await?;
    let subject = format!("{} of {}", key.name, integration.name);
    transaction.activity_add(&person.0, "key.revoked", &subject, now).await?;
    transaction.commit().await?;
    Ok(done(&format!("{PART}/{integration_id}"), Notice::KeyRevoked))
}
