//! Integrations: the contacts that a team's own CRM pushes.

pub(crate) mod detail;
pub(crate) mod field;
pub(crate) mod key;
pub(crate) mod sync;

use askama::Template;
use axum::Form;
use axum::response::{IntoResponse, Redirect};
use contract::push::{
    IntegrationField, IntegrationReadiness, IntegrationStatus, SyncStatus, SyncView,
};
use model::id::IntegrationId;
use model::name::DisplayName;
use serde::Deserialize;
use store::{HeldBackSync, Integration, StoreError};

use crate::extract::{FormResult, MemberContext, PagePath};
use crate::format::{format_number, is_visible};
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// The part of the navigation.
const PART: &str = "/integrations";

/// A path with the id of an integration.
pub(crate) type IntegrationPath = PagePath<IntegrationId>;

/// The team's integration that a path names.
async fn find_integration(
    context: &MemberContext,
    PagePath(integration_id): IntegrationPath,
) -> Result<Integration, PageError> {
    Ok(context
        .store()
        .find_team_integration(context.team_id(), integration_id)
        .await?)
}

/// How far an integration is.
struct IntegrationProgress {
    fields: Vec<IntegrationField>,
    latest: Option<SyncView>,
    has_completed: bool,
}

impl IntegrationProgress {
    async fn of(context: &MemberContext, integration: &Integration) -> Result<Self, PageError> {
        let (store, now) = (context.store(), context.now());
        Ok(Self {
            fields: store.list_fields(integration.integration_id).await?,
            latest: store
                .find_latest_sync(integration.integration_id, now)
                .await?,
            has_completed: integration.has_completed,
        })
    }

    fn readiness(&self) -> IntegrationReadiness<'_> {
        IntegrationReadiness {
            fields: &self.fields,
            has_open_sync: self
                .latest
                .as_ref()
                .is_some_and(|sync| sync.status == SyncStatus::Open),
            has_completed: self.has_completed,
        }
    }
}

/// The integration's sync that the removal guard holds back, if there is one.
async fn find_held_back(
    context: &MemberContext,
    integration_id: IntegrationId,
) -> Result<Option<HeldBackSync>, PageError> {
    let (store, now) = (context.store(), context.now());
    let held_back = store.list_held_back_syncs(context.team_id(), now).await?;
    Ok(held_back
        .into_iter()
        .find(|held_back| held_back.integration_id == integration_id))
}

/// What a sync that is held back would do, for people.
pub(crate) fn held_back_words(HeldBackSync { count, share, .. }: &HeldBackSync) -> String {
    let (count, percent) = (format_number(count.unsigned_abs()), share * 100.0);
    format!(
        "it would remove {count} contacts, {percent:.1} % of all, which is more than the removal guard allows"
    )
}

/// A status, for people.
fn status_name(status: IntegrationStatus) -> &'static str {
    match status {
        IntegrationStatus::SetupNeeded => "Setup needed",
        IntegrationStatus::Ready => "Ready",
        IntegrationStatus::Syncing => "Syncing",
        IntegrationStatus::Paused => "Paused",
        IntegrationStatus::Disconnected => "Disconnected",
    }
}

/// A line of the list.
struct IntegrationListRow {
    integration: Integration,
    status: &'static str,
    latest: Option<SyncView>,
}

#[derive(Template)]
#[template(path = "integration_list.html")]
struct IntegrationListPage {
    frame: PageFrame,
    lines: Vec<IntegrationListRow>,
    /// What was typed, and what is wrong with it.
    name: String,
    problem: Option<String>,
}

pub(crate) async fn list_integrations(context: MemberContext) -> PageResult {
    let page = list_page(&context, String::new(), None).await?;
    Ok(render_page(&page))
}

async fn list_page(
    context: &MemberContext,
    name: String,
    problem: Option<String>,
) -> Result<IntegrationListPage, PageError> {
    let mut lines = Vec::new();
    for integration in context.store().list_integrations(context.team_id()).await? {
        let progress = IntegrationProgress::of(context, &integration).await?;
        let status = status_name(integration.status(&progress.readiness()));
        lines.push(IntegrationListRow {
            integration,
            status,
            latest: progress.latest,
        });
    }
    Ok(IntegrationListPage {
        frame: context.frame(PART),
        lines,
        name,
        problem,
    })
}

#[derive(Deserialize)]
pub(crate) struct NewIntegrationForm {
    name: String,
}

/// Makes an integration and leads to its page, where its first key is made.
pub(crate) async fn create_integration(
    context: MemberContext,
    form: FormResult<NewIntegrationForm>,
) -> PageResult {
    let Form(NewIntegrationForm { name: typed }) = form?;
    let name = match typed.parse::<DisplayName>() {
        Ok(name) if !is_visible(name.as_str()) => {
            let problem = Some("The name has no character that can be seen.".to_owned());
            return Ok(render_refusal(&list_page(&context, typed, problem).await?));
        }
        Ok(name) => name,
        Err(reason) => {
            let problem = Some(format!("The name {reason}."));
            return Ok(render_refusal(&list_page(&context, typed, problem).await?));
        }
    };
    let (store, now) = (context.store(), context.now());
    match integrations::create_integration(store, context.actor(), context.team_id(), &name, now)
        .await
    {
        Ok(integration_id) => Ok(Redirect::to(&format!("{PART}/{integration_id}")).into_response()),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not made: {reason}."));
            Ok(render_refusal(&list_page(&context, typed, problem).await?))
        }
        Err(error) => Err(error.into()),
    }
}
