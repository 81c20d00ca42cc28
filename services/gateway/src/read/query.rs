//! The query parameters of what a team reads. Those that are unknown are ignored; of one given twice the last counts.

use std::collections::HashMap;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use contract::read::{READ_ITEMS, READ_ITEMS_DEFAULT};
use contract::send::SendError;
use following::{FigureDays, MailpieceOrder, MailpieceQuery};
use model::mailpiece_state::MailpieceState;

use super::PageQuestion;

/// The parameters of one request.
pub(super) struct ReadParameters(HashMap<String, String>);

fn invalid_parameter(name: &str, what: &str) -> SendError {
    SendError::InvalidPayload(format!("{name} must be {what}."))
}

impl ReadParameters {
    /// Reads what stands behind the question mark.
    pub(super) fn parse(query: &str) -> Self {
        Self(
            url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    fn find_text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn read_as<T: FromStr>(&self, name: &str, what: &str) -> Result<Option<T>, SendError> {
        self.find_text(name)
            .map(str::parse)
            .transpose()
            .map_err(|_| invalid_parameter(name, what))
    }

    /// What mailpieces are asked for. Errors: `invalid_payload`, `invalid_state`.
    pub(super) fn mailpieces(&self) -> Result<MailpieceQuery, SendError> {
        let PageQuestion { cursor, limit } = self.page()?;
        let changed_since: Option<DateTime<Utc>> =
            self.read_as("changed_since", "a moment such as 2031-05-10T12:00:00Z")?;
        let has_changes: Option<bool> = self.read_as("changes", "true or false")?;
        let state = self
            .find_text("state")
            .map(|name| MailpieceState::from_name(name).ok_or(SendError::InvalidState));
        Ok(MailpieceQuery {
            order: if changed_since.is_some() || has_changes == Some(true) {
                MailpieceOrder::Changed
            } else {
                MailpieceOrder::Charged
            },
            changed_since,
            campaign_id: self.read_as("campaign_id", "PA- and six characters of A-Z and 0-9")?,
            state: state.transpose()?,
            reference: self.find_text("reference").map(str::to_owned),
            cursor,
            limit,
        })
    }

    /// Which page is asked for. Errors: `invalid_payload`.
    pub(super) fn page(&self) -> Result<PageQuestion, SendError> {
        let what = format!("a whole number from 1 to {READ_ITEMS}");
        let limit = self.read_as("limit", &what)?.unwrap_or(READ_ITEMS_DEFAULT);
        if !(1..=READ_ITEMS).contains(&limit) {
            return Err(invalid_parameter("limit", &what));
        }
        Ok(PageQuestion {
            cursor: self.find_text("cursor").map(str::to_owned),
            limit,
        })
    }

    /// Which days are asked for. Errors: `invalid_payload`.
    pub(super) fn days(&self) -> Result<FigureDays, SendError> {
        let what = "a day such as 2031-05-10";
        Ok(FigureDays {
            from: self.read_as("from", what)?,
            to: self.read_as("to", what)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailpieces(query: &str) -> Result<MailpieceQuery, SendError> {
        ReadParameters::parse(query).mailpieces()
    }

    #[test]
    fn fuzz_read_query() {
        let samples = [
            "cursor=AQAAAA&limit=100&state=printed&campaign_id=PA-7K2M9Q",
            "changes=true&changed_since=2031-05-10T12:00:00Z&reference=a%20b",
            "from=2031-05-10&to=2031-05-31",
        ];
        let words = [
            "limit=",
            "&",
            "%",
            "%00",
            "999999999999",
            "+",
            "-",
            "T",
            "Z",
        ];
        fuzz::Target::new(samples)
            .words(words)
            .cases(3_000)
            .run_text(|text| {
                let parameters = ReadParameters::parse(text);
                if let Ok(query) = parameters.mailpieces() {
                    proptest::prop_assert!((1..=READ_ITEMS).contains(&query.limit));
                }
                let _ = parameters.days();
                Ok(())
            });
    }

    #[test]
    fn changes_are_asked_for_by_a_word_or_a_moment() {
        let order = |query: &str| mailpieces(query).map(|query| query.order);
        assert_eq!(order(""), Ok(MailpieceOrder::Charged));
        assert_eq!(order("changes=false"), Ok(MailpieceOrder::Charged));
        assert_eq!(order("changes=true"), Ok(MailpieceOrder::Changed));
        let since = mailpieces("changed_since=2031-05-10T08:00:00-04:00").unwrap();
        assert_eq!(since.order, MailpieceOrder::Changed);
        let moment = "2031-05-10T12:00:00Z".parse().unwrap();
        assert_eq!(since.changed_since, Some(moment));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert_eq!(mailpieces("state=lost"), Err(SendError::InvalidState));
        for query in [
            "limit=0",
            "limit=1001",
            "limit=-1",
            "limit=x",
            "changes=1",
            "changed_since=yesterday",
            "campaign_id=7",
        ] {
            let refused = mailpieces(query);
            assert!(
                matches!(refused, Err(SendError::InvalidPayload(_))),
                "{query}"
            );
        }
        assert!(ReadParameters::parse("from=today").days().is_err());
    }
}
