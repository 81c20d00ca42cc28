//! Templates become answers.

use std::error::Error;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

/// A page.
pub(crate) fn render_page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "a page cannot be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that says beside a field what is wrong with it, and keeps what was typed.
pub(crate) fn render_refusal(template: &impl Template) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, render_page(template)).into_response()
}

/// A page with a form, whether or not something in it was refused.
pub(crate) fn render_form(template: &impl Template, is_refused: bool) -> Response {
    if is_refused {
        render_refusal(template)
    } else {
        render_page(template)
    }
}
