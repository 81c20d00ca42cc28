//! From a stored card to what the press takes.

use std::collections::BTreeMap;

use audience::fold_name;
use design::{LaidOutPage, LayoutPlan, RecipientValues, Typesetter};
use model::id::DesignId;
use model::scan::MailpieceCode;
use print::{AddressSide, PressMailpiece, fit_name_line};
use store::{MailpieceContent, PrintMailpiece};

use crate::paper::PaperSettings;

/// Stands for the name on a card to a home whose people nobody knows.
const NO_NAME: &str = "CURRENT RESIDENT";

/// What a card is made from.
pub struct MailpieceSource<'a> {
    /// The design and its version.
    pub design: (DesignId, i32),
    /// What is the same for all cards of the version.
    pub plan: &'a LayoutPlan,
    /// The card.
    pub mailpiece: &'a PrintMailpiece,
    /// The barcode's serial number.
    pub serial: u64,
}

/// A card laid out.
pub struct MailpieceArtwork<'a> {
    design: (DesignId, i32),
    pages: [LaidOutPage; 2],
    code: Option<&'a MailpieceCode>,
    address: AddressSide<'a>,
    pictures: &'a BTreeMap<String, String>,
}

/// What a card keeps of its recipient, as the layout asks for it.
pub(crate) struct PrintedRecipient<'a>(pub(crate) &'a MailpieceContent);

impl RecipientValues for PrintedRecipient<'_> {
    fn value(&self, field: &str) -> Option<&str> {
        self.0.fields.get(&fold_name(field)).map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        self.0.pictures.contains_key(link)
    }
}

impl<'a> MailpieceArtwork<'a> {
    /// Lays a card out.
    pub fn new(
        typesetter: &mut Typesetter,
        paper: &'a PaperSettings,
        source: &MailpieceSource<'a>,
    ) -> Self {
        let MailpieceSource {
            design,
            plan,
            mailpiece,
            serial,
        } = source;
        let PrintMailpiece {
            postage,
            zip,
            plus4,
            content,
            code,
            ..
        } = mailpiece;
        Self {
            design: *design,
            pages: plan.lay_out(typesetter, &PrintedRecipient(content)),
            code: code.as_ref(),
            address: AddressSide {
                recipient: address_lines(typesetter, mailpiece),
                return_address: &content.return_address,
                indicia: paper.indicia(postage),
                barcode: paper.barcode(postage, *serial, zip, plus4.as_deref()),
            },
            pictures: &content.pictures,
        }
    }

    /// The digits of its barcode; empty without one.
    pub fn barcode_digits(&self) -> String {
        self.address
            .barcode
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// As the press takes it.
    pub fn press_mailpiece(&self) -> PressMailpiece<'_> {
        PressMailpiece {
            design: self.design,
            pages: &self.pages,
            code: self.code,
            address: self.address.clone(),
            pictures: self.pictures,
        }
    }
}

/// The address in capitals, as the Postal Service prefers it (Publication 28): name, street with unit, last line.
fn address_lines(typesetter: &mut Typesetter, mailpiece: &PrintMailpiece) -> Vec<String> {
    let PrintMailpiece {
        first_name,
        last_name,
        line_1,
        line_2,
        city,
        state,
        zip,
        plus4,
        ..
    } = mailpiece;
    let mut name = fit_name_line(
        typesetter,
        &format!("{first_name} {last_name}").to_uppercase(),
    );
    if name.is_empty() {
        NO_NAME.clone_into(&mut name);
    }
    let street = format!("{line_1} {line_2}");
    let zip = match plus4 {
        Some(plus4) => format!("{zip}-{plus4}"),
        None => zip.clone(),
    };
    vec![
        name,
        street.trim().to_uppercase(),
        format!("{city} {state} {zip}").to_uppercase(),
    ]
}

#[cfg(test)]
mod tests {
    use model::id::{DesignId, TeamId};
    use uuid::Uuid;

    use super::*;

    fn printed_address_lines(first_name: &str, last_name: &str) -> Vec<String> {
        let mailpiece = PrintMailpiece {
            position: 1,
            team_id: TeamId(Uuid::nil()),
            mailpiece_id: Uuid::nil(),
            campaign_id: "PA-ABC123".parse().unwrap(),
            first_name: first_name.to_owned(),
            last_name: last_name.to_owned(),
            line_1: "1 Main St".to_owned(),
            line_2: "Apt 2".to_owned(),
            city: "Austin".to_owned(),
            state: "TX".to_owned(),
            zip: "78701".to_owned(),
            plus4: Some("1234".to_owned()),
            postage: "standard".to_owned(),
            mail_by_date: chrono::NaiveDate::from_ymd_opt(2026, 11, 24).unwrap(),
            design_id: DesignId(Uuid::nil()),
            design_version: 1,
            code: None,
            content: MailpieceContent::default(),
        };
        address_lines(&mut Typesetter::new(), &mailpiece)
    }

    #[test]
    fn a_name_makes_one_line_of_the_address_whatever_stands_in_it() {
        let address = ["1 MAIN ST APT 2", "AUSTIN TX 78701-1234"];
        for (first, last, name) in [
            (" Ada", "Miles ", "ADA MILES"),
            (
                "Ada\n9 Other St\nDallas TX 75201\n",
                "Miles",
                "ADA 9 OTHER ST DALLAS TX 75201 MILES",
            ),
            ("", " ", NO_NAME),
            ("🎉", "\u{e000}", NO_NAME),
        ] {
            let lines = printed_address_lines(first, last);
            assert_eq!(
                (lines[0].as_str(), &lines[1..]),
                (name, &address.map(str::to_owned)[..])
            );
        }
    }
}
