//! Answers: a page, or the way to the page that shows what came of an action.

use std::borrow::Cow;
use std::error::Error;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use store::MemberRole;

use crate::access::CurrentMember;
use crate::show::TeamTimeZone;

/// What every page of a person who is signed in shows around its content.
pub(crate) struct PageFrame {
    /// The person's name.
    pub(crate) user_name: String,
    /// The team's name.
    pub(crate) team_name: String,
    /// The path of the part of the navigation that the page belongs to.
    pub(crate) part: &'static str,
    /// What has just been done, in a sentence.
    pub(crate) notice: Option<Cow<'static, str>>,
    /// Whether the person manages keys, endpoints, integrations and campaigns.
    pub(crate) is_manager: bool,
    /// Whether the person manages people and money.
    pub(crate) is_owner: bool,
    /// The zone of the team's times.
    pub(crate) zone: TeamTimeZone,
}

impl PageFrame {
    /// The frame of a page in this part of the navigation.
    pub(crate) fn new(person: &CurrentMember, part: &'static str) -> Self {
        Self {
            user_name: person.0.name.clone(),
            team_name: person.0.team_name.clone(),
            part,
            notice: None,
            is_manager: person.is_manager(),
            is_owner: person.0.role == MemberRole::Owner,
            zone: TeamTimeZone::new(person.0.time_zone),
        }
    }

    /// With what has just been done.
    pub(crate) fn with_notice(self, notice: Option<ActionNotice>) -> Self {
        Self {
            notice: notice.map(|notice| notice.sentence().into()),
            ..self
        }
    }

    /// With what has just been done, in a sentence that is no fixed one.
    pub(crate) fn with_sentence(self, sentence: String) -> Self {
        Self {
            notice: Some(sentence.into()),
            ..self
        }
    }

    /// `aria-current` for the part that the page belongs to, in templates.
    pub(crate) fn current(&self, part: &str) -> &'static str {
        if self.part == part {
            "aria-current=\"page\""
        } else {
            ""
        }
    }
}

/// What an action did, carried to the next page in its address. Only these can be shown there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ActionNotice {
    /// A key opens nothing any more.
    KeyRevoked,
    /// A design has another version.
    DesignSaved,
    /// A design is as it was.
    DesignRestored,
    /// There is another column, or one has another formula.
    ColumnSaved,
    /// A column keeps its type.
    ColumnLocked,
    /// A column takes the type that an integration declares.
    ColumnUnlocked,
    /// An integration refuses requests until it is resumed.
    IntegrationPaused,
    /// An integration takes requests again.
    IntegrationResumed,
    /// An integration refuses requests; its owner is done with it.
    IntegrationDisconnected,
    /// An integration is gone.
    IntegrationRemoved,
    /// A large removal asks first.
    GuardSet,
    /// No removal asks first.
    GuardCleared,
    /// Removed contacts stand again.
    RemovalUndone,
    /// Fields fill the columns that the owner chose.
    FieldsMapped,
    /// Fields fill the columns that the client declares.
    FieldsReleased,
    /// An endpoint gets scans from now on.
    EndpointAdded,
    /// An endpoint hears of other campaigns.
    EndpointChanged,
    /// An endpoint gets nothing.
    EndpointPaused,
    /// An endpoint gets scans again.
    EndpointResumed,
    /// An endpoint is gone.
    EndpointDeleted,
    /// An event is on its way to an endpoint.
    EventSent,
    /// Failed deliveries are on their way again.
    FailedReplayed,
    /// Deliveries carry no signature.
    SigningStopped,
    /// A top-up was asked for.
    TopUpAsked,
    /// A top-up is not asked for any more.
    TopUpWithdrawn,
    /// A person has another role.
    RoleChanged,
    /// `Idempotency-Key` is honoured on sends.
    KeysHonoured,
    /// `Idempotency-Key` is ignored on sends.
    KeysIgnored,
    /// Formulas only keys see people as they are.
    PeopleShown,
    /// Formulas only keys see people masked.
    PeopleMasked,
    /// Somebody saved what stood there already.
    NothingChanged,
    /// A person has left the team.
    PersonRemoved,
    /// A person has another password.
    PasswordChanged,
    /// A campaign takes requests.
    CampaignActivated,
    /// A campaign refuses requests.
    CampaignPaused,
    /// A campaign mails within another area.
    AreaChanged,
    /// A campaign mails everywhere.
    AreaRemoved,
    /// A campaign has other conditions.
    ConditionsSaved,
    /// An address is not mailed any more.
    AddressListed,
    /// An address is mailed again.
    AddressUnlisted,
    /// A recipient is not mailed any more.
    RecipientRemoved,
    /// A removal was taken back before.
    RemovalUndoneBefore,
    /// A top-up was withdrawn before.
    TopUpWithdrawnBefore,
    /// A top-up was booked before.
    TopUpBookedBefore,
    /// An address was on the list before.
    AddressListedBefore,
    /// An address was off the list before.
    AddressUnlistedBefore,
    /// A recipient was removed before.
    RecipientRemovedBefore,
}

impl ActionNotice {
    const fn name(self) -> &'static str {
        match self {
            Self::CampaignActivated => "campaign-activated",
            Self::CampaignPaused => "campaign-paused",
            Self::AreaChanged => "area-changed",
            Self::AreaRemoved => "area-removed",
            Self::ConditionsSaved => "conditions-saved",
            Self::AddressListed => "address-listed",
            Self::AddressUnlisted => "address-unlisted",
            Self::RecipientRemoved => "recipient-removed",
            Self::RecipientRemovedBefore => "recipient-removed-before",
            Self::AddressUnlistedBefore => "address-unlisted-before",
            Self::AddressListedBefore => "address-listed-before",
            Self::TopUpBookedBefore => "top-up-booked-before",
            Self::TopUpWithdrawnBefore => "top-up-withdrawn-before",
            Self::RemovalUndoneBefore => "removal-undone-before",
            Self::KeyRevoked => "key-revoked",
            Self::DesignSaved => "design-saved",
            Self::DesignRestored => "design-restored",
            Self::ColumnSaved => "column-saved",
            Self::ColumnLocked => "column-locked",
            Self::ColumnUnlocked => "column-unlocked",
            Self::IntegrationPaused => "integration-paused",
            Self::IntegrationResumed => "integration-resumed",
            Self::IntegrationDisconnected => "integration-disconnected",
            Self::IntegrationRemoved => "integration-removed",
            Self::GuardSet => "guard-set",
            Self::GuardCleared => "guard-cleared",
            Self::RemovalUndone => "removal-undone",
            Self::FieldsMapped => "fields-mapped",
            Self::FieldsReleased => "fields-released",
            Self::EndpointAdded => "endpoint-added",
            Self::EndpointChanged => "endpoint-changed",
            Self::EndpointPaused => "endpoint-paused",
            Self::EndpointResumed => "endpoint-resumed",
            Self::EndpointDeleted => "endpoint-deleted",
            Self::EventSent => "event-sent",
            Self::FailedReplayed => "failed-replayed",
            Self::SigningStopped => "signing-stopped",
            Self::TopUpAsked => "top-up-asked",
            Self::TopUpWithdrawn => "top-up-withdrawn",
            Self::RoleChanged => "role-changed",
            Self::KeysHonoured => "keys-honoured",
            Self::KeysIgnored => "keys-ignored",
            Self::PeopleShown => "people-shown",
            Self::PeopleMasked => "people-masked",
            Self::NothingChanged => "nothing-changed",
            Self::PersonRemoved => "person-removed",
            Self::PasswordChanged => "password-changed",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::CampaignActivated => {
                "The campaign is active. It takes requests, and its due steps are mailed."
            }
            Self::CampaignPaused => {
                "The campaign is paused. Its requests are refused, and its due steps wait."
            }
            Self::AreaChanged => "The map area is changed. It holds from the next request.",
            Self::AreaRemoved => "The map area is removed. Addresses everywhere are mailed.",
            Self::ConditionsSaved => "The conditions are saved. They hold from the next request.",
            Self::AddressListed => "The address is on the list. It is not mailed any more.",
            Self::AddressUnlisted => "The address is off the list.",
            Self::RecipientRemovedBefore => "The recipient is removed already.",
            Self::AddressUnlistedBefore => "The address is off the list already.",
            Self::AddressListedBefore => "The address is on the list already.",
            Self::TopUpBookedBefore => "The top-up is booked already, so it cannot be withdrawn.",
            Self::TopUpWithdrawnBefore => "The top-up is withdrawn already.",
            Self::RemovalUndoneBefore => {
                "There is no removal to take back: it was taken back already, or is too long ago."
            }
            Self::RecipientRemoved => {
                "The recipient is removed. Nobody at the address is mailed for this campaign again; cards queued already still go."
            }
            Self::KeyRevoked => "The key is revoked. From now on it opens nothing.",
            Self::DesignSaved => "The design is saved. Campaigns print it from their next send.",
            Self::DesignRestored => "The design is as it was, in a new version.",
            Self::ColumnSaved => "The column is saved.",
            Self::ColumnLocked => {
                "The column is locked: it keeps its type whatever integrations declare."
            }
            Self::ColumnUnlocked => {
                "The column is unlocked: it takes the type that an integration declares, unless campaigns or formulas use it."
            }
            Self::IntegrationPaused => {
                "The integration is paused. Its requests are refused until you resume it."
            }
            Self::IntegrationResumed => "The integration takes requests again.",
            Self::IntegrationDisconnected => {
                "The integration is disconnected. Its requests are refused; its contacts stay in your address book."
            }
            Self::IntegrationRemoved => {
                "The integration is removed. Its keys open nothing, and its contacts have left your address book."
            }
            Self::GuardSet => {
                "The removal guard is set. A full sync that would remove more asks first."
            }
            Self::GuardCleared => {
                "The removal guard is off. A full sync removes whatever it did not receive."
            }
            Self::RemovalUndone => {
                "The removal is taken back. Contacts that the sync removed stand again."
            }
            Self::FieldsMapped => {
                "The mapping is saved. It holds for contacts that were received before, too."
            }
            Self::FieldsReleased => {
                "The next declaration of the client sets the mapping. Until then it stays as it is."
            }
            Self::EndpointAdded => {
                "The endpoint is added and gets scans from now on. Send it a test event to see whether it answers."
            }
            Self::EndpointChanged => "The endpoint's campaigns are changed.",
            Self::EndpointPaused => {
                "The endpoint is paused. Scans are not queued for it, and what waited is cancelled."
            }
            Self::EndpointResumed => "The endpoint is active. It gets scans from now on.",
            Self::EndpointDeleted => "The endpoint is deleted. What waited for it is cancelled.",
            Self::EventSent => "The event is on its way. Reload the page to see what came of it.",
            Self::FailedReplayed => "All failed deliveries since that time are on their way again.",
            Self::SigningStopped => "Deliveries carry no signature any more.",
            Self::TopUpAsked => "Your top-up is noted. Put its reference on your payment.",
            Self::TopUpWithdrawn => "The top-up is withdrawn.",
            Self::RoleChanged => "The role is changed. The person signs in again.",
            Self::KeysHonoured => "Idempotency-Key is honoured on sends from now on.",
            Self::KeysIgnored => "Idempotency-Key is ignored on sends from now on.",
            Self::PeopleShown => "Formulas only keys see people as they are from now on.",
            Self::PeopleMasked => "Formulas only keys see people masked from now on.",
            Self::NothingChanged => "Nothing changed: it was so already.",
            Self::PersonRemoved => "The person is removed from the team and signed out.",
            Self::PasswordChanged => {
                "Your password is changed. You are signed out everywhere else."
            }
        }
    }
}

/// The part of a page's address that says what was done.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct NoticeQuery {
    /// Absent, or one that nobody made, shows nothing.
    #[serde(default, deserialize_with = "known")]
    pub(crate) notice: Option<ActionNotice>,
}

fn known<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ActionNotice>, D::Error> {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::StrDeserializer;
    let name = String::deserialize(deserializer)?;
    let name: StrDeserializer<'_, serde::de::value::Error> = name.as_str().into_deserializer();
    Ok(ActionNotice::deserialize(name).ok())
}

/// A page.
pub(crate) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "a page cannot be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that says beside a field what is wrong with it, and keeps what was typed.
pub(crate) fn refused(template: &impl Template) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, page(template)).into_response()
}

/// Leads to a page of ours that says what was done. Reloading that page repeats nothing.
pub(crate) fn done(path: &str, notice: ActionNotice) -> Response {
    Redirect::to(&format!("{path}?notice={}", notice.name())).into_response()
}

/// As [`done`], with a number that the page says, too.
pub(crate) fn done_with(path: &str, notice: ActionNotice, (name, number): (&str, u64)) -> Response {
    Redirect::to(&format!("{path}?notice={}&{name}={number}", notice.name())).into_response()
}
