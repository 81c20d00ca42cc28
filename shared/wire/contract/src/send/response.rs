//! The answer to a send: one outcome for each recipient, in the order sent.

use std::borrow::Cow;

use chrono::NaiveDate;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::verification::AddressVerification;
use model::limits::RESPONSE_BYTES;

/// Why a recipient was not mailed.
// Contract: Reasons a recipient was not mailed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Reason")]
pub enum NotMailedReason {
    /// The address could not be verified, or a required part is missing.
    InvalidAddress,
    /// The sender removed the recipient from the campaign.
    RemovedBySender,
    /// The address is on the campaign's do-not-mail list.
    DoNotMail,
    /// The address was already mailed for this campaign within the window.
    DuplicateRecent,
    /// Outside the area drawn on the campaign map.
    FilteredLocation,
    /// Waiting on the campaign's filter conditions; the one reason that is not final.
    FilteredConditions,
    /// The font cannot print some characters of a text box.
    UnsupportedCharacters,
    /// A text does not fit its box.
    TextOverflow,
    /// No usable variable image, and the request asked for one.
    VariableImageMissing,
    /// The campaign's budget is spent.
    BudgetExceeded,
    /// The payment was declined; nothing of the request was mailed.
    PaymentFailed,
    /// No homes inside the radius (Neighborhood Mail).
    NoHomesFound,
    /// The request's capacity is reached; send again in another request.
    RequestCapacityReached,
}

impl NotMailedReason {
    /// Every reason, in the order in which outcomes are decided.
    pub const ALL: [Self; 13] = [
        Self::InvalidAddress,
        Self::RemovedBySender,
        Self::DoNotMail,
        Self::DuplicateRecent,
        Self::FilteredLocation,
        Self::FilteredConditions,
        Self::UnsupportedCharacters,
        Self::TextOverflow,
        Self::VariableImageMissing,
        Self::BudgetExceeded,
        Self::PaymentFailed,
        Self::NoHomesFound,
        Self::RequestCapacityReached,
    ];

    /// The code on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidAddress => "invalid_address",
            Self::RemovedBySender => "removed_by_sender",
            Self::DoNotMail => "do_not_mail",
            Self::DuplicateRecent => "duplicate_recent",
            Self::FilteredLocation => "filtered_location",
            Self::FilteredConditions => "filtered_conditions",
            Self::UnsupportedCharacters => "unsupported_characters",
            Self::TextOverflow => "text_overflow",
            Self::VariableImageMissing => "variable_image_missing",
            Self::BudgetExceeded => "budget_exceeded",
            Self::PaymentFailed => "payment_failed",
            Self::NoHomesFound => "no_homes_found",
            Self::RequestCapacityReached => "request_capacity_reached",
        }
    }
}

/// The postage of a campaign step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Postage {
    /// USPS Marketing Mail.
    Standard,
    /// USPS First-Class Mail.
    FirstClass,
}

impl Postage {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::FirstClass => "first_class",
        }
    }

    /// The postage with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Standard, Self::FirstClass]
            .into_iter()
            .find(|postage| postage.as_str() == name)
    }
}

/// Whether a card was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Status")]
enum MailingStatus {
    /// The card is queued and paid.
    Mailed,
    /// No card; `reason` says why.
    NotMailed,
    /// In a dry run only.
    WouldMail,
}

/// A fallback that a card mails with, a value that was cut or could not be read, or an address that was corrected.
// Contract: Warning codes; the last three are added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Warning")]
pub struct RecipientWarning {
    /// What fell back.
    #[schemars(extend("enum" = [
        "variable_image_fallback",
        "variable_image_blank",
        "qr_fallback_link",
        "text_overlap",
        "text_unmeasurable",
        "text_curve_too_long",
        "value_cut",
        "address_corrected",
        "birthday_not_read",
    ]))]
    pub code: String,
    /// The design's field or element it is about.
    pub field: String,
    /// A sentence for a person.
    pub detail: String,
}

/// Why the design's fallback return address prints.
// Contract: return_address_reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReturnAddressReason {
    /// A field that the return address uses is empty.
    MissingTokenValue,
    /// The return address could not be verified.
    UnverifiedAddress,
    /// The request, or the team's day, has no verification of return addresses left.
    VerificationLimitReached,
}

/// What became of one recipient.
//
// Made by `Outcome::mailed` and `Outcome::not_mailed`, so that the fields that belong to one status never show with the
// other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Result")]
pub struct RecipientOutcome {
    /// The caller's own id, when it was sent.
    reference: Option<String>,
    /// One line: verified when that is possible, else as sent.
    address: String,
    /// Whether a card was queued.
    status: MailingStatus,
    /// Why not, when it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    reason: Option<NotMailedReason>,
    /// A sentence for people; programs branch on `status` and `reason`.
    detail: String,
    /// Neighborhood Mail: homes inside the radius.
    #[serde(
        rename = "homesFound",
        skip_serializing_if = "Option::is_none",
        default
    )]
    homes_found: Option<usize>,
    /// Neighborhood Mail: homes that are mailed.
    #[serde(
        rename = "homesMailed",
        skip_serializing_if = "Option::is_none",
        default
    )]
    homes_mailed: Option<usize>,
    /// The first step's product.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    product_type: Option<String>,
    /// How the card mails.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    postage: Option<Postage>,
    /// The day by which it mails.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    mail_by_date: Option<NaiveDate>,
    /// Fallbacks that the card prints.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    warnings: Vec<RecipientWarning>,
    /// Present, and true, when the design's fallback return address prints.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(extend("const" = true))]
    return_address_fallback: Option<bool>,
    /// Why it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    return_address_reason: Option<ReturnAddressReason>,
    /// How far the address was verified; absent when it could not be. An addition to the contract.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    verification: Option<AddressVerification>,
}

impl RecipientOutcome {
    /// A card was queued. `product_type` is the first step's product.
    pub fn mailed(
        reference: Option<String>,
        address: String,
        product_type: &str,
        postage: Postage,
        mail_by_date: NaiveDate,
    ) -> Self {
        Self {
            reference,
            address,
            status: MailingStatus::Mailed,
            reason: None,
            detail: format!("The card is queued to print and mails by {mail_by_date}."),
            homes_found: None,
            homes_mailed: None,
            product_type: Some(product_type.to_owned()),
            postage: Some(postage),
            mail_by_date: Some(mail_by_date),
            warnings: Vec::new(),
            return_address_fallback: None,
            return_address_reason: None,
            verification: None,
        }
    }

    /// No card; `detail` is a sentence for a person.
    pub fn not_mailed(
        reference: Option<String>,
        address: String,
        reason: NotMailedReason,
        detail: String,
    ) -> Self {
        Self {
            reference,
            address,
            status: MailingStatus::NotMailed,
            reason: Some(reason),
            detail,
            homes_found: None,
            homes_mailed: None,
            product_type: None,
            postage: None,
            mail_by_date: None,
            warnings: Vec::new(),
            return_address_fallback: None,
            return_address_reason: None,
            verification: None,
        }
    }

    /// The same mailed recipient with the fallbacks that its card prints.
    #[must_use]
    pub fn with_fallbacks(
        mut self,
        warnings: Vec<RecipientWarning>,
        return_address_reason: Option<ReturnAddressReason>,
    ) -> Self {
        self.warnings = warnings;
        self.return_address_fallback = return_address_reason.map(|_| true);
        self.return_address_reason = return_address_reason;
        self
    }

    /// The same recipient with how far its address was verified.
    #[must_use]
    pub fn with_verification(mut self, verification: Option<AddressVerification>) -> Self {
        self.verification = verification;
        self
    }

    /// The same recipient as the center of a neighborhood: with the homes inside the radius and those mailed, and
    /// without what only belongs to other campaigns.
    #[must_use]
    pub fn with_homes(mut self, found: usize, mailed: usize) -> Self {
        self.homes_found = Some(found);
        self.homes_mailed = Some(mailed);
        self.product_type = None;
        self.warnings = Vec::new();
        if let (MailingStatus::Mailed, Some(mail_by_date)) = (self.status, self.mail_by_date) {
            let cards = if mailed == 1 {
                "1 card is".to_owned()
            } else {
                format!("{mailed} cards are")
            };
            self.detail = format!(
                "{cards} queued to print for {found} homes inside the radius, to mail by {mail_by_date}."
            );
        }
        self
    }

    /// The same recipient after the request's payment was declined.
    #[must_use]
    pub fn into_declined(self) -> Self {
        let declined = Self::not_mailed(
            self.reference,
            self.address,
            NotMailedReason::PaymentFailed,
            "The payment was declined, so no card of this request was mailed.".to_owned(),
        )
        .with_verification(self.verification);
        match self.homes_found {
            Some(found) => declined.with_homes(found, 0),
            None => declined,
        }
    }

    /// The same recipient in the answer to a dry run.
    #[must_use]
    pub(super) fn into_dry_run(mut self) -> Self {
        if let (MailingStatus::Mailed, Some(mail_by_date)) = (self.status, self.mail_by_date) {
            self.status = MailingStatus::WouldMail;
            self.detail = match (self.homes_found, self.homes_mailed) {
                (Some(found), Some(mailed)) => {
                    let cards = if mailed == 1 {
                        "1 card".to_owned()
                    } else {
                        format!("{mailed} cards")
                    };
                    format!(
                        "{cards} would print for {found} homes inside the radius, to mail by {mail_by_date}."
                    )
                }
                _ => format!("A card would print, to mail by {mail_by_date}."),
            };
        }
        if self.reason == Some(NotMailedReason::PaymentFailed) {
            self.detail = "The payment would be declined, so no card would be mailed.".to_owned();
        }
        self
    }

    /// Whether a card was queued.
    pub fn is_mailed(&self) -> bool {
        self.status == MailingStatus::Mailed
    }

    /// Why not, when it was not.
    pub fn reason(&self) -> Option<NotMailedReason> {
        self.reason
    }

    /// Whether it stays in a truncated response: not mailed, or mailed with a fallback.
    fn needs_attention(&self) -> bool {
        self.status == MailingStatus::NotMailed
            || !self.warnings.is_empty()
            || self.return_address_fallback.is_some()
    }
}

/// The `summary` of a response; it counts every recipient, also in a truncated one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Summary")]
pub struct SendSummary {
    /// Recipients in the request.
    pub received: usize,
    /// Of these, mailed.
    pub mailed: usize,
    /// Of these, not mailed.
    pub not_mailed: usize,
    /// Custom values that did not fit their column's type; stored as sent.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub unparseable_typed_values: usize,
    /// Values sent for formula or AI columns.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub computed_fields_ignored: usize,
    /// Fields, and entries of `field_types`, that were left out because their name is longer than 200 characters.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub long_names_ignored: usize,
    /// Birthdays that could not be read whole; stored as sent.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub birthdays_not_read: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A whole answer before it is bounded to the size that a response may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendResponse {
    /// The counts.
    pub summary: SendSummary,
    /// One outcome for each recipient, in the order sent.
    pub results: Vec<RecipientOutcome>,
}

impl JsonSchema for SendResponse {
    fn schema_name() -> Cow<'static, str> {
        SendResponseBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SendResponseBody::json_schema(generator)
    }
}

impl SendResponse {
    /// The answer for these outcomes. The two counts go into the summary as they are.
    pub fn new(
        results: Vec<RecipientOutcome>,
        unparseable_typed_values: usize,
        computed_fields_ignored: usize,
    ) -> Self {
        let mut response = Self {
            summary: SendSummary {
                unparseable_typed_values,
                computed_fields_ignored,
                ..SendSummary::default()
            },
            results,
        };
        response.update_summary();
        response
    }

    /// The same answer with these additions to its summary: fields whose names are too long, and birthdays that could not
    /// be read whole.
    #[must_use]
    pub fn with_ignored_counts(mut self, long_names: usize, birthdays: usize) -> Self {
        self.summary.long_names_ignored = long_names;
        self.summary.birthdays_not_read = birthdays;
        self
    }

    /// The answer after the request's payment was declined: every mailed recipient becomes `payment_failed`,
    /// and so do `copies` (positions of recipients that were `duplicate_recent` only because an earlier one
    /// in the same request was mailed).
    #[must_use]
    pub fn into_declined(mut self, copies: &[usize]) -> Self {
        self.results = self
            .results
            .into_iter()
            .enumerate()
            .map(|(index, outcome)| {
                if outcome.is_mailed() || copies.contains(&index) {
                    outcome.into_declined()
                } else {
                    outcome
                }
            })
            .collect();
        self.update_summary();
        self
    }

    fn update_summary(&mut self) {
        self.summary.received = self.results.len();
        self.summary.mailed = self
            .results
            .iter()
            .filter(|outcome| outcome.is_mailed())
            .count();
        self.summary.not_mailed = self.summary.received - self.summary.mailed;
    }
}

/// What became of a request that was carried out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SendResponse")]
struct SendResponseBody<'a> {
    /// Counts every recipient, whatever `results` lists.
    summary: SendSummary,
    /// One result for each recipient, in the order sent.
    results: &'a [&'a RecipientOutcome],
    /// Present, and true, when all results would exceed 4 MB (4194304 bytes): then `results` lists only recipients
    /// that were not mailed or were mailed with a fallback, as many as fit, in the order sent.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    results_truncated: bool,
}

/// The response's bytes, at most [`RESPONSE_BYTES`]. A full one when it fits; else `results_truncated`, with
/// the recipients that need attention, as many as fit, in the order sent.
///
/// # Errors
/// Only what serde_json gives for a value that cannot be written, which these types do not hold.
pub fn write_response(response: &SendResponse) -> Result<Vec<u8>, serde_json::Error> {
    let summary = response.summary;
    write_bounded(&response.results, |results, results_truncated| {
        serde_json::to_vec(&SendResponseBody {
            summary,
            results,
            results_truncated,
        })
    })
}

/// Writes all of these outcomes, or when that is too long those that need attention and fit. `write` is given the
/// outcomes and whether some are left out.
pub(super) fn write_bounded(
    outcomes: &[RecipientOutcome],
    write: impl Fn(&[&RecipientOutcome], bool) -> serde_json::Result<Vec<u8>>,
) -> serde_json::Result<Vec<u8>> {
    let all: Vec<&RecipientOutcome> = outcomes.iter().collect();
    let full = write(&all, false)?;
    if full.len() <= RESPONSE_BYTES {
        return Ok(full);
    }
    let mut size = write(&[], true)?.len();
    let mut listed = Vec::new();
    for outcome in all.into_iter().filter(|outcome| outcome.needs_attention()) {
        // One more for the comma before it.
        size += serde_json::to_vec(outcome)?.len() + usize::from(!listed.is_empty());
        if size > RESPONSE_BYTES {
            break;
        }
        listed.push(outcome);
    }
    write(&listed, true)
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
