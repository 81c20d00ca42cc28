//! The word lists of Publication 28.

pub(crate) mod direction;
pub(crate) mod highway;
pub(crate) mod state;
pub(crate) mod suffix;
pub(crate) mod unit;
