//! The syncs of an integration, and what was wrong with single records.

use askama::Template;
use contract::push::{IssueKind, RejectionItem, SyncView};
use model::id::{IntegrationId, SyncId};
use serde::Deserialize;
use store::{HeldBackSync, Integration, IssueFilter};

use super::{IntegrationPath, PART, find_held_back, find_integration};
use crate::csv_download::{CsvChunk, CsvDownload, LINES_READ, download_csv};
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct SyncListQuery {
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
pub(crate) async fn list_syncs(
    context: MemberContext,
    path: IntegrationPath,
    PageQuery(SyncListQuery { before }): PageQuery<SyncListQuery>,
) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let (store, now) = (context.store(), context.now());
    let mut syncs = store
        .list_syncs(integration.integration_id, before, LINES + 1, now)
        .await?;
    let next = cut_page(&mut syncs).map(|last| last.id);
    let public_url = context.public_url();
    let (frame, is_newest) = (context.frame(PART), before.is_none());
    Ok(render_page(&SyncsPage {
        frame,
        integration,
        syncs,
        is_newest,
        next,
        public_url,
    }))
}

/// A path with the ids of an integration and of one of its syncs.
pub(crate) type SyncPath = PagePath<(IntegrationId, SyncId)>;

async fn find_sync(
    context: &MemberContext,
    PagePath((integration_id, sync_id)): SyncPath,
) -> Result<(Integration, SyncView), PageError> {
    let (store, now) = (context.store(), context.now());
    let integration = store
        .find_team_integration(context.team_id(), integration_id)
        .await?;
    let sync = store.find_sync(integration_id, sync_id, now).await?;
    Ok((integration, sync))
}

#[derive(Deserialize)]
pub(crate) struct IssueQuery {
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
pub(crate) async fn show_sync(
    context: MemberContext,
    path: SyncPath,
    PageQuery(IssueQuery { kind, after }): PageQuery<IssueQuery>,
) -> PageResult {
    let (integration, sync) = find_sync(&context, path).await?;
    let kind = kind.unwrap_or(IssueKind::Rejection);
    let store = context.store();
    let mut issues = store
        .list_issues(
            integration.integration_id,
            sync.id,
            (kind, IssueFilter::All),
            after,
            LINES + 1,
        )
        .await?;
    let next = cut_page(&mut issues).map(|last| last.id);
    let held_back = find_held_back(&context, integration.integration_id).await?;
    Ok(render_page(&SyncPage {
        frame: context.frame(PART),
        held_back: held_back.filter(|held_back| held_back.sync_id == sync.id),
        integration,
        sync,
        kind,
        issues,
        next,
    }))
}

/// All rejections or warnings of a sync as a file.
pub(crate) async fn export_issues(
    context: MemberContext,
    path: SyncPath,
    PageQuery(IssueQuery { kind, .. }): PageQuery<IssueQuery>,
) -> PageResult {
    let (integration, sync) = find_sync(&context, path).await?;
    let kind = kind.unwrap_or(IssueKind::Rejection);
    let (store, integration_id) = (context.store().clone(), integration.integration_id);
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
                cells: issues.into_iter().map(issue_cells).collect(),
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
    download_csv(&context, download, 0, read).await
}

fn issue_cells(issue: RejectionItem) -> Vec<String> {
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
