//! Postgres: the only place with SQL.
//!
//! One file per table family; methods are named `noun_verb`. What a method on [`Store`] does is complete and
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
mod campaign_owner;
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
mod ledger_list;
mod migrate;
mod person;
mod picture;
mod piece;
mod piece_content;
mod pool;
mod print_piece;
mod print_run;
mod recipient;
mod recipient_list;
mod removal;
mod retention;
mod return_address;
mod scan;
mod scan_feed;
mod send;
mod send_key;
mod send_status;
mod session;
mod shown_once;
mod sign_in;
mod statement;
mod statement_name;
mod sync;
mod team;
mod top_up_request;
mod url;

pub use activity::{Activity, ActivityFilter};
pub use address_book::{BookCursor, BookLine, BookPage};
pub use address_import::ImportProgress;
pub use address_point::{AddressOverride, Home, Neighborhood, PointFacts, PointRow};
pub use admission::{Admission, Admitted, AdmittedKey};
pub use ai_cell::AiCell;
pub use backlog::{BACKLOG_KINDS, Backlog, BacklogRules};
pub use campaign::{
    Audience, Campaign, CampaignSettings, CampaignSummary, LockedCampaign, NeighborhoodSettings, Step,
    StepDesign, StepSettings,
};
pub use campaign_day::{DayFigure, Figure};
pub use charge::{Charge, ChargeKind, ChargeState, NewCharge};
pub use charge_list::{ChargeSummary, ChargedCards};
pub use check::{CheckProgress, Discrepancy};
pub use column::{Column, ColumnKind, ColumnSource};
pub use column_use::{CampaignConditions, DesignDocument};
pub use contact::{Contact, ContactBatch, KnownContact};
pub use database_error::DatabaseError;
pub use delivery::{
    AfterAttempt, ClaimedDelivery, DeliveryKind, FailureRules, Lane, MadeAttempt, WaitingLane,
};
pub use delivery_list::DeliverySummary;
pub use design::{DesignSaved, NewDesign};
pub use design_list::{DesignSummary, DesignVersion, StoredDesign};
pub use do_not_mail::{ListedAddress, ListedCursor};
pub use email::TakenEmail;
pub use endpoint::{Endpoint, EndpointSaved, EndpointState};
pub use entry::{EntryRow, StoredEntry};
pub use entry_list::{EntryCursor, EntryLine, FullEntry};
pub use error::{Fault, Result, StoreError, retry};
pub use feed::{Feed, FeedItem};
pub use formula_change::{ChangedBy, FormulaChange, NewFormulaChange};
pub use grant::PROCESSES;
pub use held_back::HeldBack;
pub use idempotency::KeyClaim;
pub use integration::{Availability, Integration};
pub use integration_owner::FieldMapping;
pub use integration_removal::RemovedBy;
pub use issue::IssueFilter;
pub use job::{Job, JobKind, JobLease, NewStepJob};
pub use key::{KeyCreated, KeySummary, NewKey};
pub use ledger::{Taken, TopUp};
pub use ledger_list::{LedgerKind, LedgerLine};
pub use migrate::{Migrated, SchemaVersion, migrate};
pub use person::TeamPerson;
pub use picture::{LinkHash, PictureOutcome, PictureRow, PictureUse};
pub use piece::{MailedPiece, PieceBatch, PieceRow};
pub use piece_content::PieceContent;
pub use pool::{Connection, PoolStatus, Settings, Store, Transaction};
pub use print_piece::PrintPiece;
pub use print_run::{PrintClaim, PrintLease, PrintPaper, PrintRun, SerialsUsed, SetAside};
pub use recipient::{EntryAddress, RecipientFacts, RecipientRow, WaitingRecipient};
pub use recipient_list::{
    FoundCursor, FoundRecipient, OutcomeCount, RecipientCursor, RecipientLine, outcomes,
};
pub use removal::{LastRemoval, Removal};
pub use return_address::ReturnLines;
pub use scan::{NewScan, ScannedCard};
pub use scan_feed::RecordedScan;
pub use send::{Claim, FinishedSend, Lease, NewSend, ReservedSend, SendState};
pub use send_key::SendKey;
pub use send_status::SendStatus;
pub use session::{Account, SessionAge, SignedIn};
pub use statement::Pooler;
pub use statement_name::StatementName;
pub use sync::{BatchCounts, CountedBatch, SharedSync};
pub use team::{Role, Team, UserSummary};
pub use top_up_request::{OpenTopUpRequest, TopUpRequest, TopUpRequestState};
