//! A card that is looked at and not mailed, printed by the press itself.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::id::DesignId;
use design::{Document, Plan, Product, Typesetter};
use print::{Press, PressError, PressSettings};
use store::PrintPiece;

use crate::card::{Artwork, CardSource};
use crate::findings::Findings;
use crate::paper::Paper;
use crate::pictures::Loaded;
use crate::sample;

/// What is shown.
#[derive(Debug)]
pub struct Proof {
    plan: Plan,
    piece: PrintPiece,
    pictures: Loaded,
    has_stand_ins: bool,
}

impl Proof {
    /// A card with these values of the design's fields, by folded name. A sample person stands where there are none, and a
    /// grey picture where one of the design's own is missing.
    pub fn of_sample(
        document: Document,
        design: (DesignId, i32),
        fields: BTreeMap<String, String>,
        mut pictures: Loaded,
        now: DateTime<Utc>,
    ) -> Self {
        let has_stand_ins = pictures.stand_in(&document);
        let piece = sample::piece(&document, design, fields, pictures.names(), now);
        Self { plan: Plan::new(document), piece, pictures, has_stand_ins }
    }

    /// A card as it is stored, with the pictures that it keeps.
    pub fn of_card(document: Document, piece: PrintPiece, pictures: Loaded) -> Self {
        Self { plan: Plan::new(document), piece, pictures, has_stand_ins: false }
    }

    /// What it is printed as.
    pub fn product(&self) -> Product {
        self.plan.document().product()
    }

    /// What a send would say of the card. `given` are the folded names of its sample values.
    pub fn findings(&self, given: &[String]) -> Findings {
        Findings::of(&self.plan, &self.piece.content, given)
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
    pub fn pdf(self, paper: &Paper, now: DateTime<Utc>) -> Result<Vec<u8>, PressError> {
        let Self { plan, piece, mut pictures, .. } = self;
        let settings = PressSettings {
            product: plan.document().product(),
            public_url: paper.public_url.clone(),
            title: "Proof".to_owned(),
            created_at: now,
            id: *piece.piece_id.as_bytes(),
        };
        let mut press = Press::new(Vec::new(), settings)?;
        let design = (piece.design_id, piece.design_version);
        let source = CardSource { design, plan: &plan, piece: &piece, serial: 0 };
        let artwork = Artwork::new(&mut Typesetter::new(), paper, &source);
        press.print(&artwork.card(), &mut pictures)?;
        Ok(press.finish()?)
    }
}
