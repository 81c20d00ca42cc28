//! Campaigns page by page, and one with what happened to it.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate, Utc};
use contract::read::{
    Campaign, CampaignAnswer, CampaignCounts, CampaignDay, CampaignFigures, CampaignStep,
    CampaignsAnswer,
};
use model::id::{CampaignId, TeamId};
use store::{CampaignDayFigure, CampaignFigure, CampaignView, Store};
use uuid::Uuid;

use crate::cursor::{CursorScope, FollowedList, ListPlace};
use crate::error::FollowError;

/// Days of figures that one answer can have: as many as are kept.
pub const CAMPAIGN_DAYS: u64 = 400;

/// Days of figures of an answer when the request names none.
const CAMPAIGN_DAYS_DEFAULT: u64 = 30;

/// Bytes of a place that are not a campaign's id.
const ID_BYTES: usize = 16;

/// The days whose figures are asked for, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FigureDays {
    /// 29 days before the last one unless it is given.
    pub from: Option<NaiveDate>,
    /// Today, in the team's time zone, unless it is given.
    pub to: Option<NaiveDate>,
}

impl FigureDays {
    /// The first and the last day, and how many there are; `None` when there are none, or more than [`CAMPAIGN_DAYS`].
    pub fn resolve(self, today: NaiveDate) -> Option<(NaiveDate, NaiveDate, i32)> {
        let to = self.to.unwrap_or(today);
        let from = match self.from {
            Some(from) => from,
            None => to.checked_sub_days(Days::new(CAMPAIGN_DAYS_DEFAULT - 1))?,
        };
        let days = i32::try_from((to - from).num_days() + 1).ok()?;
        let is_bounded = u64::try_from(days).is_ok_and(|days| (1..=CAMPAIGN_DAYS).contains(&days));
        is_bounded.then_some((from, to, days))
    }
}

/// A page of a team's campaigns in the order of their ids.
///
/// # Errors
/// [`FollowError::InvalidCursor`], or that the database cannot be asked.
pub async fn list_campaigns(
    store: &Store,
    team_id: TeamId,
    cursor: Option<&str>,
    limit: usize,
) -> Result<CampaignsAnswer, FollowError> {
    let scope = CursorScope {
        team_id,
        list: FollowedList::Campaigns,
        filters: "",
    };
    let after = match cursor {
        Some(cursor) => read_campaign_id(scope.read_place(cursor)?)?,
        None => String::new(),
    };
    let mut found = store
        .list_campaign_views(team_id, &after, limit as i64 + 1)
        .await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let last = found
        .last()
        .map_or(after.as_str(), |last| last.campaign_id.as_str());
    Ok(CampaignsAnswer {
        next_cursor: scope.write_place(place_of_campaign(last)),
        campaigns: found.into_iter().map(build_campaign).collect(),
        has_more,
    })
}

fn place_of_campaign(campaign_id: &str) -> ListPlace {
    let mut bytes = [0; ID_BYTES];
    for (byte, of_id) in bytes.iter_mut().zip(campaign_id.bytes()) {
        *byte = of_id;
    }
    ListPlace {
        position: 0,
        within: u128::from_be_bytes(bytes),
        noted: Uuid::nil(),
    }
}

fn read_campaign_id(place: ListPlace) -> Result<String, FollowError> {
    let bytes = place.within.to_be_bytes();
    let id = std::str::from_utf8(&bytes).map_err(|_| FollowError::InvalidCursor)?;
    Ok(id.trim_end_matches('\0').to_owned())
}

/// A team's campaign with its steps and figures.
///
/// # Errors
/// [`FollowError::CampaignNotFound`], [`FollowError::InvalidDays`], or that the database cannot be asked.
pub async fn find_campaign(
    store: &Store,
    team_id: TeamId,
    campaign_id: &CampaignId,
    asked: FigureDays,
    now: DateTime<Utc>,
) -> Result<CampaignAnswer, FollowError> {
    let time_zone = store.find_team_time_zone(team_id).await?;
    let today = now.with_timezone(&time_zone).date_naive();
    let (from, to, days) = asked.resolve(today).ok_or(FollowError::InvalidDays)?;
    let found = store
        .find_campaign_view(team_id, campaign_id)
        .await?
        .ok_or(FollowError::CampaignNotFound)?;
    let steps = store.list_campaign_view_steps(campaign_id).await?;
    let figures = store
        .list_campaign_figures(team_id, campaign_id, from, days)
        .await?;
    let (total, by_day) = sum_figures(&figures);
    Ok(CampaignAnswer {
        campaign: build_campaign(found),
        steps: steps
            .into_iter()
            .map(|step| CampaignStep {
                step: step.step,
                design_id: step.design_id.map(|id| id.0),
                postage: step.postage,
                delay_days: step.delay_days,
            })
            .collect(),
        figures: CampaignFigures {
            from,
            to,
            total,
            days: by_day
                .into_iter()
                .map(|(day, counts)| CampaignDay { day, counts })
                .collect(),
        },
    })
}

fn sum_figures(
    figures: &[CampaignDayFigure],
) -> (CampaignCounts, BTreeMap<NaiveDate, CampaignCounts>) {
    let (mut total, mut by_day) = (CampaignCounts::default(), BTreeMap::new());
    for figure in figures {
        add_figure(&mut total, figure);
        add_figure(by_day.entry(figure.day).or_default(), figure);
    }
    (total, by_day)
}

fn add_figure(counts: &mut CampaignCounts, figure: &CampaignDayFigure) {
    let name = || figure.figure.as_str().to_owned();
    let number = match figure.figure {
        CampaignFigure::Sends => &mut counts.requests,
        CampaignFigure::Cards => &mut counts.mailpieces,
        CampaignFigure::Scans => &mut counts.scans,
        CampaignFigure::Mailed | CampaignFigure::NotMailed(_) => {
            counts.outcomes.entry(name()).or_default()
        }
        CampaignFigure::Reached(_) => counts.states.entry(name()).or_default(),
    };
    *number += figure.amount;
}

fn build_campaign(found: CampaignView) -> Campaign {
    Campaign {
        id: found.campaign_id,
        name: found.name,
        status: found.status,
        audience: found.audience,
        kind: found.kind,
        held: found.held_at.is_some(),
        held_at: found.held_at,
        budget_cents: found.budget_cents,
        committed_cents: found.committed_cents,
        resend_protection_days: found.resend_protection_days,
        cancel_minutes: found.cancel_minutes,
        stalled_hours: found.stalled_hours,
        mails_returned: found.mails_returned,
        created_at: found.created_at,
        updated_at: found.updated_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_campaigns_id_is_read_from_its_place() {
        for id in ["", "PA-7K2M9Q"] {
            assert_eq!(
                read_campaign_id(place_of_campaign(id)).ok().as_deref(),
                Some(id)
            );
        }
    }

    #[test]
    fn days_are_a_month_unless_they_are_given_and_never_more_than_are_kept() {
        let today = day("2031-05-30");
        let resolve = |from: Option<&str>, to: Option<&str>| {
            let days = FigureDays {
                from: from.map(day),
                to: to.map(day),
            };
            days.resolve(today).map(|(from, _, days)| (from, days))
        };
        assert_eq!(resolve(None, None), Some((day("2031-05-01"), 30)));
        assert_eq!(
            resolve(Some("2031-05-30"), None),
            Some((day("2031-05-30"), 1))
        );
        assert_eq!(resolve(Some("2031-05-31"), None), None);
        assert_eq!(resolve(Some("2029-05-31"), None), None);
        assert_eq!(resolve(Some("0001-01-01"), Some("9999-01-01")), None);
    }
}
