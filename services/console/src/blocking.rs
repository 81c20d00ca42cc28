//! Work that keeps a processor busy or takes much memory: a few at a time, off the threads that answer.

use crate::page_error::PageError;

/// Does work with a turn that somebody has waited for. The turn ends with the work: a client that hangs up ends nothing
/// but the wait for it.
///
/// # Errors
/// [`PageError::Internal`] when the work panics.
pub(crate) async fn run_blocking<P, T>(
    turn: P,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PageError>
where
    P: Send + 'static,
    T: Send + 'static,
{
    let working = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    working
        .await
        .map_err(|error| PageError::Internal(error.into()))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn a_turn_lasts_as_long_as_the_work_also_when_nobody_waits_for_it() {
        let turns = Arc::new(Semaphore::new(1));
        let turn = turns.clone().acquire_owned().await.unwrap();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (end, is_to_end) = mpsc::channel::<()>();
        let waiting = tokio::spawn(run_blocking(turn, move || {
            begun.send(()).unwrap();
            is_to_end.recv().unwrap();
        }));
        has_begun.await.unwrap();
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        assert_eq!(turns.available_permits(), 0, "the work goes on");
        end.send(()).unwrap();
        assert!(turns.acquire().await.is_ok(), "it ends with the work");
    }
}
