//! Giving back what is owed to cards for cancelled mailpieces. Nobody waits for it: the mailpieces are cancelled already.
//!
//! A claim is a lease until the next try is due. A worker that dies between the provider's answer and the booking leaves the refund
//! owed; the next one asks with the same key, and the provider answers what it has done.

use std::error::Error;

use chrono::TimeDelta;
use model::id::TeamId;
use store::{OwedRefund, StoreError, retry_conflicts};

use crate::MailerState;
use crate::leased::{LeasedWork, WorkLimits};

/// How long a try may take before another worker makes the next one: longer than the provider is asked in one.
const LEASE: TimeDelta = TimeDelta::minutes(5);

/// Tries of a refund before it waits for an operator.
const ATTEMPTS: i32 = 20;

/// Pause after the first failed try, doubled at each further one.
const FIRST_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The longest pause: twenty tries then take about three days.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(6);

/// Refunds that a provider owes.
#[derive(Clone)]
pub(crate) struct OwedRefunds {
    pub(crate) mailer: MailerState,
}

impl LeasedWork for OwedRefunds {
    type LeasedItem = OwedRefund;

    const NAME: &'static str = "owed refunds";

    // Each may wait for a payment provider that hangs.
    const BOUNDS: WorkLimits = WorkLimits {
        in_all: 4,
        per_team: 1,
    };

    async fn lease_next(
        &self,
        full_teams: &[TeamId],
    ) -> Result<Option<(TeamId, OwedRefund)>, StoreError> {
        let process = &self.mailer.process;
        let now = process.clock.now();
        let owed = process
            .store
            .claim_owed_refund(now, now + LEASE, full_teams)
            .await?;
        Ok(owed.map(|owed| (owed.team_id, owed)))
    }

    async fn run_job(&self, owed: OwedRefund) {
        let (team_id, refund_id) = (owed.team_id, owed.refund_id);
        match self.give_back(&owed).await {
            Ok(()) => tracing::info!(%team_id, %refund_id, "gave back what was owed to a card"),
            Err(error) => {
                note_failure(&owed, error.as_ref());
                self.put_back(&owed).await;
            }
        }
    }
}

impl OwedRefunds {
    async fn give_back(&self, owed: &OwedRefund) -> anyhow::Result<()> {
        let process = &self.mailer.process;
        let reference = self
            .mailer
            .payments
            .give_back(owed, process.clock.now())
            .await?;
        runtime::fail_point::fail_if_chosen("refund.given");
        let now = process.clock.now();
        retry_conflicts(|| async {
            let mut connection = process.store.connection().await?;
            let transaction = connection.begin_transaction().await?;
            transaction
                .settle_owed_refund(owed, &reference, now)
                .await?;
            transaction.commit().await
        })
        .await?;
        Ok(())
    }

    /// Says when the next try is. Where that fails, it is when the lease ends.
    async fn put_back(&self, owed: &OwedRefund) {
        let process = &self.mailer.process;
        let due_at = (owed.attempts < ATTEMPTS).then(|| process.clock.now() + pause_after(owed));
        let postponed = process
            .store
            .postpone_refund(owed.team_id, owed.refund_id, due_at)
            .await;
        if let Err(error) = postponed {
            tracing::warn!(error = &error as &dyn Error, "a refund keeps its lease");
        }
    }
}

fn note_failure(owed: &OwedRefund, error: &(dyn Error + 'static)) {
    let OwedRefund {
        team_id, refund_id, ..
    } = owed;
    if owed.attempts < ATTEMPTS {
        tracing::warn!(%team_id, %refund_id, error, "a refund stays owed");
    } else {
        tracing::error!(%team_id, %refund_id, error, "a refund stays owed until an operator looks at it");
    }
}

fn pause_after(owed: &OwedRefund) -> TimeDelta {
    let doublings = u32::try_from(owed.attempts - 1).unwrap_or(0).min(16);
    (FIRST_PAUSE * 2_i32.pow(doublings)).min(LONGEST_PAUSE)
}
