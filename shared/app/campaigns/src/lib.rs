//! What people and operators change of campaigns. Each function is one use case: one transaction, with its entry in the
//! team's activity log, whoever calls it.
//!
//! In reading order: [`activate`] and [`pause`], the map area ([`set_area`], [`remove_area`]), the filter conditions
//! ([`set_conditions`], [`check_conditions`], and [`ConditionSentence`] for people), the do-not-mail list
//! ([`list_addresses`], [`unlist_address`]), recipients ([`remove_recipient`], [`remove_address`]), and [`save_within`], by which a
//! file sets a whole campaign within its own transaction.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod area;
mod conditions;
mod do_not_mail;
mod recipient;
mod save;
mod sentence;
mod status;

pub use area::{SetAreaError, remove_area, set_area};
pub use conditions::{ConditionsProblem, SetConditionsError, check_conditions, set_conditions};
pub use do_not_mail::{list_addresses, list_addresses_within, unlist_address};
pub use recipient::{remove_address, remove_recipient};
pub use save::{SaveCampaignError, find_or_choose_id, save_within};
pub use sentence::{ConditionSentence, operator_name};
pub use status::{activate, pause};
