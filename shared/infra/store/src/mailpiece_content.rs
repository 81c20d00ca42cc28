//! What a card prints of its recipient.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a card prints of its recipient, as decided when it was made. With it, the card's address and the design's
/// version, the card prints the same whatever is sent, saved or fetched later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailpieceContent {
    /// Values of the fields that the design uses, by folded name. A field without a value is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// The lines of the return address that was chosen, as they print; none for a design without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub return_address: Vec<String>,
    /// The pictures that it uses, variable and fixed: under which link each was fetched, and the name of its file in
    /// the store. A link that is not here could not be used: its default prints, or nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<String, String>,
}
