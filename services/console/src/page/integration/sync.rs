//! The syncs of an integration, and what was wrong with single records.

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use contract::push::{IssueKind, RejectionItem, SyncView};
use model::id::{IntegrationId, SyncId};
use serde::Deserialize;
use store::{HeldBackSync, Integration, IssueFilter};

use super::{IntegrationPath, PART, find, held_back, held_back_words};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::download::{CsvChunk, CsvDownload, LINES_READ, csv};
use crate::failure::PageError;
use crate::page::{LINES, cut};

#[derive(Deserialize)]
pub(super) struct SyncListQuery {
    before: Option<SyncId>,
}

#[derive(Template)]
#[template(path = "integration_syncs.html")]
struct SyncsPage {
    frame: PageFrame,
    integration: Integration,
    syncs: Vec<SyncView>,
    is_newest: bool,
    next: Option<SyncId>,
    public_url: String,
}

/// The syncs, the newest first.
pub(super) async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    cursor: Result<Query<SyncListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Query(SyncListQuery { before }) = cursor?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let mut syncs = store
        .list_syncs(integration.integration_id, before, LINES + 1, now)
        .await?;
    let next = cut(&mut syncs).map(|last| last.id);
    let public_url = console.process.config.console.public_url.clone();
    let (frame, is_newest) = (PageFrame::new(&person, PART), before.is_none());
    Ok(page(&SyncsPage {
        frame,
        integration,
        syncs,
        is_newest,
        next,
        public_url,
    }))
}

/// A path with the ids of an integration and of one of its syncs.
type SyncPath = Result<Path<(IntegrationId, SyncId)>, PathRejection>;

async fn find_sync(
    console: &ConsoleState,
    person: &CurrentMember,
    path: SyncPath,
) -> Result<(Integration, SyncView), PageError> {
    let Path((integration_id, sync_id)) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let integration = store
        .find_team_integration(person.0.team_id, integration_id)
        .await?;
    let sync = store.find_sync(integration_id, sync_id, now).await?;
    Ok((integration, sync))
}

#[derive(Deserialize)]
pub(super) struct IssueQuery {
    /// Rejections, unless it says otherwise.
    #[serde(rename = "type")]
    kind: Option<IssueKind>,
    #[serde(default)]
    after: i64,
}

#[derive(Template)]
#[template(path = "integration_sync.html")]
struct SyncPage {
    frame: PageFrame,
    integration: Integration,
    sync: SyncView,
    held_back: Option<HeldBackSync>,
    kind: IssueKind,
    issues: Vec<RejectionItem>,
    next: Option<i64>,
}

impl SyncPage {
    fn is_of(&self, kind: &str) -> bool {
        self.kind.as_str() == kind
    }
}

/// One sync with its rejections or warnings.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: SyncPath,
    query: Result<Query<IssueQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (integration, sync) = find_sync(&console, &person, path).await?;
    let Query(IssueQuery { kind, after }) = query?;
    let kind = kind.unwrap_or(IssueKind::Rejection);
    let store = &console.process.store;
    let mut issues = store
        .list_issues(
            integration.integration_id,
            sync.id,
            (kind, IssueFilter::All),
            after,
            LINES + 1,
        )
        .await?;
    let next = cut(&mut issues).map(|last| last.id);
    let held_back = held_back(&console, &person, integration.integration_id).await?;
    Ok(page(&SyncPage {
        frame: PageFrame::new(&person, PART),
        held_back: held_back.filter(|held_back| held_back.sync_id == sync.id),
        integration,
        sync,
        kind,
        issues,
        next,
    }))
}

/// All rejections or warnings of a sync as a file.
pub(super) async fn export(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: SyncPath,
    query: Result<Query<IssueQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (integration, sync) = find_sync(&console, &person, path).await?;
    let Query(IssueQuery { kind, .. }) = query?;
    let kind = kind.unwrap_or(IssueKind::Rejection);
    let (store, integration_id) = (console.process.store.clone(), integration.integration_id);
    let read = move |after: i64| {
        let store = store.clone();
        async move {
            let issues = store
                .list_issues(
                    integration_id,
                    sync.id,
                    (kind, IssueFilter::All),
                    after,
                    LINES_READ,
                )
                .await?;
            let is_full = i64::try_from(issues.len()).is_ok_and(|count| count == LINES_READ);
            let next = issues.last().filter(|_| is_full).map(|last| last.id);
            Ok(CsvChunk {
                cells: issues.into_iter().map(cells).collect(),
                next,
            })
        }
    };
    let name = format!("{}s-{}.csv", kind.as_str(), sync.id);
    let subject = format!("{}s of {}", kind.as_str(), integration.name);
    let download = CsvDownload {
        file_name: &name,
        headings: &[
            "Batch",
            "Position",
            "External id",
            "Code",
            "Field",
            "Message",
            "Resolved",
        ],
        action: "sync.downloaded",
        subject: &subject,
    };
    csv(&console, &person, download, 0, read).await
}

fn cells(issue: RejectionItem) -> Vec<String> {
    vec![
        issue.batch.to_string(),
        issue.index.to_string(),
        issue.external_id.unwrap_or_default(),
        issue.code,
        issue.field.unwrap_or_default(),
        issue.message,
        if issue.resolved { "yes" } else { "no" }.to_owned(),
    ]
}
