//! How many of the recipients that a campaign received match conditions.

use audience::Conditions;
use columns::Profile;
use computed::FormulaColumns;
use contract::id::CampaignId;
use store::{Column, WaitingRecipient};

use crate::Console;
use crate::access::Person;
use crate::failure::Failure;
use crate::show::grouped;

/// Recipients that are looked at: those that were received last.
const LOOKED_AT: i64 = 1_000;

/// How many match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    looked_at: usize,
    matching: usize,
}

impl Count {
    /// Asks the conditions about the recipients as the mailer would ask them today. Those whose address could not be
    /// verified are never asked about.
    pub(super) async fn of(
        console: &Console,
        person: &Person,
        campaign_id: &CampaignId,
        conditions: &Conditions,
        columns: &[Column],
    ) -> Result<Self, Failure> {
        let store = &console.process.store;
        let recipients = store.recipient_sample(person.0.team_id, campaign_id, LOOKED_AT).await?;
        let today = crate::show::Zone::new(&person.0.time_zone).day(console.process.clock.now());
        let formulas = FormulaColumns::new(columns);
        let matches = |recipient: &&WaitingRecipient| {
            let profile = Profile::stored(&recipient.entry, &recipient.values);
            conditions.matches(&formulas.over(&profile, today), today)
        };
        let count = || recipients.iter().filter(matches).count();
        // Formulas may take a moment for each.
        let matching = tokio::task::block_in_place(count);
        Ok(Self { looked_at: recipients.len(), matching })
    }

    /// The count in words: whether all were looked at, and if not, how many.
    pub(super) fn sentence(self) -> String {
        let number = |count: usize| grouped(count as u64);
        let (matching, looked_at) = (number(self.matching), number(self.looked_at));
        if self.looked_at == 0 {
            "The campaign has received nobody yet.".to_owned()
        } else if (self.looked_at as i64) < LOOKED_AT {
            format!("{matching} of the {looked_at} recipients received match.")
        } else {
            format!("At least {matching} of the recipients received match: so many of the last {looked_at}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_says_how_much_it_knows() {
        let sentence = |looked_at, matching| Count { looked_at, matching }.sentence();
        assert_eq!(sentence(0, 0), "The campaign has received nobody yet.");
        assert_eq!(sentence(999, 12), "12 of the 999 recipients received match.");
        assert_eq!(
            sentence(1000, 12),
            "At least 12 of the recipients received match: so many of the last 1,000."
        );
    }
}
