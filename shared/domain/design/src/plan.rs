//! A document made ready for many recipients: what is the same for all of them is done once.

use audience::column::may_be_cut;
use std::sync::Arc;

use crate::document::PrintableDesign;
use crate::element::{DesignElement, ElementContent, ImageElement, ImageSource, QrCode, TextBox};
use crate::finding::{LayoutDecision, LayoutError, LayoutWarning};
use crate::limits::CARD_CHARS;
use crate::outline::ElementOutline;
use crate::page::{ItemDrawing, LaidOutPage, PageItem};
use crate::product::Side;
use crate::recipient::RecipientValues;
use crate::text::{FittedSize, LineWrapping, TextAnalysis, TextPlacement, Typesetter};

mod overlap;
mod picture;

/// Decides and lays out the cards of one document. The same recipient always gets the same card.
#[derive(Debug)]
pub struct LayoutPlan {
    document: PrintableDesign,
    front: Vec<ElementPlan>,
    back: Vec<ElementPlan>,
}

/// What is known of an element beforehand; there is one for each element, in the same order.
#[derive(Debug)]
struct ElementPlan {
    id: Arc<str>,
    kind: ElementPlanKind,
}

#[derive(Debug)]
enum ElementPlanKind {
    /// The same for everybody. A text without letters draws nothing.
    Fixed {
        drawing: Option<ItemDrawing>,
        outline: ElementOutline,
    },
    /// A text with fields. It is to stay clear of these elements of its surface.
    Text {
        setting: TextPlacement,
        clear_of: Vec<usize>,
    },
    /// A picture by recipient.
    Picture,
    /// A QR code at its position in the document.
    Code { position: usize },
}

/// A recipient's text that is ready to be placed.
#[derive(Debug)]
struct FittedText<'p> {
    side: Side,
    index: usize,
    setting: &'p TextPlacement,
    clear_of: &'p [usize],
    /// `None` for a text with which the card has more than [`CARD_CHARS`]; it is not looked into.
    analysis: Option<TextAnalysis>,
    fit: FittedSize,
}

impl LayoutPlan {
    /// Prepares a document.
    pub fn new(document: PrintableDesign) -> Self {
        let mut typesetter = Typesetter::new();
        let mut codes = 0;
        let mut parts = |side| -> Vec<ElementPlan> {
            let elements = &document.side(side).elements;
            elements
                .iter()
                .map(|element| ElementPlan::new(&mut typesetter, element, &mut codes))
                .collect()
        };
        let (front, back) = (parts(Side::Front), parts(Side::Back));
        let mut plan = Self {
            document,
            front,
            back,
        };
        plan.find_neighbours(&mut typesetter);
        plan
    }

    /// The document.
    pub const fn document(&self) -> &PrintableDesign {
        &self.document
    }

    /// Decides a recipient's card.
    ///
    /// # Errors
    /// [`LayoutError`] when no card is to be made; of several reasons the first in the order of [`LayoutErrorReason`](crate::LayoutErrorReason).
    pub fn check_layout(
        &self,
        typesetter: &mut Typesetter,
        recipient: &impl RecipientValues,
    ) -> LayoutDecision {
        let texts = self.fit_texts(typesetter, recipient);
        let refused = texts
            .iter()
            .filter_map(|text| self.text_error(text))
            .chain(self.find_missing_picture(recipient));
        if let Some(refusal) = refused.min_by_key(|refusal| refusal.reason) {
            return Err(refusal);
        }
        let mut warnings = Vec::new();
        for side in Side::ALL {
            for (index, (part, element)) in self.planned_elements(side).enumerate() {
                match (&part.kind, &element.content) {
                    (ElementPlanKind::Text { .. }, ElementContent::Text(text_box)) => {
                        let text = texts
                            .iter()
                            .find(|text| (text.side, text.index) == (side, index));
                        warnings
                            .extend(text.and_then(|text| text.find_warning(&part.id, text_box)));
                        warnings.extend(
                            text.and_then(|text| self.find_overlap(text, &texts, recipient)),
                        );
                    }
                    (_, ElementContent::Image(image)) => {
                        warnings.extend(picture::picture_warning(image, recipient))
                    }
                    (_, ElementContent::QrCode(code)) => {
                        warnings.extend(link_warning(&part.id, code, recipient))
                    }
                    _ => {}
                }
            }
        }
        Ok(warnings)
    }

    /// Lays out a recipient's card: the front and the back. A card that [`LayoutPlan::check_layout`] refuses is laid out as far
    /// as it goes: text that does not fit at its smallest size, without characters that no font prints.
    pub fn lay_out(
        &self,
        typesetter: &mut Typesetter,
        recipient: &impl RecipientValues,
    ) -> [LaidOutPage; 2] {
        let texts = self.fit_texts(typesetter, recipient);
        Side::ALL.map(|side| {
            let elements = self.planned_elements(side).enumerate();
            let items = elements.filter_map(|(index, (part, element))| {
                let drawing = match (&part.kind, &element.content) {
                    (ElementPlanKind::Fixed { drawing, .. }, _) => drawing.clone(),
                    (ElementPlanKind::Picture, ElementContent::Image(image)) => {
                        picture::draw_picture(image, recipient)
                    }
                    (ElementPlanKind::Code { position }, ElementContent::QrCode(code)) => {
                        Some(ItemDrawing::Code {
                            position: *position,
                            colour: code.colour,
                        })
                    }
                    _ => {
                        let text = texts
                            .iter()
                            .find(|text| (text.side, text.index) == (side, index));
                        text.and_then(FittedText::to_drawing)
                    }
                };
                let varies = !matches!(part.kind, ElementPlanKind::Fixed { .. });
                let element = Arc::clone(&part.id);
                drawing.map(|drawing| PageItem {
                    element,
                    frame: self.element(side, index).frame,
                    varies,
                    drawing,
                })
            });
            LaidOutPage {
                side,
                background: self.document.side(side).background,
                items: items.collect(),
            }
        })
    }

    fn element_plans(&self, side: Side) -> &[ElementPlan] {
        match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        }
    }

    fn element(&self, side: Side, index: usize) -> &DesignElement {
        &self.document.side(side).elements[index]
    }

    fn planned_elements(&self, side: Side) -> impl Iterator<Item = (&ElementPlan, &DesignElement)> {
        self.element_plans(side)
            .iter()
            .zip(&self.document.side(side).elements)
    }

    /// All texts with fields, fitted to their boxes.
    fn fit_texts(
        &self,
        typesetter: &mut Typesetter,
        recipient: &impl RecipientValues,
    ) -> Vec<FittedText<'_>> {
        let (mut texts, mut room) = (Vec::new(), CARD_CHARS);
        for side in Side::ALL {
            for (index, (part, element)) in self.planned_elements(side).enumerate() {
                if let (
                    ElementPlanKind::Text { setting, clear_of },
                    ElementContent::Text(text_box),
                ) = (&part.kind, &element.content)
                {
                    let text = text_box.text.render(|field| recipient.value(field)).text;
                    let rest = room.checked_sub(text.chars().count());
                    room = rest.unwrap_or(room);
                    let (analysis, fit) = match rest {
                        Some(_) => fit_text(typesetter, setting, &text),
                        None => (None, FittedSize::Nowhere),
                    };
                    texts.push(FittedText {
                        side,
                        index,
                        setting,
                        clear_of,
                        analysis,
                        fit,
                    });
                }
            }
        }
        texts
    }

    fn text_error(&self, text: &FittedText<'_>) -> Option<LayoutError> {
        let id = &self.element_plans(text.side)[text.index].id;
        let unsupported = text
            .analysis
            .as_ref()
            .map_or(&[][..], |analysis| &analysis.unsupported);
        if !unsupported.is_empty() {
            return Some(LayoutError::unsupported_characters(
                id,
                text.setting.style.font.name(),
                unsupported,
            ));
        }
        if text.analysis.is_none() {
            return Some(LayoutError::too_long(id));
        }
        (text.fit == FittedSize::Nowhere)
            .then(|| LayoutError::text_overflow(id, text.setting.style.smallest_size))
    }

    /// The first picture that cannot be used, of a card that is wanted with all of them only.
    fn find_missing_picture(&self, recipient: &impl RecipientValues) -> Option<LayoutError> {
        let all = Side::ALL
            .into_iter()
            .filter(|_| recipient.requires_pictures());
        let mut elements = all.flat_map(|side| &self.document.side(side).elements);
        elements.find_map(|element| match &element.content {
            ElementContent::Image(image) => picture::missing_picture_error(image, recipient),
            _ => None,
        })
    }
}

impl ElementPlan {
    fn new(typesetter: &mut Typesetter, element: &DesignElement, codes: &mut usize) -> Self {
        let id = Arc::from(element.id.as_str());
        let fixed = |drawing| ElementPlanKind::Fixed {
            drawing,
            outline: ElementOutline::from_element(element),
        };
        let kind = match &element.content {
            ElementContent::Text(text) if text.text.field_names().next().is_none() => {
                let setting = TextPlacement::new(text, element.frame.area);
                let (analysis, fit) = fit_text(typesetter, &setting, &text.text.placeholder_text());
                let placed = analysis
                    .map(|analysis| setting.place_text(&analysis, printed_size(&setting, fit)))
                    .unwrap_or_default();
                let drawing =
                    (!placed.runs.is_empty()).then(|| ItemDrawing::Text(placed.runs.into()));
                ElementPlanKind::Fixed {
                    drawing,
                    outline: ElementOutline::from_text(element.frame, &placed.outline),
                }
            }
            ElementContent::Text(text) => ElementPlanKind::Text {
                setting: TextPlacement::new(text, element.frame.area),
                clear_of: Vec::new(),
            },
            ElementContent::Image(ImageElement {
                source: ImageSource::Fixed { link },
                fit,
            }) => fixed(Some(ItemDrawing::Picture {
                link: link.as_str().into(),
                fit: *fit,
            })),
            ElementContent::Image(_) => ElementPlanKind::Picture,
            ElementContent::QrCode(_) => {
                *codes += 1;
                ElementPlanKind::Code {
                    position: *codes - 1,
                }
            }
            ElementContent::Shape(shape) => fixed(Some(ItemDrawing::Shape(shape.clone()))),
        };
        Self { id, kind }
    }
}

impl FittedText<'_> {
    fn to_drawing(&self) -> Option<ItemDrawing> {
        let analysis = self.analysis.as_ref()?;
        let runs = self
            .setting
            .place_text(analysis, printed_size(self.setting, self.fit))
            .runs;
        (!runs.is_empty()).then(|| ItemDrawing::Text(runs.into()))
    }

    /// How it prints otherwise than it was designed.
    fn find_warning(&self, id: &str, text_box: &TextBox) -> Option<LayoutWarning> {
        if let FittedSize::BelowSmallest(size) = self.fit {
            return Some(LayoutWarning::curve_too_long(
                id,
                text_box.smallest_size(),
                size,
            ));
        }
        let analysis = self
            .analysis
            .as_ref()
            .filter(|analysis| analysis.needs_dictionary)?;
        let is_wrapped = self.setting.find_size(analysis, LineWrapping::Never) != self.fit;
        is_wrapped.then(|| LayoutWarning::text_unmeasurable(id))
    }
}

/// Finds the size of a text in its setting.
fn fit_text(
    typesetter: &mut Typesetter,
    setting: &TextPlacement,
    text: &str,
) -> (Option<TextAnalysis>, FittedSize) {
    let analysis = setting.analyse_text(typesetter, text);
    let fit = setting.find_size(&analysis, LineWrapping::AtSpaces);
    (Some(analysis), fit)
}

/// At which a text prints.
fn printed_size(setting: &TextPlacement, fit: FittedSize) -> f64 {
    match fit {
        FittedSize::At(size) | FittedSize::BelowSmallest(size) => size,
        FittedSize::Nowhere => setting.style.smallest_size,
    }
}

fn link_warning(
    id: &str,
    code: &QrCode,
    recipient: &impl RecipientValues,
) -> Option<LayoutWarning> {
    let template = code.destination.template();
    let rendered = template.render(|field| recipient.value(field));
    if let Some(field) = rendered.empty_fields.first() {
        return Some(LayoutWarning::qr_field_empty(field, id));
    }
    if let Some(field) = template
        .field_names()
        .find(|field| recipient.value(field).is_some_and(may_be_cut))
    {
        return Some(LayoutWarning::qr_value_truncated(field, id));
    }
    let is_link = code
        .destination
        .render(|field| recipient.value(field))
        .is_some();
    let field = template.field_names().next()?;
    (!is_link).then(|| LayoutWarning::qr_link_invalid(field, id))
}

#[cfg(test)]
mod tests;
