//! In which state a mailpiece is, how that is known, and since when (pure).

use chrono::{DateTime, Utc};
use model::mailpiece_state::{MailpieceBasis, MailpieceState, WithheldMailpiece};
use store::FollowedMailpiece;

/// The state of a mailpiece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CurrentState {
    pub(crate) state: MailpieceState,
    pub(crate) basis: MailpieceBasis,
    /// `None` when nobody noted it, or it is forgotten.
    pub(crate) since: Option<DateTime<Utc>>,
}

/// The state that a mailpiece's facts come to.
pub(crate) fn find_current_state(mailpiece: &FollowedMailpiece) -> CurrentState {
    let state = mailpiece.facts().to_state();
    let (run, progress) = (mailpiece.run, mailpiece.progress);
    let told = mailpiece
        .queue_event
        .filter(|(told, ..)| *told == state)
        .map(|(_, at, basis)| (at, basis));
    let known = match state {
        MailpieceState::Stalled => progress.and_then(|progress| progress.stalled_at),
        MailpieceState::Printed => run.and_then(|run| run.printed_at),
        MailpieceState::Printing => run.map(|run| run.claimed_at),
        MailpieceState::Queued => mailpiece.settled_at,
        MailpieceState::Held if is_held_by_campaign(mailpiece) => {
            mailpiece.campaign_held_at.max(mailpiece.settled_at)
        }
        _ => progress.map(|progress| progress.reached_at),
    };
    let is_postal = progress.filter(|progress| progress.state == state);
    CurrentState {
        state,
        basis: is_postal
            .map(|progress| progress.basis)
            .or(told.map(|(_, basis)| basis))
            .unwrap_or(MailpieceBasis::Reported),
        since: told.map(|(at, _)| at).or(known),
    }
}

/// Whether it would print if its campaign were not held.
pub(crate) fn is_held_by_campaign(mailpiece: &FollowedMailpiece) -> bool {
    mailpiece.campaign_held_at.is_some()
        && mailpiece.withheld != Some(WithheldMailpiece::Held)
        && !mailpiece.has_print_problem
}
