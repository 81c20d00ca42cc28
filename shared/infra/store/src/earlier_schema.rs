//! Databases whose tables were made before the baseline, the first of today's migrations, by a chain of smaller ones. The chain
//! and the baseline make the same tables, so such a database is brought to the chain's end, and its history then says that the
//! baseline was applied.

use refinery::Migration;
use tokio_postgres::Client;

use crate::error::{Result, StoreError};

mod embedded {
    refinery::embed_migrations!("earlier_migrations");
}

/// The newest migration of the chain; none is ever added.
const LAST_EARLIER: i32 = 46;

/// The last file of the baseline: it is the migrations from behind the chain to this one.
const LAST_OF_BASELINE: i32 = 55;

/// The chain.
pub(crate) fn earlier_migrations() -> refinery::Runner {
    embedded::migrations::runner()
}

/// Whether a database's history is one of the chain.
pub(crate) async fn has_earlier_history(client: &Client) -> Result<bool> {
    let table = "SELECT to_regclass('refinery_schema_history') IS NOT NULL";
    if !client.query_one(table, &[]).await?.get::<_, bool>(0) {
        return Ok(false);
    }
    let earlier = "SELECT EXISTS (SELECT FROM refinery_schema_history WHERE version <= $1)";
    Ok(client.query_one(earlier, &[&LAST_EARLIER]).await?.get(0))
}

/// Puts the baseline in the place of the chain, all of which was applied. One transaction: whoever asks for the newest version
/// finds the chain's or the baseline's, and never a lower one than before.
pub(crate) async fn replace_earlier_history(
    client: &mut Client,
    known: &[Migration],
) -> Result<()> {
    let transaction = client.transaction().await?;
    let baseline = known
        .iter()
        .filter(|migration| migration.version() <= LAST_OF_BASELINE);
    for file in baseline {
        // Its tables are as old as the end of the chain.
        let sql = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
            SELECT $1, $2, applied_on, $3 FROM refinery_schema_history WHERE version = $4";
        let (version, checksum) = (file.version(), file.checksum().to_string());
        let written = transaction
            .execute(sql, &[&version, &file.name(), &checksum, &LAST_EARLIER])
            .await?;
        if written != 1 {
            return Err(StoreError::Corrupt(format!(
                "migration failed: {LAST_EARLIER} is not in the history of migrations"
            )));
        }
    }
    let sql = "DELETE FROM refinery_schema_history WHERE version <= $1";
    transaction.execute(sql, &[&LAST_EARLIER]).await?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrations::known_migrations;

    /// What databases remember of these migrations, in one number.
    fn migrations_digest<'m>(migrations: impl Iterator<Item = &'m Migration>) -> u64 {
        let mut migrations: Vec<_> = migrations.collect();
        migrations.sort();
        migrations.iter().fold(0, |digest: u64, migration| {
            digest.rotate_left(1) ^ migration.checksum()
        })
    }

    #[test]
    fn migrations_that_databases_have_applied_never_change() {
        let (earlier, known) = (earlier_migrations(), known_migrations());
        assert_eq!(
            migrations_digest(earlier.get_migrations().iter()),
            1_772_447_712_754_992_556
        );
        let baseline = known
            .iter()
            .filter(|migration| migration.version() <= LAST_OF_BASELINE);
        assert_eq!(migrations_digest(baseline), 5_115_300_788_559_263_895);
    }

    #[test]
    fn the_baseline_follows_the_chain() {
        let versions = |migrations: &[Migration]| {
            let mut versions: Vec<_> = migrations.iter().map(Migration::version).collect();
            versions.sort_unstable();
            versions
        };
        let earlier = versions(earlier_migrations().get_migrations());
        assert_eq!(earlier.last(), Some(&LAST_EARLIER));
        let known = versions(&known_migrations());
        let expected: Vec<i32> = (LAST_EARLIER + 1..).take(known.len()).collect();
        assert_eq!(known, expected, "no number is left out");
        assert!(known.contains(&LAST_OF_BASELINE));
    }
}
