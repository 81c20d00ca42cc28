//! Why a recipient was not mailed, as a sentence for a person. Clients never branch on it.

use address::{Correction, Verdict};
use audience::BuiltIn;
use audience::column::MAX_VALUE_CHARS;
use contract::limits::HOMES_PER_REQUEST;
use contract::send::{Reason, Warning};
use store::NeighborhoodSettings;

use crate::assess::Assessed;
use crate::cards::Card;
use crate::prepare::UnreadBirthday;
use crate::reserve::Plan;

/// A sentence for a person.
pub(crate) fn detail(plan: &Plan<'_>, (assessed, card): (&Assessed<'_>, &Card), reason: Reason) -> String {
    if let Some(refusal) = card.refusal.as_ref().filter(|refusal| refusal.reason == reason) {
        return refusal.detail.clone();
    }
    if let Some(neighborhood) = plan.campaign.neighborhood
        && let Some(detail) = homes_detail(neighborhood, assessed, reason)
    {
        return detail;
    }
    match (reason, assessed.verdict) {
        (Reason::InvalidAddress, Verdict::Undeliverable(failure)) => failure.detail(),
        (Reason::RemovedBySender, _) => "The recipient was removed from the campaign.".to_owned(),
        (Reason::DoNotMail, _) => "The address is on the campaign's do-not-mail list.".to_owned(),
        (Reason::DuplicateRecent, _) => {
            let days = (plan.times.now - plan.times.mailed_since).num_days();
            format!("The address was mailed for this campaign within the last {days} days.")
        }
        (Reason::FilteredLocation, _) => {
            "The address is outside the area drawn on the campaign's map.".to_owned()
        }
        (Reason::FilteredConditions, _) => {
            "The recipient is kept and waits until it matches the campaign's filter \
             conditions, which are checked again every day."
                .to_owned()
        }
        (Reason::BudgetExceeded, _) => "The campaign's budget is spent.".to_owned(),
        (other, _) => other.as_str().replace('_', " "),
    }
}

/// A sentence about the homes around a center, for the reasons that are about homes.
fn homes_detail(
    neighborhood: NeighborhoodSettings,
    assessed: &Assessed<'_>,
    reason: Reason,
) -> Option<String> {
    let radius = neighborhood.radius_metres;
    Some(match reason {
        Reason::NoHomesFound if assessed.place().is_none() => {
            "The address could not be located, so no homes around it are known.".to_owned()
        }
        Reason::NoHomesFound => format!("No homes are known within {radius} metres of the address."),
        Reason::RequestCapacityReached => format!(
            "With the homes around this address the request would pass {HOMES_PER_REQUEST} homes. Send it again in another request."
        ),
        Reason::DoNotMail => {
            "The homes around the address are on the campaign's do-not-mail list.".to_owned()
        }
        Reason::DuplicateRecent => {
            "The homes around the address were mailed for this campaign lately.".to_owned()
        }
        Reason::FilteredLocation => {
            "The homes around the address are outside the area drawn on the campaign's map.".to_owned()
        }
        Reason::UnsupportedCharacters | Reason::TextOverflow | Reason::VariableImageMissing => {
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
pub(crate) fn warnings(assessed: &Assessed<'_>, card: &Card) -> Vec<Warning> {
    let corrected = |Correction { field, from, to }: &Correction| Warning {
        code: ADDRESS_CORRECTED.to_owned(),
        field: field.as_str().to_owned(),
        detail: format!("{from:?} was corrected to {to:?}."),
    };
    let corrections = match assessed.verdict {
        Verdict::Deliverable(verified) => verified.corrections.as_slice(),
        Verdict::Undeliverable(_) => &[],
    };
    let cut = |field: &&str| Warning {
        code: VALUE_CUT.to_owned(),
        field: (*field).to_owned(),
        detail: format!(
            "The value of {field:?} is longer than {MAX_VALUE_CHARS} characters; what is beyond them is not kept."
        ),
    };
    let birthday = assessed.prepared.unread_birthday().map(|unread| Warning {
        code: BIRTHDAY_NOT_READ.to_owned(),
        field: BuiltIn::Birthday.key().to_owned(),
        detail: birthday_detail(unread, assessed.prepared.value(BuiltIn::Birthday)),
    });
    let of_values = corrections.iter().map(corrected).chain(assessed.prepared.cut.iter().map(cut));
    card.warnings.iter().cloned().chain(of_values).chain(birthday).collect()
}

fn birthday_detail(unread: UnreadBirthday, sent: &str) -> String {
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
