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
    KeyRevoked "key-revoked" "Key revoked. It no longer grants access.";
    DesignSaved "design-saved" "Design saved. Campaigns use it from their next send.";
    DesignRestored "design-restored" "Earlier version restored, as a new version.";
    ColumnSaved "column-saved" "Column saved.";
    ColumnLocked "column-locked" "Column locked. It keeps its type, whatever integrations declare.";
    ColumnUnlocked "column-unlocked" "Column unlocked. An integration can change its type, unless campaigns or formulas use it.";
    IntegrationPaused "integration-paused" "Integration paused. Its requests are refused until you resume it.";
    IntegrationResumed "integration-resumed" "Integration resumed. It accepts requests again.";
    IntegrationDisconnected "integration-disconnected" "Integration disconnected. Its requests are refused; its contacts stay in your address book.";
    IntegrationRemoved "integration-removed" "Integration removed. Its keys no longer work, and its contacts have left your address book.";
    GuardSet "guard-set" "Removal guard set. A full sync that would remove more than that asks first.";
    GuardCleared "guard-cleared" "Removal guard turned off. A full sync removes every contact that it did not receive.";
    RemovalUndone "removal-undone" "Removal undone. The contacts are active again.";
    FieldsMapped "fields-mapped" "Mapping saved. It also applies to contacts received earlier.";
    FieldsReleased "fields-released" "The client's next declaration sets the mapping. Until then it stays as it is.";
    EndpointAdded "endpoint-added" "Endpoint added. It receives scans from now on. Send it a test event to see whether it answers.";
    EndpointChanged "endpoint-changed" "Endpoint updated. Its campaigns have changed.";
    EndpointEventsChanged "endpoint-events-changed" "Endpoint updated. It receives these events from now on.";
    EndpointPaused "endpoint-paused" "Endpoint paused. Scans are not queued for it, and waiting deliveries are cancelled.";
    EndpointResumed "endpoint-resumed" "Endpoint resumed. It receives scans from now on.";
    EndpointDeleted "endpoint-deleted" "Endpoint deleted. Its waiting deliveries are cancelled.";
    EventSent "event-sent" "The event is on its way. Reload the page to see the result.";
    FailedReplayed "failed-replayed" "All deliveries that have failed since then are being sent again.";
    SigningStopped "signing-stopped" "Deliveries are no longer signed.";
    TopUpAsked "top-up-asked" "Top-up requested. Put its reference on your payment.";
    TopUpWithdrawn "top-up-withdrawn" "Top-up withdrawn.";
    RoleChanged "role-changed" "Role changed. The member has to sign in again.";
    KeysHonoured "keys-honoured" "Idempotency-Key is honoured on sends from now on.";
    KeysIgnored "keys-ignored" "Idempotency-Key is ignored on sends from now on.";
    PeopleShown "people-shown" "Formulas only keys see people as they are from now on.";
    PeopleMasked "people-masked" "Formulas only keys see people masked from now on.";
    NothingChanged "nothing-changed" "Nothing changed: it was set that way already.";
    PersonRemoved "person-removed" "Member removed from the team and signed out.";
    PasswordChanged "password-changed" "Password changed. You are signed out everywhere else.";
    CampaignActivated "campaign-activated" "Campaign activated. It accepts requests, and its due steps are mailed.";
    CampaignHeld "campaign-held" "Mailpieces held. Those in the queue, and those that are made, do not print until you release them.";
    CampaignReleased "campaign-released" "Mailpieces released. They print when their time has come.";
    CampaignPaused "campaign-paused" "Campaign paused. Its requests are refused, and its due steps wait.";
    CampaignSaved "campaign-saved" "Saved. It applies from the next request.";
    CampaignLaunched "campaign-launched" "Campaign launched. It accepts requests from now on.";
    CampaignArchived "campaign-archived" "Campaign archived. Its requests are refused, and nothing of it is deleted.";
    CampaignRestored "campaign-restored" "Campaign restored. Activate it when it is to mail again.";
    CampaignDuplicated "campaign-duplicated" "Campaign duplicated. This is the copy, a draft with the same settings; recipients and do-not-mail list are not copied.";
    AreaChanged "area-changed" "Map area saved. It applies from the next request.";
    AreaRemoved "area-removed" "Map area removed. Addresses everywhere are mailed.";
    ConditionsSaved "conditions-saved" "Conditions saved. They apply from the next request.";
    AddressListed "address-listed" "Address added to the list. It is no longer mailed; the campaign's settings say whether queued mailpieces still go out.";
    AddressUnlisted "address-unlisted" "Address taken off the list.";
    RecipientRemoved "recipient-removed" "Recipient removed. Nobody at the address is mailed for this campaign again; its settings say whether queued mailpieces still go out.";
    RemovalUndoneBefore "removal-undone-before" "There is no removal to undo: it was undone already, or is too long ago.";
    TopUpWithdrawnBefore "top-up-withdrawn-before" "The top-up was withdrawn already.";
    TopUpBookedBefore "top-up-booked-before" "The top-up is already booked, so it cannot be withdrawn.";
    AddressListedBefore "address-listed-before" "The address is already on the list.";
    AddressUnlistedBefore "address-unlisted-before" "The address is already off the list.";
    RecipientRemovedBefore "recipient-removed-before" "The recipient was already removed.";
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
