//! Reading a body: is it JSON, is it an object, has it the documented shape?

use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::push::PushError;

/// Reads a body that must be a JSON object. Errors: `invalid_json`, `invalid_request`.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, PushError> {
    let text = std::str::from_utf8(body).map_err(|error| {
        PushError::InvalidJson(format!(
            "The body is not UTF-8 from byte {} on.",
            error.valid_up_to() + 1
        ))
    })?;
    // Walks the whole body without recursion and keeps nothing: after this it is JSON.
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        PushError::InvalidJson(format!(
            "The body is not JSON: {}.",
            describe_json_end(&error)
        ))
    })?;
    if !raw.get().starts_with('{') {
        return Err(PushError::InvalidRequest(
            "The body must be a JSON object.".to_owned(),
        ));
    }
    serde_json::from_str(raw.get()).map_err(|_| PushError::InvalidRequest(AMBIGUOUS.to_owned()))
}

/// Envelopes take any value of a name, and judge it later: all that is left to go wrong is a name that is no text, or one that
/// stands twice.
const AMBIGUOUS: &str = "The body must hold each of its names once, as texts of whole characters.";

/// Where a text stops being JSON, as the end of a sentence.
pub(crate) fn describe_json_end(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "it ends too early".to_owned(),
        _ => format!("see line {}, column {}", error.line(), error.column()),
    }
}

/// As [`read_object`]; an empty body counts as `{}`.
pub(crate) fn read_optional_object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, PushError> {
    read_object(if body.trim_ascii().is_empty() {
        b"{}"
    } else {
        body
    })
}

/// A string, `None` when the JSON is no string or holds an escape without a meaning.
pub(crate) fn parse_json_string(raw: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    #[derive(Deserialize)]
    struct JsonText<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);
    serde_json::from_str(raw.get())
        .ok()
        .map(|JsonText(text)| text)
}
