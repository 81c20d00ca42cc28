//! Scanning: from the code on a card to a destination, and into the database.
//!
//! The use cases: [`ScanRecorder::record_scan`] records a scan with its event and deliveries and tells where the code leads,
//! [`ScanRecorder::look_up`] only tells; [`FeedReader`] pages through a team's scans. [`classify_visitor`] tells people from
//! programs.

mod cursor;
mod feed;
mod location;
mod record;
mod visitor;

pub use cursor::{FeedCursor, FeedPosition};
pub use feed::{FeedReader, ScanFeedPage};
pub use location::GeoLocation;
pub use record::{ScanLookupError, ScanRecorder, ScanVisit, event_of_scan};
pub use visitor::{VisitorKind, classify_visitor};
