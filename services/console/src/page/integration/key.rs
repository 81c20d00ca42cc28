//! The keys of an integration: at most two, so that one can take the other's place.

use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use contract::id::{ApiKeyId, IntegrationId};
use contract::key::KeyKind;
use serde::Deserialize;
use store::StoreError;

use super::detail::{IntegrationPageState, detail_page};
use super::{IntegrationPath, PART, find};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, done, refused};
use crate::failure::PageError;
use crate::page::key;

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
    let made = key::make(
        &console,
        &person,
        KeyKind::Integration,
        Some(&integration),
        &name,
    )
    .await;
    match made {
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
    let (store, team_id, now) = (
        &console.process.store,
        person.0.team_id,
        console.process.clock.now(),
    );
    let integration = store.integration_of_team(team_id, integration_id).await?;
    let keys = store
        .key_list_of_integration(team_id, integration_id)
        .await?;
    let key = keys
        .into_iter()
        .find(|key| key.key_id == key_id)
        .ok_or(PageError::NotFound)?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.key_revoke(team_id, key_id, now).await?;
    let subject = format!("{} of {}", key.name, integration.name);
    transaction
        .activity_add(&person.0, "key.revoked", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(done(
        &format!("{PART}/{integration_id}"),
        ActionNotice::KeyRevoked,
    ))
}
