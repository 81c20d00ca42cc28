//! `bench webhooks`: from a scan to the endpoint, under load, at leisure, beside an endpoint that hangs, and in memory.
//!
//! The sink and the phones run in this process, on the same cores as everything else. What they are compared
//! to is made in the same run: bare inserts of the same rows, and a bare client that posts the same bodies to the same sink.

mod bare;
mod hang;
mod leisure;
mod load;
mod sink;
mod team;
mod waiting;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::webhooks::sink::Sink;
use crate::webhooks::team::Card;
use crate::{step, tell};

/// What can be measured alone.
pub const PARTS: [&str; 4] = ["load", "leisure", "hang", "waiting"];

/// A stack with mailed cards and a sink that hears of their scans.
struct Stack {
    database: Database,
    fleet: Fleet,
    sink: Sink,
    cards: Vec<Card>,
}

impl Stack {
    async fn start() -> anyhow::Result<Self> {
        let database = Database::migrated("bench_webhooks").await?;
        let sink = Sink::start().await?;
        team::provision(&database, &sink.url).await?;
        let mut fleet = Fleet::start(&database, 1).await?;
        fleet.add_dispatcher().await?;
        let cards = team::mail(&database, &fleet.url).await?;
        Ok(Self {
            database,
            fleet,
            sink,
            cards,
        })
    }
}

/// Measures these parts of what there is about scans and deliveries.
pub async fn run(parts: Vec<&str>) -> anyhow::Result<Vec<Figure>> {
    step("prepare a team and its cards");
    let mut stack = Stack::start().await?;
    let mut figures = Vec::new();
    for part in parts {
        let measured = match part {
            "load" => load::measure(&mut stack).await,
            "leisure" => leisure::measure(&stack).await,
            "hang" => hang::measure(&stack).await,
            _ => waiting::measure(&stack).await,
        };
        figures.extend(tell(measured?));
    }
    drop(stack.fleet);
    stack.database.remove().await?;
    Ok(figures)
}
