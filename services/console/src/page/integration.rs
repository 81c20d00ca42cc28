//! Integrations: the contacts that a team's own CRM pushes.

mod detail;
mod field;
mod key;
mod sync;

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use contract::push::{
    IntegrationField, IntegrationReadiness, IntegrationStatus, SyncStatus, SyncView,
};
use model::id::IntegrationId;
use model::name::DisplayName;
use serde::Deserialize;
use store::{HeldBackSync, Integration, StoreError};

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{NoticeQuery, PageFrame, page, refused};
use crate::failure::PageError;
use crate::route::{self, ConsoleRoute, RouteAccess};
use crate::show::{grouped, is_visible};

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    use RouteAccess::{Manager, Member};
    vec![
        route::page("/integrations", Member, list),
        route::action("/integrations", Manager, create),
        route::page("/integrations/{integration_id}", Member, detail::show),
        route::action(
            "/integrations/{integration_id}/pause",
            Manager,
            detail::pause,
        ),
        route::action(
            "/integrations/{integration_id}/resume",
            Manager,
            detail::resume,
        ),
        route::action(
            "/integrations/{integration_id}/disconnect",
            Manager,
            detail::disconnect,
        ),
        route::action(
            "/integrations/{integration_id}/remove",
            Manager,
            detail::remove,
        ),
        route::action(
            "/integrations/{integration_id}/guard",
            Manager,
            detail::set_guard,
        ),
        route::action(
            "/integrations/{integration_id}/undo-removal",
            Manager,
            detail::undo_removal,
        ),
        route::action("/integrations/{integration_id}/keys", Manager, key::create),
        route::action(
            "/integrations/{integration_id}/keys/{key_id}/revoke",
            Manager,
            key::revoke,
        ),
        route::page("/integrations/{integration_id}/fields", Member, field::show),
        route::action("/integrations/{integration_id}/fields", Manager, field::map),
        route::action(
            "/integrations/{integration_id}/fields/release",
            Manager,
            field::release,
        ),
        route::page("/integrations/{integration_id}/syncs", Member, sync::list),
        route::page(
            "/integrations/{integration_id}/syncs/{sync_id}",
            Member,
            sync::show,
        ),
        route::page(
            "/integrations/{integration_id}/syncs/{sync_id}/issues.csv",
            Member,
            sync::export,
        ),
    ]
}

/// The part of the navigation.
const PART: &str = "/integrations";

/// A path with the id of an integration.
type IntegrationPath = Result<axum::extract::Path<IntegrationId>, PathRejection>;

/// The team's integration that a path names.
async fn find(
    console: &ConsoleState,
    person: &CurrentMember,
    path: IntegrationPath,
) -> Result<Integration, PageError> {
    let axum::extract::Path(integration_id) = path?;
    Ok(console
        .process
        .store
        .find_team_integration(person.0.team_id, integration_id)
        .await?)
}

/// How far an integration is.
struct IntegrationProgress {
    fields: Vec<IntegrationField>,
    latest: Option<SyncView>,
    has_completed: bool,
}

impl IntegrationProgress {
    async fn of(console: &ConsoleState, integration: &Integration) -> Result<Self, PageError> {
        let (store, now) = (&console.process.store, console.process.clock.now());
        Ok(Self {
            fields: store.list_fields(integration.integration_id).await?,
            latest: store
                .find_latest_sync(integration.integration_id, now)
                .await?,
            has_completed: integration.has_completed,
        })
    }

    fn standing(&self) -> IntegrationReadiness<'_> {
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
async fn held_back(
    console: &ConsoleState,
    person: &CurrentMember,
    integration_id: IntegrationId,
) -> Result<Option<HeldBackSync>, PageError> {
    let (store, now) = (&console.process.store, console.process.clock.now());
    let held_back = store.list_held_back_syncs(person.0.team_id, now).await?;
    Ok(held_back
        .into_iter()
        .find(|held_back| held_back.integration_id == integration_id))
}

/// What a sync that is held back would do, for people.
pub(crate) fn held_back_words(HeldBackSync { count, share, .. }: &HeldBackSync) -> String {
    let (count, percent) = (grouped(count.unsigned_abs()), share * 100.0);
    format!(
        "it would remove {count} contacts, {percent:.1} % of all, which is more than the removal guard allows"
    )
}

/// A status, for people.
fn words(status: IntegrationStatus) -> &'static str {
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

async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(NoticeQuery { notice }) = noticed?;
    let mut shown = list_page(&console, &person, String::new(), None).await?;
    shown.frame = shown.frame.with_notice(notice);
    Ok(page(&shown))
}

async fn list_page(
    console: &ConsoleState,
    person: &CurrentMember,
    name: String,
    problem: Option<String>,
) -> Result<IntegrationListPage, PageError> {
    let mut lines = Vec::new();
    for integration in console
        .process
        .store
        .list_integrations(person.0.team_id)
        .await?
    {
        let progress = IntegrationProgress::of(console, &integration).await?;
        let status = words(integration.status(&progress.standing()));
        lines.push(IntegrationListRow {
            integration,
            status,
            latest: progress.latest,
        });
    }
    Ok(IntegrationListPage {
        frame: PageFrame::new(person, PART),
        lines,
        name,
        problem,
    })
}

#[derive(Deserialize)]
struct NewIntegrationForm {
    name: String,
}

/// Makes an integration and leads to its page, where its first key is made.
async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<NewIntegrationForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(NewIntegrationForm { name: typed }) = form?;
    let name = match typed.parse::<DisplayName>() {
        Ok(name) if !is_visible(name.as_str()) => {
            let problem = Some("The name has no character that can be seen.".to_owned());
            return Ok(refused(
                &list_page(&console, &person, typed, problem).await?,
            ));
        }
        Ok(name) => name,
        Err(reason) => {
            let problem = Some(format!("The name {reason}."));
            return Ok(refused(
                &list_page(&console, &person, typed, problem).await?,
            ));
        }
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    match integrations::create_integration(store, person.actor(), person.0.team_id, &name, now)
        .await
    {
        Ok(integration_id) => Ok(Redirect::to(&format!("{PART}/{integration_id}")).into_response()),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not made: {reason}."));
            Ok(refused(
                &list_page(&console, &person, typed, problem).await?,
            ))
        }
        Err(error) => Err(error.into()),
    }
}
