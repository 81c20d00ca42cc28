//! A card that is to print.

use std::collections::BTreeMap;

use design::LaidOutPage;
use model::id::DesignId;
use model::scan::MailpieceCode;

use crate::address_side::AddressSide;

/// A card that is to print.
#[derive(Debug, Clone)]
pub struct PressMailpiece<'a> {
    /// The design and its version: what does not differ between recipients is drawn once for it.
    pub design: (DesignId, i32),
    /// What prints on its surfaces, the front first.
    pub pages: &'a [LaidOutPage],
    /// What its QR codes say; `None` for a card without.
    pub code: Option<&'a MailpieceCode>,
    /// What the post office needs.
    pub address: AddressSide<'a>,
    /// The kept file of each picture, by the link under which it was fetched.
    pub pictures: &'a BTreeMap<String, String>,
}

/// Why a card cannot print. The others can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PressMailpieceError {
    /// Its design has a QR code, and it none.
    #[error("the card has no code for its QR code")]
    NoCode,
    /// The design has more QR codes than a card's code can tell apart, or the public address is too long.
    #[error("the address {0:?} does not fit into a QR code")]
    CodeTooLong(String),
    /// No file was kept for a link.
    #[error("no picture was kept for {0:?}")]
    NotKept(String),
    /// The kept file is gone.
    #[error("the kept picture {0:?} is not in the store")]
    PictureMissing(String),
    /// The kept file is no picture that prints.
    #[error("the kept picture {file:?} cannot print: {reason}")]
    PictureUnreadable {
        /// Its name.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
}
