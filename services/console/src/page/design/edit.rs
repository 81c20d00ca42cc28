//! A design: what it looks like, its document, and its last versions.

use std::str::FromStr;

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, RawQuery, State};
use axum::response::Response;
use designs::{CreateDesignError, SaveVersionError};
use model::id::DesignId;
use model::name::DisplayName;
use store::{DesignSummary, DesignVersionSummary, StoredDesign};

use super::DOCUMENT_BYTES;
use super::document::{BEGINNING, read, written};
use super::proof::{ProofQuery, ProofView};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::upload::MultipartForm;

/// Versions that the design's own page shows.
const LATEST: i64 = 5;

#[derive(Template)]
#[template(path = "design_new.html")]
struct NewDesignPage {
    frame: PageFrame,
    name: String,
    name_problem: Option<String>,
    document: String,
    document_problem: Option<String>,
}

#[derive(Template)]
#[template(path = "design.html")]
struct DesignPage {
    frame: PageFrame,
    design: DesignSummary,
    proof: ProofView,
    document: String,
    problem: Option<String>,
    /// The document of the version that stands, when somebody else has saved it meanwhile.
    overtaken: Option<String>,
    versions: Vec<DesignVersionSummary>,
}

/// What a person typed that cannot be saved.
struct RejectedDesignInput {
    document: String,
    problem: DesignInputError,
}

/// Why it cannot be saved.
enum DesignInputError {
    /// It cannot be read, or cannot print.
    Mistake(String),
    /// Another version stands than the one that it was begun with.
    Overtaken,
}

/// The page for a new design.
pub(super) async fn blank(person: CurrentMember) -> Response {
    page(&new_page(&person))
}

fn new_page(person: &CurrentMember) -> NewDesignPage {
    NewDesignPage {
        frame: PageFrame::new(person, "/designs"),
        name: String::new(),
        name_problem: None,
        document: BEGINNING.to_owned(),
        document_problem: None,
    }
}

/// Makes a design.
pub(super) async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<MultipartForm, PageError>,
) -> Result<Response, PageError> {
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            let document_problem = Some(failure.of_form(DOCUMENT_BYTES)?);
            return Ok(refused(&NewDesignPage {
                document_problem,
                ..new_page(&person)
            }));
        }
    };
    let (typed, text) = (form.text("name")?.trim(), chosen(&form)?);
    let (name, document) = (DisplayName::from_str(typed), read(text));
    let name_problem = match (&name, &document) {
        (Err(why), _) => Some(format!("The name {why}.")),
        (Ok(_), Err(_)) => None,
        (Ok(name), Ok(document)) => {
            let (store, now) = (&console.process.store, console.process.clock.now());
            let new = (name, document);
            match designs::create_design(store, person.actor(), person.0.team_id, new, now).await {
                Ok(saved) => {
                    let address = super::address(saved.design_id);
                    return Ok(done(&address, ActionNotice::DesignSaved));
                }
                Err(CreateDesignError::NameTaken) => {
                    Some("Your team has a design of this name already.".to_owned())
                }
                Err(CreateDesignError::Store(error)) => return Err(error.into()),
            }
        }
    };
    Ok(refused(&NewDesignPage {
        frame: PageFrame::new(&person, "/designs"),
        name: typed.to_owned(),
        name_problem,
        document: text.to_owned(),
        document_problem: document.err(),
    }))
}

/// The file, when one was chosen, and otherwise what stands in the form.
fn chosen(form: &MultipartForm) -> Result<&str, PageError> {
    match form.text("file")? {
        "" => form.text("document"),
        file => Ok(file),
    }
}

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<DesignId>, PathRejection>,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let (Path(design_id), Query(noticed)) = (path?, noticed?);
    let design = console
        .process
        .store
        .find_design(person.0.team_id, design_id)
        .await?;
    let frame = PageFrame::new(&person, "/designs").with_notice(noticed.notice);
    design_page(
        &console,
        &person,
        frame,
        design,
        ProofQuery::read(query.as_deref()),
        None,
    )
    .await
}

async fn design_page(
    console: &ConsoleState,
    person: &CurrentMember,
    frame: PageFrame,
    design: StoredDesign,
    asked: ProofQuery,
    typed: Option<RejectedDesignInput>,
) -> Result<Response, PageError> {
    let (team_id, summary) = (person.0.team_id, design.summary);
    let shown = (summary.design_id, summary.version);
    let proof = ProofView::new(console, team_id, shown, &design.document, asked).await?;
    let versions = console
        .process
        .store
        .list_design_versions(team_id, summary.design_id, i32::MAX, LATEST)
        .await?;
    let (is_refused, standing) = (typed.is_some(), written(&design.document));
    let (document, problem, overtaken) = match typed {
        None => (standing, None, None),
        Some(RejectedDesignInput {
            document,
            problem: DesignInputError::Mistake(problem),
        }) => (document, Some(problem), None),
        Some(RejectedDesignInput {
            document,
            problem: DesignInputError::Overtaken,
        }) => (document, None, Some(standing)),
    };
    let shown = DesignPage {
        frame,
        design: summary,
        proof,
        document,
        problem,
        overtaken,
        versions,
    };
    Ok(if is_refused {
        refused(&shown)
    } else {
        page(&shown)
    })
}

/// Saves another version.
pub(super) async fn save(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<DesignId>, PathRejection>,
    form: Result<MultipartForm, PageError>,
) -> Result<Response, PageError> {
    let Path(design_id) = path?;
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            let problem = DesignInputError::Mistake(failure.of_form(DOCUMENT_BYTES)?);
            let stored = console
                .process
                .store
                .find_design(person.0.team_id, design_id)
                .await?;
            let (frame, document) = (
                PageFrame::new(&person, "/designs"),
                written(&stored.document),
            );
            let typed = RejectedDesignInput { document, problem };
            return design_page(
                &console,
                &person,
                frame,
                stored,
                ProofQuery::default(),
                Some(typed),
            )
            .await;
        }
    };
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let text = chosen(&form)?;
    // A form without a version is from no page of ours: no version stands that it was begun with.
    let begun_with: i32 = form.text("version")?.parse().unwrap_or_default();
    let (stored, problem) = match read(text) {
        Ok(document) => {
            let (begun, now) = ((design_id, begun_with), console.process.clock.now());
            let saved =
                designs::save_version(store, person.actor(), team_id, begun, &document, now);
            match saved.await {
                Ok(_) => {
                    return Ok(done(&super::address(design_id), ActionNotice::DesignSaved));
                }
                Err(SaveVersionError::Overtaken(stored)) => (*stored, DesignInputError::Overtaken),
                Err(SaveVersionError::Store(error)) => return Err(error.into()),
            }
        }
        Err(mistake) => {
            let stored = store.find_design(team_id, design_id).await?;
            // The page of a mistake goes on from the version that stands: who was overtaken is told that first.
            let problem = if stored.summary.version == begun_with {
                DesignInputError::Mistake(mistake)
            } else {
                DesignInputError::Overtaken
            };
            (stored, problem)
        }
    };
    let frame = PageFrame::new(&person, "/designs");
    let document = text.to_owned();
    let typed = RejectedDesignInput { document, problem };
    let asked = ProofQuery::default();
    design_page(&console, &person, frame, stored, asked, Some(typed)).await
}
