//! What stands in the way of an answer.

use store::StoreError;

/// What stands in the way of an answer.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The cursor is broken, another team's, or of a list with other filters.
    #[error("the cursor is not one of this list")]
    InvalidCursor,
    /// The team has no such mailpiece.
    #[error("there is no such mailpiece")]
    MailpieceNotFound,
    /// The team has no such campaign.
    #[error("there is no such campaign")]
    CampaignNotFound,
    /// The days are none, or too many.
    #[error("from and to are not in order, or too far apart")]
    InvalidDays,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
