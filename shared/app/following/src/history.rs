//! What happened to a mailpiece, and what is expected (pure).
//!
//! What all mailpieces of a charge or a print run have in common stands with the charge and the run; what happened to one alone is
//! among its events. What nobody has seen is estimated from the calendar, and says so.

use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;
use contract::read::HistoryEntry;
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use store::{ChargeKind, FollowedMailpiece, MailpieceEvent};

use crate::state::is_held_by_campaign;

/// Days from the post office to the mailbox that are expected of first-class mail: the longest of the post's service standards of
/// one to five days.
pub const DELIVERY_DAYS_FIRST_CLASS: u64 = 5;

/// The same of standard (marketing) mail, for which the post has three to ten days.
pub const DELIVERY_DAYS_STANDARD: u64 = 10;

/// All that is known of a mailpiece.
pub(crate) struct KnownHistory<'a> {
    pub(crate) mailpiece: &'a FollowedMailpiece,
    /// The oldest first.
    pub(crate) events: &'a [MailpieceEvent],
    pub(crate) charge_kind: ChargeKind,
    /// The team's.
    pub(crate) time_zone: Tz,
    pub(crate) now: DateTime<Utc>,
}

/// What happened, the oldest first, and behind it what is expected.
pub(crate) fn build_history(known: &KnownHistory<'_>) -> Vec<HistoryEntry> {
    let mut history = list_known(known);
    // Of one moment in the order in which they were found, which is that of the machine.
    history.sort_by_key(|entry| entry.at);
    history.extend(list_expected(known));
    history
}

fn list_known(known: &KnownHistory<'_>) -> Vec<HistoryEntry> {
    let KnownHistory {
        mailpiece, events, ..
    } = known;
    let has = |state: MailpieceState| events.iter().any(|event| event.state == state);
    let mut entries = Vec::new();
    let mut add = |state, at: Option<DateTime<Utc>>, source: &str, detail: &str| {
        if let Some(at) = at {
            entries.push(reported(state, at, source, detail));
        }
    };
    let maker = match known.charge_kind {
        ChargeKind::Send => "api",
        ChargeKind::Recheck | ChargeKind::Step => "system",
    };
    add(MailpieceState::Queued, mailpiece.settled_at, maker, "");
    if mailpiece.facts().to_state() == MailpieceState::Held && is_held_by_campaign(mailpiece) {
        let since = mailpiece.campaign_held_at.max(mailpiece.settled_at);
        add(
            MailpieceState::Held,
            since,
            "system",
            "Its campaign is held.",
        );
    }
    if let Some(run) = mailpiece.run {
        add(MailpieceState::Printing, Some(run.claimed_at), "system", "");
        add(MailpieceState::Printed, run.printed_at, "system", "");
    }
    // What is told of by an event that is forgotten.
    if let Some(stalled) = mailpiece.progress.filter(|_| !has(MailpieceState::Stalled)) {
        add(MailpieceState::Stalled, stalled.stalled_at, "system", "");
    }
    if let Some(progress) = mailpiece.progress.filter(|progress| !has(progress.state)) {
        let source = match progress.basis {
            MailpieceBasis::Scanned => "usps",
            _ => "operator",
        };
        entries.push(HistoryEntry {
            basis: progress.basis,
            ..reported(progress.state, progress.reached_at, source, "")
        });
    }
    entries.extend(events.iter().map(|event| HistoryEntry {
        basis: event.basis,
        ..reported(event.state, event.occurred_at, &event.source, &event.detail)
    }));
    entries
}

fn reported(state: MailpieceState, at: DateTime<Utc>, source: &str, detail: &str) -> HistoryEntry {
    HistoryEntry {
        state,
        basis: MailpieceBasis::Reported,
        at: Some(at),
        expected_on: None,
        source: source.to_owned(),
        detail: detail.to_owned(),
    }
}

/// What lies ahead, or was not seen, of a mailpiece that nothing is in the way of.
fn list_expected(known: &KnownHistory<'_>) -> Vec<HistoryEntry> {
    let mailpiece = known.mailpiece;
    let day = |at: DateTime<Utc>| at.with_timezone(&known.time_zone).date_naive();
    let reached = mailpiece.progress.map(|progress| day(progress.reached_at));
    let (entered, delivered) = match mailpiece.facts().to_state() {
        MailpieceState::Queued | MailpieceState::Printing => {
            let not_before = mailpiece.print_after.unwrap_or(known.now).max(known.now);
            let entered = mailpiece.mail_by_date.max(day(not_before));
            (Some(entered), known.days_later(entered))
        }
        MailpieceState::Printed => {
            let printed = mailpiece.run.and_then(|run| run.printed_at).map(day);
            let entered = printed.map_or(mailpiece.mail_by_date, |printed| {
                printed.max(mailpiece.mail_by_date)
            });
            (Some(entered), known.days_later(entered))
        }
        MailpieceState::Entered | MailpieceState::InTransit => {
            let entered = known.first_entry().map(day).or(reached);
            (None, entered.and_then(|entered| known.days_later(entered)))
        }
        // Its way begins anew.
        MailpieceState::Forwarded => (None, reached.and_then(|reached| known.days_later(reached))),
        MailpieceState::OutForDelivery => (None, reached),
        _ => (None, None),
    };
    let is_first_class = mailpiece.postage == "first_class";
    let class = if is_first_class {
        "first-class"
    } else {
        "standard"
    };
    let entered = entered.map(|on| {
        let detail = "The day by which it is to mail.".to_owned();
        estimated(MailpieceState::Entered, on, detail)
    });
    let delivered = delivered.map(|on| {
        let detail = format!("As is usual for {class} mail.");
        estimated(MailpieceState::Delivered, on, detail)
    });
    entered.into_iter().chain(delivered).collect()
}

impl KnownHistory<'_> {
    /// When the post had it first.
    fn first_entry(&self) -> Option<DateTime<Utc>> {
        let postal = self.events.iter().filter(|event| event.state.is_postal());
        postal.map(|event| event.occurred_at).min()
    }

    fn days_later(&self, entered: NaiveDate) -> Option<NaiveDate> {
        let days = if self.mailpiece.postage == "first_class" {
            DELIVERY_DAYS_FIRST_CLASS
        } else {
            DELIVERY_DAYS_STANDARD
        };
        entered.checked_add_days(Days::new(days))
    }
}

fn estimated(state: MailpieceState, on: NaiveDate, detail: String) -> HistoryEntry {
    HistoryEntry {
        state,
        basis: MailpieceBasis::Estimated,
        at: None,
        expected_on: Some(on),
        source: "system".to_owned(),
        detail,
    }
}

#[cfg(test)]
mod tests;
