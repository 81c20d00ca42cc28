//! Pictures that differ by recipient.

use crate::element::{Image, ImageSource};
use crate::finding::{Refusal, Warning};
use crate::link::SecureLink;
use crate::page::Drawing;
use crate::recipient::Recipient;

/// Which picture prints.
enum Choice<'a> {
    /// The recipient's, or that of a design with only one.
    Wanted(&'a str),
    /// The design's default.
    Default(&'a str),
    /// None.
    Blank,
}

/// What prints, or nothing.
pub(crate) fn drawing(image: &Image, recipient: &impl Recipient) -> Option<Drawing> {
    match choose(image, recipient) {
        Choice::Wanted(link) | Choice::Default(link) => {
            Some(Drawing::Picture { link: link.into(), fit: image.fit })
        }
        Choice::Blank => None,
    }
}

/// That the recipient's picture does not print.
pub(crate) fn warning(image: &Image, recipient: &impl Recipient) -> Option<Warning> {
    let ImageSource::Variable { field, .. } = &image.source else { return None };
    let has_link = link(field, recipient).is_some();
    match choose(image, recipient) {
        Choice::Wanted(_) => None,
        Choice::Default(_) => Some(Warning::image_fallback(field, has_link)),
        Choice::Blank => Some(Warning::image_blank(field, has_link)),
    }
}

/// That the recipient's picture cannot be used, whatever would print instead.
pub(crate) fn missing(image: &Image, recipient: &impl Recipient) -> Option<Refusal> {
    let ImageSource::Variable { field, .. } = &image.source else { return None };
    let is_missing = !matches!(choose(image, recipient), Choice::Wanted(_));
    is_missing.then(|| Refusal::image_missing(field, link(field, recipient).is_some()))
}

fn choose<'a>(image: &'a Image, recipient: &'a impl Recipient) -> Choice<'a> {
    match &image.source {
        ImageSource::Fixed { link } => Choice::Wanted(link.as_str()),
        ImageSource::Variable { field, default } => {
            let own = link(field, recipient).filter(|link| recipient.has_picture(link)).map(Choice::Wanted);
            let default = default.as_ref().map(SecureLink::as_str).filter(|link| recipient.has_picture(link));
            own.or(default.map(Choice::Default)).unwrap_or(Choice::Blank)
        }
    }
}

fn link<'a>(field: &str, recipient: &'a impl Recipient) -> Option<&'a str> {
    recipient.value(field).filter(|link| !link.trim().is_empty())
}
