//! Designs: what there is, changing one, its versions, and what it looks like.

mod document;
mod edit;
mod list;
mod proof;
mod version;

use model::id::DesignId;

use crate::route::{self, ConsoleRoute, RouteAccess};

/// Bytes of a form with a document: the largest that can print has half of that.
const DOCUMENT_BYTES: usize = 1024 * 1024;

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    vec![
        route::page("/designs", RouteAccess::Member, list::show),
        route::page("/designs/new", RouteAccess::Manager, edit::blank),
        route::upload(
            "/designs",
            RouteAccess::Manager,
            DOCUMENT_BYTES,
            edit::create,
        ),
        route::page("/designs/{design_id}", RouteAccess::Member, edit::show),
        route::upload(
            "/designs/{design_id}",
            RouteAccess::Manager,
            DOCUMENT_BYTES,
            edit::save,
        ),
        route::page(
            "/designs/{design_id}/versions",
            RouteAccess::Member,
            version::list,
        ),
        route::page(
            "/designs/{design_id}/versions/{version}",
            RouteAccess::Member,
            version::show,
        ),
        route::action(
            "/designs/{design_id}/versions/{version}/restore",
            RouteAccess::Manager,
            version::restore,
        ),
        route::page(
            "/designs/{design_id}/versions/{version}/{side}",
            RouteAccess::Member,
            proof::picture,
        ),
    ]
}

/// Where a design's page is.
fn address(design_id: DesignId) -> String {
    format!("/designs/{design_id}")
}
