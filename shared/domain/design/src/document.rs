//! A whole design.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::check;
use crate::element::{DesignElement, deserialize_setting};
use crate::limits::ELEMENTS_PER_SURFACE;
use crate::problem::DesignError;
use crate::product::{Product, ReservedZone, Side};
use crate::return_address::ReturnAddress;
use crate::style::Colour;

/// A design that can print.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintableDesign {
    product: Product,
    return_address: Option<ReturnAddress>,
    front: DesignSide,
    back: DesignSide,
}

/// What is on one side of the card.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignSide {
    /// Behind everything, to the end of the bleed but not in reserved zones; `None` is the paper.
    pub background: Option<Colour>,
    /// From the lowest to the topmost.
    pub elements: Vec<DesignElement>,
}

/// A document before its elements are read: one by one, so that a problem names its element.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDocument {
    /// Where the document's JSON Schema is, for editors.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    product: Product,
    #[serde(default)]
    return_address: Option<ReturnAddress>,
    front: RawSide,
    back: RawSide,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSide {
    #[serde(default)]
    background: Option<Colour>,
    #[serde(default)]
    elements: Vec<Value>,
}

impl PrintableDesign {
    /// Reads a design and checks that it can print.
    ///
    /// # Errors
    /// [`DesignError`], the first one found.
    pub fn parse(value: &Value) -> Result<Self, DesignError> {
        let outer: RawDocument = deserialize_setting(value).map_err(DesignError::for_document)?;
        let document = Self {
            product: outer.product,
            return_address: outer.return_address,
            front: outer.front.parse_elements(Side::Front)?,
            back: outer.back.parse_elements(Side::Back)?,
        };
        check::check_document(&document)?;
        Ok(document)
    }

    /// What it is printed as.
    pub const fn product(&self) -> Product {
        self.product
    }

    /// One side of it.
    pub const fn side(&self, side: Side) -> &DesignSide {
        match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        }
    }

    /// The address in the upper left corner of the address side; `None` when it has none of its own.
    pub const fn return_address(&self) -> Option<&ReturnAddress> {
        self.return_address.as_ref()
    }

    /// The parts of the address side that no element may cover.
    pub fn reserved_zones(&self) -> Vec<ReservedZone> {
        let mut zones = self.product.reserved_zones();
        zones.extend(
            self.return_address
                .is_some()
                .then(|| self.product.return_address_zone()),
        );
        zones
    }

    /// The recipient's fields that it uses, each once in the spelling met first, in alphabetical order. Case
    /// does not make two fields of one.
    pub fn field_names(&self) -> Vec<&str> {
        let elements = self
            .front
            .elements
            .iter()
            .chain(&self.back.elements)
            .flat_map(DesignElement::field_names);
        let address = self
            .return_address
            .iter()
            .flat_map(|return_address| return_address.address.field_names());
        let mut spelling = BTreeMap::new();
        for field in elements.chain(address) {
            spelling.entry(field.to_lowercase()).or_insert(field);
        }
        spelling.into_values().collect()
    }
}

impl RawSide {
    fn parse_elements(&self, side: Side) -> Result<DesignSide, DesignError> {
        if self.elements.len() > ELEMENTS_PER_SURFACE {
            return Err(DesignError::for_side(
                side,
                format!("it has more than {ELEMENTS_PER_SURFACE} elements"),
            ));
        }
        let elements = self
            .elements
            .iter()
            .enumerate()
            .map(|(index, value)| {
                DesignElement::parse(value).map_err(|explanation| {
                    DesignError::for_item(side, check::name_element(value, index), explanation)
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(DesignSide {
            background: self.background,
            elements,
        })
    }
}

#[cfg(test)]
mod tests;
