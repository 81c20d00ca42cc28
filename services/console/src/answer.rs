//! Answers: a page, or the way to the page that shows what came of an action.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};

use crate::access::Person;
use crate::show::Zone;

/// What every page of a person who is signed in shows around its content.
pub(crate) struct Frame {
    /// The person's name.
    pub(crate) user_name: String,
    /// The team's name.
    pub(crate) team_name: String,
    /// The path of the part of the navigation that the page belongs to.
    pub(crate) part: &'static str,
    /// What has just been done, in a sentence.
    pub(crate) notice: Option<&'static str>,
    /// Whether the person manages keys, endpoints, integrations and campaigns.
    pub(crate) is_manager: bool,
    /// The zone of the team's times.
    pub(crate) zone: Zone,
}

impl Frame {
    /// The frame of a page in this part of the navigation.
    pub(crate) fn new(person: &Person, part: &'static str) -> Self {
        Self {
            user_name: person.0.name.clone(),
            team_name: person.0.team_name.clone(),
            part,
            notice: None,
            is_manager: person.is_manager(),
            zone: Zone::new(&person.0.time_zone),
        }
    }

    /// With what has just been done.
    pub(crate) fn with_notice(self, notice: Option<Notice>) -> Self {
        Self { notice: notice.map(Notice::sentence), ..self }
    }

    /// `aria-current` for the part that the page belongs to, in templates.
    pub(crate) fn current(&self, part: &str) -> &'static str {
        if self.part == part { "aria-current=\"page\"" } else { "" }
    }
}

/// What an action did, carried to the next page in its address. Only these can be shown there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Notice {
    /// A key opens nothing any more.
    KeyRevoked,
}

impl Notice {
    const fn name(self) -> &'static str {
        match self {
            Self::KeyRevoked => "key-revoked",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::KeyRevoked => "The key is revoked. From now on it opens nothing.",
        }
    }
}

/// The part of a page's address that says what was done.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Noticed {
    /// Absent, or one that nobody made, shows nothing.
    #[serde(default, deserialize_with = "known")]
    pub(crate) notice: Option<Notice>,
}

fn known<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Notice>, D::Error> {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::StrDeserializer;
    let name = String::deserialize(deserializer)?;
    let name: StrDeserializer<'_, serde::de::value::Error> = name.as_str().into_deserializer();
    Ok(Notice::deserialize(name).ok())
}

/// A page.
pub(crate) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page cannot be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Leads to a page of ours that says what was done. Reloading that page repeats nothing.
pub(crate) fn done(path: &str, notice: Notice) -> Response {
    Redirect::to(&format!("{path}?notice={}", notice.name())).into_response()
}
