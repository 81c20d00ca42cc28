//! Designs: made, saved, gone back to. Each function is one use case: one transaction, with its entry in the team's activity log,
//! whoever calls it.
//!
//! In reading order: [`DesignDocument`], which all of them save; [`create_design`], [`save_version`] and [`restore_version`], by which
//! people work on a design; and [`save_design_within`], by which a file sets one within its own transaction.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod change;

pub use change::{
    CreateDesignError, DesignContent, DesignDocument, RestoreDesignError, SaveVersionError,
    UnprintableDocument, create_design, restore_version, save_design_within, save_version,
};
