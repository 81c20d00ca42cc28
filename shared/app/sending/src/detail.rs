//! Why a recipient was not mailed, as a sentence for a person. Clients never branch on it.

use address::{AddressCorrection, AddressVerdict, ConfirmationLevel};
use audience::BuiltInColumn;
use audience::column::MAX_VALUE_CHARS;
use contract::send::{
    AddressVerification, CorrectedPart, NotMailedReason, RecipientWarning, VerificationLevel,
};
use model::limits::HOMES_PER_REQUEST;
use store::NeighborhoodSettings;

use crate::assess::AssessedRecipient;
use crate::cards::MailpieceDraft;
use crate::prepare::UnreadBirthday;
use crate::reserve::SendPlan;

/// A sentence for a person.
pub(crate) fn explain_reason(
    plan: &SendPlan<'_>,
    (assessed, card): (&AssessedRecipient<'_>, &MailpieceDraft),
    reason: NotMailedReason,
) -> String {
    if let Some(refusal) = card
        .refusal
        .as_ref()
        .filter(|refusal| refusal.reason == reason)
    {
        return refusal.detail.clone();
    }
    if let Some(neighborhood) = plan.campaign.neighborhood
        && let Some(detail) = explain_homes_reason(neighborhood, assessed, reason)
    {
        return detail;
    }
    match (reason, assessed.verdict) {
        (NotMailedReason::InvalidAddress, AddressVerdict::Undeliverable(failure)) => {
            failure.to_sentence()
        }
        (NotMailedReason::RemovedBySender, _) => {
            "The recipient was removed from the campaign.".to_owned()
        }
        (NotMailedReason::DoNotMail, _) => explain_listing(plan, assessed),
        (NotMailedReason::DuplicateRecent, _) => {
            let days = (plan.times.now - plan.times.mailed_since).num_days();
            format!("The address was mailed for this campaign within the last {days} days.")
        }
        (NotMailedReason::FilteredLocation, _) => {
            "The address is outside the area drawn on the campaign's map.".to_owned()
        }
        (NotMailedReason::FilteredConditions, _) => {
            "The recipient is kept and waits until it matches the campaign's filter \
             conditions, which are checked again every day."
                .to_owned()
        }
        (NotMailedReason::BudgetExceeded, _) => "The campaign's budget is spent.".to_owned(),
        (other, _) => other.as_str().replace('_', " "),
    }
}

/// Why an address is not mailed: it is listed, or a mailpiece came back from there.
fn explain_listing(plan: &SendPlan<'_>, assessed: &AssessedRecipient<'_>) -> String {
    let ids = [assessed.address_id, assessed.written_id];
    let listings = plan.listings;
    let is_listed = ids.iter().any(|id| listings.do_not_mail.contains(id));
    match ids.iter().find_map(|id| listings.returned.get(id)) {
        Some(returned_at) if !is_listed => format!(
            "A mailpiece to this address came back on {}.",
            returned_at.date_naive()
        ),
        _ => "The address is on the campaign's do-not-mail list.".to_owned(),
    }
}

/// A sentence about the homes around a center, for the reasons that are about homes.
fn explain_homes_reason(
    neighborhood: NeighborhoodSettings,
    assessed: &AssessedRecipient<'_>,
    reason: NotMailedReason,
) -> Option<String> {
    let radius = neighborhood.radius_metres;
    Some(match reason {
        NotMailedReason::NoHomesFound if assessed.coordinates().is_none() => {
            "The address could not be located, so no homes around it are known.".to_owned()
        }
        NotMailedReason::NoHomesFound => {
            format!("No homes are known within {radius} metres of the address.")
        }
        NotMailedReason::RequestCapacityReached => format!(
            "With the homes around this address the request would pass {HOMES_PER_REQUEST} homes. Send it again in another request."
        ),
        NotMailedReason::DoNotMail => {
            "The homes around the address are on the campaign's do-not-mail list.".to_owned()
        }
        NotMailedReason::DuplicateRecent => {
            "The homes around the address were mailed for this campaign lately.".to_owned()
        }
        NotMailedReason::FilteredLocation => {
            "The homes around the address are outside the area drawn on the campaign's map."
                .to_owned()
        }
        NotMailedReason::UnsupportedCharacters
        | NotMailedReason::TextOverflow
        | NotMailedReason::VariableImageMissing => {
            "The design cannot print the cards of the homes around the address.".to_owned()
        }
        _ => return None,
    })
}

/// The warning that a value is longer than what is kept of it, added to those of the API contract.
const VALUE_CUT: &str = "value_cut";

/// The warning that the address was changed to one that can be mailed, added too.
const ADDRESS_CORRECTED: &str = "address_corrected";

/// The warning that a birthday fills no birthday columns, or not all of them, added too.
const BIRTHDAY_NOT_READ: &str = "birthday_not_read";

/// What the card prints in the place of something else, what was corrected, and values that were cut.
pub(crate) fn collect_warnings(
    assessed: &AssessedRecipient<'_>,
    card: &MailpieceDraft,
) -> Vec<RecipientWarning> {
    let corrected = |AddressCorrection { field, from, to }: &AddressCorrection| RecipientWarning {
        code: ADDRESS_CORRECTED.to_owned(),
        field: field.as_str().to_owned(),
        detail: format!("{from:?} was corrected to {to:?}."),
    };
    let corrections = match assessed.verdict {
        AddressVerdict::Deliverable(verified) => verified.corrections.as_slice(),
        AddressVerdict::Undeliverable(_) => &[],
    };
    let cut = |field: &&str| RecipientWarning {
        code: VALUE_CUT.to_owned(),
        field: (*field).to_owned(),
        detail: format!(
            "The value of {field:?} is longer than {MAX_VALUE_CHARS} characters; what is beyond them is not kept."
        ),
    };
    let birthday = assessed
        .prepared
        .unread_birthday()
        .map(|unread| RecipientWarning {
            code: BIRTHDAY_NOT_READ.to_owned(),
            field: BuiltInColumn::Birthday.key().to_owned(),
            detail: explain_birthday(unread, assessed.prepared.value(BuiltInColumn::Birthday)),
        });
    let of_values = corrections
        .iter()
        .map(corrected)
        .chain(assessed.prepared.cut.iter().map(cut));
    card.warnings
        .iter()
        .cloned()
        .chain(of_values)
        .chain(birthday)
        .collect()
}

/// How far an address was verified; `None` when it could not be.
pub(crate) fn describe_verification(verdict: &AddressVerdict) -> Option<AddressVerification> {
    let AddressVerdict::Deliverable(verified) = verdict else {
        return None;
    };
    let level = match verified.level {
        ConfirmationLevel::DeliveryPoint => VerificationLevel::DeliveryPoint,
        ConfirmationLevel::Street => VerificationLevel::Street,
        ConfirmationLevel::Zip => VerificationLevel::Zip,
        ConfirmationLevel::Override => VerificationLevel::Override,
    };
    let corrected = |AddressCorrection { field, from, to }: &AddressCorrection| CorrectedPart {
        field: field.as_str().to_owned(),
        from: from.clone(),
        to: to.clone(),
    };
    Some(AddressVerification {
        level,
        plus4: verified.plus4.clone(),
        corrected: verified.corrections.iter().map(corrected).collect(),
    })
}

fn explain_birthday(unread: UnreadBirthday, sent: &str) -> String {
    match unread {
        UnreadBirthday::Whole => {
            format!(
                "The birthday {sent:?} cannot be read: send it as 7/4 or 1990-07-04. It is stored as sent."
            )
        }
        UnreadBirthday::Year => format!(
            "The birthday {sent:?} is read without its year, which may be of this century or of the last: send it with four digits."
        ),
    }
}
