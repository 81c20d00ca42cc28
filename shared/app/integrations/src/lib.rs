//! What people and operators change of integrations. Each function is one use case: one transaction, with its entry in the team's
//! activity log, whoever calls it.
//!
//! In reading order: [`create_integration`], [`set_integration_availability`] and [`remove_integration`]; the removal guard ([`set_removal_guard`]) and the removal
//! that it let through ([`undo_removal`]); which fields fill the columns of contacts ([`map_fields`], [`release_fields`]);
//! and [`save_integration_within`], by which a file sets an integration within its own transaction. Keys are the crate `accounts`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod change;
mod mapping;

pub use change::{
    IntegrationSettings, SetGuardError, create_integration, format_guard, remove_integration,
    save_integration_within, set_integration_availability, set_removal_guard, undo_removal,
};
pub use mapping::{
    ColumnSources, MapFieldsError, MappingProblem, column_sources, format_mapping, map_fields,
    release_fields,
};
