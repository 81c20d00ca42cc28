//! The shape of the file. An absent optional field means its default, also for what stands already: the file
//! says how things are to be. What it does not name (another user, another key) stays as it is.

use audience::ColumnType;
use chrono_tz::Tz;
use contract::send::Postage;
use contract::webhook::MailpieceEventState;
use model::id::CampaignId;
use model::key::KeyKind;
use serde::Deserialize;
use serde_json::Value;
use store::{IntegrationAvailability, MemberRole, PaymentKind};

use super::field::{
    ColumnNameSpec, DesignDocumentSpec, DoNotMailAddressSpec, EndpointUrlSpec, MapAreaSpec,
};
use super::{DisplayName, NormalizedEmail};
use crate::money::Money;
use secret::{KeyText, Password};

/// Teams with what belongs to them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a list of `teams`")]
pub(super) struct ApplyFile {
    pub teams: Vec<TeamSpec>,
}

/// A team, found by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TeamSpec {
    pub name: DisplayName,
    #[serde(default = "new_york")]
    pub time_zone: Tz,
    #[serde(default)]
    pub payment: PaymentKind,
    pub stripe_customer: Option<DisplayName>,
    pub stripe_payment_method: Option<DisplayName>,
    /// Whether `Idempotency-Key` is honoured on sends; what is stored stays without it.
    pub idempotency_keys: Option<bool>,
    /// Whether Formulas only keys see people of the address book unmasked; what is stored stays without it.
    pub formula_keys_see_people: Option<bool>,
    #[serde(default)]
    pub users: Vec<MemberSpec>,
    #[serde(default)]
    pub columns: Vec<ColumnSpec>,
    #[serde(default)]
    pub designs: Vec<DesignSpec>,
    #[serde(default)]
    pub campaigns: Vec<CampaignSpec>,
    #[serde(default)]
    pub integrations: Vec<IntegrationSpec>,
    #[serde(default)]
    pub keys: Vec<TeamKeySpec>,
    #[serde(default)]
    pub endpoints: Vec<EndpointSpec>,
    pub top_up: Option<TopUpSpec>,
}

/// A person, found by the email address. Without a password the stored one stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberSpec {
    pub email: NormalizedEmail,
    pub name: DisplayName,
    pub role: MemberRole,
    pub password: Option<Password>,
}

/// A column that is not built in, found by its folded name: one that senders fill, or one with a formula.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnSpec {
    pub name: ColumnNameSpec,
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
pub(super) struct DesignSpec {
    pub name: DisplayName,
    #[serde(default)]
    pub ai_draft: bool,
    pub document: DesignDocumentSpec,
}

/// A campaign, found by its id, or by its name when none is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignSpec {
    pub id: Option<CampaignId>,
    pub name: DisplayName,
    #[serde(default)]
    pub status: StatusSpec,
    #[serde(default)]
    pub audience: AudienceSpec,
    pub kind: Option<CampaignKindSpec>,
    pub radius_metres: Option<u32>,
    pub homes_per_center: Option<u32>,
    pub strictness: Option<StrictnessSpec>,
    pub budget: Option<Money>,
    pub resend_protection_days: Option<u16>,
    /// Absent keeps what stands, as does the next.
    pub cancel_minutes: Option<u16>,
    pub cancels_unwanted: Option<bool>,
    pub area: Option<MapAreaSpec>,
    pub conditions: Option<Value>,
    pub steps: Vec<StepSpec>,
    #[serde(default)]
    pub do_not_mail: Vec<DoNotMailAddressSpec>,
}

/// Whom a campaign mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CampaignKindSpec {
    /// The recipients.
    Audience,
    /// The homes around them.
    Neighborhood,
}

/// How much of an address must be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StrictnessSpec {
    Zip,
    Street,
    DeliveryPoint,
}

impl From<StrictnessSpec> for address::VerificationStrictness {
    fn from(name: StrictnessSpec) -> Self {
        match name {
            StrictnessSpec::Zip => Self::Zip,
            StrictnessSpec::Street => Self::Street,
            StrictnessSpec::DeliveryPoint => Self::DeliveryPoint,
        }
    }
}

impl CampaignSpec {
    /// What makes it Neighborhood Mail, if it is.
    pub(super) fn neighborhood(&self) -> Option<store::NeighborhoodSettings> {
        // Both are checked to be in their range before.
        let setting = |value: Option<u32>, usual: i32| value.map_or(usual, |value| value as i32);
        let usual = campaigns::USUAL_NEIGHBORHOOD;
        (self.kind == Some(CampaignKindSpec::Neighborhood)).then(|| store::NeighborhoodSettings {
            radius_metres: setting(self.radius_metres, usual.radius_metres),
            homes_per_center: setting(self.homes_per_center, usual.homes_per_center),
        })
    }
}

/// Whether a campaign takes recipients, or an endpoint events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatusSpec {
    #[default]
    Active,
    Paused,
}

/// Where a campaign's audience comes from.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AudienceSpec {
    #[default]
    Api,
    List,
}

impl From<AudienceSpec> for store::AudienceSource {
    fn from(audience: AudienceSpec) -> Self {
        match audience {
            AudienceSpec::Api => Self::Api,
            AudienceSpec::List => Self::List,
        }
    }
}

/// A step of a campaign; without a design it cannot mail yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepSpec {
    pub design: Option<DisplayName>,
    #[serde(default = "standard")]
    pub postage: Postage,
    #[serde(default)]
    pub delay_days: u16,
}

/// An integration, found by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntegrationSpec {
    pub name: DisplayName,
    #[serde(default = "active")]
    pub availability: IntegrationAvailability,
    pub removal_guard_percent: Option<u8>,
    #[serde(default)]
    pub keys: Vec<IntegrationKeySpec>,
}

/// A key of an integration. With its value given it is that key; else one is made unless an active one of this name
/// stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntegrationKeySpec {
    pub name: DisplayName,
    pub key: Option<KeyText>,
}

/// An API key. With its value given it is that key; else one is made unless an active one of this name stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TeamKeySpec {
    pub kind: TeamKeyKindSpec,
    pub name: DisplayName,
    pub key: Option<KeyText>,
}

/// The kinds of keys that belong to a team itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TeamKeyKindSpec {
    FullAccess,
    Formulas,
}

impl From<TeamKeyKindSpec> for KeyKind {
    fn from(kind: TeamKeyKindSpec) -> Self {
        match kind {
            TeamKeyKindSpec::FullAccess => Self::FullAccess,
            TeamKeyKindSpec::Formulas => Self::Formulas,
        }
    }
}

/// A webhook endpoint, found by its URL. One that was disabled stays so, whatever the status here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndpointSpec {
    pub url: EndpointUrlSpec,
    /// The campaigns whose scans it hears of; absent, all.
    pub campaigns: Option<Vec<CampaignId>>,
    /// Events that it hears of besides scans, such as "mailpiece.delivered"; absent, it stays as it is.
    pub events: Option<Vec<MailpieceEventSpec>>,
    #[serde(default)]
    pub status: StatusSpec,
    #[serde(default)]
    pub signed: bool,
}

/// The name of an event of mailpieces.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct MailpieceEventSpec(pub MailpieceEventState);

impl TryFrom<String> for MailpieceEventSpec {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let state = MailpieceEventState::from_event_name(&name);
        state.map(Self).ok_or_else(|| {
            let known = MailpieceEventState::ALL.map(MailpieceEventState::event_name);
            format!("an event is one of {}", known.join(", "))
        })
    }
}

/// Money for the prepaid balance. A reference counts once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopUpSpec {
    pub amount: Money,
    pub reference: DisplayName,
}

fn new_york() -> Tz {
    Tz::America__New_York
}

fn active() -> IntegrationAvailability {
    IntegrationAvailability::Active
}

fn standard() -> Postage {
    Postage::Standard
}
