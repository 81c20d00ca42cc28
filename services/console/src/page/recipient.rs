//! The recipients that a campaign received.

mod cursor;
pub(crate) mod export;

use askama::Template;
use model::id::CampaignId;
use serde::Deserialize;
use store::{CampaignSummary, RecipientLine, all_outcomes};
use uuid::Uuid;

use self::cursor::RecipientListCursor;
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page::address_book::entry::name_beginning;
use crate::page::campaign::{CampaignPath, PART, find_campaign};
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_page;

/// Recipients found by name or address that one page looks through for those with the wanted outcome.
const LOOKED_THROUGH: i64 = 2_000;

/// Who is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct RecipientListQuery {
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
    fn wanted_outcome(&self) -> Result<Option<&'static str>, PageError> {
        if self.outcome.is_empty() {
            return Ok(None);
        }
        all_outcomes()
            .find(|outcome| *outcome == self.outcome)
            .map(Some)
            .ok_or(PageError::NotFound)
    }

    /// What names and addresses are looked up by: `Miles, Ada` is `Miles Ada`, as names are kept. A text with a digit may be
    /// an address, whose commas stand where they were typed.
    fn lookup_text(&self) -> String {
        let text = self.text.trim();
        if text.contains(|character: char| character.is_ascii_digit()) {
            text.to_owned()
        } else {
            name_beginning(text)
        }
    }

    /// The address of the same question from another place.
    fn query_from(&self, cursor: &RecipientListCursor) -> String {
        url_query(&[
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
pub(crate) async fn list_recipients(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    PageQuery(asked): PageQuery<RecipientListQuery>,
) -> PageResult {
    let campaign = find_campaign(&context, &campaign_id).await?;
    let found = find_recipients(&context, &campaign_id, &asked).await?;
    Ok(render_page(&RecipientsPage {
        frame: context.frame(PART),
        campaign,
        lines: found.lines,
        next: found.next.map(|next| asked.query_from(&next)),
        export: url_query(&[("text", asked.text.trim()), ("outcome", &asked.outcome)]),
        is_all: asked.text.trim().is_empty() && asked.outcome.is_empty() && asked.from.is_empty(),
        asked,
        public_url: context.public_url(),
    }))
}

/// A page of who is asked for.
async fn find_recipients(
    context: &MemberContext,
    campaign_id: &CampaignId,
    asked: &RecipientListQuery,
) -> Result<FoundRecipients, PageError> {
    let (store, team_id, outcome) = (context.store(), context.team_id(), asked.wanted_outcome()?);
    let cursor = RecipientListCursor::parse(&asked.from);
    let text = asked.lookup_text();
    if text.is_empty() {
        let before = cursor.and_then(RecipientListCursor::received);
        let mut lines = store
            .list_recipients(team_id, campaign_id, outcome, before, LINES + 1)
            .await?;
        let next = cut_page(&mut lines).map(RecipientListCursor::after_line);
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
        .search_recipients(team_id, campaign_id, &text, &after, limit)
        .await?;
    let is_through = (found.len() as i64) < limit;
    let last = found.last().map(|last| last.cursor.clone());
    let wanted = found
        .into_iter()
        .filter(|found| outcome.is_none_or(|outcome| found.line.outcome == outcome));
    let mut wanted: Vec<_> = wanted.take(LINES as usize + 1).collect();
    let next = match cut_page(&mut wanted) {
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
pub(crate) async fn remove_recipient(
    context: MemberContext,
    PagePath((campaign_id, entry_id)): PagePath<(CampaignId, Uuid)>,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let removed = (&campaign_id, entry_id);
    let is_new =
        campaigns::remove_recipient(store, context.actor(), context.team_id(), removed, now)
            .await?;
    let notice = if is_new {
        ActionNotice::RecipientRemoved
    } else {
        ActionNotice::RecipientRemovedBefore
    };
    Ok(redirect_with_notice(
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
    fn a_name_is_found_with_a_comma_and_an_address_by_its_own() {
        let lookup = |text: &str| {
            let asked = RecipientListQuery {
                text: text.to_owned(),
                ..RecipientListQuery::default()
            };
            asked.lookup_text()
        };
        assert_eq!(lookup(" Miles, Ada "), "Miles Ada");
        assert_eq!(lookup("1 Main St, Austin"), "1 Main St, Austin");
        assert_eq!(lookup(""), "");
    }

    #[test]
    fn every_outcome_has_a_name_for_people() {
        for outcome in all_outcomes() {
            assert_ne!(outcome_name(outcome), outcome);
        }
    }
}
