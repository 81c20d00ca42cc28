//! What is known of each recipient before the campaign is locked. Pure.

use std::collections::{BTreeMap, HashMap};

use address::{AddressVerdict, VerifiedAddress};
use audience::{BuiltInColumn, ValueLookup};
use chrono::NaiveDate;
use columns::RecipientProfile;
use contract::send::NotMailedReason;
use store::{BookEntryRow, BookEntryValues, MailpieceRow, RecipientListings, RecipientRow};
use uuid::Uuid;

use crate::cards::{DesignValues, MailpieceDraft, MailpieceRules};
use crate::decide::{MailingCandidate, MailingDecision};
use crate::fields::RequestColumns;
use crate::links::QrLinks;
use crate::prepare::{PreparedRecipient, PreparedRequest, entry_id, unverified_address_id};
use crate::rules::AudienceRules;

/// A recipient with its verdict and its ids.
#[derive(Debug)]
pub(crate) struct AssessedRecipient<'a> {
    pub(crate) prepared: &'a PreparedRecipient<'a>,
    pub(crate) verdict: &'a AddressVerdict,
    pub(crate) address_id: Uuid,
    /// The address before verification corrected it.
    pub(crate) written_id: Uuid,
    pub(crate) entry_id: Uuid,
}

impl AssessedRecipient<'_> {
    /// Degrees north and east of the address itself, when it has been located.
    pub(crate) fn coordinates(&self) -> Option<(f64, f64)> {
        match self.verdict {
            AddressVerdict::Deliverable(verified) => verified.latitude.zip(verified.longitude),
            AddressVerdict::Undeliverable(_) => None,
        }
    }
}

/// Gives each recipient its ids.
pub(crate) fn assign_ids<'a>(
    recipients: &'a [PreparedRecipient<'a>],
    verdicts: &'a [AddressVerdict],
) -> Vec<AssessedRecipient<'a>> {
    recipients
        .iter()
        .zip(verdicts)
        .map(|(prepared, verdict)| {
            let (address_id, written_id) = match verdict {
                AddressVerdict::Deliverable(verified) => {
                    (verified.id.as_uuid(), verified.written_id.as_uuid())
                }
                AddressVerdict::Undeliverable(_) => {
                    let id = unverified_address_id(prepared.address());
                    (id, id)
                }
            };
            let (first, last) = (
                prepared.value(BuiltInColumn::FirstName),
                prepared.value(BuiltInColumn::LastName),
            );
            AssessedRecipient {
                prepared,
                verdict,
                address_id,
                written_id,
                entry_id: entry_id(address_id, first, last),
            }
        })
        .collect()
}

/// What candidates are judged by.
pub(crate) struct AssessmentContext<'a> {
    pub(crate) rules: &'a AudienceRules,
    pub(crate) facts: &'a RecipientListings,
    pub(crate) stored: &'a HashMap<Uuid, BookEntryValues>,
    pub(crate) fields: &'a RequestColumns,
    /// The team's day.
    pub(crate) today: NaiveDate,
    /// Neighborhood Mail: lists and the area are about homes, not about these.
    pub(crate) are_centers: bool,
}

impl AssessmentContext<'_> {
    /// The reasons that are known without looking at other recipients.
    pub(crate) fn assess_candidate(&self, assessed: &AssessedRecipient<'_>) -> MailingCandidate {
        let AssessedRecipient {
            address_id,
            written_id,
            ..
        } = *assessed;
        let open = MailingCandidate {
            address_id,
            written_id,
            before_duplicates: None,
            after_duplicates: None,
        };
        let refused = |reason| MailingCandidate {
            before_duplicates: Some(reason),
            ..open
        };
        let AddressVerdict::Deliverable(verified) = assessed.verdict else {
            return refused(NotMailedReason::InvalidAddress);
        };
        let listed = open.with_list_refusal(self.facts).before_duplicates;
        if let Some(reason) =
            listed.filter(|reason| !self.are_centers || *reason == NotMailedReason::RemovedBySender)
        {
            return refused(reason);
        }
        let values = self.sent_over_stored(assessed);
        let profile = recipient_profile(assessed, verified, &values);
        let is_waiting = self.facts.waiting.contains(&address_id);
        let after_duplicates = if self.are_centers {
            self.rules
                .find_waiting_reason(&profile, is_waiting, self.today)
        } else {
            self.rules.find_refusal(&profile, is_waiting, self.today)
        };
        MailingCandidate {
            after_duplicates,
            ..open
        }
    }

    /// Where the QR codes of the recipient's card lead; nowhere when it can get none.
    pub(crate) fn qr_destinations(
        &self,
        assessed: &AssessedRecipient<'_>,
        links: &QrLinks,
    ) -> String {
        match assessed.verdict {
            AddressVerdict::Deliverable(verified) => {
                let values = self.sent_over_stored(assessed);
                let profile = recipient_profile(assessed, verified, &values);
                links.resolve_destinations(&self.rules.with_formulas(&profile, self.today))
            }
            AddressVerdict::Undeliverable(_) => String::new(),
        }
    }

    /// What the recipient's card needs to know of it; nothing when it can get none.
    pub(crate) fn mailpiece_values(
        &self,
        assessed: &AssessedRecipient<'_>,
        cards: &MailpieceRules,
    ) -> DesignValues {
        match assessed.verdict {
            AddressVerdict::Deliverable(verified) => {
                let values = self.sent_over_stored(assessed);
                let profile = recipient_profile(assessed, verified, &values);
                cards.design_values(&self.rules.with_formulas(&profile, self.today))
            }
            AddressVerdict::Undeliverable(_) => DesignValues::new(),
        }
    }

    fn sent_over_stored<'a>(&'a self, assessed: &AssessedRecipient<'a>) -> SentOverStored<'a> {
        let stored = self.stored.get(&assessed.entry_id);
        SentOverStored {
            sent: assessed.prepared,
            fields: self.fields,
            stored,
        }
    }
}

fn recipient_profile<'a>(
    assessed: &'a AssessedRecipient<'a>,
    verified: &'a VerifiedAddress,
    values: &'a SentOverStored<'a>,
) -> RecipientProfile<'a> {
    RecipientProfile {
        name: (
            assessed.prepared.value(BuiltInColumn::FirstName),
            assessed.prepared.value(BuiltInColumn::LastName),
        ),
        lines: (&verified.line1, &verified.line2),
        city: &verified.city,
        state: &verified.state,
        zip: &verified.zip,
        place: verified.latitude.zip(verified.longitude),
        values,
    }
}

/// The values of a recipient: what was sent, and where nothing was sent what is stored.
struct SentOverStored<'a> {
    sent: &'a PreparedRecipient<'a>,
    fields: &'a RequestColumns,
    stored: Option<&'a BookEntryValues>,
}

impl ValueLookup for SentOverStored<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        let stored = self.stored;
        match BuiltInColumn::from_key(column) {
            Some(built_in) => Some(self.sent.value(built_in))
                .filter(|sent| !sent.is_empty())
                .or_else(|| stored.and_then(|stored| stored.built_in(built_in))),
            None => {
                let sent = self
                    .sent
                    .custom
                    .iter()
                    .rev()
                    .find(|(at, _)| self.fields.columns()[*at].name_key == column);
                sent.map(|(_, value)| *value).or_else(|| {
                    stored
                        .and_then(|stored| stored.custom.get(column))
                        .map(String::as_str)
                })
            }
        }
    }
}

/// The address-book entries that a request leaves, each once, in the order of their ids. Where a request names
/// an entry twice, the later values win.
pub(crate) fn entry_rows<'a>(
    assessed: &'a [AssessedRecipient<'a>],
    preparation: &'a PreparedRequest<'a>,
) -> Vec<BookEntryRow<'a>> {
    let mut groups: BTreeMap<Uuid, Vec<(&AssessedRecipient<'_>, &VerifiedAddress)>> =
        BTreeMap::new();
    for one in assessed {
        if let AddressVerdict::Deliverable(verified) = one.verdict {
            groups
                .entry(one.entry_id)
                .or_default()
                .push((one, verified));
        }
    }
    groups
        .into_values()
        .filter_map(|group| entry_row(&group, &preparation.fields))
        .collect()
}

fn entry_row<'a>(
    group: &[(&'a AssessedRecipient<'a>, &'a VerifiedAddress)],
    fields: &RequestColumns,
) -> Option<BookEntryRow<'a>> {
    let (one, verified) = group.last()?;
    let last_sent = |column| {
        group
            .iter()
            .rev()
            .map(|(one, _)| one.prepared.value(column))
            .find(|value| !value.is_empty())
            .unwrap_or("")
    };
    let birthday = last_sent(BuiltInColumn::Birthday);
    let birth = group
        .iter()
        .rev()
        .find(|(one, _)| one.prepared.value(BuiltInColumn::Birthday) == birthday);
    Some(BookEntryRow {
        entry_id: one.entry_id,
        address_id: one.address_id,
        first_name: one.prepared.value(BuiltInColumn::FirstName),
        last_name: one.prepared.value(BuiltInColumn::LastName),
        address_1: &verified.line1,
        address_2: &verified.line2,
        unit_apart: &verified.unit_apart,
        city: &verified.city,
        state: &verified.state,
        zip: &verified.zip,
        plus4: verified.plus4.as_deref(),
        verification: verified.level.as_str(),
        latitude: verified.latitude,
        longitude: verified.longitude,
        email: last_sent(BuiltInColumn::Email),
        phone: last_sent(BuiltInColumn::Phone),
        organization: last_sent(BuiltInColumn::Organization),
        birthday,
        birth: birth.and_then(|(one, _)| one.prepared.parse_birthday()),
        custom: custom_json(group, fields),
    })
}

fn custom_json(
    group: &[(&AssessedRecipient<'_>, &VerifiedAddress)],
    fields: &RequestColumns,
) -> String {
    let mut object = serde_json::Map::new();
    for (at, value) in group.iter().flat_map(|(one, _)| &one.prepared.custom) {
        object.insert(fields.columns()[*at].name_key.clone(), (*value).into());
    }
    serde_json::Value::Object(object).to_string()
}

/// The recipients' outcomes as the campaign keeps them, each entry once, in the order of their ids: where a
/// request names an entry twice, the mailed one stands.
pub(crate) fn recipient_rows<'a>(
    assessed: &'a [AssessedRecipient<'a>],
    decisions: &[MailingDecision],
    addresses: &'a [String],
) -> Vec<RecipientRow<'a>> {
    let mut rows: BTreeMap<Uuid, RecipientRow<'a>> = BTreeMap::new();
    for ((one, decision), address) in assessed.iter().zip(decisions).zip(addresses) {
        let row = RecipientRow {
            entry_id: one.entry_id,
            address_id: one.address_id,
            first_name: one.prepared.value(BuiltInColumn::FirstName),
            last_name: one.prepared.value(BuiltInColumn::LastName),
            address,
            reference: one.prepared.reference,
            reason: match decision {
                MailingDecision::Mail => None,
                MailingDecision::Copy => Some(NotMailedReason::DuplicateRecent),
                MailingDecision::Refuse(reason) => Some(*reason),
            },
            hangs_on_charge: matches!(decision, MailingDecision::Mail | MailingDecision::Copy),
            verification: verification_text(one.verdict),
        };
        let stands = rows
            .get(&one.entry_id)
            .is_some_and(|before| row.reason.is_some() || before.reason.is_none());
        if !stands {
            rows.insert(one.entry_id, row);
        }
    }
    rows.into_values().collect()
}

/// The cards to make.
pub(crate) fn mailpiece_rows<'a>(
    assessed: &'a [AssessedRecipient<'a>],
    decisions: &[MailingDecision],
    destinations: &'a [String],
    cards: &'a [MailpieceDraft],
) -> Vec<MailpieceRow<'a>> {
    let prints = destinations.iter().zip(cards);
    assessed
        .iter()
        .zip(decisions)
        .zip(prints)
        .filter(|((_, decision), _)| **decision == MailingDecision::Mail)
        .filter_map(|((one, _), prints)| match one.verdict {
            AddressVerdict::Deliverable(verified) => Some(mailpiece_row(one, verified, prints)),
            AddressVerdict::Undeliverable(_) => None,
        })
        .collect()
}

fn mailpiece_row<'a>(
    one: &'a AssessedRecipient<'a>,
    verified: &'a VerifiedAddress,
    (destinations, card): (&'a String, &'a MailpieceDraft),
) -> MailpieceRow<'a> {
    MailpieceRow {
        entry_id: one.entry_id,
        address_id: one.address_id,
        first_name: one.prepared.value(BuiltInColumn::FirstName),
        last_name: one.prepared.value(BuiltInColumn::LastName),
        line_1: &verified.line1,
        line_2: &verified.line2,
        unit_apart: &verified.unit_apart,
        city: &verified.city,
        state: &verified.state,
        zip: &verified.zip,
        plus4: verified.plus4.as_deref(),
        verification: verified.level.as_str(),
        destinations: destinations.clone(),
        corrections: corrections_text(verified),
        center_entry_id: None,
        content: card.content.clone(),
    }
}

/// How far an address was verified, or why it was not, as it is kept.
fn verification_text(verdict: &AddressVerdict) -> String {
    match verdict {
        AddressVerdict::Deliverable(verified) => verified.level.as_str().to_owned(),
        AddressVerdict::Undeliverable(failure) => failure.to_sentence(),
    }
}

/// What verification changed, in words: `city: Austn -> Austin; zip: 2108 -> 02108`.
fn corrections_text(verified: &VerifiedAddress) -> String {
    let words = verified.corrections.iter().map(|correction| {
        format!(
            "{}: {} -> {}",
            correction.field.as_str(),
            correction.from,
            correction.to
        )
    });
    words.collect::<Vec<_>>().join("; ")
}
