//! The recipients that a campaign received.

mod cursor;
mod export;

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use model::id::CampaignId;
use serde::Deserialize;
use store::{CampaignSummary, RecipientLine, all_outcomes};
use uuid::Uuid;

use self::cursor::RecipientListCursor;
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page};
use crate::failure::PageError;
use crate::page::campaign::{CampaignPath, PART, find, query};
use crate::page::{LINES, cut};
use crate::route::{self, ConsoleRoute, RouteAccess};

/// Recipients found by name or address that one page looks through for those with the wanted outcome.
const LOOKED_THROUGH: i64 = 2_000;

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    vec![
        route::page(
            "/campaigns/{campaign_id}/recipients",
            RouteAccess::Member,
            show,
        ),
        route::page(
            "/campaigns/{campaign_id}/recipients.csv",
            RouteAccess::Member,
            export::download,
        ),
        route::action(
            "/campaigns/{campaign_id}/recipients/{entry_id}/remove",
            RouteAccess::Manager,
            remove,
        ),
    ]
}

/// Who is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
struct RecipientListQuery {
    /// What a last name, or an address, begins with.
    #[serde(default)]
    text: String,
    /// `mailed`, or a reason; empty for all.
    #[serde(default)]
    outcome: String,
    /// Where the page begins.
    #[serde(default)]
    from: String,
}

impl RecipientListQuery {
    /// The outcome that is asked for.
    ///
    /// # Errors
    /// [`PageError::NotFound`] when there is no such outcome.
    fn outcome(&self) -> Result<Option<&'static str>, PageError> {
        if self.outcome.is_empty() {
            return Ok(None);
        }
        all_outcomes()
            .find(|outcome| *outcome == self.outcome)
            .map(Some)
            .ok_or(PageError::NotFound)
    }

    /// The address of the same question from another place.
    fn from(&self, cursor: &RecipientListCursor) -> String {
        query(&[
            ("text", self.text.trim()),
            ("outcome", &self.outcome),
            ("from", &cursor.to_string()),
        ])
    }
}

/// Some recipients, and where there are more.
struct FoundRecipients {
    lines: Vec<RecipientLine>,
    next: Option<RecipientListCursor>,
}

#[derive(Template)]
#[template(path = "campaign_recipients.html")]
struct RecipientsPage {
    frame: PageFrame,
    campaign: CampaignSummary,
    lines: Vec<RecipientLine>,
    asked: RecipientListQuery,
    is_all: bool,
    next: Option<String>,
    export: String,
    public_url: String,
}

/// The list.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    asked: Result<Query<RecipientListQuery>, QueryRejection>,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (campaign_id, Query(asked), Query(noticed)) = (path?.0, asked?, noticed?);
    let campaign = find(&console, &person, &campaign_id).await?;
    let found = look(&console, &person, &campaign_id, &asked).await?;
    Ok(page(&RecipientsPage {
        frame: PageFrame::new(&person, PART).with_notice(noticed.notice),
        campaign,
        lines: found.lines,
        next: found.next.map(|next| asked.from(&next)),
        export: query(&[("text", asked.text.trim()), ("outcome", &asked.outcome)]),
        is_all: asked.text.trim().is_empty() && asked.outcome.is_empty() && asked.from.is_empty(),
        asked,
        public_url: console.process.config.console.public_url.clone(),
    }))
}

/// A page of who is asked for.
async fn look(
    console: &ConsoleState,
    person: &CurrentMember,
    campaign_id: &CampaignId,
    asked: &RecipientListQuery,
) -> Result<FoundRecipients, PageError> {
    let (store, team_id, outcome) = (&console.process.store, person.0.team_id, asked.outcome()?);
    let cursor = RecipientListCursor::read(&asked.from);
    let text = asked.text.trim();
    if text.is_empty() {
        let before = cursor.and_then(RecipientListCursor::received);
        let mut lines = store
            .list_recipients(team_id, campaign_id, outcome, before, LINES + 1)
            .await?;
        let next = cut(&mut lines).map(RecipientListCursor::behind);
        return Ok(FoundRecipients { lines, next });
    }
    let after = cursor
        .and_then(RecipientListCursor::found)
        .unwrap_or_default();
    let limit = if outcome.is_some() {
        LOOKED_THROUGH
    } else {
        LINES + 1
    };
    let found = store
        .search_recipients(team_id, campaign_id, text, &after, limit)
        .await?;
    let is_through = (found.len() as i64) < limit;
    let last = found.last().map(|last| last.cursor.clone());
    let wanted = found
        .into_iter()
        .filter(|found| outcome.is_none_or(|outcome| found.line.outcome == outcome));
    let mut wanted: Vec<_> = wanted.take(LINES as usize + 1).collect();
    let next = match cut(&mut wanted) {
        Some(last) => Some(RecipientListCursor::Found(last.cursor.clone())),
        None if is_through => None,
        None => last.map(RecipientListCursor::Found),
    };
    Ok(FoundRecipients {
        lines: wanted.into_iter().map(|found| found.line).collect(),
        next,
    })
}

/// Removes a recipient, with everybody else at its address.
async fn remove(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<(CampaignId, Uuid)>, PathRejection>,
) -> Result<Response, PageError> {
    let Path((campaign_id, entry_id)) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let removed = (&campaign_id, entry_id);
    let is_new =
        campaigns::remove_recipient(store, person.actor(), person.0.team_id, removed, now).await?;
    let notice = if is_new {
        ActionNotice::RecipientRemoved
    } else {
        ActionNotice::RecipientRemovedBefore
    };
    Ok(done(
        &format!("/campaigns/{campaign_id}/recipients"),
        notice,
    ))
}

/// An outcome as people call it; one that is not known keeps its name.
pub(crate) fn outcome_name(outcome: &str) -> &str {
    match outcome {
        "mailed" => "Mailed",
        "invalid_address" => "Address not deliverable",
        "removed_by_sender" => "Removed by the sender",
        "do_not_mail" => "On the do-not-mail list",
        "duplicate_recent" => "Mailed lately",
        "filtered_location" => "Outside the map area",
        "filtered_conditions" => "Waiting on the conditions",
        "unsupported_characters" => "Characters that do not print",
        "text_overflow" => "Text does not fit",
        "variable_image_missing" => "Picture missing",
        "budget_exceeded" => "Budget spent",
        "payment_failed" => "Payment declined",
        "no_homes_found" => "No homes around",
        "request_capacity_reached" => "Request full",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_name_for_people() {
        for outcome in all_outcomes() {
            assert_ne!(outcome_name(outcome), outcome);
        }
    }
}
