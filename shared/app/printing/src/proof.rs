//! A card that is looked at and not mailed, printed by the press itself.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use design::{LayoutPlan, PrintableDesign, Product, Typesetter};
use model::id::DesignId;
use print::{PressError, PressFileWriter, PressSettings};
use store::PrintMailpiece;

use crate::card::{MailpieceArtwork, MailpieceSource};
use crate::findings::ProofFindings;
use crate::paper::PaperSettings;
use crate::pictures::LoadedPictures;
use crate::sample;

/// What is shown.
#[derive(Debug)]
pub struct Proof {
    plan: LayoutPlan,
    mailpiece: PrintMailpiece,
    pictures: LoadedPictures,
    has_stand_ins: bool,
}

impl Proof {
    /// A card with these values of the design's fields, by folded name. A sample person stands where there are none, and a
    /// grey picture where one of the design's own is missing.
    pub fn from_sample(
        document: PrintableDesign,
        design: (DesignId, i32),
        fields: BTreeMap<String, String>,
        mut pictures: LoadedPictures,
        now: DateTime<Utc>,
    ) -> Self {
        let has_stand_ins = pictures.fill_missing(&document);
        let mailpiece = sample::sample_mailpiece(
            &document,
            design,
            fields,
            pictures.file_names_by_link(),
            now,
        );
        Self {
            plan: LayoutPlan::new(document),
            mailpiece,
            pictures,
            has_stand_ins,
        }
    }

    /// A card as it is stored, with the pictures that it keeps.
    pub fn from_mailpiece(
        document: PrintableDesign,
        mailpiece: PrintMailpiece,
        pictures: LoadedPictures,
    ) -> Self {
        Self {
            plan: LayoutPlan::new(document),
            mailpiece,
            pictures,
            has_stand_ins: false,
        }
    }

    /// What it is printed as.
    pub fn product(&self) -> Product {
        self.plan.document().product()
    }

    /// What a send would say of the card. `given` are the folded names of its sample values.
    pub fn findings(&self, given: &[String]) -> ProofFindings {
        ProofFindings::new(&self.plan, &self.mailpiece.content, given)
    }

    /// Whether one of the design's own pictures is missing.
    pub const fn has_stand_ins(&self) -> bool {
        self.has_stand_ins
    }

    /// The PDF that would print: the front on its first page, the back on its second. Takes tens of milliseconds of a
    /// processor.
    ///
    /// # Errors
    /// [`PressError`] when the card cannot print.
    pub fn render_pdf(
        self,
        paper: &PaperSettings,
        now: DateTime<Utc>,
    ) -> Result<Vec<u8>, PressError> {
        let Self {
            plan,
            mailpiece,
            mut pictures,
            ..
        } = self;
        let settings = PressSettings {
            product: plan.document().product(),
            public_url: paper.public_url.clone(),
            title: "Proof".to_owned(),
            created_at: now,
            id: *mailpiece.mailpiece_id.as_bytes(),
        };
        let mut press = PressFileWriter::new(Vec::new(), settings)?;
        let design = (mailpiece.design_id, mailpiece.design_version);
        let source = MailpieceSource {
            design,
            plan: &plan,
            mailpiece: &mailpiece,
            serial: 0,
        };
        let artwork = MailpieceArtwork::new(&mut Typesetter::new(), paper, &source);
        press.print_mailpiece(&artwork.press_mailpiece(), &mut pictures)?;
        Ok(press.finish()?)
    }
}
