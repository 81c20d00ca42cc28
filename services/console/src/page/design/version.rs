//! The versions of a design: each can be looked at, and gone back to.

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, RawQuery, State};
use axum::response::Response;
use designs::RestoreDesignError;
use model::id::DesignId;
use serde::Deserialize;
use store::{DesignSummary, DesignVersionSummary};

use super::document::written;
use super::proof::{ProofQuery, ProofView};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, PageFrame, done, page};
use crate::failure::PageError;
use crate::page::LINES;

#[derive(Deserialize)]
pub(super) struct DesignVersionListQuery {
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
pub(super) async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<DesignId>, PathRejection>,
    cursor: Result<Query<DesignVersionListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (Path(design_id), Query(cursor)) = (path?, cursor?);
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let design = store.find_design(team_id, design_id).await?.summary;
    let before = cursor.before.unwrap_or(i32::MAX);
    let mut versions = store
        .list_design_versions(team_id, design_id, before, LINES + 1)
        .await?;
    let is_more = versions.len() as i64 > LINES;
    versions.truncate(LINES as usize);
    let next = versions.last().filter(|_| is_more).map(|last| last.version);
    Ok(page(&DesignVersionsPage {
        frame: PageFrame::new(&person, "/designs"),
        design,
        versions,
        next,
    }))
}

/// One version.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<(DesignId, i32)>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let Path((design_id, number)) = path?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
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
    let asked = ProofQuery::read(query.as_deref());
    let proof = ProofView::new(&console, team_id, (design_id, number), &document, asked).await?;
    let frame = PageFrame::new(&person, "/designs");
    Ok(page(&DesignVersionPage {
        frame,
        design,
        version,
        proof,
        document: written(&document),
    }))
}

/// Goes back to a version, by a new one with its document.
pub(super) async fn restore(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<(DesignId, i32)>, PathRejection>,
) -> Result<Response, PageError> {
    let Path((design_id, number)) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let version = (design_id, number);
    match designs::restore_version(store, person.actor(), person.0.team_id, version, now).await {
        Ok(_) => Ok(done(
            &super::address(design_id),
            ActionNotice::DesignRestored,
        )),
        Err(RestoreDesignError::Unprintable(problem)) => {
            Err(PageError::Invalid(format!("Not done. {problem}")))
        }
        Err(RestoreDesignError::Store(error)) => Err(error.into()),
    }
}
