//! Following: what a team's programs read of its mailpieces, its campaigns and its ledger.
//!
//! The use cases, all of which read only: [`list_mailpieces`], [`find_mailpiece`], [`list_campaigns`], [`find_campaign`] and
//! [`list_bookings`]. Pages go on from cursors ([`CursorScope`]) that are places in feeds: whoever goes on from each answer's cursor
//! gets everything once and misses nothing, whoever commits when.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod campaign;
mod cursor;
mod error;
mod history;
mod ledger;
mod mailpiece;
mod page;
mod plan;
mod resume;
mod state;

pub use campaign::{CAMPAIGN_DAYS, FigureDays, find_campaign, list_campaigns};
pub use cursor::{CursorScope, FollowedList};
pub use error::FollowError;
pub use history::{DELIVERY_DAYS_FIRST_CLASS, DELIVERY_DAYS_STANDARD};
pub use ledger::list_bookings;
pub use mailpiece::{HISTORY_EVENTS, find_mailpiece};
pub use page::{MailpieceOrder, MailpieceQuery, READ_GROUPS, READ_ROWS, list_mailpieces};
