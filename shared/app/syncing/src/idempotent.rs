//! Doing a request once, however often it is sent and wherever a worker dies.

use std::error::Error;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::push::{IdempotencyKey, PushError, RequestHash};
use messages::PushContext;
use runtime::fail_point;
use store::{IdempotencyKeyState, StoreError, Transaction, retry_conflicts};

use crate::{SyncerState, internal_error};

/// An answer to a client.
pub enum ChangeAnswer {
    /// Of the work just done.
    New(Bytes),
    /// Stored by an earlier attempt.
    Replayed(Bytes),
}

/// A request that changes something. It can be applied in a new transaction as often as that is needed; only one of
/// them is committed.
pub(crate) trait IdempotentChange: Sync {
    /// What makes a retry the same request.
    fn request_hash(&self) -> RequestHash;

    /// Makes the change and gives the answer. A refusal changes nothing: its transaction is rolled back.
    fn apply(
        &self,
        transaction: &Transaction<'_>,
        now: DateTime<Utc>,
    ) -> impl Future<Output = Result<Bytes, ChangeError>> + Send;
}

/// Why a change was not made.
pub(crate) enum ChangeError {
    /// The request cannot be done; the client is told why.
    Request(PushError),
    /// The database failed.
    Store(StoreError),
}

impl From<StoreError> for ChangeError {
    fn from(error: StoreError) -> Self {
        match error {
            // The sync ended between the look and the change.
            StoreError::LeaseLost => Self::Request(PushError::NoOpenSync),
            // Another request of the integration holds its sync, such as a complete of millions. Nothing was done: the
            // same request can be sent again.
            StoreError::Busy(_) => Self::Request(PushError::InProgress),
            error => Self::Store(error),
        }
    }
}

impl From<PushError> for ChangeError {
    fn from(error: PushError) -> Self {
        Self::Request(error)
    }
}

/// Makes a change unless the same request was done already, whose answer then comes back. Key, change and answer are
/// committed together.
pub(crate) async fn apply_once(
    syncer: &SyncerState,
    context: &PushContext,
    change: &impl IdempotentChange,
) -> Result<ChangeAnswer, PushError> {
    let key = context
        .idempotency_key
        .as_ref()
        .ok_or(PushError::MissingIdempotencyKey)?;
    let attempt = retry_conflicts(|| async {
        match apply_in_transaction(syncer, context, key, change).await {
            Err(ChangeError::Store(error)) => Err(error),
            Err(ChangeError::Request(error)) => Ok(Err(error)),
            Ok(answer) => Ok(Ok(answer)),
        }
    });
    attempt.await.map_err(internal_error)?
}

async fn apply_in_transaction(
    syncer: &SyncerState,
    context: &PushContext,
    key: &IdempotencyKey,
    change: &impl IdempotentChange,
) -> Result<ChangeAnswer, ChangeError> {
    let (integration_id, hash) = (context.integration_id, change.request_hash());
    let mut connection = syncer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    match transaction
        .claim_idempotency_key(integration_id, key, hash)
        .await?
    {
        IdempotencyKeyState::New => {}
        IdempotencyKeyState::Running => return Err(PushError::InProgress.into()),
        IdempotencyKeyState::Reused => return Err(PushError::IdempotencyKeyReused.into()),
        IdempotencyKeyState::Done(response) => return Ok(ChangeAnswer::Replayed(response)),
    }
    fail_point::fail_if_chosen("push.claimed");
    let now = syncer.process.clock.now();
    let response = change.apply(&transaction, now).await?;
    transaction
        .store_idempotent_response(integration_id, key, hash, &response, now)
        .await?;
    fail_point::fail_if_chosen("push.applied");
    match transaction.commit().await {
        Ok(()) => {}
        // The connection went while it was being committed: whether it was, a retry finds out.
        Err(StoreError::Unavailable(error)) => {
            tracing::error!(
                error = &error as &dyn Error,
                "lost the database while committing"
            );
            return Err(PushError::DeadlinePassed.into());
        }
        Err(error) => return Err(error.into()),
    }
    fail_point::fail_if_chosen("push.committed");
    Ok(ChangeAnswer::New(response))
}
