//! The return address of a design.

use serde::Deserialize;

use crate::font::Font;
use crate::product::Product;
use crate::style::{Colour, HorizontalAlignment, VerticalAlignment};
use crate::template::{RenderedTemplate, TextTemplate};
use crate::text::{BlockStyle, TextBlock, Typesetter};

/// How it prints.
const STYLE: BlockStyle = BlockStyle {
    font: Font::DejaVuSans,
    size: 7.5,
    smallest_size: 5.0,
    line_height: 1.2,
    alignment: HorizontalAlignment::Left,
    vertical_alignment: VerticalAlignment::Top,
    colour: Colour::BLACK,
};

/// The address in the upper left corner of the address side.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReturnAddress {
    /// What prints; with fields it differs by recipient and is verified for each.
    pub address: PostalAddress,
    /// Prints instead when a field of `address` is empty or the address cannot be verified; has no fields.
    /// There is one exactly when `address` has fields.
    #[serde(default)]
    pub fallback: Option<PostalAddress>,
}

/// The lines of an address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostalAddress {
    /// A person or company.
    pub name: TextTemplate,
    /// Street and number, or a box.
    pub address_1: TextTemplate,
    /// The unit.
    #[serde(default)]
    pub address_2: Option<TextTemplate>,
    /// City.
    pub city: TextTemplate,
    /// State, as a rule two letters.
    pub state: TextTemplate,
    /// ZIP or ZIP+4.
    pub zip: TextTemplate,
}

/// An address with somebody's values in it. No part has more than one space between two words, or a line feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilledAddress {
    /// A person or company.
    pub name: String,
    /// Street and number, or a box.
    pub address_1: String,
    /// The unit; empty without one.
    pub address_2: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// ZIP or ZIP+4.
    pub zip: String,
    /// Whether no field was empty that has no default.
    pub is_whole: bool,
}

impl FilledAddress {
    /// Its lines, as they print.
    pub fn lines(self) -> Vec<String> {
        let last = format!("{}, {} {}", self.city, self.state, self.zip);
        let lines = [self.name, self.address_1, self.address_2, last];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

impl Product {
    /// Sets the lines of a return address in its zone: smaller if they are long, cut off if they are still too long.
    pub fn set_return_address<L: AsRef<str>>(
        self,
        typesetter: &mut Typesetter,
        lines: &[L],
    ) -> TextBlock {
        typesetter.set_block(lines, &STYLE, self.return_address_zone().area)
    }
}

impl PostalAddress {
    /// The address with the values that `lookup` gives by field name.
    pub fn render<'v>(&self, lookup: impl Fn(&str) -> Option<&'v str>) -> FilledAddress {
        let mut is_whole = true;
        let mut fill = |template: &TextTemplate| {
            let RenderedTemplate { text, empty_fields } = template.render(&lookup);
            is_whole &= empty_fields.is_empty();
            // One line of the address each: nobody's value makes a further one.
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (name, address_1) = (fill(&self.name), fill(&self.address_1));
        let address_2 = self.address_2.as_ref().map(&mut fill).unwrap_or_default();
        let (city, state, zip) = (fill(&self.city), fill(&self.state), fill(&self.zip));
        FilledAddress {
            name,
            address_1,
            address_2,
            city,
            state,
            zip,
            is_whole,
        }
    }

    /// Its lines' templates, as they print.
    pub fn line_templates(&self) -> impl Iterator<Item = &TextTemplate> {
        [&self.name, &self.address_1]
            .into_iter()
            .chain(&self.address_2)
            .chain([&self.city, &self.state, &self.zip])
    }

    /// The names of its fields, repeats included.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.line_templates().flat_map(TextTemplate::field_names)
    }

    /// Whether a part that every address has is always blank.
    pub(crate) fn has_blank_part(&self) -> bool {
        [
            &self.name,
            &self.address_1,
            &self.city,
            &self.state,
            &self.zip,
        ]
        .into_iter()
        .any(|template| {
            template.field_names().next().is_none() && template.leading_text().trim().is_empty()
        })
    }
}
