//! What goes wrong, as a page that says what to do.

use askama::Template;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection, RawFormRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use store::StoreError;

use crate::answer::page;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Nothing there, or nothing of the team's: which of the two is nobody's business.
    #[error("There is nothing at this address.")]
    NotFound,
    /// The person's role is not enough.
    #[error("Your role does not allow this. An owner of your team can do it, or change your role.")]
    NotAllowed,
    /// What was sent makes no sense; the sentence says why.
    #[error("{0}")]
    Invalid(String),
    /// The database failed.
    #[error("Something went wrong on our side, and nothing was changed. Try again in a moment.")]
    Store(#[source] StoreError),
    /// Something else of ours failed.
    #[error("Something went wrong on our side, and nothing was changed. Try again in a moment.")]
    Internal(#[source] anyhow::Error),
}

impl Failure {
    const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::NotAllowed => StatusCode::FORBIDDEN,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Store(_) | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => Self::NotFound,
            StoreError::Limit(sentence) => Self::Invalid(format!("Not done: {sentence}.")),
            other => Self::Store(other),
        }
    }
}

impl From<FormRejection> for Failure {
    fn from(_: FormRejection) -> Self {
        Self::Invalid("The form could not be read. Go back, reload the page and send it again.".to_owned())
    }
}

impl From<RawFormRejection> for Failure {
    fn from(_: RawFormRejection) -> Self {
        Self::Invalid("The form could not be read. Go back, reload the page and send it again.".to_owned())
    }
}

impl From<PathRejection> for Failure {
    fn from(_: PathRejection) -> Self {
        Self::NotFound
    }
}

impl From<QueryRejection> for Failure {
    fn from(_: QueryRejection) -> Self {
        Self::NotFound
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage {
    heading: &'static str,
    sentence: String,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self {
            tracing::error!(error = error as &dyn std::error::Error, "the database failed");
        }
        if let Self::Internal(error) = &self {
            tracing::error!(error = error.as_ref() as &dyn std::error::Error, "a page cannot be made");
        }
        let heading = match &self {
            Self::NotFound => "Not found",
            Self::NotAllowed => "Not allowed",
            Self::Invalid(_) => "That did not work",
            Self::Store(_) | Self::Internal(_) => "Out of order",
        };
        (self.status(), page(&FailurePage { heading, sentence: self.to_string() })).into_response()
    }
}

/// For paths that lead nowhere.
pub(crate) async fn not_found() -> Failure {
    Failure::NotFound
}
