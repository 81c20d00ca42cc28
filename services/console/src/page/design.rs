//! Designs: what there is, changing one, its versions, and what it looks like.

mod document;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod proof;
pub(crate) mod version;

use model::id::DesignId;

/// Bytes of a form with a document: the largest that can print has half of that.
pub(crate) const DOCUMENT_BYTES: usize = 1024 * 1024;

/// Where a design's page is.
fn design_address(design_id: DesignId) -> String {
    format!("/designs/{design_id}")
}
