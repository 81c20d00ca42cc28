//! Finishing what killed workers left open: sends that were reserved and whose lease ran out. Their senders find the
//! answer by sending again.

use std::error::Error;

use chrono::TimeDelta;
use model::id::TeamId;
use store::{ReservedSend, StoreError};
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use crate::MailerState;
use crate::leased::{LeasedWork, WorkLimits, with_lease_renewal};
use crate::settle::{SettleError, settle_send};

/// Open sends of all teams.
#[derive(Clone)]
pub(crate) struct OpenSends {
    pub(crate) mailer: MailerState,
}

impl LeasedWork for OpenSends {
    type LeasedItem = ReservedSend;

    const NAME: &'static str = "open sends";

    // Each may wait for a payment provider that hangs.
    const BOUNDS: WorkLimits = WorkLimits {
        in_all: 8,
        per_team: 1,
    };

    async fn lease_next(
        &self,
        full_teams: &[TeamId],
    ) -> Result<Option<(TeamId, ReservedSend)>, StoreError> {
        let process = &self.mailer.process;
        let now = process.clock.now();
        let leased_until = now + TimeDelta::milliseconds(process.config.mailer.lease_ms);
        let reserved = process
            .store
            .adopt_reserved_send(Uuid::now_v7(), now, leased_until, full_teams)
            .await?;
        Ok(reserved.map(|reserved| (reserved.lease.team_id, reserved)))
    }

    async fn run_job(&self, reserved: ReservedSend) {
        let lease = reserved.lease;
        let span = tracing::info_span!(
            "adoption", request_id = %lease.send_id, team_id = %lease.team_id, campaign_id = %reserved.campaign_id,
            charge = Empty, amount_cents = Empty,
        );
        let finished = finish_send(&self.mailer, &reserved)
            .instrument(span.clone())
            .await;
        span.in_scope(|| match &finished {
            Ok(()) => tracing::info!("finished a send that its worker had left open"),
            Err(error) => tracing::warn!(error = error as &dyn Error, "an open send stays open"),
        });
    }
}

async fn finish_send(mailer: &MailerState, reserved: &ReservedSend) -> Result<(), SettleError> {
    let team_id = reserved.lease.team_id;
    let campaign = mailer
        .process
        .store
        .find_campaign(team_id, &reserved.campaign_id)
        .await?;
    let settle = settle_send(mailer, reserved, campaign.as_ref());
    with_lease_renewal(mailer, reserved.lease, settle)
        .await
        .map(drop)
}
