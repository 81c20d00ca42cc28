//! Reading a body: is it JSON, is it an object, has it the documented shape?

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::push::PushError;

/// Reads a body that must be a JSON object. Errors: `invalid_json`, `invalid_request`.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, PushError> {
    let text = std::str::from_utf8(body)
        .map_err(|error| PushError::InvalidJson(format!("The body is not UTF-8: {error}.")))?;
    // Walks the whole body without recursion and keeps nothing: after this it is JSON.
    let raw: &RawValue = serde_json::from_str(text)
        .map_err(|error| PushError::InvalidJson(format!("The body is not JSON: {error}.")))?;
    if !raw.get().starts_with('{') {
        return Err(PushError::InvalidRequest("The body must be a JSON object.".to_owned()));
    }
    serde_json::from_str(raw.get())
        .map_err(|error| PushError::InvalidRequest(format!("The body cannot be read: {error}.")))
}

/// As [`read_object`]; an empty body counts as `{}`.
pub(crate) fn read_optional_object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, PushError> {
    read_object(if body.trim_ascii().is_empty() { b"{}" } else { body })
}

/// A string, `None` when the JSON is no string or holds an escape without a meaning.
pub(crate) fn string(raw: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);
    serde_json::from_str(raw.get()).ok().map(|Text(text)| text)
}
