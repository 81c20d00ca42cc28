//! What handlers get: who asks and what the page is made from, and the parts of a request, whose faults are pages.

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::Method;
use axum::http::request::Parts;
use chrono::{DateTime, NaiveDate, Utc};
use model::id::TeamId;
use runtime::config::Config;
use serde::de::DeserializeOwned;
use store::{Actor, MemberRole, SignedInMember, Store};

use crate::format::TeamTimeZone;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, notice_in};
use crate::page_error::PageError;
use crate::role_access::{RouteAccess, role_allows};
use crate::state::ConsoleState;

/// Whoever is signed in, put into a request by its guard.
#[derive(Debug, Clone)]
pub(crate) struct CurrentMember(pub(crate) SignedInMember);

/// A member at work: who asks, for which team, and what the console makes pages from.
pub(crate) struct MemberContext {
    pub(crate) console: ConsoleState,
    pub(crate) member: SignedInMember,
    /// What the address says has just been done.
    pub(crate) notice: Option<ActionNotice>,
}

impl MemberContext {
    pub(crate) fn store(&self) -> &Store {
        self.console.store()
    }

    pub(crate) fn config(&self) -> &Config {
        self.console.config()
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.console.now()
    }

    pub(crate) const fn team_id(&self) -> TeamId {
        self.member.team_id
    }

    /// Who makes a change, when the member makes it.
    pub(crate) const fn actor(&self) -> Actor<'_> {
        Actor::Member(&self.member)
    }

    /// Whether the member manages keys, endpoints, integrations and campaigns.
    pub(crate) fn is_manager(&self) -> bool {
        role_allows(RouteAccess::Manager, self.member.role)
    }

    pub(crate) const fn time_zone(&self) -> TeamTimeZone {
        TeamTimeZone::new(self.member.time_zone)
    }

    /// The day in the team's time zone.
    pub(crate) fn today(&self) -> NaiveDate {
        self.time_zone().day_of(self.now())
    }

    /// The gateway's address, for examples.
    pub(crate) fn public_url(&self) -> String {
        self.config().console.public_url.clone()
    }

    /// With what has been done by this very request.
    pub(crate) fn with_notice(self, notice: ActionNotice) -> Self {
        Self {
            notice: Some(notice),
            ..self
        }
    }

    /// The frame of a page in this part of the navigation, with what has just been done.
    pub(crate) fn frame(&self, part: &'static str) -> PageFrame {
        PageFrame {
            user_name: self.member.name.clone(),
            team_name: self.member.team_name.clone(),
            part,
            notice: self.notice.map(|notice| notice.sentence().into()),
            is_manager: self.is_manager(),
            is_owner: self.member.role == MemberRole::Owner,
            zone: self.time_zone(),
        }
    }
}

impl FromRequestParts<ConsoleState> for MemberContext {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        console: &ConsoleState,
    ) -> Result<Self, PageError> {
        // Only a route that anyone may use lacks one; asking for a member there is our mistake, and refused.
        let CurrentMember(member) = parts
            .extensions
            .get()
            .cloned()
            .ok_or(PageError::NotAllowed)?;
        // The address of a form that is refused may say what was done before.
        let query = parts.uri.query().filter(|_| parts.method == Method::GET);
        Ok(Self {
            console: console.clone(),
            member,
            notice: query.and_then(notice_in),
        })
    }
}

/// The parameters of a path. There is no page at a path whose parameters cannot be read.
pub(crate) struct PagePath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PagePath<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(parameters)| Self(parameters))
            .map_err(|_| PageError::NotFound)
    }
}

/// What the part of an address behind `?` asks for. There is no page that is asked for in other words.
pub(crate) struct PageQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for PageQuery<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let query = Query::from_request_parts(parts, state).await;
        query
            .map(|Query(asked)| Self(asked))
            .map_err(|_| PageError::NotFound)
    }
}

/// A form, or why it cannot be read, which is told after whose the path is.
pub(crate) type FormResult<T> = Result<Form<T>, FormRejection>;
