//! The keys of an integration: at most two, so that one can take the other's place.

use axum::Form;
use model::id::{ApiKeyId, IntegrationId};
use model::key::KeyKind;
use serde::Deserialize;

use super::detail::{IntegrationPageState, detail_page};
use super::{IntegrationPath, PART, find_integration};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page::key::create_named_key;
use crate::page_error::{PageError, PageResult, limit_problem};
use crate::render::{render_page, render_refusal};

#[derive(Deserialize)]
pub(crate) struct NewIntegrationKeyForm {
    name: String,
    /// The id that the key gets; none of a form that no page has made.
    key_id: Option<ApiKeyId>,
}

/// Makes a key. The answer shows it, once.
pub(crate) async fn create_integration_key(
    context: MemberContext,
    path: IntegrationPath,
    form: FormResult<NewIntegrationKeyForm>,
) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let Form(NewIntegrationKeyForm { name, key_id }) = form?;
    let (kind, new) = (KeyKind::Integration, (name.as_str(), key_id));
    match create_named_key(&context, kind, Some(&integration), new).await {
        Ok(key) => {
            let shown = IntegrationPageState {
                made: Some(key.reveal().to_owned()),
                ..IntegrationPageState::default()
            };
            let page = detail_page(&context, integration, shown).await;
            Ok(render_page(&page.map_err(PageError::after_commit)?))
        }
        Err(error) => {
            let shown = IntegrationPageState {
                key_problem: Some(limit_problem("Not made", error)?),
                ..IntegrationPageState::default()
            };
            Ok(render_refusal(
                &detail_page(&context, integration, shown).await?,
            ))
        }
    }
}

/// Revokes a key of the integration.
pub(crate) async fn revoke_integration_key(
    context: MemberContext,
    PagePath((integration_id, key_id)): PagePath<(IntegrationId, ApiKeyId)>,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let integration = store
        .find_team_integration(context.team_id(), integration_id)
        .await?;
    accounts::revoke_integration_key(store, context.actor(), &integration, key_id, now).await?;
    Ok(redirect_with_notice(
        &format!("{PART}/{integration_id}"),
        ActionNotice::KeyRevoked,
    ))
}
