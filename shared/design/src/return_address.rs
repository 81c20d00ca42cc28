//! The return address of a design.

use serde::Deserialize;

use crate::template::Template;

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
    pub name: Template,
    /// Street and number, or a box.
    pub address_1: Template,
    /// The unit.
    #[serde(default)]
    pub address_2: Option<Template>,
    /// City.
    pub city: Template,
    /// State, as a rule two letters.
    pub state: Template,
    /// ZIP or ZIP+4.
    pub zip: Template,
}

impl PostalAddress {
    /// Its lines' templates, as they print.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        [&self.name, &self.address_1].into_iter().chain(&self.address_2).chain([
            &self.city,
            &self.state,
            &self.zip,
        ])
    }

    /// The names of its fields, repeats included.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.templates().flat_map(Template::fields)
    }

    /// Whether a part that every address has is always blank.
    pub(crate) fn lacks_a_part(&self) -> bool {
        [&self.name, &self.address_1, &self.city, &self.state, &self.zip]
            .into_iter()
            .any(|template| template.fields().next().is_none() && template.leading_text().trim().is_empty())
    }
}
