//! Texts with fields in them: `Dear {{first_name|neighbor}}`.
//!
//! `{{field}}` stands for a recipient's value, `{{field|default}}` for the default when there is none. Spaces
//! around names and defaults do not count. A single brace is text. A value is never read as a template.

use std::fmt;

use serde::Deserialize;

use crate::limits::{FIELD_NAME_CHARS, FIELDS_PER_TEMPLATE, TEMPLATE_CHARS};

const OPENING: &str = "{{";
const CLOSING: &str = "}}";

/// A text with fields, read once and rendered for each recipient.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct TextTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Field {
        name: String,
        default: Option<String>,
    },
}

/// A template with a recipient's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedTemplate<'t> {
    /// The text.
    pub text: String,
    /// Fields that had neither a value nor a default, once each, in order. They printed as nothing.
    pub empty_fields: Vec<&'t str>,
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Longer than [`TEMPLATE_CHARS`].
    #[error("the text has more than {TEMPLATE_CHARS} characters")]
    TooLong,
    /// More than [`FIELDS_PER_TEMPLATE`] fields.
    #[error("the text has more than {FIELDS_PER_TEMPLATE} fields")]
    TooManyFields,
    /// `{{` without `}}`.
    #[error("\"{{{{\" is not closed by \"}}}}\"")]
    NotClosed,
    /// `}}` without `{{`.
    #[error("\"}}}}\" closes nothing")]
    NotOpened,
    /// A brace within a field.
    #[error("the field {0:?} has a brace in it")]
    Brace(String),
    /// A field without a name.
    #[error("a field has no name")]
    NoName,
    /// A name longer than [`FIELD_NAME_CHARS`].
    #[error("a field's name has more than {FIELD_NAME_CHARS} characters")]
    NameTooLong,
}

impl TextTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`TemplateError`], the first one found.
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        if source.chars().nth(TEMPLATE_CHARS).is_some() {
            return Err(TemplateError::TooLong);
        }
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some((text, after)) = rest.split_once(OPENING) {
            let (field, after) = after.split_once(CLOSING).ok_or(TemplateError::NotClosed)?;
            push_text(&mut parts, text)?;
            parts.push(TemplatePart::parse_field(field)?);
            rest = after;
        }
        push_text(&mut parts, rest)?;
        let template = Self { parts };
        if template.field_names().count() > FIELDS_PER_TEMPLATE {
            return Err(TemplateError::TooManyFields);
        }
        Ok(template)
    }

    /// The names of its fields as written, in order, repeats included.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Field { name, .. } => Some(name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    /// The text before its first field.
    pub(crate) fn leading_text(&self) -> &str {
        match self.parts.first() {
            Some(TemplatePart::Text(text)) => text,
            _ => "",
        }
    }

    /// The text with the values that `lookup` gives by field name. A value that is absent or blank gives way
    /// to the default; without one the field is listed as empty.
    pub fn render<'v>(&self, lookup: impl Fn(&str) -> Option<&'v str>) -> RenderedTemplate<'_> {
        self.render_with(lookup, |text, value| text.push_str(value))
    }

    /// As [`TextTemplate::render`], where `push` adds each value or default to the text before it.
    pub(crate) fn render_with<'v>(
        &self,
        lookup: impl Fn(&str) -> Option<&'v str>,
        push: impl Fn(&mut String, &str),
    ) -> RenderedTemplate<'_> {
        let mut rendered = RenderedTemplate {
            text: String::new(),
            empty_fields: Vec::new(),
        };
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => rendered.text.push_str(text),
                TemplatePart::Field { name, default } => {
                    match (lookup(name).filter(|value| !is_blank(value)), default) {
                        (Some(value), _) => push(&mut rendered.text, value),
                        (None, Some(default)) => push(&mut rendered.text, default),
                        (None, None) if rendered.empty_fields.contains(&name.as_str()) => {}
                        (None, None) => rendered.empty_fields.push(name),
                    }
                }
            }
        }
        rendered
    }
}

impl TextTemplate {
    /// The text as it is drawn in the design: with defaults for fields, or their names where they have none.
    pub(crate) fn placeholder_text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            TemplatePart::Text(text)
            | TemplatePart::Field {
                default: Some(text),
                ..
            } => text.as_str(),
            TemplatePart::Field {
                name,
                default: None,
            } => name,
        });
        parts.collect()
    }

    /// What it may print of itself: its texts and its defaults.
    pub(crate) fn fixed_texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Text(text)
            | TemplatePart::Field {
                default: Some(text),
                ..
            } => Some(text.as_str()),
            TemplatePart::Field { default: None, .. } => None,
        })
    }
}

impl TemplatePart {
    fn parse_field(source: &str) -> Result<Self, TemplateError> {
        if source.contains(['{', '}']) {
            return Err(TemplateError::Brace(source.to_owned()));
        }
        let (name, default) = match source.split_once('|') {
            Some((name, default)) => (name.trim(), Some(default.trim().to_owned())),
            None => (source.trim(), None),
        };
        if name.is_empty() {
            return Err(TemplateError::NoName);
        }
        if name.chars().nth(FIELD_NAME_CHARS).is_some() {
            return Err(TemplateError::NameTooLong);
        }
        Ok(Self::Field {
            name: name.to_owned(),
            default,
        })
    }
}

fn push_text(parts: &mut Vec<TemplatePart>, text: &str) -> Result<(), TemplateError> {
    if text.contains(CLOSING) {
        return Err(TemplateError::NotOpened);
    }
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text.to_owned()));
    }
    Ok(())
}

fn is_blank(value: &str) -> bool {
    value.trim().is_empty()
}

impl TryFrom<String> for TextTemplate {
    type Error = TemplateError;

    fn try_from(source: String) -> Result<Self, TemplateError> {
        Self::parse(&source)
    }
}

/// The template as it could have been written.
impl fmt::Display for TextTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => formatter.write_str(text)?,
                TemplatePart::Field {
                    name,
                    default: Some(default),
                } => {
                    write!(formatter, "{OPENING}{name}|{default}{CLOSING}")?;
                }
                TemplatePart::Field {
                    name,
                    default: None,
                } => write!(formatter, "{OPENING}{name}{CLOSING}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
