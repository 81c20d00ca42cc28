//! Postgres: the only place with SQL.
//!
//! One file per table family; methods are named `verb_noun`. What a method on [`Store`] does is complete and
//! committed when it returns; what must happen together is done through a [`Transaction`], whose steps the
//! caller puts in order. Every statement on a request's path is bounded by the request's own size and an index.

mod activity;
mod address_answer;
mod address_book;
mod address_import;
mod address_point;
mod address_street;
mod admission;
mod ai_cell;
mod backlog;
mod busy;
mod campaign;
mod campaign_day;
mod campaign_hold;
mod campaign_owner;
mod campaign_view;
mod cancellation;
mod charge;
mod charge_list;
mod check;
mod column;
mod column_use;
mod contact;
mod database_error;
mod delivery;
mod delivery_list;
mod design;
mod design_list;
mod do_not_mail;
mod duty;
mod earlier_schema;
mod email;
mod endpoint;
mod entry;
mod entry_list;
mod error;
mod feed;
mod formula_change;
mod grant;
mod held_back;
mod idempotency;
mod integration;
mod integration_owner;
mod integration_removal;
mod issue;
mod job;
mod key;
mod ledger;
mod ledger_feed;
mod ledger_list;
mod mailpiece;
mod mailpiece_change;
mod mailpiece_content;
mod mailpiece_feed;
mod mailpiece_follower;
mod mailpiece_view;
mod migrate;
mod migrations;
mod person;
mod picture;
mod pool;
mod postal_import;
mod postal_scan;
mod print_mailpiece;
mod print_run;
mod recipient;
mod recipient_list;
mod refund;
mod removal;
mod retention;
mod return_address;
mod returned_address;
mod scan;
mod scan_feed;
mod send;
mod send_key;
mod send_status;
mod session;
mod sign_in;
mod statement;
mod statement_name;
mod sync;
mod team;
mod top_up_request;
mod url;

pub use activity::{Activity, ActivityFilter, Actor, describe_change};
pub use address_book::{BookCursor, BookLine, BookPage};
pub use address_import::ImportProgress;
pub use address_point::{
    AddressOverride, AddressPointFacts, AddressPointRow, Neighborhood, NeighborhoodHome,
};
pub use admission::{AdmissionRequest, AdmissionResult, AdmittedKey};
pub use ai_cell::AiCell;
pub use backlog::{BACKLOG_KINDS, BacklogRules, BacklogStatus};
pub use campaign::{
    AudienceSource, Campaign, CampaignSettings, CampaignStatus, CampaignStep, CampaignSummary,
    CancellationSettings, LockedCampaign, NeighborhoodSettings, StepDesign, StepSettings,
    StoredCampaignSettings,
};
pub use campaign_day::{CampaignDayFigure, CampaignFigure};
pub use campaign_hold::CampaignHold;
pub use campaign_view::{CampaignView, CampaignViewStep};
pub use cancellation::{CancellationCounts, MailpieceCancellation};
pub use charge::{Charge, ChargeKind, ChargeState, NewCharge};
pub use charge_list::{ChargeSummary, ChargedMailpieces};
pub use check::{CheckProgress, Discrepancy};
pub use column::{ColumnKind, ColumnSource, TeamColumn};
pub use column_use::{NamedCampaignConditions, NamedDesignDocument};
pub use contact::{Contact, ContactBatch, KnownContact};
pub use database_error::DatabaseError;
pub use delivery::{
    AttemptOutcome, DeliveryAttempt, DeliveryFailureRules, DeliveryKind, DeliveryLane,
    LeasedDelivery, WaitingDeliveryLane,
};
pub use delivery_list::DeliverySummary;
pub use design::{NewDesign, SavedDesign};
pub use design_list::{DesignSummary, DesignVersionSummary, StoredDesign};
pub use do_not_mail::{DoNotMailAddress, DoNotMailCursor};
pub use email::LeasedEmail;
pub use endpoint::{Endpoint, EndpointState, SavedEndpoint};
pub use entry::{BookEntryRow, BookEntryValues};
pub use entry_list::{BookEntry, BookEntryCursor, BookEntryLine};
pub use error::{Fault, Result, StoreError, retry_conflicts};
pub use feed::{FeedItem, FeedKind};
pub use formula_change::{FormulaChange, FormulaChangeAuthor, NewFormulaChange};
pub use grant::PROCESSES;
pub use held_back::HeldBackSync;
pub use idempotency::IdempotencyKeyState;
pub use integration::{Integration, IntegrationAvailability};
pub use integration_owner::FieldMapping;
pub use issue::IssueFilter;
pub use job::{Job, JobKind, JobLease, StepJobPlan};
pub use key::{ApiKeySummary, CreatedApiKey, NewApiKey, RevokedApiKey};
pub use ledger::{BalanceDebit, TopUpResult};
pub use ledger_feed::{Booking, BookingKind};
pub use ledger_list::{LedgerKind, LedgerLine};
pub use mailpiece::{EarlierMailpiece, MailpieceBatch, MailpieceRow};
pub use mailpiece_change::NewMailpieceEvent;
pub use mailpiece_content::MailpieceContent;
pub use mailpiece_feed::{ChangedGroup, ChangedGroupKind, ChargeSpan, GroupMember, PrintRunSpan};
pub use mailpiece_follower::{ChangedItem, FollowerPlace, NewMailpieceNews, ToldFact};
pub use mailpiece_view::{
    FollowedMailpiece, MailpieceAccount, MailpieceEvent, MailpieceProgress, MailpieceRefund,
    MailpieceRun,
};
pub use migrate::{MigrationResult, SchemaVersion, migrate_database};
pub use person::TeamMember;
pub use picture::{PictureLinkHash, PictureOutcome, PictureRow, PictureUse};
pub use pool::{PoolStatus, Store, StoreConnection, StoreSettings, Transaction};
pub use postal_import::{PostalImport, PostalImportStep};
pub use postal_scan::{HandedOverRun, MailedPiece, MovingCursor, NewPostalScan, StalledPortion};
pub use print_mailpiece::PrintMailpiece;
pub use print_run::{
    PrintLease, PrintPaper, PrintRun, PrintRunRequest, SerialUsage, SetAsideMailpiece,
};
pub use recipient::{
    AddressRemoval, BookEntryAddress, BookRecipient, RecipientListings, RecipientRow,
};
pub use recipient_list::{
    OutcomeCount, RecipientCursor, RecipientLine, RecipientSearchCursor, RecipientSearchHit,
    all_outcomes,
};
pub use refund::OwedRefund;
pub use removal::{LastSyncRemoval, SyncRemoval};
pub use return_address::ReturnLines;
pub use returned_address::ReturnedAddress;
pub use scan::{NewScan, ScannedMailpiece};
pub use scan_feed::RecordedScan;
pub use send::{FinishedSend, NewSend, ReservedSend, SendClaim, SendLease};
pub use send_key::SendIdempotencyKey;
pub use send_status::SendStatus;
pub use session::{MemberCredentials, SessionAgeLimits, SignedInMember};
pub use statement::PoolerMode;
pub use statement_name::StatementName;
pub use sync::{BatchCounts, CountedBatch, SharedSync};
pub use team::{EmailOwner, MemberRole, MemberSummary, PaymentKind, SavedMember, SavedTeam, Team};
pub use top_up_request::{OpenTopUpRequest, TopUpRequest, TopUpRequestState};
