//! What shows on paper besides cards: fixed when a run is claimed, so that whoever finishes it makes the same file.

use print::{Barcode, BarcodeError, MailerId, ServiceType};
use runtime::config::{PermitSettings, PrintSettings};
use serde::{Deserialize, Serialize};

/// Stands in QR codes of proofs while no public address is set.
const SAMPLE_URL: &str = "https://mail.example.com";

/// Why nothing can print: a setting is missing or wrong.
#[derive(Debug, thiserror::Error)]
pub enum PaperSettingsError {
    /// Without it QR codes would lead nowhere.
    #[error("print.public_url is not set: QR codes would lead nowhere")]
    NoPublicUrl,
    /// The setting has a value that barcodes do not take.
    #[error("print.{setting}: {problem}")]
    Barcode {
        /// Its name below `print`.
        setting: &'static str,
        /// What is wrong.
        problem: BarcodeError,
    },
}

/// What shows on paper besides cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperSettings {
    /// What the addresses in QR codes begin with.
    pub public_url: String,
    /// For barcodes; `None` for cards without.
    pub mailer_id: Option<String>,
    standard: PostageMarks,
    first_class: PostageMarks,
}

/// What depends on the postage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PostageMarks {
    /// The barcode's service type.
    service_type: String,
    /// The lines of the permit imprint; none for a stamp or a meter.
    indicia: Vec<String>,
}

impl PaperSettings {
    /// For cards that are mailed: one for each mailer id, or the one without barcodes.
    ///
    /// # Errors
    /// [`PaperSettingsError`].
    pub fn for_all_mailers(settings: &PrintSettings) -> Result<Vec<Self>, PaperSettingsError> {
        let first = Some(settings.mailer_id.clone()).filter(|id| !id.is_empty());
        let more = settings.more_mailer_ids.iter().cloned().map(Some);
        std::iter::once(first)
            .chain(more)
            .map(|mailer_id| Self::from_settings(settings, mailer_id))
            .collect()
    }

    fn from_settings(
        settings: &PrintSettings,
        mailer_id: Option<String>,
    ) -> Result<Self, PaperSettingsError> {
        if settings.public_url.is_empty() {
            return Err(PaperSettingsError::NoPublicUrl);
        }
        if let Some(id) = &mailer_id {
            let parsed = id.parse::<MailerId>();
            parsed.map_err(|problem| PaperSettingsError::Barcode {
                setting: "mailer_id",
                problem,
            })?;
        }
        let types = &settings.service_types;
        let paper = Self {
            public_url: settings.public_url.clone(),
            mailer_id,
            standard: PostageMarks::new(&types.standard, &["PRSRT STD"], &settings.permit)?,
            first_class: PostageMarks::new(
                &types.first_class,
                &["PRESORTED", "FIRST-CLASS MAIL"],
                &settings.permit,
            )?,
        };
        Ok(paper)
    }

    /// For proofs: while no public address is set, a sample stands in its place.
    ///
    /// # Errors
    /// [`PaperSettingsError::Barcode`].
    pub fn for_proofs(settings: &PrintSettings) -> Result<Self, PaperSettingsError> {
        let mut settings = settings.clone();
        if settings.public_url.is_empty() {
            SAMPLE_URL.clone_into(&mut settings.public_url);
        }
        let mailer_id = Some(settings.mailer_id.clone()).filter(|id| !id.is_empty());
        Self::from_settings(&settings, mailer_id)
    }

    /// Of a card with this postage.
    pub fn indicia(&self, postage: &str) -> &[String] {
        &self.postage_marks(postage).indicia
    }

    /// Of a card with this postage; `None` without a mailer id, or when the address has no usable ZIP. Serial numbers are counted on
    /// for ever, and the mailer's are gone through again: the claim of a run sees to it that none comes too early.
    pub fn barcode(
        &self,
        postage: &str,
        serial: u64,
        zip: &str,
        plus4: Option<&str>,
    ) -> Option<Barcode> {
        let mailer: MailerId = self.mailer_id.as_ref()?.parse().ok()?;
        let service: ServiceType = self.postage_marks(postage).service_type.parse().ok()?;
        Barcode::new(
            &service,
            &mailer,
            serial % mailer.serial_count(),
            zip,
            plus4,
        )
        .ok()
    }

    fn postage_marks(&self, postage: &str) -> &PostageMarks {
        if postage == "first_class" {
            &self.first_class
        } else {
            &self.standard
        }
    }
}

impl PostageMarks {
    fn new(
        service_type: &str,
        class: &[&str],
        permit: &PermitSettings,
    ) -> Result<Self, PaperSettingsError> {
        let parsed = service_type.parse::<ServiceType>();
        parsed.map_err(|problem| PaperSettingsError::Barcode {
            setting: "service_types",
            problem,
        })?;
        if permit.number.is_empty() {
            return Ok(Self {
                service_type: service_type.to_owned(),
                indicia: Vec::new(),
            });
        }
        // The content of a permit imprint is that of the Domestic Mail Manual 604.
        let city = permit.city.to_uppercase();
        let number = format!("PERMIT NO. {}", permit.number);
        let lines = class
            .iter()
            .copied()
            .chain(["U.S. POSTAGE", "PAID", &city, &number]);
        Ok(Self {
            service_type: service_type.to_owned(),
            indicia: lines.map(str::to_owned).collect(),
        })
    }
}
