//! Who may do what with the tables: each process has only what it needs.

use std::collections::HashSet;

use tokio_postgres::Client;

use crate::error::Result;

/// The processes that reach the database, each as a user in the group `pillarbox_` and its name.
pub const PROCESSES: [&str; 5] = ["gateway", "mailer", "syncer", "dispatcher", "console"];

/// Takes everything from the groups, and gives them what the file says.
const GRANTS: &str = include_str!("grants.sql");

/// Gives the groups of the processes their privileges, all in one transaction, so that running processes never miss one they
/// keep. False, and nothing is changed, when a group is missing: whoever migrates may be nobody who makes roles.
pub(crate) async fn grant_privileges(client: &mut Client) -> Result<bool> {
    let groups: Vec<String> = PROCESSES
        .iter()
        .map(|process| format!("pillarbox_{process}"))
        .collect();
    let found = client
        .query(
            "SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1)",
            &[&groups],
        )
        .await?;
    let found: HashSet<String> = found.iter().map(|row| row.get(0)).collect();
    if found.len() < groups.len() {
        return Ok(false);
    }
    let transaction = client.transaction().await?;
    transaction.batch_execute(GRANTS).await?;
    transaction.commit().await?;
    Ok(true)
}
