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

/// Lines of a list on one page.
const LINES: i64 = 50;
