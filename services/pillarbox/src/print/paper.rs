//! What shows on paper besides cards: fixed when a run is claimed, so that whoever finishes it makes the same file.

use ::print::{Barcode, MailerId, ServiceType};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use service::config::{Permit, Print};

/// What shows on paper besides cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paper {
    /// What the addresses in QR codes begin with.
    pub(crate) public_url: String,
    /// For barcodes; `None` for cards without.
    pub(crate) mailer_id: Option<String>,
    standard: Postage,
    first_class: Postage,
}

/// What depends on the postage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Postage {
    /// The barcode's service type.
    service_type: String,
    /// The lines of the permit imprint; none for a stamp or a meter.
    indicia: Vec<String>,
}

impl Paper {
    /// # Errors
    /// When a setting is missing or wrong.
    pub(crate) fn of(settings: &Print) -> anyhow::Result<Self> {
        if settings.public_url.is_empty() {
            bail!("print.public_url is not set: QR codes would lead nowhere");
        }
        let mailer_id = Some(settings.mailer_id.clone()).filter(|id| !id.is_empty());
        if let Some(id) = &mailer_id {
            id.parse::<MailerId>().context("print.mailer_id")?;
        }
        let types = &settings.service_types;
        let paper = Self {
            public_url: settings.public_url.clone(),
            mailer_id,
            standard: Postage::of(&types.standard, &["PRSRT STD"], &settings.permit)?,
            first_class: Postage::of(
                &types.first_class,
                &["PRESORTED", "FIRST-CLASS MAIL"],
                &settings.permit,
            )?,
        };
        Ok(paper)
    }

    /// Of a card with this postage.
    pub(crate) fn indicia(&self, postage: &str) -> &[String] {
        &self.postage(postage).indicia
    }

    /// Of a card with this postage and serial number; `None` without a mailer id, or when the address has no usable ZIP.
    pub(crate) fn barcode(
        &self,
        postage: &str,
        serial: u64,
        zip: &str,
        plus4: Option<&str>,
    ) -> Option<Barcode> {
        let mailer: MailerId = self.mailer_id.as_ref()?.parse().ok()?;
        let service: ServiceType = self.postage(postage).service_type.parse().ok()?;
        Barcode::new(&service, &mailer, serial, zip, plus4).ok()
    }

    fn postage(&self, postage: &str) -> &Postage {
        if postage == "first_class" { &self.first_class } else { &self.standard }
    }
}

impl Postage {
    fn of(service_type: &str, class: &[&str], permit: &Permit) -> anyhow::Result<Self> {
        service_type.parse::<ServiceType>().context("print.service_types")?;
        if permit.number.is_empty() {
            return Ok(Self { service_type: service_type.to_owned(), indicia: Vec::new() });
        }
        // The content of a permit imprint is that of the Domestic Mail Manual 604.
        let city = permit.city.to_uppercase();
        let number = format!("PERMIT NO. {}", permit.number);
        let lines = class.iter().copied().chain(["U.S. POSTAGE", "PAID", &city, &number]);
        Ok(Self { service_type: service_type.to_owned(), indicia: lines.map(str::to_owned).collect() })
    }
}
