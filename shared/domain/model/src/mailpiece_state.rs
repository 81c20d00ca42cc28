//! How far a mailpiece is: one forward-only machine.
//!
//! ```text
//! queued ──▶ printing ──▶ printed ──▶ entered ──▶ in_transit ──▶ forwarded ──▶ out_for_delivery ──▶ delivered ──▶ returned
//!  │  ▲                                  └───────────── stalled, until the next scan ──────┘
//!  ▼  │ released
//! held
//!  └──▶ cancelled  (from queued, too)
//! ```
//!
//! The post's scans come late, twice and in any order, so a state is never the last fact that came in, but the furthest one.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A state of a mailpiece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailpieceState {
    /// Charged; it prints when its time has come.
    Queued,
    /// Out of the queue until somebody releases it, or until what keeps it from printing is mended.
    Held,
    /// Will never print; its price is given back.
    Cancelled,
    /// In a print run whose files are being made.
    Printing,
    /// In a finished print file.
    Printed,
    /// Handed to the post.
    Entered,
    /// Seen by the post on its way.
    InTransit,
    /// On its way to another address than the printed one.
    Forwarded,
    /// With the carrier.
    OutForDelivery,
    /// Delivered.
    Delivered,
    /// Came back.
    Returned,
    /// In the mail, and not seen for longer than the campaign expects.
    Stalled,
}

/// How a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailpieceBasis {
    /// The post scanned the mailpiece.
    Scanned,
    /// Somebody, or a program of ours, did it or says so.
    Reported,
    /// Computed from calendars; nobody has seen it.
    Estimated,
}

/// Why a mailpiece is out of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithheldMailpiece {
    /// Until it is released.
    Held,
    /// For good.
    Cancelled,
}

/// How far the print run of a mailpiece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailpiecePrinting {
    /// Its files are being made.
    Claimed,
    /// Its files are kept.
    Printed,
}

/// What is known of a mailpiece that was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailpieceFacts {
    /// Whether it was taken out of the queue.
    pub withheld: Option<WithheldMailpiece>,
    /// Whether its campaign is held.
    pub is_campaign_held: bool,
    /// Whether it could not print and waits for the operator.
    pub has_print_problem: bool,
    /// Its print run.
    pub printing: Option<MailpiecePrinting>,
    /// The furthest that the post, or a report, tells of.
    pub progress: Option<MailpieceState>,
    /// Whether it has not been seen for too long since.
    pub is_stalled: bool,
}

impl MailpieceState {
    /// All of them, in the order of the machine.
    pub const ALL: &'static [Self] = &[
        Self::Queued,
        Self::Held,
        Self::Cancelled,
        Self::Printing,
        Self::Printed,
        Self::Entered,
        Self::InTransit,
        Self::Forwarded,
        Self::OutForDelivery,
        Self::Delivered,
        Self::Returned,
        Self::Stalled,
    ];

    /// The name in the API and in the schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Held => "held",
            Self::Cancelled => "cancelled",
            Self::Printing => "printing",
            Self::Printed => "printed",
            Self::Entered => "entered",
            Self::InTransit => "in_transit",
            Self::Forwarded => "forwarded",
            Self::OutForDelivery => "out_for_delivery",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Stalled => "stalled",
        }
    }

    /// The state of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|state| state.as_str() == name)
    }

    /// How far along the way through the post it is, from 1; `None` for a state that is not on it.
    const fn postal_rank(self) -> Option<u8> {
        match self {
            Self::Entered => Some(1),
            Self::InTransit => Some(2),
            Self::Forwarded => Some(3),
            Self::OutForDelivery => Some(4),
            Self::Delivered => Some(5),
            Self::Returned => Some(6),
            _ => None,
        }
    }

    /// Whether it is a state that the post, or a report of the handover, tells of.
    pub const fn is_postal(self) -> bool {
        self.postal_rank().is_some()
    }

    /// Whether the mailpiece is with the post and neither delivered nor returned.
    pub const fn is_moving(self) -> bool {
        matches!(
            self,
            Self::Entered | Self::InTransit | Self::Forwarded | Self::OutForDelivery
        )
    }

    /// The further of two states on the way through the post, whichever was heard of first. A state that is not on it
    /// never wins over one that is.
    #[must_use]
    pub fn advance_to(self, other: Self) -> Self {
        if other.postal_rank() > self.postal_rank() {
            other
        } else {
            self
        }
    }
}

impl fmt::Display for MailpieceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl MailpieceBasis {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Scanned, Self::Reported, Self::Estimated];

    /// The name in the API and in the schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scanned => "scanned",
            Self::Reported => "reported",
            Self::Estimated => "estimated",
        }
    }

    /// The basis of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|basis| basis.as_str() == name)
    }
}

impl WithheldMailpiece {
    /// The name in the schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Cancelled => "cancelled",
        }
    }

    /// What has this name in the schema. One that nobody wants any more is held until a mailer cancels it.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "held" | "unwanted" => Some(Self::Held),
            "cancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }
}

impl MailpieceFacts {
    /// The state that they come to. What has happened to the paper wins over what was wanted of it.
    pub fn to_state(self) -> MailpieceState {
        if let Some(progress) = self.progress {
            return if self.is_stalled && progress.is_moving() {
                MailpieceState::Stalled
            } else {
                progress
            };
        }
        match (self.printing, self.withheld) {
            (Some(MailpiecePrinting::Printed), _) => MailpieceState::Printed,
            (Some(MailpiecePrinting::Claimed), _) => MailpieceState::Printing,
            (None, Some(WithheldMailpiece::Cancelled)) => MailpieceState::Cancelled,
            (None, Some(WithheldMailpiece::Held)) => MailpieceState::Held,
            (None, None) if self.is_campaign_held || self.has_print_problem => MailpieceState::Held,
            (None, None) => MailpieceState::Queued,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn fold_states(states: &[MailpieceState]) -> Option<MailpieceState> {
        states.iter().copied().reduce(MailpieceState::advance_to)
    }

    fn postal_states() -> Vec<MailpieceState> {
        let all = MailpieceState::ALL.iter().copied();
        all.filter(|state| state.is_postal()).collect()
    }

    #[test]
    fn every_state_is_found_by_its_name() {
        for state in MailpieceState::ALL {
            assert_eq!(MailpieceState::from_name(state.as_str()), Some(*state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert_eq!(MailpieceState::from_name("mailed"), None);
    }

    #[test]
    fn a_mailpiece_stalls_on_its_way_only() {
        for progress in postal_states() {
            let facts = MailpieceFacts {
                progress: Some(progress),
                is_stalled: true,
                printing: Some(MailpiecePrinting::Printed),
                ..MailpieceFacts::default()
            };
            let expected = if progress.is_moving() {
                MailpieceState::Stalled
            } else {
                progress
            };
            assert_eq!(facts.to_state(), expected);
        }
    }

    #[test]
    fn a_held_campaign_holds_what_is_queued_and_nothing_else() {
        let held = MailpieceFacts {
            is_campaign_held: true,
            ..MailpieceFacts::default()
        };
        assert_eq!(held.to_state(), MailpieceState::Held);
        let cancelled = MailpieceFacts {
            withheld: Some(WithheldMailpiece::Cancelled),
            ..held
        };
        assert_eq!(cancelled.to_state(), MailpieceState::Cancelled);
        let printing = MailpieceFacts {
            printing: Some(MailpiecePrinting::Claimed),
            ..held
        };
        assert_eq!(printing.to_state(), MailpieceState::Printing);
    }

    proptest! {
        #[test]
        fn scans_come_to_the_same_in_any_order(
            states in prop::collection::vec(select(postal_states()), 1..12).prop_shuffle(),
            rotated in 0_usize..12,
        ) {
            let mut other = states.clone();
            other.rotate_left(rotated % states.len());
            other.extend_from_slice(&states);
            prop_assert_eq!(fold_states(&states), fold_states(&other));
        }

        #[test]
        fn a_state_never_goes_back(states in prop::collection::vec(select(postal_states()), 1..12)) {
            let mut reached = states[0];
            for state in states {
                let next = reached.advance_to(state);
                prop_assert!(next.postal_rank() >= reached.postal_rank());
                prop_assert!(next.postal_rank() >= state.postal_rank());
                reached = next;
            }
        }

        #[test]
        fn what_is_not_on_the_way_never_wins(
            postal in select(postal_states()),
            other in select(MailpieceState::ALL.to_vec()),
        ) {
            prop_assert!(postal.advance_to(other).is_postal());
            prop_assert_eq!(other.advance_to(postal).is_postal(), true);
        }
    }
}
