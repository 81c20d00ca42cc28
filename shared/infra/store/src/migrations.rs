//! The migrations, as they stand in the program.

use refinery::{Migration, Runner};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// What applies them.
pub(crate) fn migration_runner() -> Runner {
    embedded::migrations::runner()
}

/// Every migration that makes the tables of a new database.
pub(crate) fn known_migrations() -> Vec<Migration> {
    migration_runner().get_migrations().clone()
}
