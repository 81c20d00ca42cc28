//! Bodies that do not arrive: all of one has to be there within a time, whatever its pieces do. Who sends nothing, or a
//! byte now and then, keeps a connection no longer than that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::failure::Failure;

/// Answers a request whose body is not there when its time is over, counted from the end of its headers. Reading the
/// body fails then, so that no handler takes a part for the whole.
pub(crate) async fn refuse(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let was_late = Arc::new(AtomicBool::new(false));
    let response = next.run(request_with_timed_body(request, Instant::now() + time, &was_late)).await;
    // What succeeded did so without the rest of its form.
    let has_failed = response.status().is_client_error() || response.status().is_server_error();
    if has_failed && was_late.load(Ordering::Relaxed) {
        return Failure::Late.into_response();
    }
    response
}

fn request_with_timed_body(request: Request, until: Instant, was_late: &Arc<AtomicBool>) -> Request {
    let (parts, body) = request.into_parts();
    let timed = stream::try_unfold(
        (body.into_data_stream(), was_late.clone()),
        move |(mut pieces, was_late)| async move {
            let Ok(piece) = timeout_at(until, pieces.next()).await else {
                was_late.store(true, Ordering::Relaxed);
                return Err(io::Error::other("the body did not arrive in time"));
            };
            let piece = piece.transpose().map_err(io::Error::other)?;
            Ok(piece.map(|piece| (piece, (pieces, was_late))))
        },
    );
    Request::from_parts(parts, Body::from_stream(timed))
}
