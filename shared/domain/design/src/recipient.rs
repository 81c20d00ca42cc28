//! What a design needs to know of a recipient.

/// A recipient's values and pictures.
pub trait RecipientValues {
    /// The value of a field, by the name that the design gives it. Which spellings of a name are one field is for
    /// the implementation to say. A blank value is as good as none.
    fn value(&self, field: &str) -> Option<&str>;

    /// Whether the picture at a link can print. Asked with a recipient's value as it is, and with the design's own
    /// links.
    fn has_picture(&self, link: &str) -> bool;

    /// Whether a card is only wanted with all of the recipient's pictures (the API contract:
    /// `require_variable_images`).
    fn requires_pictures(&self) -> bool {
        false
    }
}
