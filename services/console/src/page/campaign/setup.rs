//! Setting a campaign up, from its first name to its launch, and changing it afterwards: the same pages for both. A draft is a
//! campaign like others, so whoever leaves goes on where it was left.

pub(crate) mod audience;
pub(crate) mod creative;
mod input;
pub(crate) mod new;
pub(crate) mod review;
pub(crate) mod schedule;

use axum::response::{IntoResponse, Redirect, Response};
use campaigns::ChangeCampaignError;
use model::id::CampaignId;
use store::{CampaignStatus, StoredCampaignSettings};

use self::input::FieldProblems;
use super::PART;
use crate::extract::MemberContext;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::PageError;

/// The pages of a campaign's settings, in their order: the ends of their addresses and their names.
const PAGES: [(&str, &str); 4] = [
    ("audience", "Audience"),
    ("creative", "Creative"),
    ("schedule", "Schedule and budget"),
    ("review", "Review"),
];

/// What all of these pages show of their campaign.
struct SetupView {
    campaign_id: CampaignId,
    name: String,
    is_draft: bool,
    is_archived: bool,
    /// The end of this page's address.
    page: &'static str,
}

impl SetupView {
    fn of(campaign_id: &CampaignId, settings: &StoredCampaignSettings, page: &'static str) -> Self {
        Self {
            campaign_id: campaign_id.clone(),
            name: settings.name.clone(),
            is_draft: settings.status == CampaignStatus::Draft,
            is_archived: settings.is_archived,
            page,
        }
    }

    /// The pages: the ends of their addresses, their names, and whether it is this one.
    fn pages(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        PAGES
            .map(|(page, name)| (page, name, page == self.page))
            .into_iter()
    }
}

/// Where the page of a campaign is that ends with `page`.
fn setup_address(campaign_id: &CampaignId, page: &str) -> String {
    format!("{PART}/{campaign_id}/{page}")
}

/// What a campaign's owner has set.
async fn find_settings(
    context: &MemberContext,
    campaign_id: &CampaignId,
) -> Result<StoredCampaignSettings, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    Ok(store.find_campaign_settings(team_id, campaign_id).await?)
}

/// Where a form leads that was saved: to the page behind it, or back to its own.
fn saved_response(campaign_id: &CampaignId, page: &'static str, pressed: &str) -> Response {
    let next = PAGES
        .iter()
        .skip_while(|(name, _)| *name != page)
        .nth(1)
        .filter(|_| pressed == "next");
    match next {
        Some((next, _)) => Redirect::to(&setup_address(campaign_id, next)).into_response(),
        None => redirect_with_notice(
            &setup_address(campaign_id, page),
            ActionNotice::CampaignSaved,
        ),
    }
}

/// Why a form was not saved, for its page.
#[derive(Default)]
struct SetupRefusal {
    problems: FieldProblems,
    /// Whether somebody else has saved since the form was made; it is sent again to save over that.
    is_overtaken: bool,
}

impl SetupRefusal {
    /// What the page says of a failure.
    ///
    /// # Errors
    /// Any failure that no field is to blame for.
    fn of(error: ChangeCampaignError) -> Result<Self, PageError> {
        match error {
            ChangeCampaignError::Problems(problems) => Ok(Self {
                problems: FieldProblems::of(&problems),
                is_overtaken: false,
            }),
            ChangeCampaignError::Overtaken(_) => Ok(Self {
                is_overtaken: true,
                ..Self::default()
            }),
            other => Err(change_failure(other)),
        }
    }
}

/// A change that failed for no reason that stands in a form.
pub(super) fn change_failure(error: ChangeCampaignError) -> PageError {
    match error {
        ChangeCampaignError::Save(campaigns::SaveCampaignError::Store(error)) => error.into(),
        other => PageError::Internal(other.into()),
    }
}
