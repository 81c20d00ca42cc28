//! The pages, one file for each part of the navigation.

pub(crate) mod activity;
pub(crate) mod address_book;
pub(crate) mod billing;
pub(crate) mod campaign;
pub(crate) mod design;
pub(crate) mod endpoint;
pub(crate) mod home;
pub(crate) mod integration;
pub(crate) mod key;
pub(crate) mod recipient;
pub(crate) mod sign_in;
pub(crate) mod team;

use std::time::Duration;

/// How long a page may compute formulas for one person after another; then nobody is computed any more.
pub(crate) const COMPUTING_TIME: Duration = Duration::from_secs(2);
