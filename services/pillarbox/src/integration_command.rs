//! What can be typed about integrations.

use clap::{Args, Subcommand};

/// Integrations.
#[derive(Debug, Subcommand)]
pub enum IntegrationCommand {
    /// List a team's integrations.
    List {
        /// The team's name or id.
        team: String,
    },
    /// Refuse its requests until it is resumed.
    Pause(IntegrationArgs),
    /// Refuse its requests; for one that the owner is done with.
    Disconnect(IntegrationArgs),
    /// Remove it: its keys open nothing any more, its open sync ends, and its contacts count no more; they are erased 30 days
    /// later, or as `syncer.removed_integration_days` says. It cannot be taken back.
    Remove(IntegrationArgs),
    /// Take its requests again.
    Resume(IntegrationArgs),
}

/// Syncs of an integration.
#[derive(Debug, Subcommand)]
pub enum SyncCommand {
    /// List an integration's syncs, the newest first.
    List {
        /// Which integration.
        #[command(flatten)]
        integration: IntegrationArgs,
        /// How many at the most.
        #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
    },
    /// Restore the contacts that the last removing sync removed, within 30 days, or as `syncer.removal_undo_days` says. Those deleted
    /// by the CRM stay removed.
    UndoRemoval(IntegrationArgs),
}

/// An integration of a team.
#[derive(Debug, Args)]
pub struct IntegrationArgs {
    /// The team's name or id.
    pub team: String,
    /// The integration's name.
    pub name: String,
}
