//! `bench push`: batches of contacts, new and unchanged, alone and four at a time, in small and large tables, and the
//! completion of a full sync.

mod batch;
mod client;
mod complete;
mod size;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::push::client::{Client, provision};
use crate::step;

/// Records in a batch.
const BATCH: usize = contract::limits::RECORDS_PER_BATCH;

/// Times that each short measurement is taken.
const ROUNDS: usize = 15;

/// A stack with what pushes to it.
struct Stack {
    database: Database,
    fleet: Fleet,
}

impl Stack {
    /// A client of the integration with this number.
    fn client(&self, number: usize) -> anyhow::Result<Client> {
        Client::new(&self.fleet.url, number)
    }
}

/// Measures everything about pushes.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    step("prepare a team with integrations");
    let database = Database::migrated("bench_push").await?;
    provision(&database).await?;
    let mut fleet = Fleet::start(&database, 0).await?;
    fleet.add_syncer().await?;
    let stack = Stack { database, fleet };
    stack.client(0)?.until_ready().await?;

    let mut figures = batch::measure(&stack).await?;
    figures.extend(complete::measure(&stack).await?);
    figures.extend(size::measure(&stack).await?);
    drop(stack.fleet);
    stack.database.remove().await?;
    Ok(figures)
}
