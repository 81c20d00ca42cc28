//! Designs.

use crate::route::Route;

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    Vec::new()
}
