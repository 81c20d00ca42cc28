//! What people and operators change of integrations. Each function is one use case: one transaction, with its entry in the team's
//! activity log, whoever calls it.
//!
//! In reading order: [`create`], [`set_availability`] and [`remove`]; the removal guard ([`set_removal_guard`]) and the removal
//! that it let through ([`undo_removal`]); which fields fill the columns of contacts ([`map_fields`], [`release_fields`]);
//! and [`save_within`], by which a file sets an integration within its own transaction. Keys are the crate `accounts`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod guard;
mod mapping;
mod save;
mod standing;

pub use guard::{SetGuardError, format_guard, set_removal_guard, undo_removal};
pub use mapping::{
    ColumnSources, MapFieldsError, MappingProblem, column_sources, format_mapping, map_fields,
    release_fields,
};
pub use save::{IntegrationSettings, save_integration_within};
pub use standing::{create_integration, remove_integration, set_integration_availability};
