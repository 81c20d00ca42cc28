//! The pages, one file for each part of the navigation.

pub(crate) mod activity;
pub(crate) mod api;
pub(crate) mod home;
pub(crate) mod sign_in;

/// Lines of a list on one page.
const LINES: i64 = 50;
