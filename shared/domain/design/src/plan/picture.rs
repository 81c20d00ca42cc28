//! Pictures that differ by recipient.

use crate::element::{ImageElement, ImageSource};
use crate::finding::{LayoutError, LayoutWarning};
use crate::link::HttpsLink;
use crate::page::ItemDrawing;
use crate::recipient::RecipientValues;

/// Which picture prints.
enum PictureChoice<'a> {
    /// The recipient's, or that of a design with only one.
    Wanted(&'a str),
    /// The design's default.
    Default(&'a str),
    /// None.
    Blank,
}

/// What prints, or nothing.
pub(crate) fn draw_picture(
    image: &ImageElement,
    recipient: &impl RecipientValues,
) -> Option<ItemDrawing> {
    match choose_picture(image, recipient) {
        PictureChoice::Wanted(link) | PictureChoice::Default(link) => Some(ItemDrawing::Picture {
            link: link.into(),
            fit: image.fit,
        }),
        PictureChoice::Blank => None,
    }
}

/// That the recipient's picture does not print.
pub(crate) fn picture_warning(
    image: &ImageElement,
    recipient: &impl RecipientValues,
) -> Option<LayoutWarning> {
    let ImageSource::Variable { field, .. } = &image.source else {
        return None;
    };
    let has_link = recipient_link(field, recipient).is_some();
    match choose_picture(image, recipient) {
        PictureChoice::Wanted(_) => None,
        PictureChoice::Default(_) => Some(LayoutWarning::image_fallback(field, has_link)),
        PictureChoice::Blank => Some(LayoutWarning::image_blank(field, has_link)),
    }
}

/// That the recipient's picture cannot be used, whatever would print instead.
pub(crate) fn missing_picture_error(
    image: &ImageElement,
    recipient: &impl RecipientValues,
) -> Option<LayoutError> {
    let ImageSource::Variable { field, .. } = &image.source else {
        return None;
    };
    let is_missing = !matches!(choose_picture(image, recipient), PictureChoice::Wanted(_));
    is_missing
        .then(|| LayoutError::image_missing(field, recipient_link(field, recipient).is_some()))
}

fn choose_picture<'a>(
    image: &'a ImageElement,
    recipient: &'a impl RecipientValues,
) -> PictureChoice<'a> {
    match &image.source {
        ImageSource::Fixed { link } => PictureChoice::Wanted(link.as_str()),
        ImageSource::Variable { field, default } => {
            let own = recipient_link(field, recipient)
                .filter(|link| recipient.has_picture(link))
                .map(PictureChoice::Wanted);
            let default = default
                .as_ref()
                .map(HttpsLink::as_str)
                .filter(|link| recipient.has_picture(link));
            own.or(default.map(PictureChoice::Default))
                .unwrap_or(PictureChoice::Blank)
        }
    }
}

fn recipient_link<'a>(field: &str, recipient: &'a impl RecipientValues) -> Option<&'a str> {
    recipient
        .value(field)
        .filter(|link| !link.trim().is_empty())
}
