//! Settings of what goes to paper.

use serde::{Deserialize, Deserializer};

/// Printing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintSettings {
    /// What the addresses in QR codes begin with.
    pub public_url: String,
    /// Cards of one file.
    pub cards_per_run: i64,
    /// Days before its mail-by date that a card prints.
    pub lead_days: i32,
    /// Minutes from the charge of a card in which it can be cancelled and does not print; a campaign may have its own.
    pub cancel_minutes: i32,
    /// Milliseconds of silence before another printer goes on with a run.
    pub lease_ms: i64,
    /// The mailer's id for barcodes; empty for cards without.
    pub mailer_id: String,
    /// Further ones: each run takes the one of which the least was used. In the environment: separated by commas.
    #[serde(deserialize_with = "mailer_ids")]
    pub more_mailer_ids: Vec<String>,
    /// The barcode's service type, by postage.
    pub service_types: TextByPostage,
    /// Who pays the postage.
    pub permit: PermitSettings,
}

/// A text by postage.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextByPostage {
    /// USPS Marketing Mail.
    pub standard: String,
    /// First-Class Mail.
    pub first_class: String,
}

/// A permit to mail without stamps.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermitSettings {
    /// Where it was issued; empty for cards that get stamps or a meter's mark.
    pub city: String,
    /// Its number.
    pub number: String,
}

impl PrintSettings {
    /// What types cannot say; the error is a sentence.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let is_link =
            self.public_url.starts_with("https://") || self.public_url.starts_with("http://");
        if !self.public_url.is_empty() && !is_link {
            return Err("print.public_url must begin with https:// or http://");
        }
        if self.public_url.contains(['?', '#']) {
            return Err(
                "print.public_url must not have a query or a fragment: codes are put behind it",
            );
        }
        if !(1..=1_000_000).contains(&self.cards_per_run) || !(0..=365).contains(&self.lead_days) {
            return Err("print.cards_per_run must be 1 to 1000000, print.lead_days 0 to 365");
        }
        if !(0..=10_080).contains(&self.cancel_minutes) {
            return Err("print.cancel_minutes must be 0 to 10080, which is a week");
        }
        let ids = || std::iter::once(&self.mailer_id).chain(&self.more_mailer_ids);
        let is_double = ids()
            .enumerate()
            .any(|(number, id)| ids().take(number).any(|other| other == id));
        if is_double || (self.mailer_id.is_empty() && !self.more_mailer_ids.is_empty()) {
            return Err("print.more_mailer_ids are further ones beside print.mailer_id, each once");
        }
        if self.lease_ms < 1000 {
            return Err("print.lease_ms must be 1000 or more");
        }
        if self.permit.city.is_empty() != self.permit.number.is_empty() {
            return Err("print.permit has both a city and a number, or neither");
        }
        Ok(())
    }
}

fn mailer_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum MailerIdList {
        Many(Vec<String>),
        Number(u64),
        Text(String),
    }
    Ok(match MailerIdList::deserialize(deserializer)? {
        MailerIdList::Many(ids) => ids,
        // A single one in the environment looks like a number, and begins with no zero where it must not.
        MailerIdList::Number(id) => vec![format!("{id:06}")],
        MailerIdList::Text(text) => text
            .split(',')
            .map(str::trim)
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .collect(),
    })
}
