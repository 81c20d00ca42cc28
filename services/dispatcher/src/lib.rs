//! The dispatcher: brings events to the endpoints of teams, which is the crate `delivering`'s, and sends e-mails.

mod email;

use delivering::EventDispatcher;
use messages::{DELIVERIES_QUEUE, DELIVERIES_WAITING_V1};
use model::id::EndpointId;
use runtime::Process;

use crate::email::EmailSender;

/// Runs a dispatcher until the process is to stop.
///
/// # Errors
/// When the settings cannot be used.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let mail = EmailSender::new(&process.config.email)?;
    let dispatcher = EventDispatcher::new(process.clone())?;
    tokio::join!(
        queue::listen_for_announcements(
            &process.broker,
            DELIVERIES_QUEUE,
            DELIVERIES_WAITING_V1,
            process.shutdown.clone(),
            |ids| dispatcher.hear_endpoints(ids.into_iter().map(EndpointId)),
        ),
        dispatcher.run(),
        email::run(&process, &mail),
    );
    Ok(())
}
