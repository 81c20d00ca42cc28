//! Where the time of a batch goes, told by the processes' own metrics: means over all batches of a measurement.

use crate::figures::Figure;
use crate::push::{ROUNDS, Stack};

/// Seconds that went by within each other so far: whole requests as their sender sees them are the whole.
pub struct Marks {
    call: f64,
    work: f64,
    gateway_database: f64,
    syncer_database: f64,
}

impl Marks {
    /// What the processes have counted so far.
    pub async fn read(stack: &Stack) -> anyhow::Result<Self> {
        let (gateway, syncer) = (&stack.fleet.gateway, &stack.fleet.syncers[0]);
        Ok(Self {
            call: gateway
                .metric_seconds("pillarbox_call_duration_seconds")
                .await?,
            work: syncer
                .metric_seconds("pillarbox_work_duration_seconds")
                .await?,
            gateway_database: gateway
                .metric_seconds("pillarbox_database_busy_seconds")
                .await?,
            syncer_database: syncer
                .metric_seconds("pillarbox_database_busy_seconds")
                .await?,
        })
    }

    /// How [`ROUNDS`] batches that took `whole_ms` each have spent their time since these marks.
    pub async fn figures(self, stack: &Stack, whole_ms: f64) -> anyhow::Result<Vec<Figure>> {
        let now = Self::read(stack).await?;
        let ms = |now: f64, before: f64| (now - before) * 1000.0 / ROUNDS as f64;
        let (call, work) = (ms(now.call, self.call), ms(now.work, self.work));
        let gateway_database = ms(now.gateway_database, self.gateway_database);
        let syncer_database = ms(now.syncer_database, self.syncer_database);
        let parts = [
            (
                "HTTP, admission, reading the body",
                whole_ms - call - gateway_database,
            ),
            ("admission in PostgreSQL", gateway_database),
            ("broker", call - work),
            ("checking", work - syncer_database),
            ("PostgreSQL", syncer_database),
        ];
        Ok(parts
            .map(|(part, ms)| Figure::new(format!("  of it {part}"), ms, "ms"))
            .into())
    }
}
