//! What an action did, said by the page that it leads to: carried there in the address, as one of a fixed list.

use axum::response::{IntoResponse, Redirect, Response};

macro_rules! action_notices {
    ($($notice:ident $name:literal $sentence:literal;)*) => {
        /// What an action did, carried to the next page in its address. Only these can be shown there.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ActionNotice {
            $(#[doc = $sentence] $notice,)*
        }

        impl ActionNotice {
            const ALL: &[Self] = &[$(Self::$notice),*];

            const fn name(self) -> &'static str {
                match self { $(Self::$notice => $name,)* }
            }

            /// What is shown.
            pub(crate) const fn sentence(self) -> &'static str {
                match self { $(Self::$notice => $sentence,)* }
            }
        }
    };
}

action_notices! {
    KeyRevoked "key-revoked" "The key is revoked. From now on it opens nothing.";
    DesignSaved "design-saved" "The design is saved. Campaigns print it from their next send.";
    DesignRestored "design-restored" "The design is as it was, in a new version.";
    ColumnSaved "column-saved" "The column is saved.";
    ColumnLocked "column-locked" "The column is locked: it keeps its type whatever integrations declare.";
    ColumnUnlocked "column-unlocked" "The column is unlocked: it takes the type that an integration declares, unless campaigns or formulas use it.";
    IntegrationPaused "integration-paused" "The integration is paused. Its requests are refused until you resume it.";
    IntegrationResumed "integration-resumed" "The integration takes requests again.";
    IntegrationDisconnected "integration-disconnected" "The integration is disconnected. Its requests are refused; its contacts stay in your address book.";
    IntegrationRemoved "integration-removed" "The integration is removed. Its keys open nothing, and its contacts have left your address book.";
    GuardSet "guard-set" "The removal guard is set. A full sync that would remove more asks first.";
    GuardCleared "guard-cleared" "The removal guard is off. A full sync removes whatever it did not receive.";
    RemovalUndone "removal-undone" "The removal is taken back. Contacts that the sync removed stand again.";
    FieldsMapped "fields-mapped" "The mapping is saved. It holds for contacts that were received before, too.";
    FieldsReleased "fields-released" "The next declaration of the client sets the mapping. Until then it stays as it is.";
    EndpointAdded "endpoint-added" "The endpoint is added and gets scans from now on. Send it a test event to see whether it answers.";
    EndpointChanged "endpoint-changed" "The endpoint's campaigns are changed.";
    EndpointPaused "endpoint-paused" "The endpoint is paused. Scans are not queued for it, and what waited is cancelled.";
    EndpointResumed "endpoint-resumed" "The endpoint is active. It gets scans from now on.";
    EndpointDeleted "endpoint-deleted" "The endpoint is deleted. What waited for it is cancelled.";
    EventSent "event-sent" "The event is on its way. Reload the page to see what came of it.";
    FailedReplayed "failed-replayed" "All failed deliveries since that time are on their way again.";
    SigningStopped "signing-stopped" "Deliveries carry no signature any more.";
    TopUpAsked "top-up-asked" "Your top-up is noted. Put its reference on your payment.";
    TopUpWithdrawn "top-up-withdrawn" "The top-up is withdrawn.";
    RoleChanged "role-changed" "The role is changed. The person signs in again.";
    KeysHonoured "keys-honoured" "Idempotency-Key is honoured on sends from now on.";
    KeysIgnored "keys-ignored" "Idempotency-Key is ignored on sends from now on.";
    PeopleShown "people-shown" "Formulas only keys see people as they are from now on.";
    PeopleMasked "people-masked" "Formulas only keys see people masked from now on.";
    NothingChanged "nothing-changed" "Nothing changed: it was so already.";
    PersonRemoved "person-removed" "The person is removed from the team and signed out.";
    PasswordChanged "password-changed" "Your password is changed. You are signed out everywhere else.";
    CampaignActivated "campaign-activated" "The campaign is active. It takes requests, and its due steps are mailed.";
    CampaignPaused "campaign-paused" "The campaign is paused. Its requests are refused, and its due steps wait.";
    AreaChanged "area-changed" "The map area is changed. It holds from the next request.";
    AreaRemoved "area-removed" "The map area is removed. Addresses everywhere are mailed.";
    ConditionsSaved "conditions-saved" "The conditions are saved. They hold from the next request.";
    AddressListed "address-listed" "The address is on the list. It is not mailed any more.";
    AddressUnlisted "address-unlisted" "The address is off the list.";
    RecipientRemoved "recipient-removed" "The recipient is removed. Nobody at the address is mailed for this campaign again; cards queued already still go.";
    RemovalUndoneBefore "removal-undone-before" "There is no removal to take back: it was taken back already, or is too long ago.";
    TopUpWithdrawnBefore "top-up-withdrawn-before" "The top-up is withdrawn already.";
    TopUpBookedBefore "top-up-booked-before" "The top-up is booked already, so it cannot be withdrawn.";
    AddressListedBefore "address-listed-before" "The address is on the list already.";
    AddressUnlistedBefore "address-unlisted-before" "The address is off the list already.";
    RecipientRemovedBefore "recipient-removed-before" "The recipient is removed already.";
}

/// The notice that the part of an address behind `?` names; one that nobody made shows nothing.
pub(crate) fn notice_in(query: &str) -> Option<ActionNotice> {
    let (_, wanted) =
        url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "notice")?;
    let known = ActionNotice::ALL.iter();
    known.copied().find(|notice| notice.name() == wanted)
}

/// Leads to a page of ours that says what was done. Reloading that page repeats nothing.
pub(crate) fn redirect_with_notice(path: &str, notice: ActionNotice) -> Response {
    Redirect::to(&format!("{path}?notice={}", notice.name())).into_response()
}

/// As [`redirect_with_notice`], with a number that the page says, too.
pub(crate) fn redirect_with_number(
    path: &str,
    notice: ActionNotice,
    (name, number): (&str, u64),
) -> Response {
    Redirect::to(&format!("{path}?notice={}&{name}={number}", notice.name())).into_response()
}
