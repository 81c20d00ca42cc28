//! `bench push`: batches of contacts, new and unchanged, alone and four at a time, and the completion of a full sync;
//! `bench push-large`: the same batch in a small and in a large table.

mod batch;
mod client;
mod complete;
mod share;
mod size;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::push::client::{Client, Ids, provision};
use crate::{step, tell};

/// Records in a batch.
const BATCH: usize = model::limits::RECORDS_PER_BATCH;

/// Times that each short measurement is taken.
const ROUNDS: usize = 31;

/// A stack with what pushes to it.
struct Stack {
    database: Database,
    fleet: Fleet,
}

impl Stack {
    async fn start(name: &str) -> anyhow::Result<Self> {
        step("prepare a team with integrations");
        let database = Database::migrated(name).await?;
        provision(&database).await?;
        let mut fleet = Fleet::start(&database, 0).await?;
        fleet.add_syncer().await?;
        let stack = Self { database, fleet };
        stack.client(0)?.until_ready().await?;
        Ok(stack)
    }

    async fn end(self) -> anyhow::Result<()> {
        drop(self.fleet);
        self.database.remove().await
    }

    /// A client of the integration with this number, whose ids are spread.
    fn client(&self, number: usize) -> anyhow::Result<Client> {
        self.client_with(number, Ids::Spread)
    }

    fn client_with(&self, number: usize, ids: Ids) -> anyhow::Result<Client> {
        Client::new(&self.fleet.url, number, ids)
    }
}

/// Measures pushes and completions.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    let stack = Stack::start("bench_push").await?;
    let mut figures = tell(batch::measure(&stack).await?);
    figures.extend(complete::measure(&stack).await?);
    stack.end().await?;
    Ok(figures)
}

/// Measures pushes into tables of different sizes.
pub async fn run_large() -> anyhow::Result<Vec<Figure>> {
    let stack = Stack::start("bench_push_large").await?;
    let figures = size::measure(&stack).await?;
    stack.end().await?;
    Ok(figures)
}
