//! A print run is handed to the post.

use chrono::{DateTime, Utc};
use serde::Serialize;
use store::{Store, StoreError, retry_conflicts};
use uuid::Uuid;

/// Places of a run that one transaction takes.
const PORTION: i32 = 5_000;

/// Why a run could not be handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// The moment lies ahead.
    #[error("{0} lies in the future")]
    Future(DateTime<Utc>),
    /// It was handed over at another moment.
    #[error("the run was handed over at {0} already")]
    Other(DateTime<Utc>),
    /// The run is not there or not printed, or the database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A run that was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandoverReport {
    /// The run.
    pub run_id: Uuid,
    /// When.
    pub handed_over_at: DateTime<Utc>,
    /// Mailpieces of which that was not known.
    pub mailpieces: i64,
}

/// Says that a print run was handed to the post: at `at`, or now. Told again, it does what is left to do.
///
/// # Errors
/// [`HandoverError`].
pub async fn hand_over_run(
    store: &Store,
    run_id: Uuid,
    at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<HandoverReport, HandoverError> {
    if let Some(at) = at.filter(|at| *at > now) {
        return Err(HandoverError::Future(at));
    }
    let run = store.hand_over_print_run(run_id, at.unwrap_or(now)).await?;
    let handed_over_at = run.handed_over_at;
    if at.is_some_and(|at| at != handed_over_at) {
        return Err(HandoverError::Other(handed_over_at));
    }
    let (mut after, mut mailpieces) = (0, 0);
    while after < run.mailpieces {
        let until = after.saturating_add(PORTION);
        let noted = retry_conflicts(|| {
            store.note_handed_over_mailpieces(run_id, handed_over_at, (after, until), now)
        });
        mailpieces += noted.await?;
        after = until;
    }
    Ok(HandoverReport {
        run_id,
        handed_over_at,
        mailpieces,
    })
}
