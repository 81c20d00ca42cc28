//! The versions of a design: each can be looked at, and gone back to.

use askama::Template;
use axum::extract::RawQuery;
use designs::RestoreDesignError;
use model::id::DesignId;
use serde::Deserialize;
use store::{DesignSummary, DesignVersionSummary};

use super::document::document_text;
use super::proof::{ProofQuery, ProofView};
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct DesignVersionListQuery {
    before: Option<i32>,
}

#[derive(Template)]
#[template(path = "design_versions.html")]
struct DesignVersionsPage {
    frame: PageFrame,
    design: DesignSummary,
    versions: Vec<DesignVersionSummary>,
    next: Option<i32>,
}

#[derive(Template)]
#[template(path = "design_version.html")]
struct DesignVersionPage {
    frame: PageFrame,
    design: DesignSummary,
    version: DesignVersionSummary,
    proof: ProofView,
    document: String,
}

/// All versions, the newest first.
pub(crate) async fn list_versions(
    context: MemberContext,
    PagePath(design_id): PagePath<DesignId>,
    PageQuery(cursor): PageQuery<DesignVersionListQuery>,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let design = store.find_design(team_id, design_id).await?.summary;
    let before = cursor.before.unwrap_or(i32::MAX);
    let mut versions = store
        .list_design_versions(team_id, design_id, before, LINES + 1)
        .await?;
    let next = cut_page(&mut versions).map(|last| last.version);
    Ok(render_page(&DesignVersionsPage {
        frame: context.frame("/designs"),
        design,
        versions,
        next,
    }))
}

/// One version.
pub(crate) async fn show_version(
    context: MemberContext,
    PagePath((design_id, number)): PagePath<(DesignId, i32)>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let design = store.find_design(team_id, design_id).await?.summary;
    let document = store
        .find_version_document(team_id, design_id, number)
        .await?;
    let mut versions = store
        .list_design_versions(team_id, design_id, number.saturating_add(1), 1)
        .await?;
    let version = versions
        .pop()
        .filter(|version| version.version == number)
        .ok_or(PageError::NotFound)?;
    let asked = ProofQuery::parse(query.as_deref());
    let proof = ProofView::new(&context, (design_id, number), &document, asked).await?;
    let frame = context.frame("/designs");
    Ok(render_page(&DesignVersionPage {
        frame,
        design,
        version,
        proof,
        document: document_text(&document),
    }))
}

/// Goes back to a version, by a new one with its document.
pub(crate) async fn restore_version(
    context: MemberContext,
    PagePath((design_id, number)): PagePath<(DesignId, i32)>,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let version = (design_id, number);
    match designs::restore_version(store, context.actor(), context.team_id(), version, now).await {
        Ok(_) => Ok(redirect_with_notice(
            &super::design_address(design_id),
            ActionNotice::DesignRestored,
        )),
        Err(RestoreDesignError::Unprintable(problem)) => {
            Err(PageError::Invalid(format!("Not done. {problem}")))
        }
        Err(RestoreDesignError::Store(error)) => Err(error.into()),
    }
}
