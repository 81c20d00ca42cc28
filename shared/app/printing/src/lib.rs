//! From a stored card to what the press takes: the printer's cards and the proofs that people look at are made by the
//! same functions, so that what is shown is what prints.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod card;
mod findings;
mod paper;
mod pictures;
mod proof;
mod sample;

pub use card::{MailpieceArtwork, MailpieceSource};
pub use findings::ProofFindings;
pub use paper::{PaperSettings, PaperSettingsError};
pub use pictures::{LoadPicturesError, LoadedPictures, image_sources};
pub use proof::Proof;
pub use sample::sample_values;
