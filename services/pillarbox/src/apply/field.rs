//! Fields of the file that can be checked on their own: each is right from the moment it was read, and what is
//! wrong is reported with its place in the file.

use std::fmt;

use address::{AddressInput, AddressListEntry};
use audience::{BuiltInColumn, GeoArea};
use designs::DesignDocument;
use model::limits::FIELD_NAME_CHARS;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// The field of a recipient that is in no column.
const REFERENCE: &str = "reference";

/// The name of a custom column.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ColumnNameSpec(pub(super) String);

impl TryFrom<String> for ColumnNameSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > FIELD_NAME_CHARS {
            return Err(format!("must be 1 to {FIELD_NAME_CHARS} characters"));
        }
        if BuiltInColumn::from_name(text).is_some() {
            return Err(format!("{text} is a built-in column, which every team has"));
        }
        if audience::fold_name(text) == REFERENCE {
            return Err(format!(
                "{text} is the sender's own id of a recipient, which no column can hold"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

/// A verified address: on one line, or as an object of its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DoNotMailAddressSpec(pub(super) AddressListEntry);

/// An address in parts, as recipients have them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressPartsSpec {
    address_1: String,
    #[serde(default)]
    address_2: String,
    city: String,
    state: String,
    zip: String,
}

impl DoNotMailAddressSpec {
    fn from_parts(parts: &AddressPartsSpec) -> Result<Self, String> {
        let AddressPartsSpec {
            address_1,
            address_2,
            city,
            state,
            zip,
        } = parts;
        AddressListEntry::from_parts(AddressInput {
            address_1,
            address_2,
            city,
            state,
            zip,
        })
        .map(Self)
    }
}

impl<'de> Deserialize<'de> for DoNotMailAddressSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AddressSpecVisitor)
    }
}

struct AddressSpecVisitor;

impl<'de> Visitor<'de> for AddressSpecVisitor {
    type Value = DoNotMailAddressSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("an address on one line, or an object with address_1, city, state and zip")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<DoNotMailAddressSpec, E> {
        AddressListEntry::from_line(text)
            .map(DoNotMailAddressSpec)
            .map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DoNotMailAddressSpec, A::Error> {
        let parts = AddressPartsSpec::deserialize(MapAccessDeserializer::new(map))?;
        DoNotMailAddressSpec::from_parts(&parts).map_err(A::Error::custom)
    }
}

/// A map area, as GeoJSON text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct MapAreaSpec(pub(super) String);

impl TryFrom<Value> for MapAreaSpec {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let text = value.to_string();
        GeoArea::parse(&text)
            .and_then(|area| area.validate())
            .map_err(|error| error.to_string())?;
        Ok(Self(text))
    }
}

/// A design document that can print.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct DesignDocumentSpec(pub(super) DesignDocument);

impl TryFrom<Value> for DesignDocumentSpec {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        DesignDocument::new(value)
            .map(Self)
            .map_err(|problem| problem.to_string())
    }
}

/// The URL of a webhook endpoint. Whether its host may be asked is seen when the file is applied.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct EndpointUrlSpec(pub(super) outbound::TargetUrl);

impl TryFrom<String> for EndpointUrlSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        outbound::TargetUrl::parse(&text)
            .map(Self)
            .map_err(|error| error.to_string())
    }
}
