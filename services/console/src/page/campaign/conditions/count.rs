//! How many of the recipients that a campaign received match conditions.

use std::time::Instant;

use audience::FilterConditions;
use columns::FormulaColumns;
use columns::RecipientProfile;
use model::id::CampaignId;
use store::{BookRecipient, TeamColumn};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::blocking::run_blocking;
use crate::extract::MemberContext;
use crate::format::format_number;
use crate::page::COMPUTING_TIME;
use crate::page_error::PageError;

/// Recipients that are looked at: those that were received last.
const LOOKED_AT: i64 = 1_000;

/// Counts under way at a time in one process; each takes a processor, and its recipients memory.
static COUNTED_AT_A_TIME: Semaphore = Semaphore::const_new(2);

/// How many match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatchCount {
    looked_at: usize,
    matching: usize,
    /// Whether time was over before all were looked at.
    is_cut_short: bool,
}

impl MatchCount {
    /// Asks the conditions about the recipients as the mailer would ask them today, until it is too late. Those whose address
    /// could not be verified are never asked about.
    pub(super) async fn of(
        context: &MemberContext,
        campaign_id: &CampaignId,
        conditions: FilterConditions,
        columns: &[TeamColumn],
    ) -> Result<Self, PageError> {
        let Ok(place) = timeout(COMPUTING_TIME, COUNTED_AT_A_TIME.acquire()).await else {
            return Ok(Self {
                looked_at: 0,
                matching: 0,
                is_cut_short: true,
            });
        };
        let store = context.store();
        let recipients = store
            .list_latest_recipients(context.team_id(), campaign_id, LOOKED_AT)
            .await?;
        let today = context.today();
        let formulas = FormulaColumns::new(columns);
        let count = move || {
            let begun = Instant::now();
            let matches = |recipient: &BookRecipient| {
                let profile = RecipientProfile::from_entry(&recipient.entry, &recipient.values);
                conditions.matches(&formulas.for_recipient(&profile, today), today)
            };
            Self::count_among(&recipients, matches, || begun.elapsed() > COMPUTING_TIME)
        };
        run_blocking(place, count).await
    }

    /// Asks about one after the other. A recipient is bounded, but a thousand of hostile formulas take longer than anybody
    /// waits.
    fn count_among<T>(
        asked: &[T],
        matches: impl Fn(&T) -> bool,
        is_too_late: impl Fn() -> bool,
    ) -> Self {
        let mut count = Self {
            looked_at: 0,
            matching: 0,
            is_cut_short: false,
        };
        for one in asked {
            if is_too_late() {
                return Self {
                    is_cut_short: true,
                    ..count
                };
            }
            count.looked_at += 1;
            count.matching += usize::from(matches(one));
        }
        count
    }

    /// The count in words: whether all were looked at, and if not, how many.
    pub(super) fn in_words(self) -> String {
        let number = |count: usize| format_number(count as u64);
        let (matching, looked_at) = (number(self.matching), number(self.looked_at));
        match self {
            Self {
                is_cut_short: true,
                looked_at: 0,
                ..
            } => "There was no time to count who matches. Try again in a moment.".to_owned(),
            Self {
                is_cut_short: true, ..
            } => format!(
                "At least {matching} of the recipients received match: so many of {looked_at}. There was no time to look at more."
            ),
            Self { looked_at: 0, .. } => "The campaign has received nobody yet.".to_owned(),
            Self { looked_at: all, .. } if (all as i64) < LOOKED_AT => {
                format!("{matching} of the {looked_at} recipients received match.")
            }
            Self { .. } => {
                format!(
                    "At least {matching} of the recipients received match: so many of the last {looked_at}."
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_count_says_how_much_it_knows() {
        let sentence = |looked_at, matching, is_cut_short| {
            MatchCount {
                looked_at,
                matching,
                is_cut_short,
            }
            .in_words()
        };
        assert_eq!(
            sentence(0, 0, false),
            "The campaign has received nobody yet."
        );
        assert_eq!(
            sentence(999, 12, false),
            "12 of the 999 recipients received match."
        );
        assert_eq!(
            sentence(1000, 12, false),
            "At least 12 of the recipients received match: so many of the last 1,000."
        );
        assert_eq!(
            sentence(340, 12, true),
            "At least 12 of the recipients received match: so many of 340. There was no time to look at more."
        );
        assert_eq!(
            sentence(0, 0, true),
            "There was no time to count who matches. Try again in a moment."
        );
    }

    #[test]
    fn nobody_is_looked_at_any_more_when_it_is_too_late() {
        let asked = Cell::new(0);
        let is_even = |number: &i32| {
            asked.set(asked.get() + 1);
            number % 2 == 0
        };
        let count = MatchCount::count_among(&[1, 2, 3, 4, 5, 6], is_even, || asked.get() >= 4);
        assert_eq!(
            (count, asked.get()),
            (
                MatchCount {
                    looked_at: 4,
                    matching: 2,
                    is_cut_short: true
                },
                4
            )
        );
        let count = MatchCount::count_among(&[1, 2, 3], |number| number % 2 == 0, || false);
        assert_eq!(
            count,
            MatchCount {
                looked_at: 3,
                matching: 1,
                is_cut_short: false
            }
        );
    }
}
