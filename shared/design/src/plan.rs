//! A document made ready for many recipients: what is the same for all of them is done once.

use audience::column::may_be_cut;
use std::sync::Arc;

use crate::document::Document;
use crate::element::{Content, Element, Image, ImageSource, QrCode, TextBox};
use crate::finding::{Decision, Refusal, Warning};
use crate::limits::CARD_CHARS;
use crate::outline::Outline;
use crate::page::{Drawing, Item, Page};
use crate::product::Side;
use crate::recipient::Recipient;
use crate::text::{Analysis, Fit, Setting, Typesetter, Wrapping};

mod overlap;
mod picture;

/// Decides and lays out the cards of one document. The same recipient always gets the same card.
#[derive(Debug)]
pub struct Plan {
    document: Document,
    front: Vec<Part>,
    back: Vec<Part>,
}

/// What is known of an element beforehand; there is one for each element, in the same order.
#[derive(Debug)]
struct Part {
    id: Arc<str>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The same for everybody. A text without letters draws nothing.
    Fixed { drawing: Option<Drawing>, outline: Outline },
    /// A text with fields. It is to stay clear of these elements of its surface.
    Text { setting: Setting, clear_of: Vec<usize> },
    /// A picture by recipient.
    Picture,
    /// A QR code at its position in the document.
    Code { position: usize },
}

/// A recipient's text that is ready to be placed.
#[derive(Debug)]
struct SetText<'p> {
    side: Side,
    index: usize,
    setting: &'p Setting,
    clear_of: &'p [usize],
    /// `None` for a text with which the card has more than [`CARD_CHARS`]; it is not looked into.
    analysis: Option<Analysis>,
    fit: Fit,
}

impl Plan {
    /// Prepares a document.
    pub fn new(document: Document) -> Self {
        let mut typesetter = Typesetter::new();
        let mut codes = 0;
        let mut parts = |side| -> Vec<Part> {
            let elements = &document.surface(side).elements;
            elements.iter().map(|element| Part::of(&mut typesetter, element, &mut codes)).collect()
        };
        let (front, back) = (parts(Side::Front), parts(Side::Back));
        let mut plan = Self { document, front, back };
        plan.find_neighbours(&mut typesetter);
        plan
    }

    /// The document.
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// Decides a recipient's card.
    ///
    /// # Errors
    /// [`Refusal`] when no card is to be made; of several reasons the first in the order of [`RefusalReason`](crate::RefusalReason).
    pub fn decide(&self, typesetter: &mut Typesetter, recipient: &impl Recipient) -> Decision {
        let texts = self.set_texts(typesetter, recipient);
        let refused =
            texts.iter().filter_map(|text| self.refusal(text)).chain(self.missing_picture(recipient));
        if let Some(refusal) = refused.min_by_key(|refusal| refusal.reason) {
            return Err(refusal);
        }
        let mut warnings = Vec::new();
        for side in Side::ALL {
            for (index, (part, element)) in self.elements(side).enumerate() {
                match (&part.kind, &element.content) {
                    (Kind::Text { .. }, Content::Text(text_box)) => {
                        let text = texts.iter().find(|text| (text.side, text.index) == (side, index));
                        warnings.extend(text.and_then(|text| text.warning(&part.id, text_box)));
                        warnings.extend(text.and_then(|text| self.overlap(text, &texts, recipient)));
                    }
                    (_, Content::Image(image)) => warnings.extend(picture::warning(image, recipient)),
                    (_, Content::QrCode(code)) => warnings.extend(link_warning(&part.id, code, recipient)),
                    _ => {}
                }
            }
        }
        Ok(warnings)
    }

    /// Lays out a recipient's card: the front and the back. A card that [`Plan::decide`] refuses is laid out as far
    /// as it goes: text that does not fit at its smallest size, without characters that no font prints.
    pub fn pages(&self, typesetter: &mut Typesetter, recipient: &impl Recipient) -> [Page; 2] {
        let texts = self.set_texts(typesetter, recipient);
        Side::ALL.map(|side| {
            let elements = self.elements(side).enumerate();
            let items = elements.filter_map(|(index, (part, element))| {
                let drawing = match (&part.kind, &element.content) {
                    (Kind::Fixed { drawing, .. }, _) => drawing.clone(),
                    (Kind::Picture, Content::Image(image)) => picture::drawing(image, recipient),
                    (Kind::Code { position }, Content::QrCode(code)) => {
                        Some(Drawing::Code { position: *position, colour: code.colour })
                    }
                    _ => {
                        let text = texts.iter().find(|text| (text.side, text.index) == (side, index));
                        text.and_then(SetText::drawing)
                    }
                };
                let varies = !matches!(part.kind, Kind::Fixed { .. });
                let element = Arc::clone(&part.id);
                drawing.map(|drawing| Item {
                    element,
                    frame: self.element(side, index).frame,
                    varies,
                    drawing,
                })
            });
            Page { side, background: self.document.surface(side).background, items: items.collect() }
        })
    }

    fn parts(&self, side: Side) -> &[Part] {
        match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        }
    }

    fn element(&self, side: Side, index: usize) -> &Element {
        &self.document.surface(side).elements[index]
    }

    fn elements(&self, side: Side) -> impl Iterator<Item = (&Part, &Element)> {
        self.parts(side).iter().zip(&self.document.surface(side).elements)
    }

    /// All texts with fields, fitted to their boxes.
    fn set_texts(&self, typesetter: &mut Typesetter, recipient: &impl Recipient) -> Vec<SetText<'_>> {
        let (mut texts, mut room) = (Vec::new(), CARD_CHARS);
        for side in Side::ALL {
            for (index, (part, element)) in self.elements(side).enumerate() {
                if let (Kind::Text { setting, clear_of }, Content::Text(text_box)) =
                    (&part.kind, &element.content)
                {
                    let text = text_box.text.render(|field| recipient.value(field)).text;
                    let rest = room.checked_sub(text.chars().count());
                    room = rest.unwrap_or(room);
                    let (analysis, fit) = match rest {
                        Some(_) => set(typesetter, setting, &text),
                        None => (None, Fit::Nowhere),
                    };
                    texts.push(SetText { side, index, setting, clear_of, analysis, fit });
                }
            }
        }
        texts
    }

    fn refusal(&self, text: &SetText<'_>) -> Option<Refusal> {
        let id = &self.parts(text.side)[text.index].id;
        let unsupported = text.analysis.as_ref().map_or(&[][..], |analysis| &analysis.unsupported);
        if !unsupported.is_empty() {
            return Some(Refusal::unsupported(id, text.setting.style.font.name(), unsupported));
        }
        if text.analysis.is_none() {
            return Some(Refusal::too_long(id));
        }
        (text.fit == Fit::Nowhere).then(|| Refusal::overflow(id, text.setting.style.smallest_size))
    }

    /// The first picture that cannot be used, of a card that is wanted with all of them only.
    fn missing_picture(&self, recipient: &impl Recipient) -> Option<Refusal> {
        let all = Side::ALL.into_iter().filter(|_| recipient.requires_pictures());
        let mut elements = all.flat_map(|side| &self.document.surface(side).elements);
        elements.find_map(|element| match &element.content {
            Content::Image(image) => picture::missing(image, recipient),
            _ => None,
        })
    }
}

impl Part {
    fn of(typesetter: &mut Typesetter, element: &Element, codes: &mut usize) -> Self {
        let id = Arc::from(element.id.as_str());
        let fixed = |drawing| Kind::Fixed { drawing, outline: Outline::of(element) };
        let kind = match &element.content {
            Content::Text(text) if text.text.fields().next().is_none() => {
                let setting = Setting::new(text, element.frame.area);
                let (analysis, fit) = set(typesetter, &setting, &text.text.as_drawn());
                let placed = analysis
                    .map(|analysis| setting.place(&analysis, size(&setting, fit)))
                    .unwrap_or_default();
                let drawing = (!placed.runs.is_empty()).then(|| Drawing::Text(placed.runs.into()));
                Kind::Fixed { drawing, outline: Outline::of_text(element.frame, &placed.outline) }
            }
            Content::Text(text) => {
                Kind::Text { setting: Setting::new(text, element.frame.area), clear_of: Vec::new() }
            }
            Content::Image(Image { source: ImageSource::Fixed { link }, fit }) => {
                fixed(Some(Drawing::Picture { link: link.as_str().into(), fit: *fit }))
            }
            Content::Image(_) => Kind::Picture,
            Content::QrCode(_) => {
                *codes += 1;
                Kind::Code { position: *codes - 1 }
            }
            Content::Shape(shape) => fixed(Some(Drawing::Shape(shape.clone()))),
        };
        Self { id, kind }
    }
}

impl SetText<'_> {
    fn drawing(&self) -> Option<Drawing> {
        let analysis = self.analysis.as_ref()?;
        let runs = self.setting.place(analysis, size(self.setting, self.fit)).runs;
        (!runs.is_empty()).then(|| Drawing::Text(runs.into()))
    }

    /// How it prints otherwise than it was designed.
    fn warning(&self, id: &str, text_box: &TextBox) -> Option<Warning> {
        if let Fit::BelowSmallest(size) = self.fit {
            return Some(Warning::curve_too_long(id, text_box.smallest_size(), size));
        }
        let analysis = self.analysis.as_ref().filter(|analysis| analysis.needs_dictionary)?;
        let is_wrapped = self.setting.fit(analysis, Wrapping::Never) != self.fit;
        is_wrapped.then(|| Warning::unmeasurable(id))
    }
}

/// Finds the size of a text in its setting.
fn set(typesetter: &mut Typesetter, setting: &Setting, text: &str) -> (Option<Analysis>, Fit) {
    let analysis = setting.analyse(typesetter, text);
    let fit = setting.fit(&analysis, Wrapping::AtSpaces);
    (Some(analysis), fit)
}

/// At which a text prints.
fn size(setting: &Setting, fit: Fit) -> f64 {
    match fit {
        Fit::At(size) | Fit::BelowSmallest(size) => size,
        Fit::Nowhere => setting.style.smallest_size,
    }
}

fn link_warning(id: &str, code: &QrCode, recipient: &impl Recipient) -> Option<Warning> {
    let template = code.destination.template();
    let rendered = template.render(|field| recipient.value(field));
    if let Some(field) = rendered.empty_fields.first() {
        return Some(Warning::link_needs(field, id));
    }
    if let Some(field) = template.fields().find(|field| recipient.value(field).is_some_and(may_be_cut)) {
        return Some(Warning::link_cut(field, id));
    }
    let is_link = code.destination.render(|field| recipient.value(field)).is_some();
    let field = template.fields().next()?;
    (!is_link).then(|| Warning::link_is_none(field, id))
}

#[cfg(test)]
mod tests;
