//! What a team reads of its mailpieces, its campaigns and its ledger: GET /api/v1/mailpieces, /campaigns and /ledger. Additions to
//! the contract.

mod campaign;
mod ledger;
mod mailpiece;

pub use campaign::{
    Campaign, CampaignAnswer, CampaignCounts, CampaignDay, CampaignFigures, CampaignStep,
    CampaignsAnswer,
};
pub use ledger::{LedgerAnswer, LedgerBooking, LedgerBookingKind};
pub use mailpiece::{
    HistoryEntry, Mailpiece, MailpieceAddress, MailpieceAnswer, MailpieceDesign, MailpieceRefund,
    MailpiecesAnswer,
};

/// Items of a page when the request names no number.
pub const READ_ITEMS_DEFAULT: usize = 100;

/// Items of a page at the most.
pub const READ_ITEMS: usize = 1_000;
