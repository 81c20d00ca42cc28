//! `bench send`: one request from its body to its answer, alone, in a burst, over a long history, and in memory.

mod burst;
mod copy;
mod history;
mod memory;
mod share;
mod size;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::load::{People, Sender, provision};
use crate::step;

/// Times that each long measurement is taken.
const ROUNDS: usize = 7;

/// Recipients in the largest request.
const LARGE: usize = contract::limits::RECIPIENTS_PER_REQUEST;

/// A stack with what sends requests to it.
struct Stack {
    database: Database,
    fleet: Fleet,
    sender: Sender,
    people: People,
}

impl Stack {
    /// A gateway and a mailer on this database.
    async fn start(database: Database) -> anyhow::Result<Self> {
        let fleet = Fleet::start(&database, 1).await?;
        let sender = Sender::new(&fleet.url)?;
        Ok(Self { database, fleet, sender, people: People::default() })
    }

    /// Ends the processes and removes the database.
    async fn stop(self) -> anyhow::Result<()> {
        drop(self.fleet);
        self.database.remove().await
    }
}

/// Measures everything about sends.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    step("prepare a team");
    let database = Database::migrated("bench_send").await?;
    provision(&database).await?;
    let copies = database.copy("bench_send_copies").await?;
    let seeded = database.copy("bench_send_history").await?;
    let mut stack = Stack::start(database).await?;

    let mut figures = Vec::new();
    figures.extend(told(share::measure(&mut stack).await?));
    figures.extend(told(copy::measure(&mut stack, &copies).await?));
    copies.remove().await?;
    figures.extend(told(size::measure(&mut stack).await?));
    figures.extend(told(burst::measure(&mut stack).await?));
    figures.extend(told(memory::measure(&mut stack).await?));
    figures.extend(told(history::measure(&mut stack, seeded).await?));
    stack.stop().await?;
    Ok(figures)
}

/// The same figures, told as soon as they are known: the whole takes minutes.
fn told(figures: Vec<Figure>) -> Vec<Figure> {
    for figure in &figures {
        step(&format!("  {figure}"));
    }
    figures
}
