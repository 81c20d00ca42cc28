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

/// What can be measured alone.
pub const PARTS: [&str; 6] = ["share", "copy", "size", "burst", "memory", "history"];

/// Times that each long measurement is taken.
const ROUNDS: usize = 7;

/// Recipients in the largest request.
const LARGE: usize = model::limits::RECIPIENTS_PER_REQUEST;

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
        Ok(Self {
            database,
            fleet,
            sender,
            people: People::default(),
        })
    }

    /// Ends the processes and removes the database.
    async fn stop(self) -> anyhow::Result<()> {
        drop(self.fleet);
        self.database.remove().await
    }
}

/// Measures these parts of what there is about sends.
pub async fn run(parts: Vec<&str>) -> anyhow::Result<Vec<Figure>> {
    step("prepare a team");
    let database = Database::migrated("bench_send").await?;
    provision(&database).await?;
    let fresh = Fresh {
        copies: database.copy("bench_send_copies").await?,
        history: database.copy("bench_send_history").await?,
    };
    let mut stack = Stack::start(database).await?;
    let mut figures = Vec::new();
    for part in parts {
        figures.extend(told(measure(part, &mut stack, &fresh).await?));
    }
    stack.stop().await?;
    fresh.copies.remove().await?;
    fresh.history.remove().await?;
    Ok(figures)
}

/// Databases that were the same as the stack's before its first request.
struct Fresh {
    copies: Database,
    history: Database,
}

async fn measure(part: &str, stack: &mut Stack, fresh: &Fresh) -> anyhow::Result<Vec<Figure>> {
    match part {
        "share" => share::measure(stack).await,
        "copy" => copy::measure(stack, &fresh.copies).await,
        "size" => size::measure(stack).await,
        "burst" => burst::measure(stack).await,
        "memory" => memory::measure(stack).await,
        "history" => history::measure(stack, &fresh.history).await,
        other => anyhow::bail!("nothing is called {other}"),
    }
}

/// The same figures, told as soon as they are known: the whole takes minutes.
fn told(figures: Vec<Figure>) -> Vec<Figure> {
    for figure in &figures {
        step(&format!("  {figure}"));
    }
    figures
}
