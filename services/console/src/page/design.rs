//! Designs: what there is, changing one, its versions, and what it looks like.

mod document;
mod edit;
mod list;
mod proof;
mod version;

use contract::id::DesignId;

use crate::route::{self, Access, Route};

/// Bytes of a form with a document: the largest that can print has half of that.
const DOCUMENT_BYTES: usize = 1024 * 1024;

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        route::page("/designs", Access::Member, list::show),
        route::page("/designs/new", Access::Manager, edit::blank),
        route::upload("/designs", Access::Manager, DOCUMENT_BYTES, edit::create),
        route::page("/designs/{design_id}", Access::Member, edit::show),
        route::upload("/designs/{design_id}", Access::Manager, DOCUMENT_BYTES, edit::save),
        route::page("/designs/{design_id}/versions", Access::Member, version::list),
        route::page("/designs/{design_id}/versions/{version}", Access::Member, version::show),
        route::action("/designs/{design_id}/versions/{version}/restore", Access::Manager, version::restore),
        route::page("/designs/{design_id}/versions/{version}/{side}", Access::Member, proof::picture),
    ]
}

/// Where a design's page is.
fn address(design_id: DesignId) -> String {
    format!("/designs/{design_id}")
}
