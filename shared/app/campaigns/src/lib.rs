//! What people and operators change of campaigns. Each function is one use case: one transaction, with its entry in the
//! team's activity log, whoever calls it.
//!
//! In reading order: [`activate_campaign`] and [`pause_campaign`], the map area ([`set_campaign_area`], [`remove_campaign_area`]), the filter conditions
//! ([`set_campaign_conditions`], [`check_conditions`], and [`ConditionSentence`] for people), the do-not-mail list
//! ([`add_do_not_mail`], [`remove_do_not_mail`]), recipients ([`remove_recipient`], [`remove_recipients_at`]),
//! addresses from which mailpieces came back ([`remove_returned_address`], [`set_mails_returned`]), and [`save_campaign_within`], by which a
//! file sets a whole campaign within its own transaction.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod area;
mod conditions;
mod do_not_mail;
mod recipient;
mod returned;
mod save;
mod sentence;
mod status;

pub use area::{SetAreaError, remove_campaign_area, set_campaign_area};
pub use conditions::{
    ConditionsProblem, SetConditionsError, check_conditions, set_campaign_conditions,
};
pub use do_not_mail::{add_do_not_mail, add_do_not_mail_within, remove_do_not_mail};
pub use recipient::{remove_recipient, remove_recipients_at};
pub use returned::{remove_returned_address, set_mails_returned};
pub use save::{SaveCampaignError, find_or_choose_id, save_campaign_within};
pub use sentence::{ConditionSentence, operator_name};
pub use status::{activate_campaign, pause_campaign};
