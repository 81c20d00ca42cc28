//! The shape of the file. An absent optional field means its default, also for what stands already: the file
//! says how things are to be. What it does not name (another user, another key) stays as it is.

use audience::ColumnType;
use chrono_tz::Tz;
use contract::id::CampaignId;
use contract::key::KeyKind;
use contract::send::Postage;
use serde::Deserialize;
use serde_json::Value;
use store::{Availability, Role};

use super::field::{ColumnName, DesignDocument, EndpointUrl, ListedAddress, MapArea};
use super::{Email, Name};
use crate::money::Money;
use secret::{KeyText, Password};

/// Neighborhood Mail: the radius when none is given.
const USUAL_RADIUS_METRES: i32 = 400;

/// Neighborhood Mail: the homes per center when no number is given.
const USUAL_HOMES_PER_CENTER: i32 = 500;

/// Teams with what belongs to them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a list of `teams`")]
pub(super) struct File {
    pub teams: Vec<Team>,
}

/// A team, found by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Team {
    pub name: Name,
    #[serde(default = "new_york")]
    pub time_zone: Tz,
    #[serde(default)]
    pub payment: Payment,
    pub stripe_customer: Option<Name>,
    pub stripe_payment_method: Option<Name>,
    /// Whether `Idempotency-Key` is honoured on sends; what is stored stays without it.
    pub idempotency_keys: Option<bool>,
    /// Whether Formulas only keys see people of the address book unmasked; what is stored stays without it.
    pub formula_keys_see_people: Option<bool>,
    #[serde(default)]
    pub users: Vec<User>,
    #[serde(default)]
    pub columns: Vec<Column>,
    #[serde(default)]
    pub designs: Vec<Design>,
    #[serde(default)]
    pub campaigns: Vec<Campaign>,
    #[serde(default)]
    pub integrations: Vec<Integration>,
    #[serde(default)]
    pub keys: Vec<Key>,
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
    pub top_up: Option<TopUp>,
}

/// How a team pays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Payment {
    #[default]
    Balance,
    Stripe,
}

impl Payment {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::Stripe => "stripe",
        }
    }
}

/// A person, found by the email address. Without a password the stored one stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct User {
    pub email: Email,
    pub name: Name,
    pub role: Role,
    pub password: Option<Password>,
}

/// A column that is not built in, found by its folded name: one that senders fill, or one with a formula.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub name: ColumnName,
    /// Needed without a formula, which has a type by itself.
    #[serde(rename = "type")]
    pub column_type: Option<ColumnType>,
    pub formula: Option<String>,
    /// What a language model is asked for each entry, with fields.
    pub prompt: Option<String>,
}

/// A design, found by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Design {
    pub name: Name,
    #[serde(default)]
    pub ai_draft: bool,
    pub document: DesignDocument,
}

/// A campaign, found by its id, or by its name when none is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Campaign {
    pub id: Option<CampaignId>,
    pub name: Name,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub audience: Audience,
    pub kind: Option<CampaignKind>,
    pub radius_metres: Option<u32>,
    pub homes_per_center: Option<u32>,
    pub strictness: Option<StrictnessName>,
    pub budget: Option<Money>,
    pub resend_protection_days: Option<u16>,
    pub area: Option<MapArea>,
    pub conditions: Option<Value>,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub do_not_mail: Vec<ListedAddress>,
}

/// Whom a campaign mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CampaignKind {
    /// The recipients.
    Audience,
    /// The homes around them.
    Neighborhood,
}

/// How much of an address must be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StrictnessName {
    Zip,
    Street,
    DeliveryPoint,
}

impl From<StrictnessName> for address::Strictness {
    fn from(name: StrictnessName) -> Self {
        match name {
            StrictnessName::Zip => Self::Zip,
            StrictnessName::Street => Self::Street,
            StrictnessName::DeliveryPoint => Self::DeliveryPoint,
        }
    }
}

impl Campaign {
    /// What makes it Neighborhood Mail, if it is.
    pub(super) fn neighborhood(&self) -> Option<store::NeighborhoodSettings> {
        // Both are checked to be in their range before.
        let setting = |value: Option<u32>, usual: i32| value.map_or(usual, |value| value as i32);
        (self.kind == Some(CampaignKind::Neighborhood)).then(|| store::NeighborhoodSettings {
            radius_metres: setting(self.radius_metres, USUAL_RADIUS_METRES),
            homes_per_center: setting(self.homes_per_center, USUAL_HOMES_PER_CENTER),
        })
    }
}

/// Whether a campaign takes recipients, or an endpoint events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    #[default]
    Active,
    Paused,
}

/// Where a campaign's audience comes from.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Audience {
    #[default]
    Api,
    List,
}

impl From<Audience> for store::Audience {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Api => Self::Api,
            Audience::List => Self::List,
        }
    }
}

/// A step of a campaign; without a design it cannot mail yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub design: Option<Name>,
    #[serde(default = "standard")]
    pub postage: Postage,
    #[serde(default)]
    pub delay_days: u16,
}

/// An integration, found by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Integration {
    pub name: Name,
    #[serde(default = "active")]
    pub availability: Availability,
    pub removal_guard_percent: Option<u8>,
    #[serde(default)]
    pub keys: Vec<IntegrationKey>,
}

/// A key of an integration. With its value given it is that key; else one is made unless an active one of this name
/// stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntegrationKey {
    pub name: Name,
    pub key: Option<KeyText>,
}

/// An API key. With its value given it is that key; else one is made unless an active one of this name stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    pub kind: TeamKeyKind,
    pub name: Name,
    pub key: Option<KeyText>,
}

/// The kinds of keys that belong to a team itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TeamKeyKind {
    FullAccess,
    Formulas,
}

impl From<TeamKeyKind> for KeyKind {
    fn from(kind: TeamKeyKind) -> Self {
        match kind {
            TeamKeyKind::FullAccess => Self::FullAccess,
            TeamKeyKind::Formulas => Self::Formulas,
        }
    }
}

/// A webhook endpoint, found by its URL. One that was disabled stays so, whatever the status here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub url: EndpointUrl,
    /// The campaigns whose scans it hears of; absent, all.
    pub campaigns: Option<Vec<CampaignId>>,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub signed: bool,
}

/// Money for the prepaid balance. A reference counts once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopUp {
    pub amount: Money,
    pub reference: Name,
}

fn new_york() -> Tz {
    Tz::America__New_York
}

fn active() -> Availability {
    Availability::Active
}

fn standard() -> Postage {
    Postage::Standard
}
