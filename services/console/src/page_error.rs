//! What goes wrong, as a page that says what to do.

use std::error::Error;

use askama::Template;
use axum::extract::rejection::{FormRejection, RawFormRejection};
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use store::StoreError;

use crate::render::render_page;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// Nothing there, or nothing of the team's: which of the two is nobody's business.
    #[error("There is nothing at this address.")]
    NotFound,
    /// The person's role is not enough.
    #[error("Your role does not allow this. An owner of your team can do it, or change your role.")]
    NotAllowed,
    /// An action that no page of this console sent; it is at this address.
    #[error(
        "Nothing was changed: this did not come from a page of this console. Open the console at {0} and do it there."
    )]
    Foreign(String),
    /// The page cannot be asked for so.
    #[error("There is a page at this address, or an action, but not the one that was asked for.")]
    Method,
    /// Too many others do the same: passwords are being checked, or files are arriving.
    #[error(
        "Nothing was done: too many people are doing the same at this moment. Try again in a few seconds."
    )]
    Busy,
    /// A form or a file was not there in time.
    #[error("Nothing was changed: what was sent did not arrive in time. Send it again.")]
    Late,
    /// A form has more bytes than its action takes; the route adds how many that are.
    #[error("Nothing was changed: what was sent is larger than {}.", size_in_words(.0))]
    TooLarge(Option<usize>),
    /// What was sent makes no sense; the sentence says why.
    #[error("{0}")]
    Invalid(String),
    /// The database failed.
    #[error("Something went wrong on our side, and nothing was changed. Try again in a moment.")]
    Store(#[source] StoreError),
    /// Something else of ours failed.
    #[error("Something went wrong on our side, and nothing was changed. Try again in a moment.")]
    Internal(#[source] anyhow::Error),
    /// A secret was made, and the page that was to show it cannot be.
    #[error(
        "It was done, but the page with the secret could not be made, so nobody has seen it. Go back, reload the page and make another."
    )]
    Unshown(#[source] Box<PageError>),
}

/// What handlers give.
pub(crate) type PageResult = Result<Response, PageError>;

impl PageError {
    /// Why the page with a secret that has been made cannot be shown.
    pub(crate) fn after_commit(self) -> Self {
        Self::Unshown(Box::new(self))
    }

    /// Why a form of so many bytes at the most could not be read, for the page that it came from.
    ///
    /// # Errors
    /// Any other failure.
    pub(crate) fn form_problem(self, bytes: usize) -> Result<String, Self> {
        match self {
            Self::Invalid(sentence) => Ok(sentence),
            Self::TooLarge(_) => Ok(Self::TooLarge(Some(bytes)).to_string()),
            other => Err(other),
        }
    }

    /// A form that the framework answers with this status.
    pub(crate) fn unreadable_form(status: StatusCode) -> Self {
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::TooLarge(None);
        }
        Self::Invalid(
            "The form could not be read. Go back, reload the page and send it again.".to_owned(),
        )
    }

    const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::NotAllowed | Self::Foreign(_) => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Store(_) | Self::Internal(_) | Self::Unshown(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }
}

/// What a form says of an action that was not done past a bound.
///
/// # Errors
/// Any other failure.
pub(crate) fn limit_problem(not_done: &str, error: StoreError) -> Result<String, PageError> {
    match error {
        StoreError::Limit(reason) => Ok(format!("{not_done}: {reason}.")),
        other => Err(other.into()),
    }
}

/// Bytes of a form at the most, in words.
fn size_in_words(bytes: &Option<usize>) -> String {
    const MEGABYTE: usize = 1024 * 1024;
    match bytes {
        None => "this page takes".to_owned(),
        Some(bytes) if *bytes < MEGABYTE => format!("the {} KB that this page takes", bytes / 1024),
        Some(bytes) => format!("the {} MB that this page takes", bytes / MEGABYTE),
    }
}

/// An answer of an action that takes so many bytes: one that refuses more says how many.
pub(crate) fn state_size_limit(response: Response, bytes: usize) -> Response {
    match response.status() {
        StatusCode::PAYLOAD_TOO_LARGE => PageError::TooLarge(Some(bytes)).into_response(),
        _ => response,
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => Self::NotFound,
            // Somebody else is at the same thing, and was waited for.
            StoreError::Busy(_) => Self::Busy,
            StoreError::Limit(sentence) => Self::Invalid(format!("Not done: {sentence}.")),
            error if error.is_unstorable() => Self::Invalid(
                "Nothing was changed: what was sent has a date, a number or a character in it that cannot be kept."
                    .to_owned(),
            ),
            other => Self::Store(other),
        }
    }
}

impl From<FormRejection> for PageError {
    fn from(rejection: FormRejection) -> Self {
        Self::unreadable_form(rejection.status())
    }
}

impl From<RawFormRejection> for PageError {
    fn from(rejection: RawFormRejection) -> Self {
        Self::unreadable_form(rejection.status())
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct ErrorPage {
    heading: &'static str,
    sentence: String,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self {
            tracing::error!(error = error as &dyn Error, "the database failed");
        }
        if let Self::Unshown(error) = &self {
            tracing::error!(
                error = error as &dyn Error,
                "a secret that was made cannot be shown"
            );
        }
        if let Self::Internal(error) = &self {
            tracing::error!(
                error = error.as_ref() as &dyn Error,
                "a page cannot be made"
            );
        }
        let heading = match &self {
            Self::NotFound => "Not found",
            Self::NotAllowed | Self::Foreign(_) | Self::Method => "Not allowed",
            Self::Busy => "Busy",
            Self::Late | Self::TooLarge(_) | Self::Invalid(_) => "That did not work",
            Self::Store(_) | Self::Internal(_) | Self::Unshown(_) => "Something went wrong",
        };
        let answer = (
            self.status(),
            render_page(&ErrorPage {
                heading,
                sentence: self.to_string(),
            }),
        );
        match self {
            Self::Busy => ([(RETRY_AFTER, BUSY_SECONDS)], answer).into_response(),
            _ => answer.into_response(),
        }
    }
}

/// Seconds after which whoever was too many may come again, as a header has them.
const BUSY_SECONDS: &str = "5";

/// An answer with words, when it is a failure that has none: of the framework, or of a page that panicked.
pub(crate) fn with_words(response: Response) -> Response {
    let status = response.status();
    let is_page = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    let is_failure = status.is_client_error() || status.is_server_error();
    if !is_failure || response.headers().get(CONTENT_TYPE).is_some_and(is_page) {
        return response;
    }
    let heading = status.canonical_reason().unwrap_or("That did not work");
    let sentence = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "What was sent is too large for this page.",
        StatusCode::URI_TOO_LONG => "The address is too long.",
        _ if status.is_server_error() => {
            "Something went wrong on our side. Try again in a moment, and look whether it was done before you repeat it."
        }
        _ => "The request could not be read. Go back, reload the page and try again.",
    };
    let mut answer = (
        status,
        render_page(&ErrorPage {
            heading,
            sentence: sentence.to_owned(),
        }),
    )
        .into_response();
    if let Some(allow) = response.headers().get(ALLOW) {
        answer.headers_mut().insert(ALLOW, allow.clone());
    }
    answer
}
