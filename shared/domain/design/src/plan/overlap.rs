//! Texts that print over other elements, or under them.
//!
//! Elements may lie on each other by design: a text on a picture, a badge on a corner. So only what a recipient's
//! values do counts. A text is to stay clear of another element of its surface when
//! - their areas meet, and
//! - the other is no background of it: a picture or shape below it that holds all of its area, and
//! - they do not meet in the design as it is drawn, with defaults in the place of fields, or their names where there
//!   are none.
//!
//! What counts as the place of a text is the ink of its lines.

use std::collections::HashSet;

use crate::element::{DesignElement, ElementContent};
use crate::finding::LayoutWarning;
use crate::outline::ElementOutline;
use crate::plan::{ElementPlanKind, FittedText, LayoutPlan, fit_text, picture, printed_size};
use crate::product::Side;
use crate::recipient::RecipientValues;
use crate::text::Typesetter;

impl LayoutPlan {
    /// Finds, for each text with fields, what it is to stay clear of.
    pub(super) fn find_neighbours(&mut self, typesetter: &mut Typesetter) {
        for side in Side::ALL {
            let drawn: Vec<ElementOutline> = self
                .planned_elements(side)
                .map(|(part, element)| design_outline(typesetter, &part.kind, element))
                .collect();
            let neighbours: Vec<Vec<usize>> = (0..drawn.len())
                .map(|index| self.elements_to_avoid(side, index, &drawn))
                .collect();
            let parts = match side {
                Side::Front => &mut self.front,
                Side::Back => &mut self.back,
            };
            for (part, neighbours) in parts.iter_mut().zip(neighbours) {
                if let ElementPlanKind::Text { clear_of, .. } = &mut part.kind {
                    *clear_of = neighbours;
                }
            }
        }
    }

    fn elements_to_avoid(&self, side: Side, index: usize, drawn: &[ElementOutline]) -> Vec<usize> {
        let elements = &self.document.side(side).elements;
        let frame = elements[index].frame;
        let others = (0..elements.len()).filter(|other| *other != index);
        let meet = others.filter(|other| elements[*other].frame.overlaps(frame));
        let apart = meet.filter(|other| {
            let is_background = *other < index
                && matches!(
                    elements[*other].content,
                    ElementContent::Image(_) | ElementContent::Shape(_)
                )
                && elements[*other].frame.contains(frame);
            !is_background && !drawn[index].overlaps(&drawn[*other])
        });
        apart.collect()
    }

    /// The first element that a recipient's text meets though it is to stay clear of it. Two texts that meet are told
    /// of once.
    pub(super) fn find_overlap(
        &self,
        text: &FittedText<'_>,
        texts: &[FittedText<'_>],
        recipient: &impl RecipientValues,
    ) -> Option<LayoutWarning> {
        if text.clear_of.is_empty() {
            return None;
        }
        let told: HashSet<usize> = texts
            .iter()
            .filter(|other| other.side == text.side && other.index < text.index)
            .map(|other| other.index)
            .collect();
        let own = self.text_outline(text);
        let mut others = text.clear_of.iter().filter(|other| !told.contains(other));
        let met = others.find(|other| {
            own.overlaps(&self.printed_outline(text.side, **other, texts, recipient))
        })?;
        let parts = self.element_plans(text.side);
        Some(LayoutWarning::text_overlap(
            &parts[text.index].id,
            &parts[*met].id,
        ))
    }

    fn text_outline(&self, text: &FittedText<'_>) -> ElementOutline {
        let Some(analysis) = &text.analysis else {
            return ElementOutline::default();
        };
        let placed = text
            .setting
            .place_text(analysis, printed_size(text.setting, text.fit));
        ElementOutline::from_text(self.element(text.side, text.index).frame, &placed.outline)
    }

    /// What an element covers on a recipient's card.
    fn printed_outline(
        &self,
        side: Side,
        index: usize,
        texts: &[FittedText<'_>],
        recipient: &impl RecipientValues,
    ) -> ElementOutline {
        let element = self.element(side, index);
        match (&self.element_plans(side)[index].kind, &element.content) {
            (ElementPlanKind::Fixed { outline, .. }, _) => outline.clone(),
            (ElementPlanKind::Picture, ElementContent::Image(image))
                if picture::draw_picture(image, recipient).is_none() =>
            {
                ElementOutline::default()
            }
            (ElementPlanKind::Text { .. }, _) => texts
                .iter()
                .find(|text| (text.side, text.index) == (side, index))
                .map(|text| self.text_outline(text))
                .unwrap_or_default(),
            _ => ElementOutline::from_element(element),
        }
    }
}

/// What an element covers in the design as it is drawn.
fn design_outline(
    typesetter: &mut Typesetter,
    kind: &ElementPlanKind,
    element: &DesignElement,
) -> ElementOutline {
    match (kind, &element.content) {
        (ElementPlanKind::Fixed { outline, .. }, _) => outline.clone(),
        (ElementPlanKind::Text { setting, .. }, ElementContent::Text(text)) => {
            let (analysis, fit) = fit_text(typesetter, setting, &text.text.placeholder_text());
            let placed = analysis
                .map(|analysis| setting.place_text(&analysis, printed_size(setting, fit)))
                .unwrap_or_default();
            ElementOutline::from_text(element.frame, &placed.outline)
        }
        _ => ElementOutline::from_element(element),
    }
}
