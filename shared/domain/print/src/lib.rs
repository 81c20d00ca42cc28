//! From laid-out cards to paper.
//!
//! A [`PressFileWriter`] takes laid-out cards one after the other and writes one print-ready PDF: vector text with embedded
//! subsets of its fonts, each picture once, what does not differ between cards once, bleed and trim boxes, black that
//! is black ink alone. It writes as it goes: its memory does not grow with the cards but for a few bytes of each in the
//! table that ends the file. [`render_proof`] renders pages of such a PDF as PNG: what is shown is what prints.
//!
//! Lengths are points from the trimmed card's upper left corner, x to the right and y down, as in `design`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod address_side;
mod barcode;
mod card;
mod code;
mod face;
mod file;
mod font;
mod ink;
mod jpeg;
mod number;
mod picture;
mod press;
mod proof;
mod shape;
mod surface;
mod text;

pub use address_side::{AddressSide, fit_name_line};
pub use barcode::{BarState, Barcode, BarcodeError, MailerId, ServiceType};
pub use card::{PressMailpiece, PressMailpieceError};
pub use picture::{PictureError, PictureStore};
pub use press::{PressError, PressFileWriter, PressSettings};
pub use proof::{ProofCrop, ProofError, render_proof};
