//! The keys of an integration: at most two, so that one can take the other's place.

use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use model::id::{ApiKeyId, IntegrationId};
use model::key::KeyKind;
use serde::Deserialize;
use store::StoreError;

use super::detail::{IntegrationPageState, detail_page};
use super::{IntegrationPath, PART, find};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, done, refused};
use crate::failure::PageError;
use crate::page::key::make;

#[derive(Deserialize)]
pub(super) struct NewIntegrationKeyForm {
    name: String,
}

/// Makes a key and leads to the page that shows it, once.
pub(super) async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    form: Result<Form<NewIntegrationKeyForm>, FormRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Form(NewIntegrationKeyForm { name }) = form?;
    match make(
        &console,
        &person,
        KeyKind::Integration,
        Some(&integration),
        &name,
    )
    .await
    {
        Ok(key) => {
            let path = format!("{PART}/{}", integration.integration_id);
            Ok(key.with(
                Redirect::to(&path).into_response(),
                &path,
                &console.process.config.console,
            ))
        }
        Err(StoreError::Limit(reason)) => {
            let shown = IntegrationPageState {
                key_problem: Some(format!("Not made: {reason}.")),
                ..IntegrationPageState::default()
            };
            Ok(refused(
                &detail_page(&console, &person, integration, shown).await?,
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Revokes a key of the integration.
pub(super) async fn revoke(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<(IntegrationId, ApiKeyId)>, PathRejection>,
) -> Result<Response, PageError> {
    let Path((integration_id, key_id)) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let integration = store
        .find_team_integration(person.0.team_id, integration_id)
        .await?;
    accounts::revoke_integration_key(store, person.actor(), &integration, key_id, now).await?;
    Ok(done(
        &format!("{PART}/{integration_id}"),
        ActionNotice::KeyRevoked,
    ))
}
