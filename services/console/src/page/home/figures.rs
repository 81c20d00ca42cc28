//! The figures of the last days, day by day.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use contract::send::NotMailedReason;
use store::{CampaignDayFigure, CampaignFigure};

use crate::format::format_number;
use crate::page::recipient::outcome_name;

/// Days that are shown, today with them.
const DAYS: u64 = 14;

/// The last days, today at the end.
pub(super) fn last_days(today: NaiveDate) -> Vec<NaiveDate> {
    (0..DAYS)
        .rev()
        .filter_map(|ago| today.checked_sub_days(Days::new(ago)))
        .collect()
}

/// What happened, with a number for each of the days.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DailyFigures {
    pub(super) sends: Vec<i64>,
    pub(super) cards: Vec<i64>,
    pub(super) scans: Vec<i64>,
    pub(super) mailed: Vec<i64>,
    pub(super) not_mailed: Vec<i64>,
    /// All days together, by reason.
    by_reason: BTreeMap<&'static str, i64>,
}

impl DailyFigures {
    /// Puts the figures in their places. A day without any has zeros.
    pub(super) fn of(figures: &[CampaignDayFigure], days: &[NaiveDate]) -> Self {
        let zeros = vec![0; days.len()];
        let mut sorted = Self {
            sends: zeros.clone(),
            cards: zeros.clone(),
            scans: zeros.clone(),
            mailed: zeros.clone(),
            not_mailed: zeros,
            by_reason: BTreeMap::new(),
        };
        for CampaignDayFigure {
            day,
            figure,
            amount,
        } in figures
        {
            let Some(at) = days.iter().position(|shown| shown == day) else {
                continue;
            };
            let numbers = match figure {
                CampaignFigure::Sends => &mut sorted.sends,
                CampaignFigure::Cards => &mut sorted.cards,
                CampaignFigure::Scans => &mut sorted.scans,
                CampaignFigure::Mailed => &mut sorted.mailed,
                CampaignFigure::NotMailed(reason) => {
                    *sorted.by_reason.entry(reason.as_str()).or_default() += amount;
                    &mut sorted.not_mailed
                }
                // Of mailpieces, which this page does not follow.
                CampaignFigure::Reached(_) => continue,
            };
            numbers[at] += amount;
        }
        sorted
    }

    /// Why recipients were not mailed, the commonest reason first: names for people and how many.
    pub(super) fn reason_counts(&self) -> Vec<(&'static str, String)> {
        let mut reasons: Vec<(&'static str, i64)> = self
            .by_reason
            .iter()
            .filter(|(_, amount)| **amount > 0)
            .map(|(name, amount)| (*name, *amount))
            .collect();
        // Reasons of the same number stay in the order of the contract.
        let place = |name: &str| {
            NotMailedReason::ALL
                .iter()
                .position(|reason| reason.as_str() == name)
        };
        reasons.sort_by_key(|(name, amount)| (std::cmp::Reverse(*amount), place(name)));
        reasons
            .into_iter()
            .map(|(name, amount)| (outcome_name(name), format_number(amount.unsigned_abs())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_on_their_days_and_reasons_in_their_order() {
        let today: NaiveDate = "2026-03-02".parse().unwrap();
        let days = last_days(today);
        assert_eq!(
            (days.len(), days[0].to_string(), days[13]),
            (14, "2026-02-17".to_owned(), today)
        );
        let figure = |day: &str, figure, amount| CampaignDayFigure {
            day: day.parse().unwrap(),
            figure,
            amount,
        };
        let conditions = CampaignFigure::NotMailed(NotMailedReason::FilteredConditions);
        let invalid = CampaignFigure::NotMailed(NotMailedReason::InvalidAddress);
        let figures = DailyFigures::of(
            &[
                figure("2026-03-01", CampaignFigure::Mailed, 7),
                figure("2026-03-01", conditions, 2),
                figure("2026-03-02", conditions, 1),
                figure("2026-03-02", invalid, 3),
                figure(
                    "2026-03-02",
                    CampaignFigure::NotMailed(NotMailedReason::DoNotMail),
                    0,
                ),
                figure("2026-01-01", CampaignFigure::Mailed, 99),
            ],
            &days,
        );
        assert_eq!(figures.mailed[12..], [7, 0]);
        assert_eq!(figures.not_mailed[12..], [2, 4]);
        let reasons = [
            ("Address not deliverable", "3"),
            ("Waiting on the conditions", "3"),
        ];
        assert_eq!(
            figures.reason_counts(),
            reasons.map(|(name, amount)| (name, amount.to_owned()))
        );
    }
}
