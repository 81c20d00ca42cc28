//! What people and operators change of campaigns. Each function is one use case: one transaction, with its entry in the
//! team's activity log, whoever calls it.
//!
//! In reading order: [`create_campaign`], [`change_campaign`], [`duplicate_campaign`] and [`launch_campaign`] with what settings may be
//! ([`check_numbers`]) and what a campaign lacks ([`list_missing_parts`]), [`activate_campaign`], [`pause_campaign`],
//! [`archive_campaign`] and [`restore_campaign`], [`hold_campaign`] and [`release_campaign`], the map area ([`set_campaign_area`], [`remove_campaign_area`]), the filter conditions
//! ([`set_campaign_conditions`], [`check_conditions`], and [`ConditionSentence`] for people), the do-not-mail list
//! ([`add_do_not_mail`], [`remove_do_not_mail`]), recipients ([`remove_recipient`], [`remove_recipients_at`]),
//! addresses from which mailpieces came back ([`remove_returned_address`], [`set_mails_returned`]), and [`save_campaign_within`], by which a
//! file sets a whole campaign within its own transaction.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod area;
mod change;
mod conditions;
mod do_not_mail;
mod hold;
mod readiness;
mod recipient;
mod returned;
mod rules;
mod save;
mod sentence;
mod status;

pub use area::{SetAreaError, remove_campaign_area, set_campaign_area};
pub use change::{
    ChangeCampaignError, USUAL_NEIGHBORHOOD, change_campaign, create_campaign, duplicate_campaign,
    launch_campaign,
};
pub use conditions::{
    ConditionsProblem, SetConditionsError, check_conditions, set_campaign_conditions,
};
pub use do_not_mail::{add_do_not_mail, add_do_not_mail_within, remove_do_not_mail};
pub use hold::{hold_campaign, release_campaign, set_campaign_held_within};
pub use readiness::{MissingPart, list_missing_parts, product_of_step};
pub use recipient::{remove_recipient, remove_recipients_at};
pub use returned::{remove_returned_address, set_mails_returned};
pub use rules::{
    CANCEL_MINUTES, CampaignField, CampaignNumbers, CampaignProblem, CampaignRule, DELAY_DAYS,
    HOMES_PER_CENTER, RADIUS_METRES, RESEND_PROTECTION_DAYS, STEPS, check_numbers,
};
pub use save::{SaveCampaignError, find_or_choose_id, save_campaign_within};
pub use sentence::{ConditionSentence, operator_name};
pub use status::{activate_campaign, archive_campaign, pause_campaign, restore_campaign};
