//! A design: what it looks like, its document, and its last versions.

use std::str::FromStr;

use askama::Template;
use axum::extract::RawQuery;
use axum::response::Response;
use designs::{CreateDesignError, SaveVersionError};
use model::id::DesignId;
use model::name::DisplayName;
use store::{DesignSummary, DesignVersionSummary, StoredDesign};

use super::DOCUMENT_BYTES;
use super::document::{BEGINNING, document_text, read_document};
use super::proof::{ProofQuery, ProofView};
use crate::extract::{MemberContext, PagePath};
use crate::frame::PageFrame;
use crate::multipart::MultipartForm;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_form, render_page, render_refusal};

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
pub(crate) async fn show_new_design(context: MemberContext) -> Response {
    render_page(&new_page(&context))
}

fn new_page(context: &MemberContext) -> NewDesignPage {
    NewDesignPage {
        frame: context.frame("/designs"),
        name: String::new(),
        name_problem: None,
        document: BEGINNING.to_owned(),
        document_problem: None,
    }
}

/// Makes a design.
pub(crate) async fn create_design(
    context: MemberContext,
    form: Result<MultipartForm, PageError>,
) -> PageResult {
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            let document_problem = Some(failure.form_problem(DOCUMENT_BYTES)?);
            return Ok(render_refusal(&NewDesignPage {
                document_problem,
                ..new_page(&context)
            }));
        }
    };
    let (typed, text) = (form.text("name")?.trim(), form.text("document")?);
    let (text, document) = match chosen_document(&form) {
        Ok(chosen) => (chosen, read_document(chosen)),
        Err(failure) => (text, Err(failure.form_problem(DOCUMENT_BYTES)?)),
    };
    let name = DisplayName::from_str(typed);
    let name_problem = match (&name, &document) {
        (Err(why), _) => Some(format!("The name {why}.")),
        (Ok(_), Err(_)) => None,
        (Ok(name), Ok(document)) => {
            let (store, now) = (context.store(), context.now());
            let new = (name, document);
            match designs::create_design(store, context.actor(), context.team_id(), new, now).await
            {
                Ok(saved) => {
                    let address = super::design_address(saved.design_id);
                    return Ok(redirect_with_notice(&address, ActionNotice::DesignSaved));
                }
                Err(CreateDesignError::NameTaken) => {
                    Some("Your team has a design of this name already.".to_owned())
                }
                Err(CreateDesignError::Store(error)) => return Err(error.into()),
            }
        }
    };
    Ok(render_refusal(&NewDesignPage {
        frame: context.frame("/designs"),
        name: typed.to_owned(),
        name_problem,
        document: text.to_owned(),
        document_problem: document.err(),
    }))
}

/// The file, when one was chosen, and otherwise what stands in the form.
fn chosen_document(form: &MultipartForm) -> Result<&str, PageError> {
    match form.text("file")? {
        "" => form.text("document"),
        file => Ok(file),
    }
}

/// The page.
pub(crate) async fn show_design(
    context: MemberContext,
    PagePath(design_id): PagePath<DesignId>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let design = context
        .store()
        .find_design(context.team_id(), design_id)
        .await?;
    let asked = ProofQuery::parse(query.as_deref());
    design_page(&context, design, asked, None).await
}

async fn design_page(
    context: &MemberContext,
    design: StoredDesign,
    asked: ProofQuery,
    typed: Option<RejectedDesignInput>,
) -> PageResult {
    let (team_id, summary) = (context.team_id(), design.summary);
    let shown = (summary.design_id, summary.version);
    let proof = ProofView::new(context, shown, &design.document, asked).await?;
    let versions = context
        .store()
        .list_design_versions(team_id, summary.design_id, i32::MAX, LATEST)
        .await?;
    let (is_refused, standing) = (typed.is_some(), document_text(&design.document));
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
        frame: context.frame("/designs"),
        design: summary,
        proof,
        document,
        problem,
        overtaken,
        versions,
    };
    Ok(render_form(&shown, is_refused))
}

/// Saves another version.
pub(crate) async fn save_design(
    context: MemberContext,
    PagePath(design_id): PagePath<DesignId>,
    form: Result<MultipartForm, PageError>,
) -> PageResult {
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            let problem = DesignInputError::Mistake(failure.form_problem(DOCUMENT_BYTES)?);
            let stored = context
                .store()
                .find_design(context.team_id(), design_id)
                .await?;
            let document = document_text(&stored.document);
            let typed = RejectedDesignInput { document, problem };
            return design_page(&context, stored, ProofQuery::default(), Some(typed)).await;
        }
    };
    let (store, team_id) = (context.store(), context.team_id());
    let (text, document) = match chosen_document(&form) {
        Ok(chosen) => (chosen, read_document(chosen)),
        Err(failure) => {
            let mistake = failure.form_problem(DOCUMENT_BYTES)?;
            (form.text("document")?, Err(mistake))
        }
    };
    // A form without a version is from no page of ours: no version stands that it was begun with.
    let begun_with: i32 = form.text("version")?.parse().unwrap_or_default();
    let (stored, problem) = match document {
        Ok(document) => {
            let (begun, now) = ((design_id, begun_with), context.now());
            let saved =
                designs::save_version(store, context.actor(), team_id, begun, &document, now);
            match saved.await {
                Ok(_) => {
                    return Ok(redirect_with_notice(
                        &super::design_address(design_id),
                        ActionNotice::DesignSaved,
                    ));
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
    let document = text.to_owned();
    let typed = RejectedDesignInput { document, problem };
    let asked = ProofQuery::default();
    design_page(&context, stored, asked, Some(typed)).await
}
