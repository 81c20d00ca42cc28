//! Style, script and icon: in the binary, named in pages with a digest of their content, so that browsers keep them and
//! never use an old one.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::page_error::PageError;

/// A file of a fixed content.
struct StaticAsset {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

const ASSETS: [StaticAsset; 3] = [
    StaticAsset {
        name: "console.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("../assets/console.css"),
    },
    StaticAsset {
        name: "console.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_str!("../assets/console.js"),
    },
    StaticAsset {
        name: "icon.svg",
        content_type: "image/svg+xml",
        content: include_str!("../assets/icon.svg"),
    },
];

/// Changes with the content of any asset.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    ASSETS
        .iter()
        .for_each(|asset| asset.content.hash(&mut hasher));
    format!("{:016x}", hasher.finish())
});

/// The address of an asset, for templates.
pub(crate) fn asset_address(name: &str) -> String {
    format!("/assets/{name}?{}", *VERSION)
}

/// An asset.
pub(crate) async fn serve_asset(Path(name): Path<String>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return PageError::NotFound.into_response();
    };
    let headers = [
        (CONTENT_TYPE, asset.content_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.content).into_response()
}
