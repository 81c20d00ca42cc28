//! Keeping what is being worked on. A lease is short, so that what a killed worker had is taken over soon, and is
//! renewed while its worker lives, so that long work is not.

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use store::{JobLease, SendLease, StoreError};

use crate::MailerState;

/// Renewals in the time of one lease: that two in a row fail costs nothing.
const RENEWALS_PER_LEASE: u32 = 3;

/// Longest time that a piece of work is kept for its worker, however alive that is: longer than the statements and calls
/// in it may take.
const LONGEST: Duration = Duration::from_secs(300);

/// The lease of a send or of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HeldLease {
    /// Of a send.
    Send(SendLease),
    /// Of a job.
    Job(JobLease),
}

impl From<SendLease> for HeldLease {
    fn from(lease: SendLease) -> Self {
        Self::Send(lease)
    }
}

impl From<JobLease> for HeldLease {
    fn from(lease: JobLease) -> Self {
        Self::Job(lease)
    }
}

/// Works, and renews the lease meanwhile.
pub(crate) async fn with_lease_renewal<T>(
    mailer: &MailerState,
    held: impl Into<HeldLease>,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        done = work => done,
        never = keep_renewing(mailer, held.into()) => match never {},
    }
}

async fn keep_renewing(mailer: &MailerState, held: HeldLease) -> Infallible {
    let lease = Duration::from_millis(mailer.process.config.mailer.lease_ms.unsigned_abs());
    let pause = lease / RENEWALS_PER_LEASE;
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < LONGEST {
        tokio::time::sleep(pause).await;
        // Whether it is still ours shows at the work's next transition, which is fenced.
        if let Err(error) = renew_once(mailer, held).await {
            tracing::warn!(error = &error as &dyn Error, "a lease was not renewed");
        }
    }
    std::future::pending().await
}

async fn renew_once(mailer: &MailerState, held: HeldLease) -> Result<(), StoreError> {
    let leased_until =
        mailer.process.clock.now() + TimeDelta::milliseconds(mailer.process.config.mailer.lease_ms);
    match held {
        HeldLease::Send(lease) => {
            mailer
                .process
                .store
                .renew_send_lease(lease, leased_until)
                .await
        }
        HeldLease::Job(lease) => {
            mailer
                .process
                .store
                .renew_job_lease(lease, leased_until)
                .await
        }
    }
}
