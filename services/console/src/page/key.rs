//! API keys: those of the team, made and revoked here, and those of its integrations, made on their pages.

use std::collections::HashMap;

use accounts::{NewTeamKey, create_key, revoke_key};
use askama::Template;
use axum::Form;
use model::id::{ApiKeyId, IntegrationId};
use model::key::KeyKind;
use model::limits::ACTIVE_TEAM_KEYS;
use model::name::DisplayName;
use secret::KeyText;
use serde::Deserialize;
use store::{ApiKeySummary, Integration, StoreError};

use crate::extract::{FormResult, MemberContext, PagePath};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult, limit_problem};
use crate::render::{render_page, render_refusal};

/// Where the page is.
const PART: &str = "/keys";

#[derive(Deserialize)]
pub(crate) struct NewTeamKeyForm {
    name: String,
    kind: NewTeamKeyKind,
    /// The id that the key gets; none of a form that no page has made.
    key_id: Option<ApiKeyId>,
}

/// The kinds that a team's page makes; integration keys are made on the integration's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NewTeamKeyKind {
    FullAccess,
    Formulas,
}

/// A key of the list.
struct ApiKeyRow {
    key: ApiKeySummary,
    /// The name of the integration that it opens.
    integration: Option<String>,
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct KeyPageState {
    /// A key that has just been made, shown this once.
    made: Option<String>,
    /// What was typed, and what is wrong with it.
    name: String,
    kind: Option<NewTeamKeyKind>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    frame: PageFrame,
    lines: Vec<ApiKeyRow>,
    active: i64,
    may_make: bool,
    most: i64,
    new_key_id: ApiKeyId,
    shown: KeyPageState,
    public_url: String,
}

/// The page.
pub(crate) async fn show_keys(context: MemberContext) -> PageResult {
    let page = key_page(&context, KeyPageState::default()).await?;
    Ok(render_page(&page))
}

async fn key_page(context: &MemberContext, shown: KeyPageState) -> Result<KeyPage, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let keys = store.list_api_keys(team_id).await?;
    let integrations = store.list_integrations(team_id).await?.into_iter();
    let names: HashMap<IntegrationId, String> = integrations
        .map(|integration| (integration.integration_id, integration.name))
        .collect();
    let is_active = |key: &&ApiKeySummary| key.revoked_at.is_none() && key.integration_id.is_none();
    let active = keys.iter().filter(is_active).count() as i64;
    let line = |key: ApiKeySummary| ApiKeyRow {
        integration: key.integration_id.and_then(|id| names.get(&id).cloned()),
        key,
    };
    Ok(KeyPage {
        may_make: context.is_manager() && active < ACTIVE_TEAM_KEYS,
        active,
        most: ACTIVE_TEAM_KEYS,
        lines: keys.into_iter().map(line).collect(),
        new_key_id: ApiKeyId::new(),
        public_url: context.public_url(),
        frame: context.frame(PART),
        shown,
    })
}

/// Makes a key. The answer shows it, once.
pub(crate) async fn create_team_key(
    context: MemberContext,
    form: FormResult<NewTeamKeyForm>,
) -> PageResult {
    let Form(typed) = form?;
    let kind = match typed.kind {
        NewTeamKeyKind::FullAccess => KeyKind::FullAccess,
        NewTeamKeyKind::Formulas => KeyKind::Formulas,
    };
    match create_named_key(&context, kind, None, (&typed.name, typed.key_id)).await {
        Ok(key) => {
            let made = Some(key.reveal().to_owned());
            let shown = KeyPageState {
                made,
                ..KeyPageState::default()
            };
            let page = key_page(&context, shown).await;
            Ok(render_page(&page.map_err(PageError::after_commit)?))
        }
        Err(error) => {
            let shown = KeyPageState {
                problem: Some(limit_problem("Not made", error)?),
                name: typed.name,
                kind: Some(typed.kind),
                made: None,
            };
            Ok(render_refusal(&key_page(&context, shown).await?))
        }
    }
}

/// Makes a key of the team, or of one of its integrations. The id is that of the form, which makes one key however often it is
/// sent.
///
/// # Errors
/// [`StoreError::Limit`] for a name that is none, past the keys that there may be, and when the form was sent before.
pub(crate) async fn create_named_key(
    context: &MemberContext,
    kind: KeyKind,
    integration: Option<&Integration>,
    (name, key_id): (&str, Option<ApiKeyId>),
) -> store::Result<KeyText> {
    let name: DisplayName = name
        .parse()
        .map_err(|reason| StoreError::Limit(format!("the name {reason}")))?;
    let new = NewTeamKey {
        team_id: context.team_id(),
        kind,
        integration,
        name: &name,
        chosen: None,
        key_id,
    };
    let created = create_key(context.store(), context.actor(), &new, context.now()).await?;
    Ok(created.text)
}

/// Revokes a key.
pub(crate) async fn revoke_team_key(
    context: MemberContext,
    PagePath(key_id): PagePath<ApiKeyId>,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    revoke_key(store, actor, context.team_id(), key_id, now).await?;
    Ok(redirect_with_notice("/keys", ActionNotice::KeyRevoked))
}
