//! GET /api/v1/campaigns and /api/v1/campaigns/{id}.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Campaigns of a team.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CampaignsAnswer {
    /// In the order of their ids.
    pub campaigns: Vec<Campaign>,
    /// To be passed back as `cursor`: behind the last of them.
    pub next_cursor: String,
    /// Whether there is more behind it.
    pub has_more: bool,
}

/// A campaign.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Campaign {
    /// `PA-` and six characters.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `active` or `paused`: a paused one takes no recipients.
    pub status: String,
    /// `api` or `list`: only the former takes recipients from this API.
    pub audience: String,
    /// `audience` mails the recipients, `neighborhood` the homes around them.
    pub kind: String,
    /// Whether its queued mailpieces are kept from printing.
    pub held: bool,
    /// Since when; absent while they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime<Utc>>")]
    pub held_at: Option<DateTime<Utc>>,
    /// The most that it may spend, in US cents; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_cents: Option<i64>,
    /// What is spent of it, open charges included.
    pub committed_cents: i64,
    /// Days in which an address is not mailed again; absent when the installation's setting alone holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend_protection_days: Option<i32>,
    /// Minutes in which a mailpiece can be cancelled and does not print; absent for the installation's setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_minutes: Option<i32>,
    /// Hours without a scan of the post after which a mailpiece counts as stalled; absent for the installation's setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled_hours: Option<i32>,
    /// Whether an address from which a mailpiece came back is mailed again.
    pub mails_returned: bool,
    /// When it was made.
    #[schemars(with = "DateTime<Utc>")]
    pub created_at: DateTime<Utc>,
    /// When its settings were changed last.
    #[schemars(with = "DateTime<Utc>")]
    pub updated_at: DateTime<Utc>,
}

/// A campaign with its steps and figures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CampaignAnswer {
    /// The campaign.
    pub campaign: Campaign,
    /// Its mailings, from step 1.
    pub steps: Vec<CampaignStep>,
    /// What happened to it.
    pub figures: CampaignFigures,
}

/// One mailing of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CampaignStep {
    /// From 1.
    pub step: i16,
    /// Absent until one is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design_id: Option<Uuid>,
    /// `standard` or `first_class`.
    pub postage: String,
    /// Days after step 1.
    pub delay_days: i32,
}

/// What happened to a campaign in some days, in the team's time zone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CampaignFigures {
    /// The first day.
    #[schemars(with = "NaiveDate")]
    pub from: NaiveDate,
    /// The last day.
    #[schemars(with = "NaiveDate")]
    pub to: NaiveDate,
    /// All days together.
    pub total: CampaignCounts,
    /// The days on which something happened, in order.
    pub days: Vec<CampaignDay>,
}

/// What happened to a campaign on a day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CampaignDay {
    /// In the team's time zone.
    #[schemars(with = "NaiveDate")]
    pub day: NaiveDate,
    /// What happened.
    pub counts: CampaignCounts,
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CampaignCounts {
    /// Requests of `POST /api/v1/recipients`.
    pub requests: i64,
    /// Mailpieces made, of later steps too.
    pub mailpieces: i64,
    /// Scans of QR codes by people.
    pub scans: i64,
    /// Recipients by outcome: `mailed`, or the reason why not. One that waited on conditions counts again when it is mailed.
    pub outcomes: BTreeMap<String, i64>,
    /// Mailpieces by the state that they came to, for the states that are counted, such as `printed`: each counts in every state
    /// that it has come to.
    pub states: BTreeMap<String, i64>,
}
